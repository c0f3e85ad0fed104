/* Reads files of a program's source below the allowed folders (see the header). Symbolic links and
 * ".." are resolved before the comparison. Hidden files and files in hidden folders below an
 * allowed folder are excluded, because the working folder may be a home folder, which contains keys
 * there. */
#include "stats/source_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"

enum { SOURCE_BYTES_MAX = 16 << 20 /* most bytes of a file that is read */ };

/* ---- Folders ---- */

bool source_files_allow(SourceFiles *files, const char *folder) {
    char *path = realpath(folder, NULL);
    if (!path) return false;
    files->folders = base_realloc(files->folders, (files->count + 1) * sizeof *files->folders);
    files->folders[files->count++] = path;
    return true;
}

void source_files_allow_beside(SourceFiles *files, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) {
        source_files_allow(files, ".");
        return;
    }
    Text folder = {0};
    text_add_bytes(&folder, path, (size_t)(slash - path) + 1);
    source_files_allow(files, text_string(&folder));
    text_free(&folder);
}

void source_files_free(SourceFiles *files) {
    for (uint32_t i = 0; i < files->count; i++)
        free(files->folders[i]);
    free(files->folders);
    *files = (SourceFiles){0};
}

/* ---- Files ---- */

/* Whether a resolved path is below a resolved folder, with nothing hidden on the way. */
static bool is_below(const char *path, const char *folder) {
    const size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' &&
           !strstr(path + length, "/.");
}

static bool is_allowed(const SourceFiles *files, const char *path) {
    for (uint32_t i = 0; i < files->count; i++)
        if (is_below(path, files->folders[i])) return true;
    return false;
}

/* Reads a file by its resolved path. Neither opening nor reading blocks for a pipe or a device. */
static char *read_regular(const char *path) {
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    size_t length;
    if (file < 0) return NULL;
    FILE *stream = fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? fdopen(file, "rb") : NULL;
    if (!stream) {
        close(file);
        return NULL;
    }
    char *text = text_read_stream(stream, SOURCE_BYTES_MAX, &length);
    fclose(stream);
    return text;
}

/* The resolved path of a name relative to the folder, which the caller must free(); NULL: there is
 * no such file. */
static char *resolve(const char *folder, const char *name) {
    Text path = {0};
    text_printf(&path, "%s/%s", folder, name);
    char *resolved = realpath(text_string(&path), NULL);
    text_free(&path);
    return resolved;
}

static char *read_allowed(const SourceFiles *files, char *path, bool *is_outside) {
    char *text = NULL;
    if (path) {
        bool is_inside = is_allowed(files, path);
        *is_outside |= !is_inside;
        if (is_inside) text = read_regular(path);
    }
    free(path);
    return text;
}

char *source_files_read(const SourceFiles *files, const char *name, bool *is_outside) {
    char *text = NULL;
    *is_outside = false;
    if (*name == '/') return read_allowed(files, realpath(name, NULL), is_outside);
    for (uint32_t i = 0; i < files->count && !text; i++)
        text = read_allowed(files, resolve(files->folders[i], name), is_outside);
    *is_outside &= !text;
    return text;
}
