/* Texts and hashes of what determines a run (see the header). What differs from run to run,
 * especially files that are written, is excluded: the same run has the same origin. */
#include "simulator/origin.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/host.h"
#include "simulator/timed_run.h"

enum {
    COMMAND_LINE_MAX = 1 << 24, /* most bytes of a command line; Linux allows 2 MiB by default */
    CHUNK_BYTES = 1 << 16
};

/* ---- Command lines ---- */

/* The words of the process's own command line, except the first `skipped`. */
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
    simulator_lock(simulator);
    simulator->command = arena_strdup(simulator->options->arena, command);
    text_clear(&simulator->arguments);
    for (int i = 0; i < count; i++)
        text_add_word(&simulator->arguments, arguments[i]);
    simulator_unlock(simulator);
}

/* The command, the options given, the program's name as given and its arguments; otherwise the
 * process's own command line. */
static void add_command(const TytoSimulator *simulator, const char *program, Text *out) {
    if (!simulator->command) {
        add_process(0, out);
        return;
    }
    text_add(out, simulator->command);
    options_write_given(simulator->options, NULL, out);
    text_add_word(out, simulator->is_process ? program_invocation_name : program);
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

/* The build identifier of the linker, from the notes of a loaded object. */
static uint64_t add_identifier(uint64_t hash, const char *notes, size_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes, sizeof note);
        size_t name = (note.n_namesz + 3) & ~(size_t)3, text = (note.n_descsz + 3) & ~(size_t)3;
        if (name > size - sizeof note || text > size - sizeof note - name) break;
        const char *at = notes + sizeof note;
        if (note.n_type == NT_GNU_BUILD_ID && !strncmp(at, "GNU", note.n_namesz))
            hash = hash_add(hash, at + name, note.n_descsz);
        notes = at + name + text;
        size -= sizeof note + name + text;
    }
    return hash;
}

/* Visits a loaded object: if it contains the address in `user`, computes the hash of its
 * identifier. */
typedef struct Library {
    uintptr_t inside; /* an address in it */
    uint64_t hash;    /* HASH_START: none */
} Library;

static int find_identifier(struct dl_phdr_info *object, size_t size, void *user) {
    Library *library = user;
    bool is_it = false;
    uint64_t hash = HASH_START;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD) is_it |= library->inside - start < part->p_memsz;
        if (part->p_type == PT_NOTE)
            hash = add_identifier(hash, (const char *)start, part->p_memsz);
    }
    if (is_it) library->hash = hash;
    return is_it;
}

/* The hash of the object that contains this constant: the shared library, or a program that it is
 * linked into. It is that of the linker's build identifier, because reading a large file takes
 * longer than a small run; without an identifier, that of the file's bytes. */
static void sign_library(RunStats *run) {
    Library library = {.inside = (uintptr_t)run_origin_names, .hash = HASH_START};
    Dl_info info;
    dl_iterate_phdr(find_identifier, &library);
    if (library.hash == HASH_START && dladdr((const void *)run_origin_names, &info))
        library.hash = origin_add_file(HASH_START, info.dli_fname);
    set_hash(run, RUN_ORIGIN_library_hash, library.hash);
}

/* For a process that runs the program itself, the code is its executable and everything that is
 * loaded into the simulator. */
static void sign_program(TytoSimulator *simulator, RunStats *run) {
    uint64_t code = gpu_code_hash(simulator->gpu);
    if (!simulator->program_hash)
        simulator->program_hash =
            simulator->is_process ? origin_add_file(HASH_START, "/proc/self/exe") : HASH_START;
    set_hash(run, RUN_ORIGIN_program_hash, hash_add(simulator->program_hash, &code, sizeof code));
}

/* Sets the hash of a policy: of its name with parameters as given, and of a shared object's
 * bytes. */
static void sign_policy(RunStats *run, RunOrigin which, const char *text, uint64_t content) {
    uint64_t hash = hash_add(HASH_START, text, strlen(text));
    set_hash(run, which, hash_add(hash, &content, sizeof content));
}

static void sign_machine(const Machine *machine, RunStats *run) {
    Text values = {0};
    machine_write_values(machine, &values);
    set_hash(run, RUN_ORIGIN_machine_hash,
             hash_add(HASH_START, text_string(&values), values.length));
    text_free(&values);
}

static void sign_policies(const TimedRun *timed, RunStats *run) {
    sign_policy(run, RUN_ORIGIN_scheduler_hash, timed->scheduler->text, timed->scheduler->content);
    sign_policy(run, RUN_ORIGIN_cta_scheduler_hash, timed->cta_scheduler->text,
                timed->cta_scheduler->content);
}

/* ---- All of it ---- */

static void sign_variable(RunStats *run, RunOrigin which, const char *name) {
    char *value = host_variable(name);
    run_set_origin(run, which, value);
    free(value);
}

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
    sign_variable(run, RUN_ORIGIN_size, "TYTO_SIZE");
    sign_variable(run, RUN_ORIGIN_seed, "TYTO_SEED");
    sign_library(run);
    sign_program(simulator, run);
    sign_options(simulator->options, run);
    sign_machine(simulator->machine, run);
    if (simulator->timed) sign_policies(simulator->timed, run);
}
