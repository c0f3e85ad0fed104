/* Arrival and required times of every gate of a random circuit. Delays are whole numbers, so the
 * comparison is exact; some gates miss the clock, and have to be stable before time 0. */
#include "common/circuit.h"

enum { THREADS = 192, MOST_DELAY = 100, CLOCK = 1000 };

enum { GATES, LEVELS };

static const WorkloadInfo INFO = {
    .name = "sta",
    .summary = "Static timing analysis of a circuit, one gate per thread, a launch per level.",
    .parameters =
        {
            [GATES] = {"gates", "1 to 4 inputs each", {1000, 16384, 77400}, 1u << 24, 0},
            [LEVELS] = {"levels", "of gates", {8, 16, 16}, 1000, 0},
        },
};

static uint32_t *find_arrivals(Workload *workload, const Circuit *circuit,
                               const uint32_t *wire_delays, const uint32_t *gate_delays) {
    uint32_t *arrivals = workload_host_alloc(workload, circuit->gates, sizeof *arrivals);
    for (uint32_t level = 0; level < circuit->levels; level++)
        for (uint32_t gate = 0; gate < circuit->gates; gate++) {
            if (circuit->level[gate] != level) continue;
            for (uint32_t i = circuit->first_wire[gate]; i < circuit->first_wire[gate + 1]; i++) {
                uint32_t arrival = arrivals[circuit->sources[i]] + wire_delays[i];
                if (arrival > arrivals[gate]) arrivals[gate] = arrival;
            }
            arrivals[gate] += gate_delays[gate];
        }
    return arrivals;
}

/* Lowers `required`, the clock for every gate, from the outputs down. */
static void find_required(const Circuit *circuit, const uint32_t *wire_delays,
                          const uint32_t *gate_delays, int32_t *required) {
    for (uint32_t level = circuit->levels; level-- > 0;)
        for (uint32_t gate = 0; gate < circuit->gates; gate++) {
            if (circuit->level[gate] != level) continue;
            for (uint32_t i = circuit->first_wire[gate]; i < circuit->first_wire[gate + 1]; i++) {
                int32_t latest = required[gate] - (int32_t)(gate_delays[gate] + wire_delays[i]);
                int32_t *source = &required[circuit->sources[i]];
                if (latest < *source) *source = latest;
            }
        }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Circuit circuit = circuit_generate(&workload, workload.values[GATES], workload.values[LEVELS]);
    uint32_t gates = circuit.gates;
    uint32_t *wire_delays = workload_random_words(&workload, circuit.wires, MOST_DELAY);
    uint32_t *gate_delays = workload_random_words(&workload, gates, MOST_DELAY);
    int32_t *required = workload_host_alloc(&workload, gates, sizeof *required);
    for (uint32_t gate = 0; gate < gates; gate++)
        required[gate] = CLOCK;

    CUdeviceptr levels = workload_upload(circuit.level, gates * sizeof(uint32_t));
    CUdeviceptr first_wire =
        workload_upload(circuit.first_wire, ((size_t)gates + 1) * sizeof(uint32_t));
    CUdeviceptr sources = workload_upload(circuit.sources, circuit.wires * sizeof(uint32_t));
    CUdeviceptr device_wire_delays =
        workload_upload(wire_delays, circuit.wires * sizeof *wire_delays);
    CUdeviceptr device_gate_delays = workload_upload(gate_delays, gates * sizeof *gate_delays);
    CUdeviceptr device_arrivals = workload_upload_zeros(gates * sizeof(uint32_t));
    CUdeviceptr device_required = workload_upload(required, gates * sizeof *required);
    uint32_t level;
    void *arrive[] = {
        &levels,          &first_wire, &sources, &device_wire_delays, &device_gate_delays,
        &device_arrivals, &level,      &gates};
    void *require[] = {
        &levels,          &first_wire, &sources, &device_wire_delays, &device_gate_delays,
        &device_required, &level,      &gates};
    for (level = 0; level < circuit.levels; level++)
        workload_launch(&workload, "sta_arrive", workload_cover(gates, THREADS), arrive);
    for (level = circuit.levels - 1; level > 0; level--) /* the inputs at level 0 read none */
        workload_launch(&workload, "sta_require", workload_cover(gates, THREADS), require);

    uint32_t *arrivals = find_arrivals(&workload, &circuit, wire_delays, gate_delays);
    find_required(&circuit, wire_delays, gate_delays, required);
    bool is_right = workload_verify_words(&workload, device_arrivals, arrivals, gates) &&
                    workload_verify_words(&workload, device_required, (uint32_t *)required, gates);
    return workload_finish(&workload, is_right, "gates", gates);
}
