/* Arrival and required times of every gate of a random circuit. Delays are whole numbers, so the
 * comparison is exact; some gates miss the clock. A gate, its level and its two times are 52 bytes
 * (MD table 1: 3.0 MB, where the same gates without times, in `netbfs`, are 2.6). */
#include "common/circuit.h"
#include "delay.h"

enum { THREADS = 192, CLOCK = 700 }; /* picoseconds */

enum { GATES, LEVELS };

static const WorkloadInfo INFO = {
    .name = "sta",
    .summary = "Static timing analysis of a circuit, one gate per thread, a launch per level.",
    .parameters =
        {
            [GATES] = {"gates", "1 to 4 inputs each", {1000, 16384, 58368}, 1u << 24, 0},
            [LEVELS] = {"levels", "of gates", {8, 18, 18}, 1000, 0},
        },
};

static uint32_t *find_arrivals(Workload *workload, const Circuit *circuit) {
    uint32_t *arrivals = workload_host_alloc(workload, circuit->gates, sizeof *arrivals);
    for (uint32_t level = 0; level < circuit->levels; level++)
        for (uint32_t i = 0; i < circuit->gates; i++) {
            if (circuit->level[i] != level) continue;
            const Gate *gate = &circuit->gate[i];
            for (uint32_t input = 0; input < gate->inputs; input++)
                if (arrivals[gate->input[input]] > arrivals[i])
                    arrivals[i] = arrivals[gate->input[input]];
            arrivals[i] += delay_of(gate->inputs, gate->outputs);
        }
    return arrivals;
}

/* Lowers `required`, which starts as the clock for every gate, from the outputs down. */
static void find_required(const Circuit *circuit, int32_t *required) {
    for (uint32_t level = circuit->levels; level-- > 0;)
        for (uint32_t i = 0; i < circuit->gates; i++) {
            if (circuit->level[i] != level) continue;
            const Gate *gate = &circuit->gate[i];
            for (uint32_t output = 0; output < gate->outputs; output++) {
                const Gate *reader = &circuit->gate[gate->output[output]];
                int32_t latest = required[gate->output[output]] -
                                 (int32_t)delay_of(reader->inputs, reader->outputs);
                if (latest < required[i]) required[i] = latest;
            }
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Circuit circuit = circuit_generate(&workload, workload.values[GATES], workload.values[LEVELS]);
    uint32_t count = circuit.gates;
    int32_t *required = workload_host_alloc(&workload, count, sizeof *required);
    for (uint32_t gate = 0; gate < count; gate++)
        required[gate] = CLOCK;

    CUdeviceptr gates = workload_upload(circuit.gate, count * sizeof *circuit.gate);
    CUdeviceptr levels = workload_upload(circuit.level, count * sizeof(uint32_t));
    CUdeviceptr device_arrivals = workload_upload_zeros(count * sizeof(uint32_t));
    CUdeviceptr device_required = workload_upload(required, count * sizeof *required);
    uint32_t level;
    void *arrive[] = {&gates, &levels, &device_arrivals, &level, &count};
    void *require[] = {&gates, &levels, &device_required, &level, &count};
    for (level = 0; level < circuit.levels; level++)
        workload_launch(&workload, "sta_arrive", workload_cover(count, THREADS), arrive);
    for (level = circuit.levels; level-- > 0;)
        workload_launch(&workload, "sta_require", workload_cover(count, THREADS), require);

    uint32_t *arrivals = find_arrivals(&workload, &circuit);
    find_required(&circuit, required);
    bool is_right = workload_verify_words(&workload, device_arrivals, arrivals, count) &&
                    workload_verify_words(&workload, device_required, (uint32_t *)required, count);
    return workload_finish(&workload, is_right, "gates", count);
}
