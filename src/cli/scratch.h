/* A temporary folder for files that runs write. The command removes it at its end. If the command
 * is killed, the next command that makes such a folder removes it. */
#ifndef TYTO_CLI_SCRATCH_H
#define TYTO_CLI_SCRATCH_H

#include <stdbool.h>

enum { SCRATCH_PATH_BYTES = 4000 }; /* shorter than PATH_MAX, so that names of files fit */

typedef struct Scratch {
    char path[SCRATCH_PATH_BYTES];
    int descriptor; /* of the folder; holds the lock that marks it as in use */
} Scratch;

/* Makes a folder in TMPDIR, or /tmp, and removes the unused ones there. False after a message. */
bool scratch_open(Scratch *scratch);
/* Removes the folder with all files in it. */
void scratch_close(Scratch *scratch);

#endif
