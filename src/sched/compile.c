/* Compiles policies (see the header). The result is kept if there is a cache folder
 * (sched/compile_kept.h). Otherwise the policy is compiled in a new private folder, which is
 * removed when the object has been opened. */
#include "sched/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/user_cache.h"
#include "sched/compile_headers.h"
#include "sched/compile_kept.h"

#define BLANKS " \t\r\n"

extern char **environ;

bool compile_is_source(const char *path) {
    size_t length = strlen(path);
    return length > 2 && strcmp(path + length - 2, ".c") == 0;
}

/* The compiler, possibly with options: the words of CC, separated by blanks. */
static const char *compiler(void) {
    const char *named = getenv("CC");
    if (named) named += strspn(named, BLANKS);
    return named && *named ? named : "cc";
}

/* The key of an object: a hash of everything that affects it, except the files that are read. The
 * names of files are relative to the current directory. */
static uint64_t hash_key(const char *source) {
    static const char *const variables[] = {"CPATH", "C_INCLUDE_PATH"}; /* search path of <...> */
    uint64_t hash = hash_add(HASH_START, TYTO_VERSION, sizeof TYTO_VERSION);
    char *here = getcwd(NULL, 0);
    const char *words[] = {compiler(), source, here ? here : ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        hash = hash_add(hash, words[i], strlen(words[i]) + 1);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        hash = hash_add(hash, value ? value : "", value ? strlen(value) + 1 : 1);
    }
    for (int i = 0; compile_headers[i].name; i++)
        hash = hash_add(hash, compile_headers[i].text, strlen(compile_headers[i].text) + 1);
    free(here);
    return hash;
}

/* ---- Folders ---- */

/* Makes a new folder inside another, accessible only to this user. */
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

/* Removes one of our folders with the files in it; removes only files with known names. */
static void remove_folder(const char *folder) {
    Text path = {0};
    static const char *const names[] = {"policy.so", "policy.d", "list", "tyto"};
    for (int i = 0; compile_headers[i].name; i++) {
        text_clear(&path);
        text_printf(&path, "%s/tyto/%s", folder, compile_headers[i].name);
        unlink(text_string(&path));
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        text_clear(&path);
        text_printf(&path, "%s/%s", folder, names[i]);
        remove(text_string(&path));
    }
    rmdir(folder);
    text_free(&path);
}

/* ---- Compiling ---- */

/* Makes the command: the compiler's words, then ours. The function splits `copy`, a copy of the
 * compiler's words, in place. The caller frees the command. */
static char **make_command(char *copy, const char *const *ours, size_t count) {
    char **words = base_calloc(strlen(copy) + count + 1, sizeof *words), *rest;
    size_t length = 0;
    for (char *word = strtok_r(copy, BLANKS, &rest); word; word = strtok_r(NULL, BLANKS, &rest))
        words[length++] = word;
    for (size_t i = 0; i < count; i++)
        words[length++] = (char *)(uintptr_t)ours[i];
    return words;
}

/* Runs the compiler without a shell; its messages go to standard error unchanged. *error is an
 * errno value if it cannot be run. */
static bool run_compiler(const char *source, const KeptNew *made, int *error) {
    Text include = {0}, named = {0};
    text_printf(&include, "-I%s", made->made_in);
    text_add(&named, compiler());
    const char *const ours[] = {
        "-O2",         "-fPIC",       "-shared",
        "-s",          "-Wall",       "-Werror=implicit-function-declaration",
        "-Wl,-z,defs", include.bytes, "-MD",
        "-MT",         KEPT_TARGET,   "-MF",
        made->rule,    "-o",          made->object,
        source,        "-lm",
    };
    char **words = make_command(named.bytes, ours, sizeof ours / sizeof *ours);
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
    text_free(&named);
    free(words);
    return !*error && (status == 0 || (status == -1 && access(made->object, R_OK) == 0));
}

static void write_headers(const char *inside) {
    Text folder = {0};
    text_printf(&folder, "%s/tyto", inside);
    mkdir(text_string(&folder), 0700);
    for (int i = 0; compile_headers[i].name; i++)
        write_file(text_string(&folder), compile_headers[i].name, compile_headers[i].text);
    text_free(&folder);
}

/* Compiles in a new folder inside `inside`; with a key, the result is kept there. */
static bool compile(const char *source, const char *inside, const uint64_t *key, Compiled *out,
                    Diag *diag) {
    Text rule = {0};
    int error;
    if (!make_folder(inside, &out->folder)) {
        diag_error(diag, inside, 0, 0, "cannot make a folder to compile in: %s", strerror(errno));
        text_clear(&out->folder);
        return false;
    }
    write_headers(text_string(&out->folder));
    text_printf(&out->path, "%s/policy.so", text_string(&out->folder));
    text_printf(&rule, "%s/policy.d", text_string(&out->folder));
    KeptNew made = {text_string(&out->folder), text_string(&out->path), text_string(&rule), {0}};
    clock_gettime(CLOCK_REALTIME_COARSE, &made.begun); /* same clock as file times */
    bool is_compiled = run_compiler(source, &made, &error);
    if (!is_compiled && error)
        diag_error(diag, source, 0, 0, "%.*s cannot be run to compile it (%s); CC names another",
                   (int)strcspn(compiler(), BLANKS), compiler(), strerror(error));
    else if (!is_compiled) diag_error(diag, source, 0, 0, "%s did not compile it", compiler());
    else if (key && kept_add(inside, *key, &made, &out->path)) {
        remove_folder(text_string(&out->folder));
        text_clear(&out->folder);
    }
    text_free(&rule);
    return is_compiled;
}

bool compile_begin(const char *source, Compiled *out, Diag *diag) {
    Text cache = {0};
    const char *temporary = getenv("TMPDIR");
    *out = (Compiled){0};
    if (access(source, R_OK) != 0) {
        diag_error(diag, source, 0, 0, "cannot be read: %s", strerror(errno));
        return false;
    }
    uint64_t key = hash_key(source);
    bool is_right, has_cache = user_cache_folder("policies", &cache);
    if (has_cache)
        is_right = kept_find(text_string(&cache), key, &out->path) ||
                   compile(source, text_string(&cache), &key, out, diag);
    else is_right = compile(source, temporary && *temporary ? temporary : "/tmp", NULL, out, diag);
    if (!is_right) compile_end(out);
    text_free(&cache);
    return is_right;
}

void compile_end(Compiled *compiled) {
    if (compiled->folder.length) remove_folder(text_string(&compiled->folder));
    text_free(&compiled->folder);
    text_free(&compiled->path);
}
