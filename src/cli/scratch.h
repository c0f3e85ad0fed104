/* A temporary folder for what runs write, gone when the command ends however that was: one that was
 * killed cannot remove its own, so the next command that wants one does. */
#ifndef TYTO_CLI_SCRATCH_H
#define TYTO_CLI_SCRATCH_H

#include <stdbool.h>

enum { SCRATCH_PATH_BYTES = 4000 }; /* leaves room for names of files below PATH_MAX */

typedef struct Scratch {
    char path[SCRATCH_PATH_BYTES];
    int descriptor; /* of the folder; holds the lock that says that it is in use */
} Scratch;

/* Makes a folder in TMPDIR, or /tmp, and removes the unused ones there. False after a message. */
bool scratch_open(Scratch *scratch);
/* Removes it with all files in it. */
void scratch_close(Scratch *scratch);

#endif
