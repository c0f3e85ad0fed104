/* Runs ptxas (see the header). Each text is assembled in a new private folder, which is removed
 * after the cubin has been read. */
#include "ptxas/ptxas.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/host.h"
#include "base/text.h"
#include "ptxas/kept.h"

extern char **environ;

enum {
    CUBIN_MAX = 1 << 30,   /* bytes; rejects absurd sizes */
    MESSAGE_MAX = 1 << 16, /* bytes of ptxas's messages */
    NOT_STARTED = 127,     /* the exit status of a shell in the same case */
    KILLED = 126
};

/* ---- Which ptxas ---- */

/* The path of the first ptxas in these folders; returns false if there is none. */
static bool find_in_folders(const char *folders, Text *path, struct stat *status) {
    for (const char *at = folders; *at;) {
        const size_t length = strcspn(at, ":");
        text_clear(path);
        text_add_bytes(path, length ? at : ".", length ? length : 1);
        text_add(path, "/ptxas");
        if (access(text_string(path), X_OK) == 0 && stat(text_string(path), status) == 0 &&
            S_ISREG(status->st_mode))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* The path of the first ptxas on the PATH; returns false if there is none. If the program has
 * cleared its environment, the PATH that it was started with counts. */
static bool find_ptxas(Text *path, struct stat *status) {
    char *folders = host_variable("PATH");
    const bool is_found = folders && find_in_folders(folders, path, status);
    free(folders);
    return is_found;
}

/* Identifies a ptxas without running it: its path, size, and modification time. */
static uint64_t hash_ptxas(const char *path, const struct stat *status) {
    const uint64_t facts[] = {(uint64_t)status->st_dev, (uint64_t)status->st_ino,
                              (uint64_t)status->st_size, (uint64_t)status->st_mtim.tv_sec,
                              (uint64_t)status->st_mtim.tv_nsec};
    return hash_add(hash_add(HASH_START, facts, sizeof facts), path, strlen(path));
}

/* ---- Running it ---- */

/* Runs ptxas with its output in a file. Returns its exit status, or NOT_STARTED or KILLED. */
static int run_ptxas(const char *path, char *const *words, const char *log) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions)) return NOT_STARTED;
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int status = 0;
    const bool is_started = posix_spawn(&child, path, &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!is_started) return NOT_STARTED;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED;
}

/* The files of a run. */
typedef struct Folder {
    Text path, ptx, cubin, log;
} Folder;

static void remove_folder(Folder *folder) {
    Text *const files[] = {&folder->ptx, &folder->cubin, &folder->log};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unlink(text_string(files[i]));
        text_free(files[i]);
    }
    rmdir(text_string(&folder->path));
    text_free(&folder->path);
}

/* Returns false with errno set, and leaves nothing to remove. */
static bool make_folder(Folder *folder) {
    const char *inside = getenv("TMPDIR");
    *folder = (Folder){0};
    text_printf(&folder->path, "%s/tyto-ptxas-XXXXXX", inside && *inside ? inside : "/tmp");
    if (!mkdtemp(folder->path.bytes)) {
        text_free(&folder->path);
        return false;
    }
    const char *path = text_string(&folder->path);
    text_printf(&folder->ptx, "%s/in.ptx", path);
    text_printf(&folder->cubin, "%s/out.cubin", path);
    text_printf(&folder->log, "%s/log", path);
    return true;
}

static bool write_text(const char *path, const PtxasInput *input) {
    FILE *file = fopen(path, "wx");
    bool is_whole = file && fwrite(input->text, 1, input->length, file) == input->length;
    if (file && fclose(file)) is_whole = false;
    return is_whole;
}

static void say_refused(const Folder *folder, const char *name, Diag *diag) {
    size_t length;
    char *words = text_read_file(text_string(&folder->log), MESSAGE_MAX, &length);
    diag_warning(diag, name, 0, 0, "ptxas does not accept this PTX: %s",
                 words && *words ? words : "it gives no reason");
    free(words);
}

/* If a function has several results, ptxas 13 keeps a predicate among them in a register, although
 * the caller reads a predicate. It warns that such functions have no calling convention. */
static bool loses_results(const Folder *folder, const char *name, Diag *diag) {
    size_t length;
    char *words = text_read_file(text_string(&folder->log), MESSAGE_MAX, &length);
    const bool loses = words && strstr(words, "multiple return values found, disabling ABI");
    free(words);
    if (loses)
        diag_warning(diag, name, 0, 0,
                     "a function has several results, which the code that ptxas makes of it can "
                     "lose; the PTX runs instead");
    return loses;
}

/* The suffix letter of a text for a single architecture (".target sm_90a"), which ptxas requires in
 * the name of the architecture; '\0' for others. */
static char letter_of_target(const PtxasInput *input) {
    static const char word[] = ".target";
    const char *end = input->text + input->length;
    const char *at = memmem(input->text, input->length, word, sizeof word - 1);
    char name[32];
    if (!at) return '\0';
    for (at += sizeof word - 1; at < end && (*at == ' ' || *at == '\t'); at++) {
    }
    const int length = snprintf(name, sizeof name, "sm_%u", input->architecture);
    if (end - at <= length || strncmp(at, name, (size_t)length) != 0) return '\0';
    return at[length] == 'a' || at[length] == 'f' ? at[length] : '\0';
}

/* Runs ptxas on a text; the caller frees the result. NULL on failure, after a warning unless there
 * is no ptxas. */
static char *assemble(const char *path, const PtxasInput *input, size_t *size, Diag *diag) {
    Folder folder;
    if (!make_folder(&folder) || !write_text(text_string(&folder.ptx), input)) {
        diag_warning(diag, input->name, 0, 0, "cannot write files for ptxas: %s", strerror(errno));
        if (folder.path.length) remove_folder(&folder);
        return NULL;
    }
    const char letter[] = {letter_of_target(input), '\0'};
    char arch[32];
    snprintf(arch, sizeof arch, "-arch=sm_%u%s", input->architecture, letter);
    char *const words[] = {(char *)(uintptr_t)"ptxas",
                           arch,
                           (char *)(uintptr_t)text_string(&folder.ptx),
                           (char *)(uintptr_t)"-o",
                           (char *)(uintptr_t)text_string(&folder.cubin),
                           NULL};
    const int status = run_ptxas(path, words, text_string(&folder.log));
    char *cubin = NULL;
    if (status || !loses_results(&folder, input->name, diag)) {
        cubin = status ? NULL : text_read_file(text_string(&folder.cubin), CUBIN_MAX, size);
        if (!cubin && status != NOT_STARTED) say_refused(&folder, input->name, diag);
    }
    remove_folder(&folder);
    return cubin;
}

static const char *assemble_and_keep(const char *path, const PtxasInput *input, const KeptKey *key,
                                     Arena *arena, size_t *size, Diag *diag) {
    char *cubin = assemble(path, input, size, diag);
    if (!cubin) return NULL;
    kept_add_cubin(key, cubin, *size);
    char *copy = arena_alloc(arena, *size + 1);
    memcpy(copy, cubin, *size);
    free(cubin);
    return copy;
}

const char *ptxas_assemble(const PtxasInput *input, Arena *arena, size_t *size, Diag *diag) {
    Text path = {0};
    struct stat status;
    const char *cubin = NULL;
    if (find_ptxas(&path, &status)) {
        const KeptKey key = {.text_hash = hash_add_large(HASH_START, input->text, input->length),
                             .text_length = input->length,
                             .assembler = hash_ptxas(text_string(&path), &status),
                             .architecture = input->architecture};
        cubin = kept_find_cubin(&key, arena, size);
        if (!cubin) cubin = assemble_and_keep(text_string(&path), input, &key, arena, size, diag);
    }
    text_free(&path);
    return cubin;
}

/* ---- Its version ---- */

static char version[32];

/* Extracts the number from "Cuda compilation tools, release 13.0, V13.0.88". */
static void read_version(const char *words) {
    static const char mark[] = ", V";
    const char *at = strstr(words, mark);
    snprintf(version, sizeof version, "%.*s",
             at ? (int)strspn(at + strlen(mark), "0123456789.") : 7,
             at ? at + strlen(mark) : "unknown");
}

static void find_version(void) {
    Text path = {0};
    struct stat status;
    Folder folder;
    if (find_ptxas(&path, &status) && make_folder(&folder)) {
        char *const words[] = {(char *)(uintptr_t)"ptxas", (char *)(uintptr_t)"--version", NULL};
        size_t length;
        char *said = run_ptxas(text_string(&path), words, text_string(&folder.log))
                         ? NULL
                         : text_read_file(text_string(&folder.log), MESSAGE_MAX, &length);
        if (said) read_version(said);
        free(said);
        remove_folder(&folder);
    }
    text_free(&path);
}

const char *ptxas_version(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_version);
    return *version ? version : NULL;
}
