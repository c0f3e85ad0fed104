/* The user's own cache (see the header). */
#include "base/user_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a folder that only its owner may write to; returns whether it is one. */
static bool make_private(const char *path) {
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & 022);
}

bool user_cache_folder(const char *name, Text *folder) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool is_named = cache && *cache == '/';
    if (!is_named && (!home || *home != '/')) return false;
    text_printf(folder, "%s%s", is_named ? cache : home, is_named ? "" : "/.cache");
    mkdir(text_string(folder), 0700);
    text_add(folder, "/tyto");
    if (!make_private(text_string(folder))) return false;
    text_printf(folder, "/%s", name);
    return make_private(text_string(folder)) && access(text_string(folder), W_OK) == 0;
}

bool user_cache_is_ours(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & 022);
}
