/* Computes and lists the sizes of whole machines (see the header). */
#include "machine/machine_totals.h"

#include <math.h>

enum { NAME_WIDTH = 10, CELL_BYTES = 32, BYTES_OF_KIB = 1 << 10, BYTES_OF_MIB = 1 << 20 };

/* Bytes that all channels move in a second, at most. */
static double dram_bandwidth(const MachineConfig *machine) {
    const double transfers = 1e3 * machine->clock.dram_khz * machine->dram.data_rate;
    return transfers * machine->dram.bus_bytes * machine->partitions;
}

/* Pipelines of this kind in an SM. */
static double pipelines_of(const SmConfig *sm, SmUnit unit) {
    const SmUnitConfig *config = &sm->units[unit];
    return (double)config->count * sm->subcores / config->shared_by;
}

/* Lanes of instructions that take `initiation` cycles each which these pipelines accept per
 * cycle. */
static double unit_rate(const SmConfig *sm, SmUnit unit, uint32_t initiation) {
    return 32 * pipelines_of(sm, unit) / fmax(initiation, 32.0 / sm->units[unit].lanes);
}

/* Results that the lanes of an SM get per cycle from instructions of this class. An SM issues at
 * most one instruction of a warp per scheduler. */
static double lane_rate(const SmConfig *sm, IsaClass op_class) {
    const SmOpConfig *op = &sm->ops[op_class];
    const bool has_two = op->unit == SM_UNIT_SP_OR_SFU;
    const double issued = 32.0 * sm->scheduler.count * sm->scheduler.issue_width;
    double rate = unit_rate(sm, has_two ? SM_UNIT_SP : op->unit, op->initiation);
    if (has_two) rate += unit_rate(sm, SM_UNIT_SFU, op->initiation);
    return fmin(rate, issued);
}

/* Products of halves that an SM's tensor pipelines add per cycle. */
static double tensor_rate(const SmConfig *sm) {
    const double rate = fmax(sm->tensor.rate[ISA_TENSOR_FP16], sm->wgmma.rate[ISA_TENSOR_FP16]);
    return rate * pipelines_of(sm, SM_UNIT_TENSOR);
}

/* Adds 10^12 operations a second of the whole machine; a product and its addition are two. */
static void add_tera_operations(const MachineConfig *machine, double products, Text *out) {
    const double tera = 2 * products * machine->sms * (machine->clock.sm_khz / 1e9);
    text_printf(out, tera < 100 ? "%.3g" : "%.0f", tera);
}

void machine_add_heading(Text *out) {
    text_printf(out, "%-*s  SMs       clock  warps/SM      L1D/SM           L2       DRAM  title\n",
                NAME_WIDTH, "machine");
}

/* "50 MiB", "1.5 MiB", "768 KiB". */
static void format_bytes(uint64_t bytes, char text[CELL_BYTES]) {
    if (bytes < BYTES_OF_MIB) snprintf(text, CELL_BYTES, "%.4g KiB", (double)bytes / BYTES_OF_KIB);
    else snprintf(text, CELL_BYTES, "%.4g MiB", (double)bytes / BYTES_OF_MIB);
}

static void format_l2(const MachineConfig *machine, char text[CELL_BYTES]) {
    if (machine->partition.has_l2) format_bytes(machine_l2_bytes(machine), text);
    else snprintf(text, CELL_BYTES, "none");
}

void machine_add_line(const MachineConfig *machine, Text *out) {
    char l1d[CELL_BYTES], l2[CELL_BYTES];
    format_bytes(machine->sm.l1d.size_bytes, l1d);
    format_l2(machine, l2);
    text_printf(out, "%-*s %4u %7.0f MHz %9u  %10s %12s %5.0f GB/s  %s\n", NAME_WIDTH,
                machine->name, machine->sms, machine->clock.sm_khz / 1e3,
                sm_config_warps(&machine->sm), l1d, l2, dram_bandwidth(machine) / 1e9,
                machine->title);
}

void machine_add_totals(const MachineConfig *machine, Text *out) {
    char l2[CELL_BYTES];
    format_l2(machine, l2);
    text_printf(out, "# L2 of all partitions: %s. DRAM of all channels: %.0f GB/s.\n", l2,
                dram_bandwidth(machine) / 1e9);
    text_add(out, "# Peak of all SMs, in TFLOP/s: ");
    add_tera_operations(machine, lane_rate(&machine->sm, ISA_CLASS_FP32_MAD), out);
    text_add(out, " of f32, ");
    add_tera_operations(machine, lane_rate(&machine->sm, ISA_CLASS_FP64_MAD), out);
    text_add(out, " of f64");
    if (tensor_rate(&machine->sm) > 0) {
        text_add(out, ", ");
        add_tera_operations(machine, tensor_rate(&machine->sm), out);
        text_add(out, " of f16 on tensor cores");
    }
    text_add(out, ".\n");
}
