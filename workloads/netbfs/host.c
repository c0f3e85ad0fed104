/* Breadth-first search through a random circuit, from the gates that read no other gate, with one
 * launch per level. A gate and its level are 44 bytes, and 192 of them are 66 lines of 128 (MD: 2.6
 * MB, table 1; the set of a thread block is about 70 lines, section 5.1, and alone it reads 73,
 * table 5; here 78). With 18 levels a thread block finds ten gates in a launch. Table 5 implies the
 * same number of stores that miss. */
#include "common/circuit.h"

static const uint32_t UNREACHED = UINT32_MAX;

enum { GATES, LEVELS, BLOCK };

static const WorkloadInfo INFO = {
    .name = "netbfs",
    .summary = "Breadth-first search through a netlist, one gate per thread, a launch per level.",
    .parameters =
        {
            [GATES] = {"gates", "1 to 4 inputs each", {1000, 16384, 58368}, 1u << 24, 0},
            [LEVELS] = {"levels", "of gates", {8, 18, 18}, 1000, 0},
            [BLOCK] = {"block", "threads in a CTA", {192, 192, 192}, 1024, 32},
        },
};

/* The least number of wires to each gate from a gate that reads no other; 0 for such gates. */
static uint32_t *search_on_cpu(Workload *workload, const Circuit *circuit) {
    uint32_t *levels = workload_host_alloc(workload, circuit->gates, sizeof *levels);
    uint32_t *queue = workload_host_alloc(workload, circuit->gates, sizeof *queue), tail = 0;
    for (uint32_t gate = 0; gate < circuit->gates; gate++) {
        levels[gate] = UNREACHED;
        if (!circuit->gate[gate].inputs) queue[tail++] = gate;
    }
    for (uint32_t head = 0; head < tail; head++) {
        const Gate *gate = &circuit->gate[queue[head]];
        uint32_t level = gate->inputs ? levels[queue[head]] : 0;
        for (uint32_t i = 0; i < gate->outputs; i++) {
            uint32_t reader = gate->output[i];
            if (levels[reader] != UNREACHED) continue;
            levels[reader] = level + 1;
            queue[tail++] = reader;
        }
    }
    return levels;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Circuit circuit = circuit_generate(&workload, workload.values[GATES], workload.values[LEVELS]);
    uint32_t count = circuit.gates;
    uint32_t *start = workload_host_alloc(&workload, count, sizeof *start);
    for (uint32_t gate = 0; gate < count; gate++)
        start[gate] = UNREACHED;
    CUdeviceptr gates = workload_upload(circuit.gate, count * sizeof *circuit.gate);
    CUdeviceptr levels = workload_upload(start, count * sizeof *start);
    for (uint32_t level = 0; level < circuit.levels; level++)
        workload_launch(&workload, "netbfs", workload_cover(count, workload.values[BLOCK]),
                        (void *[]){&gates, &levels, &level, &count});

    const uint32_t *expected = search_on_cpu(&workload, &circuit);
    bool is_right = workload_verify_words(&workload, levels, expected, count);
    return workload_finish(&workload, is_right, "levels", count);
}
