/* Folders in the user's own cache: $XDG_CACHE_HOME/tyto, or ~/.cache/tyto. Later processes reuse
 * the files there, so no other user may be able to write to them. */
#ifndef TYTO_BASE_USER_CACHE_H
#define TYTO_BASE_USER_CACHE_H

#include <stdbool.h>

#include "base/text.h"

/* Appends the path of the cache's folder `name`, which is created if missing. Returns false if the
 * folder cannot be trusted or is not writable. */
bool user_cache_folder(const char *name, Text *folder);

/* Whether the path is a regular file that belongs to the user and that no other user may write
 * to. */
bool user_cache_is_ours(const char *path);

#endif
