/* A file counts as unchanged while its inode, size and times are the same. */
#include "cli/engine/contents.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/program.h"
#include "cli/toolchain/elf.h"

enum { CHUNK_BYTES = 1 << 20 };

typedef struct Content {
    char *path;
    struct stat status; /* when it was read */
    uint64_t hash;
    bool is_listed;  /* `libraries` is that of the file when it was read */
    Words libraries; /* files that the loader maps with it, except the system's; owned */
} Content;

struct Contents {
    Content *list;
    int count;
};

Contents *contents_new(void) { return allocate(1, sizeof(Contents)); }

void contents_free(Contents *contents) {
    if (!contents) return;
    for (int i = 0; i < contents->count; i++) {
        free(contents->list[i].path);
        words_free(&contents->list[i].libraries);
    }
    free(contents->list);
    free(contents);
}

static bool is_same_time(struct timespec one, struct timespec other) {
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

static bool is_unchanged(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
           one->st_size == other->st_size && is_same_time(one->st_mtim, other->st_mtim) &&
           is_same_time(one->st_ctim, other->st_ctim);
}

/* The row of a file; adds a new row if there is none. */
static Content *find(Contents *contents, const char *path) {
    for (int i = 0; i < contents->count; i++) {
        if (strcmp(contents->list[i].path, path) == 0) return &contents->list[i];
    }
    Content *longer = allocate((size_t)contents->count + 1, sizeof *longer);
    if (contents->count) memcpy(longer, contents->list, (size_t)contents->count * sizeof *longer);
    free(contents->list);
    contents->list = longer;
    Content *content = &longer[contents->count++];
    content->path = strcpy(allocate(strlen(path) + 1, 1), path);
    return content;
}

/* Adds the bytes of a file to the hash; the file may be larger than memory. False after a message.
 */
static bool hash_file(const char *path, uint64_t *hash) {
    char *bytes = allocate(CHUNK_BYTES, 1);
    FILE *file = fopen(path, "rb");
    size_t length;
    while (file && (length = fread(bytes, 1, CHUNK_BYTES, file)) > 0)
        *hash = tyto_hash(*hash, bytes, length);
    bool is_read = file && !ferror(file);
    if (!is_read) say_error("cannot read %s: %s", path, strerror(errno));
    if (file) fclose(file);
    free(bytes);
    return is_read;
}

bool contents_add_file(Contents *contents, const char *path, uint64_t *hash) {
    Content *content = find(contents, path);
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    if (!is_there || !is_unchanged(&status, &content->status)) {
        content->hash = 0;
        if (!hash_file(path, &content->hash)) return false;
        content->status = status;
        content->is_listed = false;
    }
    *hash = tyto_hash(*hash, &content->hash, sizeof content->hash);
    return true;
}

bool contents_add_library(Contents *contents, uint64_t *hash) {
    char path[PATH_MAX];
    return program_find_library(path, sizeof path) && contents_add_file(contents, path, hash);
}

/* ---- Libraries of a program ---- */

/* Whether the file is in one of the system's folders. */
static bool is_of_system(const char *path) {
    static const char *const folders[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) == 0) return true;
    }
    return false;
}

/* Starts the loader, which writes to a pipe the list of files that it would map for a program,
 * without running the program. NULL: not possible. */
static FILE *start_loader(char *loader, char *program, pid_t *process) {
    char list[] = "--list", *words[] = {loader, list, program, NULL};
    int ends[2];
    posix_spawn_file_actions_t files;
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool is_started = posix_spawn(process, loader, &files, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    if (is_started) return fdopen(ends[0], "r");
    close(ends[0]);
    return NULL;
}

/* Reads the files that the loader maps for the program, from lines "NAME => FILE (ADDRESS)". The
 * program itself reports a library that is not found. */
static void list_libraries(char *program, Words *libraries) {
    char loader[PATH_MAX], line[2 * PATH_MAX];
    pid_t process;
    FILE *list = elf_find_loader(program, loader, sizeof loader)
                     ? start_loader(loader, program, &process)
                     : NULL;
    while (list && fgets(line, sizeof line, list)) {
        char *path = strstr(line, "=> /"), *end = strstr(line, " (0x");
        if (!path || !end) continue;
        *end = '\0';
        if (!is_of_system(path + strlen("=> "))) words_add(libraries, path + strlen("=> "));
    }
    if (!list) return;
    fclose(list);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Adds the libraries that the loader maps for a program; the program's own file has been added. */
static bool add_libraries(Contents *contents, char *program, uint64_t *hash) {
    Content *content = find(contents, program);
    if (!content->is_listed) {
        words_free(&content->libraries);
        list_libraries(program, &content->libraries);
        content->is_listed = true;
    }
    const Words libraries = content->libraries; /* the list of contents grows */
    for (int i = 0; i < libraries.count; i++) {
        if (!contents_add_file(contents, libraries.list[i], hash)) return false;
    }
    return true;
}

/* The libraries that replace the static runtime of a program; the loader does not list them. */
static bool add_runtimes(Contents *contents, const char *program, uint64_t *hash) {
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
    char folder[PATH_MAX], path[PATH_MAX + sizeof "/libcudart.so.11.0"];
    if (!elf_look(program).names_runtime) return true;
    if (!program_find_libraries(folder, sizeof folder)) return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (!contents_add_file(contents, path, hash)) return false;
    }
    return true;
}

bool contents_add_program(Contents *contents, const char *name, uint64_t *hash) {
    char path[PATH_MAX];
    bool is_workload;
    if (!program_find(name, path, sizeof path - sizeof ".ptx", &is_workload) ||
        !contents_add_file(contents, path, hash) || !add_libraries(contents, path, hash) ||
        !add_runtimes(contents, path, hash))
        return false;
    if (!is_workload) return true;
    strcat(path, ".ptx");
    return contents_add_file(contents, path, hash);
}

void contents_add_variable(const char *name, uint64_t *hash) {
    const char *value = getenv(name);
    *hash = tyto_hash(*hash, name, strlen(name) + 1);
    if (value) *hash = tyto_hash(*hash, value, strlen(value) + 1);
}

const char *contents_named_file(const char *word) {
    const char *equals = strchr(word, '=');
    const char *const names[] = {word, equals ? equals + 1 : word};
    for (int i = 0; i < 2; i++) {
        struct stat status;
        if (stat(names[i], &status) == 0 && S_ISREG(status.st_mode)) return names[i];
    }
    return NULL;
}
