/* Circuits for the workloads of electronic design automation. */
#include "circuit.h"

/* The gates by level: those of level i are members[start[i]] up to members[start[i + 1]]. */
typedef struct Levels {
    uint32_t *start;   /* of each level, and the count of gates at the end */
    uint32_t *members; /* gates */
} Levels;

static Levels sort_by_level(Workload *workload, const Circuit *circuit) {
    Levels levels = {
        .start = workload_host_alloc(workload, (size_t)circuit->levels + 1, sizeof(uint32_t)),
        .members = workload_host_alloc(workload, circuit->gates, sizeof(uint32_t)),
    };
    for (uint32_t gate = 0; gate < circuit->gates; gate++)
        levels.start[circuit->level[gate] + 1]++;
    for (uint32_t level = 0; level < circuit->levels; level++)
        levels.start[level + 1] += levels.start[level];
    uint32_t *next = workload_host_alloc(workload, circuit->levels, sizeof *next);
    for (uint32_t gate = 0; gate < circuit->gates; gate++) {
        uint32_t level = circuit->level[gate];
        levels.members[levels.start[level] + next[level]++] = gate;
    }
    return levels;
}

static uint32_t pick_gate(Workload *workload, const Levels *levels, uint32_t level) {
    uint32_t start = levels->start[level];
    return levels->members[start + workload_random(workload, levels->start[level + 1] - start)];
}

Circuit circuit_generate(Workload *workload, uint32_t gates, uint32_t levels) {
    if (levels > gates) levels = gates;
    Circuit circuit = {
        .gates = gates,
        .levels = levels,
        .level = workload_random_words(workload, gates, levels),
        .first_wire = workload_host_alloc(workload, (size_t)gates + 1, sizeof(uint32_t)),
    };
    for (uint32_t level = 0; level < levels; level++) /* so that none is empty */
        circuit.level[level] = level;
    for (uint32_t gate = 0; gate < gates; gate++) {
        uint32_t inputs =
            circuit.level[gate] ? 1 + workload_random(workload, CIRCUIT_MOST_INPUTS) : 0;
        circuit.first_wire[gate + 1] = circuit.first_wire[gate] + inputs;
    }
    circuit.wires = circuit.first_wire[gates];
    circuit.sources = workload_host_alloc(workload, circuit.wires, sizeof(uint32_t));
    Levels sorted = sort_by_level(workload, &circuit);
    for (uint32_t gate = 0; gate < gates; gate++) {
        uint32_t level = circuit.level[gate], first = circuit.first_wire[gate];
        for (uint32_t wire = first; wire < circuit.first_wire[gate + 1]; wire++) {
            uint32_t from = wire == first ? level - 1 : workload_random(workload, level);
            circuit.sources[wire] = pick_gate(workload, &sorted, from);
        }
    }
    return circuit;
}
