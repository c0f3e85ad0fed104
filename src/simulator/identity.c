/* Everything that determines a run, as text, which identifies stored results. */
#include "tyto/tyto.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "ptxas/ptxas.h"
#include "sched/choice.h"
#include "simulator/assemble.h"
#include "simulator/timed_run.h"

static void add_policy(const char *what, const char *text, uint64_t content, Text *out) {
    text_printf(out, "%s %s", what, text);
    if (content) text_printf(out, " %016llx", (unsigned long long)content);
    text_add(out, "\n");
}

static void add_policies(const TimedRun *timed, Text *out) {
    add_policy("warps", timed->scheduler->text, timed->scheduler->content, out);
    add_policy("ctas", timed->cta_scheduler->text, timed->cta_scheduler->content, out);
}

/* The assembler that makes machine code, if any may be made. */
static void add_assembler(const Machine *machine, Text *out) {
    if (!assemble_is_wanted(machine_config(machine))) return;
    const char *version = ptxas_version();
    text_printf(out, "ptxas %s\n", version ? version : "none");
}

static bool add_timed(const Options *options, const Machine *machine, Text *out, Diag *diag) {
    RunStats *run = run_new("");
    TimedRun *timed = timed_run_new(options, machine, run, diag);
    if (timed) add_policies(timed, out);
    timed_run_free(timed);
    run_free(run);
    return timed != NULL;
}

/* Parses the words as options; returns false with errors in `diag`. */
static bool describe(int count, const char *const *words, Options *options, Text *out, Diag *diag) {
    if (!options_parse(options, NULL, count, words, diag)) return false;
    text_printf(out, "tyto %s\n", tyto_version());
    options_write_values(options, out);
    Machine *machine = timed_run_machine(options, diag);
    if (!machine) return false;
    machine_write_values(machine, out);
    add_assembler(machine, out);
    bool is_right = options->is_functional || add_timed(options, machine, out, diag);
    machine_free(machine);
    return is_right;
}

char *tyto_identity(int count, const char *const *words, char *message, size_t size) {
    Diag *diag = diag_new();
    Options *options = options_new();
    Text out = {0};
    bool is_right = describe(count, words, options, &out, diag);
    if (!is_right && size) snprintf(message, size, "%s", diag_text(diag));
    if (!is_right) text_free(&out);
    options_free(options);
    diag_free(diag);
    return out.bytes;
}

uint64_t tyto_hash(uint64_t hash, const void *bytes, size_t length) {
    return hash_add(hash ? hash : HASH_START, bytes, length);
}

bool tyto_is_plugin(const char *scheduler) { return choice_path_length(scheduler) != 0; }

bool tyto_is_machine_file(const char *machine) { return machine_is_path(machine); }
