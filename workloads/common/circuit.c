/* Makes circuits for the workloads of electronic design automation. */
#include "circuit.h"

/* The largest distance in the netlist between connected gates, and the number of draws before the
 * nearest gate is taken. */
enum { REACH = 96, DRAWS = 400 };

static bool can_feed(const Circuit *circuit, uint32_t source, uint32_t gate) {
    return circuit->level[source] + 1 == circuit->level[gate] &&
           circuit->gate[source].outputs < GATE_PINS;
}

/* Finds a gate near this one for it to read; if there is none, the nearest one. Returns the gate
 * itself if there is no gate. */
static uint32_t pick_source(Workload *workload, const Circuit *circuit, uint32_t gate) {
    uint32_t from = gate > REACH ? gate - REACH : 0;
    uint32_t to = circuit->gates - gate > REACH ? gate + REACH + 1 : circuit->gates;
    for (int draw = 0; draw < DRAWS; draw++) {
        uint32_t source = from + workload_random(workload, to - from);
        if (can_feed(circuit, source, gate)) return source;
    }
    for (uint32_t away = 1; away < circuit->gates; away++) {
        if (away <= gate && can_feed(circuit, gate - away, gate)) return gate - away;
        if (away < circuit->gates - gate && can_feed(circuit, gate + away, gate))
            return gate + away;
    }
    return gate;
}

/* Connects a gate to the gates that it reads. A gate without any becomes an input of the circuit.
 */
static void wire(Workload *workload, Circuit *circuit, uint32_t gate) {
    Gate *reader = &circuit->gate[gate];
    uint32_t inputs = 1 + workload_random(workload, GATE_PINS);
    while (reader->inputs < inputs) {
        uint32_t source = pick_source(workload, circuit, gate);
        if (source == gate) break;
        Gate *read = &circuit->gate[source];
        reader->input[reader->inputs++] = source;
        read->output[read->outputs++] = gate;
    }
    if (!reader->inputs) circuit->level[gate] = 0;
}

Circuit circuit_generate(Workload *workload, uint32_t gates, uint32_t levels) {
    if (levels > gates) levels = gates;
    Circuit circuit = {
        .gates = gates,
        .levels = levels,
        .level = workload_random_words(workload, gates, levels),
        .gate = workload_host_alloc(workload, gates, sizeof(Gate)),
    };
    for (uint32_t level = 0; level < levels; level++) /* so that none is empty */
        circuit.level[level] = level;
    for (uint32_t level = 1; level < levels; level++)
        for (uint32_t gate = 0; gate < gates; gate++)
            if (circuit.level[gate] == level) wire(workload, &circuit, gate);
    return circuit;
}
