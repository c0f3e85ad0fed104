/* The signals of a random circuit of and, or, xor gates and their inverses. */
#include "common/circuit.h"

enum { THREADS = 192 };

/* As the kernel has it: a kind is an operation, INVERTED or not. */
enum { AND, OR, XOR, OPERATIONS, OPERATION_MASK = 3, INVERTED = 4 };

enum { GATES, LEVELS };

static const WorkloadInfo INFO = {
    .name = "gsim",
    .summary = "Simulates a circuit, one gate per thread, a launch per level.",
    .parameters =
        {
            [GATES] = {"gates", "1 to 4 inputs each", {1000, 16384, 138000}, 1u << 24, 0},
            [LEVELS] = {"levels", "of gates", {8, 16, 16}, 1000, 0},
        },
};

static uint32_t combine(uint32_t kind, uint32_t a, uint32_t b) {
    uint32_t operation = kind & OPERATION_MASK;
    return operation == AND ? a & b : operation == OR ? a | b : a ^ b;
}

static void simulate(const Circuit *circuit, const uint32_t *kinds, uint32_t *signals) {
    for (uint32_t level = 1; level < circuit->levels; level++)
        for (uint32_t gate = 0; gate < circuit->gates; gate++) {
            if (circuit->level[gate] != level) continue;
            uint32_t first = circuit->first_wire[gate];
            uint32_t value = signals[circuit->sources[first]];
            for (uint32_t wire = first + 1; wire < circuit->first_wire[gate + 1]; wire++)
                value = combine(kinds[gate], value, signals[circuit->sources[wire]]);
            signals[gate] = kinds[gate] & INVERTED ? ~value : value;
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Circuit circuit = circuit_generate(&workload, workload.values[GATES], workload.values[LEVELS]);
    uint32_t gates = circuit.gates;
    uint32_t *kinds = workload_random_words(&workload, gates, OPERATIONS);
    uint32_t *signals = workload_random_words(&workload, gates, 1u << 31);
    for (uint32_t gate = 0; gate < gates; gate++) {
        if (workload_random(&workload, 2)) kinds[gate] |= INVERTED;
        if (circuit.level[gate] > 0) signals[gate] = 0;
    }

    CUdeviceptr levels = workload_upload(circuit.level, gates * sizeof(uint32_t));
    CUdeviceptr device_kinds = workload_upload(kinds, gates * sizeof *kinds);
    CUdeviceptr first_wire =
        workload_upload(circuit.first_wire, ((size_t)gates + 1) * sizeof(uint32_t));
    CUdeviceptr sources = workload_upload(circuit.sources, circuit.wires * sizeof(uint32_t));
    CUdeviceptr device_signals = workload_upload(signals, gates * sizeof *signals);
    for (uint32_t level = 1; level < circuit.levels; level++)
        workload_launch(&workload, "gsim", workload_cover(gates, THREADS),
                        (void *[]){&levels, &device_kinds, &first_wire, &sources, &device_signals,
                                   &level, &gates});

    simulate(&circuit, kinds, signals);
    bool is_right = workload_verify_words(&workload, device_signals, signals, gates);
    return workload_finish(&workload, is_right, "signals", gates);
}
