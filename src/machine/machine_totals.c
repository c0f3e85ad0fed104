/* Computes and lists the sizes of whole machines (see the header). */
#include "machine/machine_totals.h"

enum { NAME_WIDTH = 10, CELL_BYTES = 32, BYTES_OF_KIB = 1 << 10, BYTES_OF_MIB = 1 << 20 };

/* Bytes that all channels move in a second, at most. */
static double dram_bandwidth(const MachineConfig *machine) {
    const double transfers = 1e3 * machine->clock.dram_khz * machine->dram.data_rate;
    return transfers * machine->dram.bus_bytes * machine->partitions;
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
}
