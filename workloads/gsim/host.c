/* Simulates the signals of a random circuit of and, or, xor gates and their inverses. A gate, its
 * level, its kind and its signal are 60 bytes (MD table 1: 3.5 MB, where the same gates without
 * kinds and signals, in `netbfs`, are 2.6). */
#include "common/circuit.h"

enum { THREADS = 192, WORDS = 3 }; /* of a signal, a bit for each pattern */

/* The same values as in the kernel: a kind is an operation, INVERTED or not. */
enum { AND, OR, XOR, OPERATIONS, OPERATION_MASK = 3, INVERTED = 4 };

enum { GATES, LEVELS };

static const WorkloadInfo INFO = {
    .name = "gsim",
    .summary = "Simulates a circuit, one gate per thread, a launch per level.",
    .parameters =
        {
            [GATES] = {"gates", "1 to 4 inputs each", {1000, 16384, 58368}, 1u << 24, 0},
            [LEVELS] = {"levels", "of gates", {8, 18, 18}, 1000, 0},
        },
};

static uint32_t combine(uint32_t kind, uint32_t a, uint32_t b) {
    uint32_t operation = kind & OPERATION_MASK;
    return operation == AND ? a & b : operation == OR ? a | b : a ^ b;
}

/* One word of the signal of a gate that reads other gates. */
static uint32_t simulate_word(const Gate *gate, uint32_t kind, const uint32_t *signals,
                              uint32_t word) {
    uint32_t value = signals[WORDS * (size_t)gate->input[0] + word];
    for (uint32_t i = 1; i < gate->inputs; i++)
        value = combine(kind, value, signals[WORDS * (size_t)gate->input[i] + word]);
    return kind & INVERTED ? ~value : value;
}

static void simulate(const Circuit *circuit, const uint32_t *kinds, uint32_t *signals) {
    for (uint32_t level = 1; level < circuit->levels; level++)
        for (uint32_t gate = 0; gate < circuit->gates; gate++)
            for (uint32_t word = 0; word < WORDS && circuit->level[gate] == level; word++)
                signals[WORDS * (size_t)gate + word] =
                    simulate_word(&circuit->gate[gate], kinds[gate], signals, word);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Circuit circuit = circuit_generate(&workload, workload.values[GATES], workload.values[LEVELS]);
    uint32_t count = circuit.gates;
    size_t words = WORDS * (size_t)count;
    uint32_t *kinds = workload_random_words(&workload, count, OPERATIONS);
    for (uint32_t gate = 0; gate < count; gate++)
        if (workload_random(&workload, 2)) kinds[gate] |= INVERTED;
    uint32_t *signals = workload_random_words(&workload, words, 1u << 31);
    for (size_t i = 0; i < words; i++)
        if (circuit.level[i / WORDS] > 0) signals[i] = 0;

    CUdeviceptr gates = workload_upload(circuit.gate, count * sizeof *circuit.gate);
    CUdeviceptr levels = workload_upload(circuit.level, count * sizeof(uint32_t));
    CUdeviceptr device_kinds = workload_upload(kinds, count * sizeof *kinds);
    CUdeviceptr device_signals = workload_upload(signals, words * sizeof *signals);
    for (uint32_t level = 1; level < circuit.levels; level++)
        workload_launch(
            &workload, "gsim", workload_cover(count, THREADS),
            (void *[]){&gates, &levels, &device_kinds, &device_signals, &level, &count});

    simulate(&circuit, kinds, signals);
    bool is_right = workload_verify_words(&workload, device_signals, signals, words);
    return workload_finish(&workload, is_right, "signals", count);
}
