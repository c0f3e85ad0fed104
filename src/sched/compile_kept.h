/* Compiled objects, kept for the next time, in a folder of the user's own cache
 * (base/user_cache.h).
 *
 * An object's file is named by the hash of its bytes. Next to it is a list, named by a key of what
 * is known before the compiler runs. The list holds that hash, the hash of the input files, and
 * their names as the compiler reported them. A kept object is good while these files are unchanged
 * and the object is whole. Both files are made elsewhere and renamed, so that no process sees half
 * of one. Two processes that compile at the same time each load what they have made.
 *
 * Not detected: a new file that would now be found before another one of its name, or a new file
 * that `__has_include` had asked for. */
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

/* Keeps it; *object is its place then. False: it stays where it is. This must happen when a file
 * has changed since the compiler was started, since it is unknown which version the compiler
 * read. */
bool kept_add(const char *folder, uint64_t key, const KeptNew *made, Text *object);

#endif
