/* Reads sweeps and plans their runs (see the header). */
#include "cli/sweep/plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/engine/fields.h"
#include "cli/files.h"
#include "cli/names.h"
#include "cli/program.h"
#include "cli/workloads.h"

enum {
    MOST_POINTS = 1 << 16,
    MOST_VALUES = 4096, /* of a dimension */
    MESSAGE_BYTES = 4096,
};

/* ---- Fields of a file ---- */

typedef struct SweepFile {
    Words programs, machines, schedulers, cta_schedulers, sizes, seeds, options, metrics, inputs,
        variables;
    NamedLists set;
    const char *x, *baseline;
} SweepFile;

static const Field sweep_fields[] = {
    {"programs", FIELD_WORDS, offsetof(SweepFile, programs), true, NULL, NULL},
    {"machines", FIELD_MACHINES, offsetof(SweepFile, machines), false, NULL, NULL},
    {"set", FIELD_LISTS, offsetof(SweepFile, set), false, NULL, NULL},
    {"schedulers", FIELD_POLICIES, offsetof(SweepFile, schedulers), false, NULL, NULL},
    {"cta_schedulers", FIELD_POLICIES, offsetof(SweepFile, cta_schedulers), false, NULL, NULL},
    {"sizes", FIELD_WORDS, offsetof(SweepFile, sizes), false, NULL, NULL},
    {"seeds", FIELD_WORDS, offsetof(SweepFile, seeds), false, NULL, NULL},
    {"options", FIELD_WORDS, offsetof(SweepFile, options), false, NULL, NULL},
    {"metrics", FIELD_WORDS, offsetof(SweepFile, metrics), false, NULL, NULL},
    {"inputs", FIELD_WORDS, offsetof(SweepFile, inputs), false, NULL, NULL},
    {"variables", FIELD_WORDS, offsetof(SweepFile, variables), false, NULL, NULL},
    {"x", FIELD_TEXT, offsetof(SweepFile, x), false, NULL, NULL},
    {"baseline", FIELD_TEXT, offsetof(SweepFile, baseline), false, NULL, NULL},
};
FIELDS_RECORD(sweep, SweepFile, sweep_fields);

/* Owns the texts of a sweep, and the file that messages name. */
typedef struct SweepPlan {
    FieldFile *file; /* NULL: everything comes from the command line */
    Words *programs; /* the words of each value of the first dimension */
    int mistakes;
} SweepPlan;

/* ---- Mistakes ---- */

/* Reports an error about a word, with its place. */
static void say(SweepPlan *plan, const char *word, const char *message) {
    plan->mistakes++;
    if (plan->file) fields_say(plan->file, word, "%s", message);
    else say_error("%s", message);
}

/* Reports that a word is not one of `names`, and which name was probably meant. */
static void say_unknown(SweepPlan *plan, const char *place, const char *what, const char *word,
                        const char *const *names, int count) {
    char message[MESSAGE_BYTES];
    const char *nearest = tyto_nearest(word, names, count);
    snprintf(message, sizeof message, "there is no %s '%.400s'%s%s%s", what, word, MEANT(nearest));
    say(plan, place, message);
}

/* ---- Dimensions ---- */

static Dimension *add_dimension(Sweep *sweep, Vary vary, const char *name) {
    Dimension *longer = allocate((size_t)sweep->dimension_count + 1, sizeof *longer);
    if (sweep->dimension_count)
        memcpy(longer, sweep->dimensions, (size_t)sweep->dimension_count * sizeof *longer);
    free(sweep->dimensions);
    sweep->dimensions = longer;
    longer[sweep->dimension_count] =
        (Dimension){.vary = vary,
                    .name = words_copy_text(name),
                    .origins = allocate(MOST_VALUES, sizeof *longer->origins)};
    return &longer[sweep->dimension_count++];
}

/* Writes to `message` why a scheduler or machine alone is wrong; false: it is not. */
static bool is_wrong(const Sweep *sweep, Vary vary, const char *value,
                     char message[MESSAGE_BYTES]) {
    TaskForm alone = {.allows_plugins = sweep->form.allows_plugins};
    if (vary == VARY_MACHINE) alone.machine = value;
    if (vary == VARY_SCHEDULER && *value) alone.scheduler = value;
    if (vary == VARY_CTA_SCHEDULER && *value) alone.cta_scheduler = value;
    return task_form_find_wrong(&alone, message, MESSAGE_BYTES) != NULL;
}

static void add_value(Sweep *sweep, Dimension *dimension, const char *value, const char *origin) {
    char message[MESSAGE_BYTES];
    for (int i = 0; i < dimension->values.count; i++) {
        if (strcmp(dimension->values.list[i], value) == 0) return;
    }
    if (dimension->values.count == MOST_VALUES) {
        say(sweep->plan, origin, "there are too many values");
        return;
    }
    if (is_wrong(sweep, dimension->vary, value, message)) say(sweep->plan, origin, message);
    dimension->origins[dimension->values.count] = origin;
    words_add(&dimension->values, value);
}

static void say_empty(const Sweep *sweep, const char *origin, const char *text) {
    char message[MESSAGE_BYTES];
    snprintf(message, sizeof message, NAMES_EMPTY_RANGE, text);
    say(sweep->plan, origin, message);
}

/* Adds a value for each number of a range, "1..8"; false: not a range. */
static bool add_range(Sweep *sweep, Dimension *dimension, const char *text, const char *origin) {
    char *end, number[32];
    long first = strtol(text, &end, 10), last;
    if (end == text || strncmp(end, "..", 2) != 0) return false;
    last = strtol(end + 2, &end, 10);
    if (*end) return false;
    if (first > last) {
        say_empty(sweep, origin, text);
        return true;
    }
    if ((unsigned long)last - (unsigned long)first >= MOST_VALUES) {
        say(sweep->plan, origin, "there are too many values");
        return true;
    }
    for (; first <= last; first++) {
        snprintf(number, sizeof number, "%ld", first);
        add_value(sweep, dimension, number, origin);
    }
    return true;
}

/* Adds the values of a list in the form of the command line: "lrr,swl:limit=1..4", "1..8". Ends at
 * the first mistake, because a range may have thousands of values. */
static void add_list(Sweep *sweep, Dimension *dimension, const char *text, const char *origin) {
    const NamesAll all = dimension->vary == VARY_SCHEDULER       ? NAMES_ALL_SCHEDULERS
                         : dimension->vary == VARY_CTA_SCHEDULER ? NAMES_ALL_CTA_SCHEDULERS
                                                                 : NAMES_NO_ALL;
    Names names = names_read(text, MOST_VALUES, all);
    int before = sweep->plan->mistakes;
    if (names.is_cut) say(sweep->plan, origin, "there are too many values");
    else if (names.empty) say_empty(sweep, origin, names.empty);
    else if (!names.count) say(sweep->plan, origin, "the list is empty");
    for (int i = 0; i < names.count && sweep->plan->mistakes == before; i++) {
        if (!add_range(sweep, dimension, names.list[i], origin))
            add_value(sweep, dimension, names.list[i], origin);
    }
    names_free(&names);
}

/* Adds the dimension of an option, with the values of the command line, else of the file, else one
 * default value. */
static void read_dimension(Sweep *sweep, Vary vary, const char *name, const char *given,
                           const Words *in_file, const char *initial) {
    Dimension *dimension = add_dimension(sweep, vary, name);
    if (given) add_list(sweep, dimension, given, given);
    for (int i = 0; !given && i < in_file->count; i++)
        add_list(sweep, dimension, in_file->list[i], in_file->list[i]);
    if (!dimension->values.count) add_value(sweep, dimension, initial, initial);
}

static bool has_set(const Sweep *sweep, const char *name) {
    for (int i = 0; i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        if (dimension->vary == VARY_SET && strcmp(dimension->name, name) == 0) return true;
    }
    return false;
}

static void say_second(SweepPlan *plan, const char *place, const char *name) {
    char message[MESSAGE_BYTES];
    snprintf(message, sizeof message, "%.400s is set twice; give all its values in one list", name);
    say(plan, place, message);
}

/* Adds the dimension of --set KEY=VALUE,VALUE. */
static void read_set(Sweep *sweep, const char *text) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        say(sweep->plan, text, "--set: write KEY=VALUE,VALUE: l1d.size=16KiB,32KiB");
        return;
    }
    char *name = strndup(text, (size_t)(equals - text));
    if (has_set(sweep, name)) say_second(sweep->plan, text, name);
    else add_list(sweep, add_dimension(sweep, VARY_SET, name), equals + 1, text);
    free(name);
}

/* Takes the values of the command line, else those of the file. */
static void read_sets(Sweep *sweep, const Arguments *arguments, const NamedLists *in_file) {
    bool is_given = arguments_has(arguments, "--set");
    for (int i = 0; i < arguments->option_count; i++) {
        const GivenOption *given = &arguments->options[i];
        if (strcmp(given->option->name, "--set") == 0) read_set(sweep, given->value);
    }
    for (int i = 0; !is_given && i < in_file->count; i++) {
        const NamedList *list = &in_file->list[i];
        if (has_set(sweep, list->name)) say_second(sweep->plan, list->name, list->name);
        Dimension *dimension = add_dimension(sweep, VARY_SET, list->name);
        for (int v = 0; v < list->words.count; v++)
            add_list(sweep, dimension, list->words.list[v], list->words.list[v]);
    }
}

static void read_program(Sweep *sweep, const char *text, Words *words) {
    SweepPlan *plan = sweep->plan;
    if (!words_split(text, words)) say(plan, text, "a quote is open in the words of a program");
    else if (!words->count) say(plan, text, "a program is expected here");
    else {
        char *why = program_find_problem(words->list[0]);
        if (why) say(plan, text, why);
        free(why);
    }
}

static void add_program(Sweep *sweep, Dimension *dimension, const char *text, const char *origin) {
    const int before = dimension->values.count;
    add_value(sweep, dimension, text, origin);
    if (dimension->values.count > before) read_program(sweep, text, &sweep->plan->programs[before]);
}

/* "all" is every workload but Tyto's own microbenchmarks. */
static void read_programs(Sweep *sweep, const Words *programs) {
    Dimension *dimension = add_dimension(sweep, VARY_PROGRAM, "program");
    Words all = {0};
    workloads_list_suites(&all);
    sweep->plan->programs =
        allocate((size_t)(programs->count + all.count), sizeof *sweep->plan->programs);
    for (int i = 0; i < programs->count; i++) {
        const char *text = programs->list[i];
        if (strcmp(text, "all") != 0) add_program(sweep, dimension, text, text);
        for (int w = 0; strcmp(text, "all") == 0 && w < all.count; w++)
            add_program(sweep, dimension, all.list[w], text);
    }
    words_free(&all);
}

/* ---- Sizes and seeds ---- */

static bool has_workload(const Sweep *sweep) {
    for (int i = 0; i < sweep->dimensions[0].values.count; i++) {
        const Words *program = &sweep->plan->programs[i];
        if (program->count && program_is_workload(program->list[0])) return true;
    }
    return false;
}

static bool is_number(const char *text) { return *text && !text[strspn(text, "0123456789")]; }

/* Reports sizes and seeds that no workload accepts, before any run. A user's own program may accept
 * any. */
static void check_inputs(Sweep *sweep) {
    static const char *const sizes[] = {"test", "small", "paper"};
    if (!has_workload(sweep)) return;
    for (int d = 0; d < sweep->dimension_count; d++) {
        const Dimension *dimension = &sweep->dimensions[d];
        if (dimension->vary != VARY_SIZE && dimension->vary != VARY_SEED) continue;
        for (int i = 0; i < dimension->values.count; i++) {
            const char *value = dimension->values.list[i];
            bool is_size = dimension->vary == VARY_SIZE;
            bool is_name =
                is_size && (strcmp(value, sizes[0]) == 0 || strcmp(value, sizes[1]) == 0 ||
                            strcmp(value, sizes[2]) == 0);
            if (is_number(value) || is_name) continue;
            say_unknown(sweep->plan, dimension->origins[i],
                        is_size ? "size of a workload (test, small, paper or a whole number)"
                                : "seed (a whole number)",
                        value, sizes, is_size ? 3 : 0);
        }
    }
}

/* ---- Options of every run ---- */

/* Options that have their own fields in a file. */
static const struct {
    const char *option, *field;
} fields_of_options[] = {{"--machine", "machines"},
                         {"--set", "set"},
                         {"--scheduler", "schedulers"},
                         {"--cta-scheduler", "cta_schedulers"}};
enum { FIELDS_OF_OPTIONS = sizeof fields_of_options / sizeof fields_of_options[0] };

static void say_no_option(SweepPlan *plan, const char *place, const char *name) {
    int count = tyto_option_count();
    const char **names = allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = tyto_option(i)->name;
    say_unknown(plan, place, "option of the simulator", name, names, count);
    free((void *)names);
}

/* Whether the option may be in a file's list `options`; false after a message. */
static bool check_option(SweepPlan *plan, const char *place, const TytoOption *option) {
    char message[MESSAGE_BYTES];
    for (int i = 0; i < FIELDS_OF_OPTIONS; i++) {
        if (strcmp(option->name, fields_of_options[i].option) != 0) continue;
        snprintf(message, sizeof message, "give the value of %s in the field '%s'", option->name,
                 fields_of_options[i].field);
        say(plan, place, message);
        return false;
    }
    if (!(option->traits & TYTO_OPTION_ONE_RUN)) return true;
    snprintf(message, sizeof message, "%s is for a single run, and a sweep makes several",
             option->name);
    say(plan, place, message);
    return false;
}

/* Adds the option at index `i`, "--memory", "1GiB" or "--memory=1GiB", unless the command line has
 * it. Returns the index of the next option; -1 after a message. */
static int read_option(Sweep *sweep, const Arguments *arguments, const Words *in_file, int i) {
    SweepPlan *plan = sweep->plan;
    const char *word = in_file->list[i], *equals = strchr(word, '=');
    char message[MESSAGE_BYTES], name[MESSAGE_BYTES];
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - word) : MESSAGE_BYTES - 1, word);
    const TytoOption *option = option_find(name);
    if (!option) say_no_option(plan, word, name);
    if (!option || !check_option(plan, word, option)) return -1;
    bool takes_next = option->argument && !equals;
    if (takes_next && i + 1 == in_file->count) {
        snprintf(message, sizeof message, "%.400s needs a value: %.400s", option->name,
                 option->argument);
        say(plan, word, message);
        return -1;
    }
    const char *value = equals ? equals + 1 : takes_next ? in_file->list[i + 1] : NULL;
    const char *words[] = {name, value};
    if (!option->argument && equals) {
        snprintf(message, sizeof message, "%.400s takes no value", option->name);
        say(plan, word, message);
    } else if (tyto_check_options(value ? 2 : 1, words, message, sizeof message) != TYTO_OK) {
        task_cut_message(message);
        say(plan, takes_next ? value : word, message);
    } else if (!arguments_gave(arguments, name)) {
        task_form_add(&sweep->form, option, value);
    }
    return i + (takes_next ? 2 : 1);
}

static void read_options(Sweep *sweep, const Arguments *arguments, const Words *in_file) {
    for (int i = 0; i >= 0 && i < in_file->count;)
        i = read_option(sweep, arguments, in_file, i);
}

/* Adds the values of an option that may be repeated, else the values in the file. */
static void read_names(const Arguments *arguments, const char *option, const Words *in_file,
                       Words *names) {
    const bool is_given = arguments_has(arguments, option);
    for (int i = 0; i < arguments->option_count; i++) {
        const GivenOption *given = &arguments->options[i];
        if (strcmp(given->option->name, option) == 0) words_add(names, given->value);
    }
    for (int i = 0; !is_given && i < in_file->count; i++)
        words_add(names, in_file->list[i]);
}

/* ---- Metrics and plots ---- */

static void read_metrics(Sweep *sweep, const char *given, const Words *in_file) {
    SweepPlan *plan = sweep->plan;
    Dimension list = {.vary = VARY_SET, .origins = allocate(MOST_VALUES, sizeof(char *))};
    if (given) add_list(sweep, &list, given, given);
    for (int i = 0; !given && i < in_file->count; i++)
        add_list(sweep, &list, in_file->list[i], in_file->list[i]);
    if (!list.values.count) add_value(sweep, &list, "ipc", "ipc");
    int count = tyto_counter_count();
    const char **names = allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = tyto_counter(i)->name;
    for (int i = 0; i < list.values.count; i++) {
        const char *name = list.values.list[i];
        if (tyto_find_counter(name) < 0)
            say_unknown(plan, list.origins[i], "metric", name, names, count);
    }
    free((void *)names);
    free((void *)list.origins);
    sweep->metrics = list.values;
}

/* The part of a machine's name that labels show, and its length. */
static const char *stem_of(const char *machine, int *length) {
    static const char ending[] = ".yaml";
    const char *slash = strrchr(machine, '/'), *stem = slash ? slash + 1 : machine;
    *length = (int)strlen(stem);
    const int rest = *length - (int)(sizeof ending - 1);
    if (rest > 0 && !strcmp(stem + rest, ending)) *length = rest;
    return stem;
}

char *sweep_label(const Sweep *sweep, int dimension, int value) {
    const Dimension *of = &sweep->dimensions[dimension];
    const char *text = of->values.list[value];
    int length, other_length, same = 0;
    const char *stem = stem_of(text, &length);
    if (!*text) return words_copy_text("machine's own");
    if (of->vary != VARY_MACHINE) return words_copy_text(text);
    for (int i = 0; i < of->values.count; i++) {
        const char *other = stem_of(of->values.list[i], &other_length);
        same += other_length == length && !strncmp(other, stem, (size_t)length);
    }
    return same > 1 ? words_copy_text(text) : strndup(stem, (size_t)length);
}

bool sweep_varies(const Sweep *sweep, int dimension) {
    return sweep->dimensions[dimension].values.count > 1;
}

/* Finds the axis: the dimension that was named, else the first varied value of the machine, else a
 * dimension that varies and is not the program. */
static void read_x(Sweep *sweep, const char *wanted) {
    int count = sweep->dimension_count, found = -1;
    const char **names = allocate((size_t)count, sizeof *names);
    for (int i = 0; i < count; i++) {
        names[i] = sweep->dimensions[i].name;
        if (wanted && strcmp(names[i], wanted) == 0) found = i;
    }
    if (wanted && found < 0)
        say_unknown(sweep->plan, wanted, "dimension of the sweep", wanted, names, count);
    for (int i = 0; !wanted && i < count; i++) {
        bool is_set = sweep->dimensions[i].vary == VARY_SET;
        if (sweep_varies(sweep, i) &&
            (found < 0 || (is_set && sweep->dimensions[found].vary != VARY_SET)) && i)
            found = i;
    }
    sweep->x = found < 0 ? 0 : found;
    free((void *)names);
}

/* Finds the baseline: the value of the columns for which the speed-up is 1. */
static void read_baseline(Sweep *sweep, const char *wanted) {
    const int across = sweep_across(sweep);
    sweep->baseline = -1;
    if (!wanted) return;
    if (across < 0) {
        say(sweep->plan, wanted, "a baseline needs several schedulers, or values of a machine");
        return;
    }
    const Words *values = &sweep->dimensions[across].values;
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->list[i], wanted) == 0) sweep->baseline = i;
    if (sweep->baseline < 0)
        say_unknown(sweep->plan, wanted, sweep->dimensions[across].name, wanted,
                    (const char *const *)values->list, values->count);
}

/* ---- Reading ---- */

/* Whether there is one operand and it is a file. */
static bool names_file(const Arguments *arguments) {
    static const char ending[] = ".yaml";
    if (arguments->operand_count != 1) return false;
    const char *name = arguments->operands[0];
    size_t length = strlen(name);
    return length >= sizeof ending && strcmp(name + length - (sizeof ending - 1), ending) == 0;
}

/* Reads the file, if one is named, into `out`. False after a message. */
static bool read_file(Sweep *sweep, const Arguments *arguments, SweepFile *out) {
    out->programs =
        (Words){(const char **)(uintptr_t)arguments->operands, arguments->operand_count};
    if (!names_file(arguments)) return true;
    size_t length;
    char *text = file_read(arguments->operands[0], FILE_TEXT_MAX, &length);
    if (!text) return false;
    sweep->plan->file = fields_new(arguments->operands[0],
                                   true); /* true, because the file can start programs anyway */
    const SweepFile *read = fields_read(sweep->plan->file, &sweep_record, text, length);
    free(text);
    if (!read || fields_mistakes(sweep->plan->file)) return false;
    *out = *read;
    return true;
}

/* Reads the schedulers and the baseline. A default baseline is one of the schedulers. */
static void read_schedulers(Sweep *sweep, const Arguments *arguments, const SweepFile *file,
                            const SweepDefaults *defaults) {
    const char *given = arguments_value(arguments, "--schedulers");
    const char *baseline = arguments_value(arguments, "--baseline");
    if (!given && !file->schedulers.count) given = defaults->schedulers;
    if (!baseline) baseline = file->baseline;
    read_dimension(sweep, VARY_SCHEDULER, "scheduler", given, &file->schedulers, "");
    if (!baseline && defaults->baseline) {
        baseline = defaults->baseline;
        add_value(sweep, &sweep->dimensions[sweep->dimension_count - 1], baseline, baseline);
    }
    read_baseline(sweep, baseline);
}

static void read_all(Sweep *sweep, const Arguments *arguments, const SweepFile *file,
                     const SweepDefaults *defaults) {
    const TaskForm *form = &sweep->form;
    static const Words none;
    const Words *machines = arguments_gave(arguments, "--machine") ? &none : &file->machines;
    read_options(sweep, arguments,
                 &file->options); /* first, because these options may allow values that are code */
    read_names(arguments, "--input", &file->inputs, &sweep->form.inputs);
    read_names(arguments, "--variable", &file->variables, &sweep->form.variables);
    read_programs(sweep, &file->programs);
    read_dimension(sweep, VARY_MACHINE, "machine", arguments_value(arguments, "--machines"),
                   machines, form->machine);
    read_sets(sweep, arguments, &file->set);
    read_dimension(sweep, VARY_SIZE, "size", arguments_value(arguments, "--sizes"), &file->sizes,
                   "small");
    read_dimension(sweep, VARY_SEED, "seed", arguments_value(arguments, "--seeds"), &file->seeds,
                   "1");
    check_inputs(sweep);
    read_dimension(sweep, VARY_CTA_SCHEDULER, "cta_scheduler",
                   arguments_value(arguments, "--cta-schedulers"),
                   form->cta_scheduler ? &none : &file->cta_schedulers,
                   form->cta_scheduler ? form->cta_scheduler : "");
    read_schedulers(sweep, arguments, file, defaults);
    read_metrics(sweep, arguments_value(arguments, "--metrics"), &file->metrics);
    read_x(sweep, arguments_has(arguments, "--x") ? arguments_value(arguments, "--x") : file->x);
}

Sweep *sweep_read(const Arguments *arguments, const SweepDefaults *defaults) {
    SweepFile file = {0};
    const char *programs = defaults->programs;
    Sweep *sweep = allocate(1, sizeof *sweep);
    sweep->plan = allocate(1, sizeof *sweep->plan);
    task_form_take(&sweep->form, arguments);
    bool is_read = read_file(sweep, arguments, &file);
    if (!file.programs.count && programs) file.programs = (Words){&programs, 1};
    if (is_read) read_all(sweep, arguments, &file, defaults);
    if (is_read && !sweep->plan->mistakes) return sweep;
    sweep_free(sweep);
    return NULL;
}

void sweep_free(Sweep *sweep) {
    if (!sweep) return;
    int programs = sweep->dimension_count ? sweep->dimensions[0].values.count : 0;
    for (int i = 0; i < programs; i++)
        words_free(&sweep->plan->programs[i]);
    for (int i = 0; i < sweep->dimension_count; i++) {
        words_free(&sweep->dimensions[i].values);
        free((void *)sweep->dimensions[i].origins);
        free((char *)(uintptr_t)sweep->dimensions[i].name);
    }
    for (int i = 0; i < sweep->point_count; i++) {
        free(sweep->points[i].choice);
        free(sweep->points[i].numbers);
    }
    free(sweep->points);
    free(sweep->dimensions);
    words_free(&sweep->metrics);
    task_form_free(&sweep->form);
    engine_free(sweep->engine);
    free(sweep->plan->programs);
    fields_free(sweep->plan->file);
    free(sweep->plan);
    free(sweep);
}

/* ---- Planning ---- */

/* Goes to the next combination; false after the last. */
static bool next_choice(const Sweep *sweep, int *choice) {
    for (int i = sweep->dimension_count - 1; i >= 0; i--) {
        if (++choice[i] < sweep->dimensions[i].values.count) return true;
        choice[i] = 0;
    }
    return false;
}

/* NULL for the machine's own value. */
static const char *named(const char *value) { return *value ? value : NULL; }

/* Whether a program takes the sizes, or the seeds. A workload does, unless its words include
 * `option`; any other program does if its words contain `mark`. */
static bool takes(const Words *program, const char *option, const char *mark) {
    bool is_open = program_is_workload(program->list[0]), is_marked = false;
    const size_t length = strlen(option);
    for (int i = 1; i < program->count; i++) {
        const char *word = program->list[i]; /* "--size", or "--size=300" */
        is_open &= strncmp(word, option, length) != 0 || (word[length] && word[length] != '=');
        is_marked |= strstr(program->list[i], mark) != NULL;
    }
    return is_open || is_marked;
}

/* The form of a combination; its list `set` owns its words. */
static TaskForm make_form(const Sweep *sweep, const int *choice) {
    TaskForm form = sweep->form;
    form.set = (Words){0};
    for (int i = 0; i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        const char *value = dimension->values.list[choice[i]];
        char set[MESSAGE_BYTES];
        switch (dimension->vary) {
        case VARY_PROGRAM: form.program = sweep->plan->programs[choice[i]]; break;
        case VARY_MACHINE: form.machine = value; break;
        case VARY_SIZE: form.size = takes(&form.program, "--size", "{size}") ? value : NULL; break;
        case VARY_SEED: form.seed = takes(&form.program, "--seed", "{seed}") ? value : NULL; break;
        case VARY_SCHEDULER: form.scheduler = named(value); break;
        case VARY_CTA_SCHEDULER: form.cta_scheduler = named(value); break;
        case VARY_SET:
            snprintf(set, sizeof set, "%s=%s", dimension->name, value);
            words_add(&form.set, set);
            break;
        }
    }
    return form;
}

/* Reports what is wrong with a combination, at the place of the machine's value that is wrong by
 * itself, if there is one. */
static void say_wrong(const Sweep *sweep, const int *choice, const TaskForm *form,
                      const char *message) {
    char alone[MESSAGE_BYTES];
    const char *wrong = task_form_find_wrong(form, alone, sizeof alone);
    int set = 0;
    for (int i = 0; i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        if (dimension->vary != VARY_SET || form->set.list[set++] != wrong) continue;
        say(sweep->plan, dimension->origins[choice[i]], alone);
        return;
    }
    say(sweep->plan, sweep->dimensions[0].origins[choice[0]], wrong ? alone : message);
}

static bool add_point(Sweep *sweep, const int *choice) {
    TaskForm form = make_form(sweep, choice);
    char *why = NULL;
    int known = engine_count(sweep->engine);
    int task = engine_add(sweep->engine, &form, &why);
    if (task < 0 && why) say_wrong(sweep, choice, &form, why);
    free(why);
    words_free(&form.set);
    if (task != known) return task >= 0;
    size_t bytes = (size_t)sweep->dimension_count * sizeof *choice;
    sweep->points[sweep->point_count] = (Point){.choice = allocate(1, bytes), .task = task};
    memcpy(sweep->points[sweep->point_count++].choice, choice, bytes);
    return true;
}

bool sweep_plan(Sweep *sweep, Store *store) {
    long count = 1;
    for (int i = 0; i < sweep->dimension_count && count <= MOST_POINTS; i++)
        count *= sweep->dimensions[i].values.count;
    if (count > MOST_POINTS) {
        say_error("the sweep has more than %d runs", MOST_POINTS);
        return false;
    }
    int *choice = allocate((size_t)sweep->dimension_count, sizeof *choice);
    sweep->points = allocate((size_t)count, sizeof *sweep->points);
    sweep->engine = engine_new(store);
    bool is_right = true;
    do
        is_right = add_point(sweep, choice);
    while (is_right && next_choice(sweep, choice));
    free(choice);
    return is_right;
}

/* ---- Access ---- */

const char *sweep_value(const Sweep *sweep, const Point *point, int dimension) {
    const char *value = sweep->dimensions[dimension].values.list[point->choice[dimension]];
    return *value ? value : "machine's own";
}

int sweep_across(const Sweep *sweep) {
    int across = sweep->dimension_count - 1;
    while (across > 0 && !sweep_varies(sweep, across))
        across--;
    return across ? across : -1;
}

bool sweep_next_row(const Sweep *sweep, int across, int *choice) {
    for (int i = sweep->dimension_count - 1; i >= 0; i--) {
        if (i == across) continue;
        if (++choice[i] < sweep->dimensions[i].values.count) return true;
        choice[i] = 0;
    }
    return false;
}

bool sweep_has_row(const Sweep *sweep, int across, int *choice) {
    bool has_any = false;
    for (int c = 0; c < sweep->dimensions[across].values.count; c++) {
        choice[across] = c;
        has_any |= sweep_find(sweep, choice) != NULL;
    }
    choice[across] = 0;
    return has_any;
}

const Point *sweep_find(const Sweep *sweep, const int *choice) {
    size_t bytes = (size_t)sweep->dimension_count * sizeof *choice;
    for (int i = 0; i < sweep->point_count; i++) {
        if (memcmp(sweep->points[i].choice, choice, bytes) == 0) return &sweep->points[i];
    }
    return NULL;
}

char *sweep_describe(const Sweep *sweep) {
    char *text = NULL;
    size_t length;
    bool is_open = false;
    FILE *to = open_memstream(&text, &length);
    for (int i = 0; to && i < sweep->dimension_count; i++) {
        const Dimension *dimension = &sweep->dimensions[i];
        if (!sweep_varies(sweep, i)) continue;
        fprintf(to, "%s%d %s%s", is_open ? " x " : "", dimension->values.count, dimension->name,
                dimension->vary == VARY_SET ? "" : "s");
        is_open = true;
    }
    if (to)
        fprintf(to, "%s%d run%s", is_open ? " = " : "", sweep->point_count,
                sweep->point_count == 1 ? "" : "s");
    if (to) fclose(to);
    return text ? text : words_copy_text("");
}
