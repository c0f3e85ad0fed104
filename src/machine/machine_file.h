/* Machine files: a machine model as commented YAML.
 *
 *     base: gtx480          # another machine: a shipped one, or a file in the same folder
 *     l1d:
 *       size: 32 KiB        # OWL Table 1
 *
 * A file is a mapping of the sections and keys of the parameter table. The comment behind a value
 * is its origin, which is printed with it. Anchors, aliases, tags and further documents are
 * refused. */
#ifndef TYTO_MACHINE_MACHINE_FILE_H
#define TYTO_MACHINE_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "machine/machine.h"

/* A machine being put together, with the origin of every value. */
typedef struct Machine Machine;

/* Where a value is said; file NULL: in none, but on the command line, or it is the default. */
typedef struct MachinePlace {
    const char *file; /* its path as it was opened; of a machine that comes with Tyto, its name */
    int line, column; /* from 1 */
} MachinePlace;

/* Reads the machine `name`: a shipped one ("owl"), or a file when it has a '/' or ends in ".yaml"
 * ("-" is standard input). NULL after a mistake, with every one found in `diag`. machine_finish
 * reports contradictions between values, so that options can still fix them. */
Machine *machine_load(const char *name, Diag *diag);
/* The same from text; `file` is its name in messages and the folder of relative bases. */
Machine *machine_parse(const char *file, const char *text, size_t length, Diag *diag);
void machine_free(Machine *machine);

/* Overrides one value: "l1d.size=64KiB". False with an error in `diag` after a mistake. */
bool machine_set(Machine *machine, const char *assignment, Diag *diag);

/* Has the SMs run at the clock to which a profiler locks them, clock.profiled, and the network in
 * the same ratio to them as before; L2 and DRAM keep theirs. False with an error in `diag` when the
 * machine does not state it. */
bool machine_use_profiled_clock(Machine *machine, Diag *diag);

/* The finished machine, owned by `machine`; NULL with errors in `diag` when its values contradict
 * each other. */
const MachineConfig *machine_finish(Machine *machine, Diag *diag);

/* The values of a machine that is finished. */
const MachineConfig *machine_config(const Machine *machine);

/* Where the value of `key`, which is a row's, is said; lives as long as the machine. */
MachinePlace machine_place(const Machine *machine, const char *key);
/* Adds the values of all parameters that decide anything, a line each: not the machine's name, nor
 * where values are from. */
void machine_write_values(const Machine *machine, Text *out);

/* Adds the effective machine file: every parameter with its meaning and the origin of its value.
 * Reads back to the same machine. */
void machine_print(const Machine *machine, Text *out);

/* Adds the page docs/machine-parameters.md. */
void machine_document(Text *out);

/* The shipped machines. */
int machine_shipped_count(void);
const char *machine_shipped_name(int i);

#endif
