/* Kept objects (see the header). */
#include "sched/compile_kept.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/user_cache.h"

enum {
    MAX_BYTES = 1 << 24, /* most bytes of a list; rejects endless files */
    CHUNK_BYTES = 1 << 14,
};

/* ---- Places ---- */

static void set_place(Text *place, const char *folder, uint64_t hash, const char *ending) {
    text_clear(place);
    text_printf(place, "%s/%016llx%s", folder, (unsigned long long)hash, ending);
}

/* ---- Contents ---- */

static bool is_before(struct timespec one, const struct timespec *other) {
    return one.tv_sec != other->tv_sec ? one.tv_sec < other->tv_sec : one.tv_nsec < other->tv_nsec;
}

/* Adds the bytes of a file to the hash. Returns false if it cannot be read, is not a regular file
 * (such as a pipe), or was changed at or after `since` (NULL: it may have changed). */
static bool add_content(const char *path, const struct timespec *since, uint64_t *hash) {
    char bytes[CHUNK_BYTES];
    ssize_t length = -1;
    struct stat status;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return false;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        (!since || is_before(status.st_ctim, since)))
        while ((length = read(file, bytes, sizeof bytes)) > 0)
            *hash = hash_add(*hash, bytes, (size_t)length);
    close(file);
    return length == 0;
}

/* Hashes files, one per line of `names`, with their names. */
static bool hash_files(const char *names, const struct timespec *since, uint64_t *hash) {
    Text name = {0};
    bool is_right = true;
    *hash = HASH_START;
    for (size_t length; is_right && (length = strcspn(names, "\n")) > 0; names += length) {
        text_clear(&name);
        text_add_bytes(&name, names, length);
        *hash = hash_add(*hash, text_string(&name), length + 1);
        is_right = add_content(text_string(&name), since, hash);
        length += names[length] == '\n';
    }
    text_free(&name);
    return is_right;
}

/* ---- Lists ---- */

/* Whether the list's files are unchanged. If so, sets *object to the object's hash. */
static bool is_good(const char *list, uint64_t *object) {
    uint64_t files;
    char *end;
    *object = strtoull(list, &end, 16);
    uint64_t wanted = strtoull(end, &end, 16);
    return *end == '\n' && hash_files(end + 1, NULL, &files) && files == wanted;
}

bool kept_find(const char *folder, uint64_t key, Text *object) {
    size_t length;
    uint64_t wanted = 0, hash = HASH_START;
    set_place(object, folder, key, ".list");
    bool has_list = user_cache_is_ours(text_string(object));
    char *list = has_list ? text_read_file(text_string(object), MAX_BYTES, &length) : NULL;
    bool is_found = list && is_good(list, &wanted);
    set_place(object, folder, wanted, ".so");
    is_found = is_found && user_cache_is_ours(text_string(object)) &&
               add_content(text_string(object), NULL, &hash) && hash == wanted;
    if (!is_found) text_clear(object);
    free(list);
    return is_found;
}

/* ---- The compiler's rule ---- */

/* Skips blanks and escaped ends of lines. */
static const char *skip_blanks(const char *rule) {
    while (*rule == ' ' || *rule == '\t' || strncmp(rule, "\\\n", 2) == 0)
        rule += *rule == '\\' ? 2 : 1;
    return rule;
}

/* Adds a name of the rule, in which blanks, `#` and `:` are escaped by `\` and `$` is doubled.
 * Returns the rest of the rule. (Other uses of `\` by compilers give a name of no file; then
 * nothing is kept.) */
static const char *take_name(const char *rule, Text *name) {
    for (; *rule && !strchr(" \t\n", *rule); rule++) {
        bool is_escaped =
            (*rule == '\\' && rule[1] && strchr(" \t#:", rule[1])) || strncmp(rule, "$$", 2) == 0;
        rule += is_escaped;
        text_add_bytes(name, rule, 1);
    }
    return rule;
}

/* Lists the input files, one per line, without those of `folder`. Returns false if the text is not
 * such a rule. */
static bool read_rule(const char *rule, const char *folder, Text *names) {
    Text name = {0};
    bool is_rule = strncmp(rule, KEPT_TARGET ":", sizeof KEPT_TARGET) == 0;
    rule = skip_blanks(rule + (is_rule ? sizeof KEPT_TARGET : 0));
    for (; is_rule && *rule && *rule != '\n'; rule = skip_blanks(rule)) {
        text_clear(&name);
        rule = take_name(rule, &name);
        if (strncmp(text_string(&name), folder, strlen(folder)) == 0) continue;
        text_printf(names, "%s\n", text_string(&name));
    }
    text_free(&name);
    return is_rule && names->length;
}

/* ---- Keeping ---- */

/* Writes the list into the folder in which the object was made. */
static bool write_list(const KeptNew *made, const char *names, uint64_t object, Text *path) {
    uint64_t files;
    text_printf(path, "%s/list", made->made_in);
    FILE *file = hash_files(names, &made->begun, &files) ? fopen(text_string(path), "wx") : NULL;
    if (!file) return false;
    fprintf(file, "%016llx %016llx\n%s", (unsigned long long)object, (unsigned long long)files,
            names);
    return fclose(file) == 0;
}

bool kept_add(const char *folder, uint64_t key, const KeptNew *made, Text *object) {
    Text names = {0}, list = {0}, place = {0};
    size_t length;
    uint64_t hash = HASH_START;
    char *rule = text_read_file(made->rule, MAX_BYTES, &length);
    bool is_kept = rule && read_rule(rule, made->made_in, &names) &&
                   add_content(made->object, NULL, &hash) &&
                   write_list(made, text_string(&names), hash, &list);
    set_place(&place, folder, hash, ".so");
    is_kept = is_kept && rename(made->object, text_string(&place)) == 0;
    if (is_kept) {
        text_clear(object);
        text_add(object, text_string(&place));
        set_place(&place, folder, key, ".list");
        rename(text_string(&list), text_string(&place));
    }
    free(rule);
    text_free(&names);
    text_free(&list);
    text_free(&place);
    return is_kept;
}
