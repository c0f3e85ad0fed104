/* Compiled objects that are kept for later runs, in a folder of the user's cache
 * (base/user_cache.h).
 *
 * An object's file is named by the hash of its bytes. Next to it is a list, named by a key of
 * everything that is known before the compiler runs. The list holds the object's hash, the hash of
 * the input files, and their names as the compiler reported them. A kept object is valid if these
 * files are unchanged and the object is intact. Both files are written elsewhere and renamed, so
 * that no process sees an incomplete one. Two processes that compile at the same time each load
 * their own result.
 *
 * Not detected: a new file that would now be found before another one of the same name, or a new
 * file that `__has_include` had looked for. */
#ifndef TYTO_SCHED_COMPILE_KEPT_H
#define TYTO_SCHED_COMPILE_KEPT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"

/* Finds the object that is kept under a key, if it is valid. */
bool kept_find(const char *folder, uint64_t key, Text *object);

/* Output of the compiler, in its own folder inside the cache folder. */
typedef struct KeptNew {
    const char *made_in;   /* that folder, which is removed afterwards; files in it are not
                              inputs */
    const char *object;    /* path of the object in it */
    const char *rule;      /* path of make's rule for KEPT_TARGET in it, which lists everything that
                              was read */
    struct timespec begun; /* time at which the compiler was started */
} KeptNew;
#define KEPT_TARGET "object"

/* Keeps the object and sets *object to its new path. Returns false if the object stays where it is.
 * This happens if an input file has changed since the compiler was started, because it is unknown
 * which version the compiler read. */
bool kept_add(const char *folder, uint64_t key, const KeptNew *made, Text *object);

#endif
