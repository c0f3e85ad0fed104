/* Internals shared by the files of the machine reader. */
#ifndef TYTO_MACHINE_MACHINE_INTERNAL_H
#define TYTO_MACHINE_MACHINE_INTERNAL_H

#include <stddef.h>

#include "base/arena.h"
#include "machine/machine_file.h"

enum { MACHINE_MAX_ROWS = 512 };

struct Machine {
    Arena *arena;         /* memory of everything, including this struct */
    MachineConfig config; /* the values so far */
    const char **origins; /* by row: the origin of the value; NULL: the row's default */
    MachinePlace *places; /* by row: the file that gives the value */
    uint8_t *layers;      /* by row: a MachineLayer */
};

/* What gave a value, in ascending order of precedence. */
typedef enum MachineLayer { LAYER_INHERITED, LAYER_FILE, LAYER_SET } MachineLayer;

/* Adapts inherited values to those that were given, if they contradict each other. */
void machine_derive(Machine *machine);

/* A machine file that is built into the library. */
typedef struct MachineShipped {
    const char *name;
    const char *text;
    size_t length; /* bytes of the text */
} MachineShipped;

/* The list ends with a NULL name. Generated from machines/ by embed_files.py. */
extern const MachineShipped machine_shipped[];

#endif
