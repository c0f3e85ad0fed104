/* The sizes of a whole machine, which its parameters give for one SM, partition or channel. */
#ifndef TYTO_MACHINE_MACHINE_TOTALS_H
#define TYTO_MACHINE_MACHINE_TOTALS_H

#include "base/text.h"
#include "machine/machine.h"

/* Adds the heading of a table of machines, and a machine's line. */
void machine_add_heading(Text *out);
void machine_add_line(const MachineConfig *machine, Text *out);

/* Adds the totals of L2 and DRAM, and the peak of the arithmetic units, as comments of a machine's
 * file. */
void machine_add_totals(const MachineConfig *machine, Text *out);

#endif
