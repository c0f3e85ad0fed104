/* Makes the key of a run, as texts and as a hash (see the header). */
#include "cli/engine/task.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/program.h"

enum { MESSAGE_BYTES = 4096, VERSION_BYTES = 64 };

/* ---- Forms ---- */

/* The default machine. */
static const char *default_machine(void) { return option_find("--machine")->initial; }

void task_form_take(TaskForm *form, const Arguments *arguments) {
    const struct {
        const char *name;
        const char **value;
    } places[] = {{"--machine", &form->machine},
                  {"--scheduler", &form->scheduler},
                  {"--cta-scheduler", &form->cta_scheduler}};
    enum { PLACES = sizeof places / sizeof places[0] };
    form->program =
        (Words){(const char **)(uintptr_t)arguments->operands, arguments->operand_count};
    form->machine = default_machine();
    const char *const *word = arguments->simulator;
    for (int i = 0; i < arguments->given_count; i++) {
        const char *name = *word++, *value = arguments->given[i]->argument ? *word++ : NULL;
        int place = 0;
        while (place < PLACES && strcmp(places[place].name, name) != 0)
            place++;
        if (place < PLACES) *places[place].value = value;
        else if (strcmp(name, "--set") == 0) words_add(&form->set, value);
        else task_form_add(form, arguments->given[i], value);
    }
}

void task_form_add(TaskForm *form, const TytoOption *option, const char *value) {
    /* Not part of the key, because the loaded code is. */
    if (strcmp(option->name, "--allow-plugins") == 0) {
        form->allows_plugins = true;
        return;
    }
    words_add(&form->options, option->name);
    if (value) words_add(&form->options, value);
}

void task_form_free(TaskForm *form) {
    words_free(&form->set);
    words_free(&form->options);
    words_free(&form->inputs);
    words_free(&form->variables);
}

void task_cut_message(char *message) {
    static const char mark[] = "error: ";
    char *at = strstr(message, mark);
    if (!at) return;
    char *reason = at + sizeof mark - 1, *to = strncmp(message, "--", 2) == 0 ? message : at;
    memmove(to, reason, strlen(reason) + 1);
}

static void add_option(Words *options, const char *name, const char *value) {
    if (!value) return;
    words_add(options, name);
    words_add(options, value);
}

/* Whether an option alone is wrong, on the form's machine. */
static bool is_wrong(const TaskForm *form, const char *option, const char *value, char *message,
                     size_t size_bytes) {
    Words words = {0};
    if (form->allows_plugins) words_add(&words, "--allow-plugins");
    add_option(&words, option, value);
    add_option(&words, "--machine", form->machine);
    bool is_right =
        !value || tyto_check_options(words.count, words.list, message, size_bytes) == TYTO_OK;
    words_free(&words);
    if (!is_right) task_cut_message(message);
    return !is_right;
}

const char *task_form_find_wrong(const TaskForm *form, char *message, size_t size) {
    const struct {
        const char *option, *value;
    } texts[] = {{"--machine", form->machine},
                 {"--scheduler", form->scheduler},
                 {"--cta-scheduler", form->cta_scheduler},
                 {"--registers", form->registers},
                 {"--stop-after", form->stop_after}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (is_wrong(form, texts[i].option, texts[i].value, message, size)) return texts[i].value;
    }
    for (int i = 0; i < form->set.count; i++) {
        if (is_wrong(form, "--set", form->set.list[i], message, size)) return form->set.list[i];
    }
    return NULL;
}

/* ---- Command lines ---- */

/* A word with each occurrence of `name` replaced by `value`; the caller frees it. */
static char *put_in(const char *word, const char *name, const char *value) {
    char *made = NULL;
    size_t length;
    FILE *to = value ? open_memstream(&made, &length) : NULL;
    if (!to) return words_copy_text(word);
    for (const char *at; (at = strstr(word, name)); word = at + strlen(name))
        fprintf(to, "%.*s%s", (int)(at - word), word, value);
    fputs(word, to);
    fclose(to);
    return made ? made : words_copy_text(word);
}

/* The command line that starts the program. */
static void make_line(const TaskForm *form, Words *line) {
    const Words *program = &form->program;
    bool is_workload = program_is_workload(program->list[0]);
    words_add(line, program->list[0]);
    if (is_workload && form->size) {
        words_add(line, "--size");
        words_add(line, form->size);
    }
    if (is_workload && form->seed) {
        words_add(line, "--seed");
        words_add(line, form->seed);
    }
    for (int i = 1; i < program->count; i++) {
        char *sized = put_in(program->list[i], "{size}", form->size);
        char *word = put_in(sized, "{seed}", form->seed);
        words_add(line, word);
        free(word);
        free(sized);
    }
}

static void make_options(const TaskForm *form, Words *options) {
    add_option(options, "--machine", form->machine);
    add_option(options, "--scheduler", form->scheduler);
    add_option(options, "--cta-scheduler", form->cta_scheduler);
    add_option(options, "--registers", form->registers);
    add_option(options, "--stop-after", form->stop_after);
    for (int i = 0; i < form->set.count; i++)
        add_option(options, "--set", form->set.list[i]);
    for (int i = 0; i < form->options.count; i++)
        words_add(options, form->options.list[i]);
    if (form->allows_plugins) words_add(options, "--allow-plugins");
}

/* ---- Keys ---- */

/* Adds NAME=VALUE if there is a value. */
static void add_setting(Words *settings, const char *name, const char *value) {
    if (!value) return;
    const size_t bytes = strlen(name) + strlen(value) + sizeof "=";
    char *text = allocate(bytes, 1);
    snprintf(text, bytes, "%s=%s", name, value);
    words_add(settings, text);
    free(text);
}

/* The values of the machine that a run changes. The caller frees the text. */
static char *make_overrides(const TaskForm *form) {
    Words settings = {0};
    add_setting(&settings, "record", form->record ? record_names[form->record] : NULL);
    add_setting(&settings, "registers", form->registers);
    add_setting(&settings, "stop_after", form->stop_after);
    for (int i = 0; i < form->set.count; i++)
        words_add(&settings, form->set.list[i]);
    char *text = words_join(&settings);
    words_free(&settings);
    return text;
}

/* The index of the last occurrence of an option; -1: none. */
static int find_last(const Words *options, const TytoOption *option) {
    int last = -1;
    for (int i = 0; i < options->count;) {
        const TytoOption *given = option_find(options->list[i]);
        if (given == option) last = i;
        i += given->argument ? 2 : 1;
    }
    return last;
}

/* The other options of a run, each with its final value, in the order of the table. So the key of a
 * stored run does not depend on how the options were given. Options that no file mentions are left
 * out. The caller frees it. */
static char *make_key_options(const TaskForm *form) {
    Words told = {0};
    for (int i = 0; i < tyto_option_count(); i++) {
        const TytoOption *option = tyto_option(i);
        int last = find_last(&form->options, option);
        if (last < 0 || option->traits & TYTO_OPTION_UNTOLD) continue;
        words_add(&told, option->name);
        if (option->argument) words_add(&told, form->options.list[last + 1]);
    }
    char *text = words_join(&told);
    words_free(&told);
    return text;
}

/* A hash of everything that determines the run's result: the library, the options and the files
 * that they name (machine, policies, the code of plug-ins), the program with its libraries, the
 * files that its arguments name, and the files and variables that the form names. False if one of
 * them does not exist, with *why as in task_make. */
static bool find_version(const Task *task, Contents *contents, char version[VERSION_BYTES],
                         char **why) {
    char message[MESSAGE_BYTES];
    *why = NULL;
    char *identity =
        tyto_identity(task->options.count, task->options.list, message, sizeof message);
    uint64_t hash = 0;
    if (!identity) *why = words_copy_text(message);
    bool is_right = identity && contents_add_library(contents, &hash) &&
                    contents_add_program(contents, task->line.list[0], &hash);
    for (int i = 0; i < task->inputs.count && is_right; i++)
        is_right = contents_add_file(contents, task->inputs.list[i], &hash);
    for (int i = 0; i < task->variables.count; i++)
        contents_add_variable(task->variables.list[i], &hash);
    if (is_right) hash = tyto_hash(hash, identity, strlen(identity));
    snprintf(version, VERSION_BYTES, "%s-%016llx", tyto_version(), (unsigned long long)hash);
    free(identity);
    return is_right;
}

static char *copy(const char *text) { return words_copy_text(text ? text : ""); }

static void find_inputs(Task *task, const TaskForm *form) {
    for (int i = 1; i < task->line.count; i++) {
        const char *path = contents_named_file(task->line.list[i]);
        if (path) words_add(&task->inputs, path);
    }
    for (int i = 0; i < form->inputs.count; i++)
        words_add(&task->inputs, form->inputs.list[i]);
    for (int i = 0; i < form->variables.count; i++)
        words_add(&task->variables, form->variables.list[i]);
}

/* The name has two hashes, so that no two runs of any sweep share their files. */
static void make_name(Task *task) {
    const char *texts[STORE_KEYS];
    uint64_t hashes[2] = {0, 1};
    store_key_texts(&task->key, texts);
    for (int h = 0; h < 2; h++) {
        for (int i = 0; i < STORE_KEYS; i++)
            hashes[h] = tyto_hash(hashes[h], texts[i], strlen(texts[i]) + 1);
    }
    snprintf(task->name, sizeof task->name, "%016llx%016llx", (unsigned long long)hashes[0],
             (unsigned long long)hashes[1]);
}

bool task_make(Task *task, const TaskForm *form, Contents *contents, char **why) {
    char version[VERSION_BYTES];
    *task = (Task){.record = form->record};
    make_line(form, &task->line);
    make_options(form, &task->options);
    find_inputs(task, form);
    if (!find_version(task, contents, version, why)) {
        task_free(task);
        return false;
    }
    task->key = (RunKey){.program = words_join(&form->program),
                         .size = copy(form->size),
                         .seed = copy(form->seed),
                         .machine = copy(form->machine),
                         .overrides = make_overrides(form),
                         .options = make_key_options(form),
                         .scheduler = copy(form->scheduler),
                         .cta_scheduler = copy(form->cta_scheduler),
                         .version = copy(version)};
    make_name(task);
    return true;
}

bool task_is_current(const Task *task, Contents *contents) {
    char version[VERSION_BYTES] = "", *why;
    bool is_found = find_version(task, contents, version, &why);
    if (why) say_error("%s", why);
    free(why);
    if (is_found && strcmp(version, task->key.version) == 0) return true;
    char *name = task_name(&task->key);
    say_error("%s is not stored: its program, machine, scheduler, library or a file that it names "
              "changed while it ran",
              name);
    free(name);
    return false;
}

void task_free(Task *task) {
    RunKey *key = &task->key;
    char *texts[] = {key->program, key->size,      key->seed,          key->machine, key->overrides,
                     key->options, key->scheduler, key->cta_scheduler, key->version};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        free(texts[i]);
    words_free(&task->line);
    words_free(&task->options);
    words_free(&task->inputs);
    words_free(&task->variables);
}

char *task_name(const RunKey *key) {
    const struct {
        const char *before, *text;
    } parts[] = {{"", key->program},
                 {" --size ", key->size},
                 {" --seed ", key->seed},
                 {" under ", key->scheduler},
                 {" with ", key->cta_scheduler},
                 {" on ", key->machine},
                 {", ", key->overrides},
                 {", ", key->options}};
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    for (size_t i = 0; to && i < sizeof parts / sizeof parts[0]; i++) {
        if (*parts[i].text) fprintf(to, "%s%s", parts[i].before, parts[i].text);
    }
    if (to) fclose(to);
    return text ? text : words_copy_text("");
}
