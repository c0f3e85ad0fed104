/* Kernel arguments on the command line: u32:7, f32:1.5, in:FILE, zero:BYTES, ... */
#ifndef TYTO_CLI_ARGUMENT_H
#define TYTO_CLI_ARGUMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "tyto/tyto.h"

typedef struct Argument {
    const char *word;      /* as given */
    uint64_t size_bytes;   /* of the value */
    uint64_t bits;         /* the value, in its lowest bytes; of a buffer: its device address */
    uint64_t buffer_bytes; /* size of the buffer, 0 if the argument is not a buffer */
    char *output;          /* file that receives the buffer after the launch, NULL: none; owned */
} Argument;

/* Parses a word and allocates its buffer. Returns EXIT_DONE, or an exit status after a message. */
int argument_read(Argument *argument, TytoSimulator *simulator, const char *word);
/* Writes the buffer to its file, if it has one. False after a message. */
bool argument_write_output(const Argument *argument, TytoSimulator *simulator);
void argument_free(Argument *argument);

#endif
