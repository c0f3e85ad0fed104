/* A file counts as the same while its identity, size and times are. */
#include "cli/experiment/contents.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/program.h"

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

bool contents_add_file(Contents *contents, const char *path, uint64_t *hash) {
    Content *content = find(contents, path);
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    if (!is_there || !is_unchanged(&status, &content->status)) {
        size_t length;
        char *bytes = file_read(path, FILE_DATA_MAX, &length);
        if (!bytes) return false;
        content->hash = tyto_hash(0, bytes, length);
        content->status = status;
        free(bytes);
    }
    *hash = tyto_hash(*hash, &content->hash, sizeof content->hash);
    return true;
}

bool contents_add_library(Contents *contents, uint64_t *hash) {
    char path[PATH_MAX];
    return program_find_library(path, sizeof path) && contents_add_file(contents, path, hash);
}

bool contents_add_workload(Contents *contents, const char *name, uint64_t *hash) {
    char path[PATH_MAX];
    if (!program_find(name, path, sizeof path - sizeof ".ptx") ||
        !contents_add_file(contents, path, hash))
        return false;
    strcat(path, ".ptx");
    return contents_add_file(contents, path, hash);
}
