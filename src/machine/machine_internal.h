/* What the files of the machine reader share. */
#ifndef TYTO_MACHINE_MACHINE_INTERNAL_H
#define TYTO_MACHINE_MACHINE_INTERNAL_H

#include <stddef.h>

#include "base/arena.h"
#include "machine/machine_file.h"

enum { MACHINE_MAX_ROWS = 512 };

struct Machine {
    Arena *arena;         /* owns everything, this struct included */
    MachineConfig config; /* the values so far */
    const char **origins; /* by row: where the value is from; NULL: the row's default */
    MachinePlace *places; /* by row: the file that says the value */
    uint8_t *layers;      /* by row: a MachineLayer */
};

/* What gave a value, the one that takes the place of the others last. */
typedef enum MachineLayer { LAYER_INHERITED, LAYER_FILE, LAYER_SET } MachineLayer;

/* Lets inherited values follow those that were given, where they contradict each other. */
void machine_derive(Machine *machine);

/* A machine file built into the library. */
typedef struct MachineShipped {
    const char *name;
    const char *text;
    size_t length; /* bytes of the text */
} MachineShipped;

/* Ends with a NULL name. Generated from machines/ by embed_files.py. */
extern const MachineShipped machine_shipped[];

#endif
