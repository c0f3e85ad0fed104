/* Machine files: a machine model as commented YAML.
 *
 *     base: gtx480          # another machine: a shipped one, or a file in the same folder
 *     l1d:
 *       size: 32 KiB        # OWL Table 1
 *
 * A file is a mapping with the sections and keys of the parameter table. The comment after a value
 * is its origin, which is printed with it. Anchors, aliases, tags and further documents are
 * rejected. */
#ifndef TYTO_MACHINE_MACHINE_FILE_H
#define TYTO_MACHINE_MACHINE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "machine/machine.h"

/* A machine under construction, with the origin of every value. */
typedef struct Machine Machine;

/* Where a value is given. file NULL: on the command line, or the value is the default. */
typedef struct MachinePlace {
    const char *file; /* path as it was opened; or name of a machine of Tyto */
    int line, column; /* both from 1 */
} MachinePlace;

/* Reads the machine `name`: a shipped one ("owl"), or a file if the name contains '/' or ends in
 * ".yaml" ("-" is standard input). Returns NULL after an error, with all errors in `diag`.
 * Contradictions between values are only reported by machine_finish, so that options can still
 * resolve them. */
Machine *machine_load(const char *name, Diag *diag);
/* The same from text. `file` is its name for messages, and determines the folder of relative
 * bases. */
Machine *machine_parse(const char *file, const char *text, size_t length, Diag *diag);
void machine_free(Machine *machine);

/* Overrides one value: "l1d.size=64KiB". Returns false with an error in `diag` if that is not
 * possible. */
bool machine_set(Machine *machine, const char *assignment, Diag *diag);

/* Whether the name of a machine is a file's, or "-" for standard input. */
bool machine_is_path(const char *name);

/* Sets the SM clock to the one to which a profiler locks it, clock.profiled. The network keeps its
 * ratio to the SM clock; L2 and DRAM keep their clocks. Returns false with an error in `diag` if
 * the machine does not have this clock. */
bool machine_use_profiled_clock(Machine *machine, Diag *diag);

/* The finished machine, owned by `machine`; NULL with errors in `diag` if its values contradict
 * each other. */
const MachineConfig *machine_finish(Machine *machine, Diag *diag);

/* The values of a finished machine. */
const MachineConfig *machine_config(const Machine *machine);

/* Where the value of `key`, which must be that of a row, is given; valid as long as the machine. */
MachinePlace machine_place(const Machine *machine, const char *key);
/* Adds the values of all parameters that affect results, one per line: without the machine's name
 * and the origins of values. */
void machine_write_values(const Machine *machine, Text *out);

/* Adds the effective machine file: every parameter with its meaning and the origin of its value.
 * Reading it gives the same machine. */
void machine_print(const Machine *machine, Text *out);

/* Adds the text of docs/machine-parameters.md. */
void machine_document(Text *out);

/* The shipped machines. */
int machine_shipped_count(void);
const char *machine_shipped_name(int i);

#endif
