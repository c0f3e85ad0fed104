/* Kept cubins (see the header). */
#include "ptxas/kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/output_file.h"
#include "base/text.h"
#include "base/user_cache.h"

enum { FILE_MAX = 1 << 30 }; /* bytes; rejects absurd sizes */
static const char magic[8] = "tytocub2";

/* The header of a file; the cubin follows it. */
typedef struct Header {
    char magic[8];
    KeptKey key;
    uint64_t size, hash; /* of the cubin */
} Header;

/* The path of a key's file; returns false if there is no folder for it. */
static bool find_place(const KeptKey *key, Text *place) {
    if (!user_cache_folder("cubins", place)) return false;
    text_printf(place, "/%016llx.cubin",
                (unsigned long long)hash_add(HASH_START, key, sizeof *key));
    return true;
}

/* ---- Reading ---- */

static bool is_good(const KeptKey *key, const char *bytes, size_t length) {
    Header header;
    if (length < sizeof header) return false;
    memcpy(&header, bytes, sizeof header);
    const size_t size = length - sizeof header;
    return memcmp(header.magic, magic, sizeof magic) == 0 &&
           memcmp(&header.key, key, sizeof *key) == 0 && header.size == size &&
           header.hash == hash_add_large(HASH_START, bytes + sizeof header, size);
}

/* Copies the cubin out of a file's bytes; marks the file as used now. */
static const char *take(const char *path, const char *bytes, size_t length, Arena *arena,
                        size_t *size) {
    *size = length - sizeof(Header);
    char *cubin = arena_alloc(arena, *size + 1);
    memcpy(cubin, bytes + sizeof(Header), *size);
    utimensat(AT_FDCWD, path, NULL, 0);
    return cubin;
}

const char *kept_find_cubin(const KeptKey *key, Arena *arena, size_t *size) {
    Text place = {0};
    size_t length;
    const bool is_there = find_place(key, &place) && user_cache_is_ours(text_string(&place));
    char *bytes = is_there ? text_read_file(text_string(&place), FILE_MAX, &length) : NULL;
    const char *cubin = bytes && is_good(key, bytes, length)
                            ? take(text_string(&place), bytes, length, arena, size)
                            : NULL;
    free(bytes);
    text_free(&place);
    return cubin;
}

/* ---- Making room ---- */

/* A file of the folder. */
typedef struct Kept {
    char *path; /* owned */
    struct timespec used;
    uint64_t bytes;
} Kept;

static int by_use(const void *one, const void *other) {
    const struct timespec *a = &((const Kept *)one)->used, *b = &((const Kept *)other)->used;
    if (a->tv_sec != b->tv_sec) return a->tv_sec < b->tv_sec ? -1 : 1;
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/* The regular files of a folder; the caller frees them and their paths. */
static Kept *list_files(const char *folder, uint32_t *count) {
    Kept *files = NULL;
    uint32_t room = 0;
    *count = 0;
    DIR *open = opendir(folder);
    for (const struct dirent *entry; open && (entry = readdir(open));) {
        struct stat status;
        if (fstatat(dirfd(open), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        Text path = {0};
        text_printf(&path, "%s/%s", folder, entry->d_name);
        files = base_grow(files, *count, &room, sizeof *files);
        files[(*count)++] = (Kept){path.bytes, status.st_mtim, (uint64_t)status.st_size};
    }
    if (open) closedir(open);
    return files;
}

void kept_trim(const char *folder, uint64_t most) {
    uint32_t count;
    Kept *files = list_files(folder, &count);
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += files[i].bytes;
    if (total > most) qsort(files, count, sizeof *files, by_use);
    for (uint32_t i = 0; i < count; i++) {
        if (total > most && unlink(files[i].path) == 0) total -= files[i].bytes;
        free(files[i].path);
    }
    free(files);
}

/* ---- Keeping ---- */

static bool write_cubin(const char *path, const KeptKey *key, const char *cubin, size_t size) {
    Header header = {.key = *key, .size = size, .hash = hash_add_large(HASH_START, cubin, size)};
    memcpy(header.magic, magic, sizeof magic);
    OutputFile *file = output_file_open(path);
    if (!file) return false;
    fwrite(&header, sizeof header, 1, output_file_stream(file));
    fwrite(cubin, size, 1, output_file_stream(file));
    /* independent of the umask, as user_cache_is_ours requires */
    return output_file_close_soon(file) && chmod(path, 0600) == 0;
}

void kept_add_cubin(const KeptKey *key, const char *cubin, size_t size) {
    Text place = {0}, folder = {0};
    if (size <= KEPT_MAX_BYTES && find_place(key, &place) &&
        write_cubin(text_string(&place), key, cubin, size) && user_cache_folder("cubins", &folder))
        kept_trim(text_string(&folder), KEPT_MAX_BYTES);
    text_free(&place);
    text_free(&folder);
}
