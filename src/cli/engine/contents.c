/* A file counts as the same while its identity, size and times are. */
#include "cli/engine/contents.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/program.h"

enum { CHUNK_BYTES = 1 << 20 };

typedef struct Content {
    char *path;
    struct stat status; /* when it was read */
    uint64_t hash;
} Content;

struct Contents {
    Content *list;
    int count;
};

Contents *contents_new(void) { return allocate(1, sizeof(Contents)); }

void contents_free(Contents *contents) {
    if (!contents) return;
    for (int i = 0; i < contents->count; i++)
        free(contents->list[i].path);
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

/* The row of a file, new if need be. */
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

/* Adds the bytes of a file, which may be larger than memory; false after a message. */
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
    }
    *hash = tyto_hash(*hash, &content->hash, sizeof content->hash);
    return true;
}

bool contents_add_library(Contents *contents, uint64_t *hash) {
    char path[PATH_MAX];
    return program_find_library(path, sizeof path) && contents_add_file(contents, path, hash);
}

bool contents_add_program(Contents *contents, const char *name, uint64_t *hash) {
    char path[PATH_MAX];
    bool is_workload;
    if (!program_find(name, path, sizeof path - sizeof ".ptx", &is_workload) ||
        !contents_add_file(contents, path, hash))
        return false;
    if (!is_workload) return true;
    strcat(path, ".ptx");
    return contents_add_file(contents, path, hash);
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
