/* PTX to machine code by ptxas (see the header). Each text is assembled in a new private folder,
 * which goes when the cubin has been read. */
#include "driver/module/assemble.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

extern char **environ;

enum { CUBIN_MAX = 1 << 30, MESSAGE_MAX = 1 << 16 }; /* bytes, against absurd sizes */

/* The files of a run. */
typedef struct Folder {
    char *path;
    Text ptx, cubin, log;
} Folder;

static bool make_folder(Folder *folder, const char *name, Diag *diag) {
    const char *inside = getenv("TMPDIR");
    Text path = {0};
    *folder = (Folder){0};
    text_printf(&path, "%s/tyto-ptxas-XXXXXX", inside && *inside ? inside : "/tmp");
    folder->path = strdup(text_string(&path));
    text_free(&path);
    if (!mkdtemp(folder->path)) {
        diag_warning(diag, name, 0, 0, "cannot make %s for ptxas: %s", folder->path,
                     strerror(errno));
        free(folder->path);
        return false;
    }
    text_printf(&folder->ptx, "%s/in.ptx", folder->path);
    text_printf(&folder->cubin, "%s/out.cubin", folder->path);
    text_printf(&folder->log, "%s/log", folder->path);
    return true;
}

static void remove_folder(Folder *folder) {
    Text *const files[] = {&folder->ptx, &folder->cubin, &folder->log};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unlink(text_string(files[i]));
        text_free(files[i]);
    }
    rmdir(folder->path);
    free(folder->path);
}

static bool write_text(const char *path, const GpuImage *text, Diag *diag) {
    FILE *file = fopen(path, "wx");
    bool is_whole = file && fwrite(text->text, 1, text->length, file) == text->length;
    if (file && fclose(file)) is_whole = false;
    if (!is_whole)
        diag_warning(diag, text->name, 0, 0, "cannot write %s for ptxas: %s", path,
                     strerror(errno));
    return is_whole;
}

/* Runs ptxas. Returns its exit status; 127 when there is none. */
static int run_ptxas(const Folder *folder, uint32_t architecture) {
    char arch[32];
    snprintf(arch, sizeof arch, "-arch=sm_%u", architecture);
    char *const words[] = {(char *)(uintptr_t)"ptxas",
                           arch,
                           (char *)(uintptr_t)text_string(&folder->ptx),
                           (char *)(uintptr_t)"-o",
                           (char *)(uintptr_t)text_string(&folder->cubin),
                           NULL};
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return 127;
    const char *log = text_string(&folder->log);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int status = 0;
    const bool is_started = posix_spawnp(&child, "ptxas", &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!is_started) return 127;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

static void say_refused(const Folder *folder, const char *name, Diag *diag) {
    size_t length;
    char *words = text_read_file(text_string(&folder->log), MESSAGE_MAX, &length);
    diag_warning(diag, name, 0, 0, "ptxas does not take this; its PTX runs instead: %s",
                 words ? words : "it said nothing");
    free(words);
}

bool assemble_ptx(const GpuImage *ptx, uint32_t architecture, Arena *arena, GpuImage *cubin,
                  Diag *diag) {
    Folder folder;
    if (!make_folder(&folder, ptx->name, diag)) return false;
    const bool is_written = write_text(text_string(&folder.ptx), ptx, diag);
    const int status = is_written ? run_ptxas(&folder, architecture) : 127;
    size_t length = 0;
    char *bytes = status ? NULL : text_read_file(text_string(&folder.cubin), CUBIN_MAX, &length);
    if (status && status != 127) say_refused(&folder, ptx->name, diag);
    remove_folder(&folder);
    if (!bytes) return false;
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, bytes, length);
    free(bytes);
    *cubin = (GpuImage){ptx->name, copy, length};
    return true;
}
