/* Texts and hashes of what decides a run (see the header). What differs from run to run, files that
 * are written above all, stays out: the same run has the same origin. */
#include "driver/origin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "driver/detail.h"

enum {
    COMMAND_LINE_MAX = 1 << 24, /* bytes of a command line; Linux has 2 MiB at most by default */
    CHUNK_BYTES = 1 << 16
};

/* ---- Command lines ---- */

/* The words of the process's own command line, `skipped` of them left out. */
static void add_process(int skipped, Text *out) {
    size_t length;
    char *words = text_read_file("/proc/self/cmdline", COMMAND_LINE_MAX, &length);
    const char *end = words ? words + length : NULL;
    for (const char *word = words; word && word < end; word += strlen(word) + 1) {
        if (skipped-- > 0) continue;
        text_add_word(out, word);
    }
    free(words);
}

void origin_take_process(TytoSimulator *simulator) {
    text_clear(&simulator->arguments);
    simulator->command = "tyto run";
    add_process(1, &simulator->arguments);
}

void tyto_name_command(TytoSimulator *simulator, const char *command, int count,
                       const char *const *arguments) {
    pthread_mutex_lock(&simulator->lock);
    simulator->command = arena_strdup(simulator->options->arena, command);
    text_clear(&simulator->arguments);
    for (int i = 0; i < count; i++)
        text_add_word(&simulator->arguments, arguments[i]);
    pthread_mutex_unlock(&simulator->lock);
}

/* The command, the options given, the program and its arguments; else the process's own command
 * line. */
static void add_command(const TytoSimulator *simulator, const char *program, Text *out) {
    if (!simulator->command) {
        add_process(0, out);
        return;
    }
    text_add(out, simulator->command);
    options_write_given(simulator->options, NULL, out);
    text_add_word(out, program);
    if (simulator->arguments.length) text_printf(out, " %s", text_string(&simulator->arguments));
}

/* ---- Hashes ---- */

uint64_t origin_add_file(uint64_t hash, const char *path) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    char *bytes = base_malloc(CHUNK_BYTES);
    size_t length;
    while (file && (length = fread(bytes, 1, CHUNK_BYTES, file)) > 0)
        hash = hash_add_large(hash, bytes, length);
    if (file) fclose(file);
    free(bytes);
    return hash;
}

void origin_format_hash(uint64_t hash, char text[ORIGIN_HASH_BYTES]) {
    snprintf(text, ORIGIN_HASH_BYTES, "x%016llx", (unsigned long long)hash);
}

static void set_hash(RunStats *run, RunOrigin which, uint64_t hash) {
    char text[ORIGIN_HASH_BYTES];
    origin_format_hash(hash, text);
    run_set_origin(run, which, text);
}

/* The file that holds this function: the shared library, or a program that it is linked into. */
static void sign_library(RunStats *run) {
    Dl_info info;
    bool is_found = dladdr((const void *)run_origin_names, &info) != 0;
    set_hash(run, RUN_ORIGIN_library_hash,
             origin_add_file(HASH_START, is_found ? info.dli_fname : NULL));
}

/* A program that runs by itself is its executable, and all is what is loaded into the simulator. */
static void sign_program(const TytoSimulator *simulator, RunStats *run) {
    uint64_t code = gpu_code_hash(simulator->gpu), hash = HASH_START;
    if (simulator->is_process) hash = origin_add_file(hash, "/proc/self/exe");
    set_hash(run, RUN_ORIGIN_program_hash, hash_add(hash, &code, sizeof code));
}

/* Of a policy: as it is named with its parameters, and the hash of a shared object's bytes. */
static void sign_policy(RunStats *run, RunOrigin which, const char *text, uint64_t content) {
    uint64_t hash = hash_add(HASH_START, text, strlen(text));
    set_hash(run, which, hash_add(hash, &content, sizeof content));
}

static void sign_machine(const Detail *detail, RunStats *run) {
    Text values = {0};
    machine_write_values(detail->machine, &values);
    set_hash(run, RUN_ORIGIN_machine_hash,
             hash_add(HASH_START, text_string(&values), values.length));
    text_free(&values);
    sign_policy(run, RUN_ORIGIN_scheduler_hash, detail->scheduler->text,
                detail->scheduler->content);
    sign_policy(run, RUN_ORIGIN_cta_scheduler_hash, detail->cta_scheduler->text,
                detail->cta_scheduler->content);
}

/* ---- All of it ---- */

static void set_text(RunStats *run, RunOrigin which, const Text *text) {
    run_set_origin(run, which, text->length ? text_string(text) : NULL);
}

static void sign_options(const Options *options, RunStats *run) {
    static const char *const told_apart[] = {"--machine", "--scheduler", "--cta-scheduler", "--set",
                                             NULL};
    Text text = {0};
    options_write_given(options, told_apart, &text);
    set_text(run, RUN_ORIGIN_options, &text);
    text_clear(&text);
    for (int i = 0; i < options->sets.count; i++)
        text_add_word(&text, options->sets.items[i]);
    set_text(run, RUN_ORIGIN_overrides, &text);
    text_free(&text);
}

const char *tyto_origin(int i) { return i >= 0 && i < RUN_ORIGINS ? run_origin_names[i] : NULL; }

void origin_sign(TytoSimulator *simulator, const char *program) {
    RunStats *run = simulator->run;
    Text command = {0};
    add_command(simulator, program, &command);
    set_text(run, RUN_ORIGIN_command, &command);
    text_clear(&command);
    if (simulator->command) text_add(&command, text_string(&simulator->arguments));
    else add_process(1, &command);
    set_text(run, RUN_ORIGIN_arguments, &command);
    text_free(&command);
    run_set_origin(run, RUN_ORIGIN_program, program);
    run_set_origin(run, RUN_ORIGIN_size, getenv("TYTO_SIZE"));
    run_set_origin(run, RUN_ORIGIN_seed, getenv("TYTO_SEED"));
    sign_library(run);
    sign_program(simulator, run);
    sign_options(simulator->options, run);
    if (simulator->detail) sign_machine(simulator->detail, run);
}
