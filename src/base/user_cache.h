/* Folders of the user's own cache: $XDG_CACHE_HOME/tyto, else ~/.cache/tyto. Later processes use
 * the files there again, so no other user may be able to write to them. */
#ifndef TYTO_BASE_USER_CACHE_H
#define TYTO_BASE_USER_CACHE_H

#include <stdbool.h>

#include "base/text.h"

/* Appends the path of the cache's folder `name`, which is made when it is missing. Returns false
 * when there is no folder that can be trusted, or it is not writable. */
bool user_cache_folder(const char *name, Text *folder);

/* Whether the path is a regular file that belongs to the user, and no other user may write to
 * it. */
bool user_cache_is_ours(const char *path);

#endif
