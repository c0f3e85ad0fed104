/* Compiling policies (see the header).
 *
 * What was compiled is kept in a folder of the user's own cache ($XDG_CACHE_HOME, else ~/.cache)
 * that nobody else may write to, under a hash of all that goes in: the file, the files that it
 * includes in quotes and these in turn, the compiler's name and Tyto's headers. Where there is no
 * such folder it is compiled in a new private one, which goes when the object is open. An object is
 * made under a name of its own and then renamed, so that no process sees half of one. */
#include "sched/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "sched/compile_headers.h"

enum {
    MAX_BYTES = 1 << 24, /* of a source, against files that never end */
    MAX_DEPTH = 8,       /* of inclusions that are looked at */
};

extern char **environ;

bool compile_is_source(const char *path) {
    size_t length = strlen(path);
    return length > 2 && strcmp(path + length - 2, ".c") == 0;
}

static const char *compiler(void) {
    const char *named = getenv("CC");
    return named && *named && !strchr(named, ' ') ? named : "cc";
}

/* ---- What goes in ---- */

static uint64_t hash_source(uint64_t hash, const char *path, int depth);

/* The files that a line names in quotes lie beside the one that includes them. */
static uint64_t hash_inclusions(uint64_t hash, const char *text, const char *path, int depth) {
    const char *slash = strrchr(path, '/');
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\n#");
        if (strncmp(line, "include", 7) != 0) continue;
        const char *name = line + 7 + strspn(line + 7, " \t");
        size_t length = *name == '"' ? strcspn(name + 1, "\"\n") : 0;
        if (!length) continue;
        Text beside = {0};
        text_printf(&beside, "%.*s%.*s", slash ? (int)(slash + 1 - path) : 0, path, (int)length,
                    name + 1);
        hash = hash_source(hash, text_string(&beside), depth + 1);
        text_free(&beside);
    }
    return hash;
}

/* Adds the bytes of a file and of what it includes; of one that is not there, nothing. */
static uint64_t hash_source(uint64_t hash, const char *path, int depth) {
    size_t length;
    char *text = depth < MAX_DEPTH ? text_read_file(path, MAX_BYTES, &length) : NULL;
    if (!text) return hash;
    hash = hash_add(hash, path, strlen(path) + 1);
    hash = hash_add(hash, text, length);
    hash = hash_inclusions(hash, text, path, depth);
    free(text);
    return hash;
}

static uint64_t hash_all(const char *source) {
    uint64_t hash = hash_add(HASH_START, TYTO_VERSION, sizeof TYTO_VERSION);
    hash = hash_add(hash, compiler(), strlen(compiler()) + 1);
    for (int i = 0; compile_headers[i].name; i++)
        hash = hash_add(hash, compile_headers[i].text, strlen(compile_headers[i].text) + 1);
    return hash_source(hash, source, 0);
}

/* ---- Folders ---- */

/* Makes a folder that only its owner may enter; true if it is such a one then. */
static bool make_private(const char *path) {
    struct stat status;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return false;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & 022);
}

/* The folder in the user's cache; false where there is none that can be trusted. */
static bool find_cache(Text *folder) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool is_named = cache && *cache == '/';
    if (!is_named && (!home || *home != '/')) return false;
    text_printf(folder, "%s%s", is_named ? cache : home, is_named ? "" : "/.cache");
    mkdir(text_string(folder), 0700);
    text_add(folder, "/tyto");
    if (!make_private(text_string(folder))) return false;
    text_add(folder, "/policies");
    return make_private(text_string(folder)) && access(text_string(folder), W_OK) == 0;
}

/* Whether the object is there, and is nobody else's. */
static bool is_ours(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           !(status.st_mode & 022);
}

/* A new folder inside another, which only we may enter. */
static bool make_folder(const char *inside, Text *folder) {
    text_clear(folder);
    text_printf(folder, "%s/tyto-policy-XXXXXX", inside);
    return mkdtemp(folder->bytes) != NULL;
}

static void write_file(const char *folder, const char *name, const char *text) {
    Text path = {0};
    text_printf(&path, "%s/%s", folder, name);
    FILE *file = fopen(text_string(&path), "wx");
    if (file) fputs(text, file);
    if (file) fclose(file);
    text_free(&path);
}

/* Removes a folder of ours with the files that stand in it, named ones alone. */
static void remove_folder(const char *folder) {
    Text path = {0};
    static const char *const names[] = {"policy.so", "tyto"};
    for (int i = 0; compile_headers[i].name; i++) {
        text_clear(&path);
        text_printf(&path, "%s/tyto/%s", folder, compile_headers[i].name);
        unlink(text_string(&path));
    }
    for (int i = 0; i < 2; i++) {
        text_clear(&path);
        text_printf(&path, "%s/%s", folder, names[i]);
        remove(text_string(&path));
    }
    rmdir(folder);
    text_free(&path);
}

/* ---- Compiling ---- */

/* Runs the compiler, whose messages go to standard error as they are. *error is errno's where it
 * cannot be run. */
static bool run_compiler(const char *source, const char *folder, const char *object, int *error) {
    Text include = {0};
    text_printf(&include, "-I%s", folder);
    char *words[] = {(char *)(uintptr_t)compiler(),
                     "-O2",
                     "-fPIC",
                     "-shared",
                     "-s",
                     "-Wall",
                     "-Werror=implicit-function-declaration",
                     "-Wl,-z,defs",
                     include.bytes,
                     "-o",
                     (char *)(uintptr_t)object,
                     (char *)(uintptr_t)source,
                     "-lm",
                     NULL};
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    *error = posix_spawnp(&process, words[0], &actions, NULL, words, environ);
    while (!*error && waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    posix_spawn_file_actions_destroy(&actions);
    text_free(&include);
    return !*error && (status == 0 || (status == -1 && access(object, R_OK) == 0));
}

/* Compiles in a new folder, of which only the object is left. */
static bool compile(const char *source, const char *inside, Compiled *out, Diag *diag) {
    Text headers = {0};
    if (!make_folder(inside, &out->folder)) {
        diag_error(diag, inside, 0, 0, "cannot make a folder to compile in: %s", strerror(errno));
        text_clear(&out->folder);
        return false;
    }
    text_printf(&headers, "%s/tyto", text_string(&out->folder));
    mkdir(text_string(&headers), 0700);
    for (int i = 0; compile_headers[i].name; i++)
        write_file(text_string(&headers), compile_headers[i].name, compile_headers[i].text);
    text_free(&headers);
    text_clear(&out->path);
    text_printf(&out->path, "%s/policy.so", text_string(&out->folder));
    int error;
    bool is_compiled =
        run_compiler(source, text_string(&out->folder), text_string(&out->path), &error);
    if (!is_compiled && error)
        diag_error(diag, source, 0, 0, "%s cannot be run to compile it (%s); CC names another",
                   compiler(), strerror(error));
    else if (!is_compiled) diag_error(diag, source, 0, 0, "%s did not compile it", compiler());
    return is_compiled;
}

/* Puts the object where the next one finds it. */
static void keep(const char *place, Compiled *out) {
    if (rename(text_string(&out->path), place) != 0) return;
    remove_folder(text_string(&out->folder));
    text_clear(&out->folder);
    text_clear(&out->path);
    text_add(&out->path, place);
}

bool compile_begin(const char *source, Compiled *out, Diag *diag) {
    Text cache = {0}, place = {0};
    const char *temporary = getenv("TMPDIR");
    *out = (Compiled){0};
    if (access(source, R_OK) != 0) {
        diag_error(diag, source, 0, 0, "cannot be read: %s", strerror(errno));
        return false;
    }
    bool has_cache = find_cache(&cache);
    if (has_cache)
        text_printf(&place, "%s/%016llx.so", text_string(&cache),
                    (unsigned long long)hash_all(source));
    bool is_there = has_cache && is_ours(text_string(&place)), is_right = true;
    if (is_there) text_add(&out->path, text_string(&place));
    else
        is_right = compile(source,
                           has_cache                 ? text_string(&cache)
                           : temporary && *temporary ? temporary
                                                     : "/tmp",
                           out, diag);
    if (is_right && has_cache && !is_there) keep(text_string(&place), out);
    if (!is_right) compile_end(out);
    text_free(&cache);
    text_free(&place);
    return is_right;
}

void compile_end(Compiled *compiled) {
    if (compiled->folder.length) remove_folder(text_string(&compiled->folder));
    text_free(&compiled->folder);
    text_free(&compiled->path);
}
