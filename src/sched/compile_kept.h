/* What was compiled, kept for the next time, in a folder of the user's own cache
 * (base/user_cache.h).
 *
 * An object lies there under the hash of its bytes, and beside it, under a key of what is known
 * before anything is compiled, a list: that hash, the hash of the files that went in, and their
 * names as the compiler told them. What is kept is good while these files are as they were and the
 * object is whole. Both are made elsewhere and renamed, so that no process sees half of one, and
 * two that compile at once each load what they have made.
 *
 * Not seen is a file that was not there: one that would now be found before another of its name,
 * or that `__has_include` had asked for. */
#ifndef TYTO_SCHED_COMPILE_KEPT_H
#define TYTO_SCHED_COMPILE_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"

/* The object that is kept under a key, if it is good. */
bool kept_find(const char *folder, uint64_t key, Text *object);

/* What the compiler made, in a folder of its own inside the one where it shall be kept. */
typedef struct KeptNew {
    const char *made_in;   /* the folder, which goes afterwards; what lies in it is no input */
    const char *object;    /* in it */
    const char *rule;      /* in it too: make's rule for KEPT_TARGET, with all that was read */
    struct timespec begun; /* when the compiler was started */
} KeptNew;
#define KEPT_TARGET "object"

/* Keeps it; *object is where then. False: it stays where it is, as it must if a file has changed
 * since the compiler was started, for nobody knows which of the two it has read. */
bool kept_add(const char *folder, uint64_t key, const KeptNew *made, Text *object);

#endif
