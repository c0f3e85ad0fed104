/* Reads experiments with libyaml. What a file may say is in the tables of fields below; every
 * record of the file, down to a published number, is read by the same function. */
#include "cli/experiment/experiment.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "cli/command.h"
#include "cli/files.h"

/* ---- What a file may say ---- */

typedef enum FieldKind {
    FIELD_TEXT,     /* const char * */
    FIELD_POLICY,   /* the same, the name of a scheduler */
    FIELD_WORDS,    /* Words: a list of scalars, or just one */
    FIELD_POLICIES, /* the same, names of schedulers */
    FIELD_SETS,     /* the same, key=value of the machine */
    FIELD_NUMBER,   /* double */
    FIELD_CHOICE,   /* enum: index of one of `choices` */
    FIELD_VALUES,   /* Values: a mapping of rows to numbers */
    FIELD_RECORDS,  /* a list of records of type `record` */
} FieldKind;

typedef struct Record Record;

typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t offset; /* bytes, in its struct */
    bool is_needed;
    const char *const *choices; /* ends with NULL */
    const Record *record;
} Field;

struct Record {
    const char *name; /* in messages */
    size_t size;      /* bytes of its struct */
    const Field *fields;
    int count;
};

/* Every list of the structs above begins so. */
typedef struct List {
    void *list;
    int count;
} List;

#define RECORD(name, Type, fields)                                                                 \
    static const Record name##_record = {#name, sizeof(Type), fields,                              \
                                         sizeof fields / sizeof fields[0]}

static const char *const forms[] = {"ratio",        "percent", "change", "decrease",
                                    "per-thousand", "number",  "index",  NULL};
static_assert(sizeof forms / sizeof forms[0] == FORM_COUNT + 1, "a name for each form");
static const char *const means[] = {"arithmetic", "geometric", "harmonic", NULL};
static_assert(sizeof means / sizeof means[0] == MEAN_COUNT + 1, "a name for each mean");

const char *const experiment_recordings[RECORDING_COUNT + 1] = {"nothing", "ctas",      "lru",
                                                                "belady",  "unbounded", NULL};
static const char *const bases[] = {"none", "first", "previous", NULL};
static_assert(sizeof bases / sizeof bases[0] == BASE_COUNT + 1, "a name for each base");
static const char *const plots[] = {"bars", "lines", "spans", NULL};
static_assert(sizeof plots / sizeof plots[0] == PLOT_COUNT + 1, "a name for each plot");

static const Field program_fields[] = {
    {"label", FIELD_TEXT, offsetof(Program, label), true, NULL, NULL},
    {"run", FIELD_WORDS, offsetof(Program, run), false, NULL, NULL},
    {"at_paper", FIELD_WORDS, offsetof(Program, at_paper), false, NULL, NULL},
    {"kernel", FIELD_TEXT, offsetof(Program, kernel), false, NULL, NULL},
    {"cta_scheduler", FIELD_POLICY, offsetof(Program, cta_scheduler), false, NULL, NULL},
    {"registers", FIELD_TEXT, offsetof(Program, registers), false, NULL, NULL},
    {"item", FIELD_NUMBER, offsetof(Program, item), false, NULL, NULL},
};
RECORD(program, Program, program_fields);

static const Field setup_fields[] = {
    {"name", FIELD_TEXT, offsetof(Setup, name), true, NULL, NULL},
    {"machine", FIELD_TEXT, offsetof(Setup, machine), false, NULL, NULL},
    {"scheduler", FIELD_POLICIES, offsetof(Setup, schedulers), true, NULL, NULL},
    {"cta_scheduler", FIELD_POLICIES, offsetof(Setup, cta_schedulers), false, NULL, NULL},
    {"set", FIELD_SETS, offsetof(Setup, set), false, NULL, NULL},
    {"run", FIELD_WORDS, offsetof(Setup, run), false, NULL, NULL},
    {"record", FIELD_CHOICE, offsetof(Setup, record), false, experiment_recordings, NULL},
};
RECORD(setup, Setup, setup_fields);

static const Field column_fields[] = {
    {"label", FIELD_TEXT, offsetof(Column, label), true, NULL, NULL},
    {"metric", FIELD_WORDS, offsetof(Column, metric), true, NULL, NULL},
    {"per", FIELD_WORDS, offsetof(Column, per), false, NULL, NULL},
    {"setup", FIELD_TEXT, offsetof(Column, setup), true, NULL, NULL},
    {"over", FIELD_TEXT, offsetof(Column, over), false, NULL, NULL},
    {"over_metric", FIELD_WORDS, offsetof(Column, over_metric), false, NULL, NULL},
    {"over_row", FIELD_CHOICE, offsetof(Column, over_row), false, bases, NULL},
    {"from", FIELD_TEXT, offsetof(Column, from), false, NULL, NULL},
    {"form", FIELD_CHOICE, offsetof(Column, form), true, forms, NULL},
    {"threshold", FIELD_NUMBER, offsetof(Column, threshold), false, NULL, NULL},
};
RECORD(column, Column, column_fields);

static const Field mean_fields[] = {
    {"label", FIELD_TEXT, offsetof(Mean, label), true, NULL, NULL},
    {"kind", FIELD_CHOICE, offsetof(Mean, kind), true, means, NULL},
    {"of", FIELD_WORDS, offsetof(Mean, of), false, NULL, NULL},
};
RECORD(mean, Mean, mean_fields);

static const Field claim_fields[] = {
    {"column", FIELD_TEXT, offsetof(Claim, column), true, NULL, NULL},
    {"place", FIELD_TEXT, offsetof(Claim, place), true, NULL, NULL},
    {"examined", FIELD_TEXT, offsetof(Claim, examined), false, NULL, NULL},
    {"headline", FIELD_WORDS, offsetof(Claim, headline), false, NULL, NULL},
    {"values", FIELD_VALUES, offsetof(Claim, values), true, NULL, NULL},
};
RECORD(claim, Claim, claim_fields);

static const Field experiment_fields[] = {
    {"id", FIELD_TEXT, offsetof(Experiment, id), true, NULL, NULL},
    {"paper", FIELD_TEXT, offsetof(Experiment, paper), true, NULL, NULL},
    {"title", FIELD_TEXT, offsetof(Experiment, title), true, NULL, NULL},
    {"place", FIELD_TEXT, offsetof(Experiment, place), true, NULL, NULL},
    {"machine", FIELD_TEXT, offsetof(Experiment, machine), true, NULL, NULL},
    {"absent", FIELD_WORDS, offsetof(Experiment, absent), false, NULL, NULL},
    {"plot", FIELD_CHOICE, offsetof(Experiment, plot), false, plots, NULL},
    {"programs", FIELD_RECORDS, offsetof(Experiment, programs), true, NULL, &program_record},
    {"setups", FIELD_RECORDS, offsetof(Experiment, setups), true, NULL, &setup_record},
    {"columns", FIELD_RECORDS, offsetof(Experiment, columns), true, NULL, &column_record},
    {"means", FIELD_RECORDS, offsetof(Experiment, means), false, NULL, &mean_record},
    {"published", FIELD_RECORDS, offsetof(Experiment, published), false, NULL, &claim_record},
};
RECORD(experiment, Experiment, experiment_fields);

/* ---- Reading ---- */

enum {
    MOST_FIELDS = 16,
    MOST_MESSAGES = 20,
    MOST_BYTES = 1 << 20, /* of a file; the largest that comes with Tyto has a hundredth */
    MOST_DEPTH = 6,       /* nested lists and mappings; a claim's values are the fourth */
    MOST_ITEMS = 4096,    /* of a list */
    MOST_CELLS = 1 << 16, /* of the table */
};

/* Texts lie in the document, arrays in blocks. */
typedef struct ExperimentStorage {
    yaml_document_t document;
    void **blocks;
    int count;
} ExperimentStorage;

typedef struct Reader {
    const char *path;
    ExperimentStorage *storage;
    bool allows_plugins; /* code may be loaded that the file names */
    int mistakes;
} Reader;

static void say_mistake(Reader *reader, yaml_mark_t mark, const char *what, const char *word) {
    if (reader->mistakes++ < MOST_MESSAGES)
        fprintf(stderr, "%s:%zu:%zu: error: %s%s%s%s\n", reader->path, mark.line + 1,
                mark.column + 1, what, word ? " '" : "", word ? word : "", word ? "'" : "");
}

static void *add_block(ExperimentStorage *storage, int count, size_t size) {
    void **blocks = realloc(storage->blocks, ((size_t)storage->count + 1) * sizeof *blocks);
    void *block = allocate((size_t)count, size);
    if (!blocks) {
        say_error("out of memory");
        exit(EXIT_FAILED);
    }
    storage->blocks = blocks;
    blocks[storage->count++] = block;
    return block;
}

static yaml_node_t *node_of(const Reader *reader, int index) {
    return yaml_document_get_node(&reader->storage->document, index);
}

/* Whether a text holds what moves a cursor or ends a line (the control characters of ASCII and
 * Latin-1 in UTF-8, and Unicode's line ends), which would be more than text in a table, a page or a
 * plot. */
static bool has_control(const unsigned char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] < ' ' || text[i] == 0x7f) return true;
        if (text[i] == 0xc2 && i + 1 < length && text[i + 1] < 0xa0) return true;
        if (text[i] == 0xe2 && i + 2 < length && text[i + 1] == 0x80 && (text[i + 2] | 1) == 0xa9)
            return true;
    }
    return false;
}

/* A scalar's text; "" after a message when it is none. */
static const char *read_text(Reader *reader, const yaml_node_t *node) {
    bool is_text = node->type == YAML_SCALAR_NODE && node->data.scalar.length;
    if (is_text && !has_control(node->data.scalar.value, node->data.scalar.length))
        return (const char *)node->data.scalar.value;
    say_mistake(reader, node->start_mark,
                is_text ? "a text must not hold line breaks and other control characters"
                        : "a text is expected here",
                NULL);
    return "";
}

static double read_number(Reader *reader, const yaml_node_t *node) {
    const char *text = read_text(reader, node);
    char *end;
    double number = strtod(text, &end);
    if (*text && (*end || !isfinite(number)))
        say_mistake(reader, node->start_mark, "not a number:", text);
    return isfinite(number) ? number : 0;
}

static int read_choice(Reader *reader, const yaml_node_t *node, const char *const *choices) {
    const char *text = read_text(reader, node);
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) return i;
    }
    if (*text) say_mistake(reader, node->start_mark, "not one of those that can stand here:", text);
    return 0;
}

/* The number of `items` that a node has; 0 after a message when there are too many. */
static int check_items(Reader *reader, const yaml_node_t *node, ptrdiff_t items) {
    if (items <= MOST_ITEMS) return (int)items;
    say_mistake(reader, node->start_mark, "there are too many of them", NULL);
    return 0;
}

static int items_of(Reader *reader, const yaml_node_t *list) {
    return check_items(reader, list,
                       list->data.sequence.items.top - list->data.sequence.items.start);
}

static void read_words(Reader *reader, const yaml_node_t *node, Words *words) {
    bool is_list = node->type == YAML_SEQUENCE_NODE;
    words->count = is_list ? items_of(reader, node) : 1;
    words->list = add_block(reader->storage, words->count, sizeof *words->list);
    for (int i = 0; i < words->count; i++) {
        const yaml_node_t *item =
            is_list ? node_of(reader, node->data.sequence.items.start[i]) : node;
        words->list[i] = read_text(reader, item);
    }
}

/* A scheduler as runs shall find it: a shared object that the file names by a relative path is one
 * beside the file, and is code, which the user must allow. */
static const char *place_policy(Reader *reader, const yaml_node_t *node, const char *policy) {
    if (!tyto_is_plugin(policy)) return policy;
    if (!reader->allows_plugins)
        say_mistake(
            reader, node->start_mark,
            "this is code, which an experiment has loaded only with --allow-plugins:", policy);
    if (policy[0] == '/') return policy;
    if (strncmp(policy, "./", 2) == 0) policy += 2;
    const char *slash = strrchr(reader->path, '/');
    int folder = slash ? (int)(slash + 1 - reader->path) : 0;
    size_t size = (size_t)folder + strlen(policy) + sizeof "./";
    char *placed = add_block(reader->storage, 1, size);
    snprintf(placed, size, "%.*s%s%s", folder, reader->path, folder ? "" : "./", policy);
    return placed;
}

/* The same of `key=value` where the value is a scheduler. */
static const char *place_set(Reader *reader, const yaml_node_t *node, const char *set) {
    const char *equals = strchr(set, '=');
    static const char ending[] = ".policy";
    size_t length = equals ? (size_t)(equals - set) : 0;
    if (length < sizeof ending ||
        strncmp(equals + 1 - sizeof ending, ending, sizeof ending - 1) != 0)
        return set;
    const char *policy = place_policy(reader, node, equals + 1);
    size_t size = length + 1 + strlen(policy) + 1;
    char *placed = add_block(reader->storage, 1, size);
    snprintf(placed, size, "%.*s=%s", (int)length, set, policy);
    return placed;
}

typedef const char *PlaceWord(Reader *reader, const yaml_node_t *node, const char *word);

static void read_policies(Reader *reader, const yaml_node_t *node, Words *words, PlaceWord *place) {
    read_words(reader, node, words);
    for (int i = 0; i < words->count; i++)
        words->list[i] = place(reader, node, words->list[i]);
}

static void read_values(Reader *reader, const yaml_node_t *node, Values *values) {
    if (node->type != YAML_MAPPING_NODE) {
        say_mistake(reader, node->start_mark, "a mapping of rows to numbers is expected here",
                    NULL);
        return;
    }
    const yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
    values->count = check_items(reader, node, node->data.mapping.pairs.top - pairs);
    values->list = add_block(reader->storage, values->count, sizeof *values->list);
    for (int i = 0; i < values->count; i++) {
        values->list[i].row = read_text(reader, node_of(reader, pairs[i].key));
        values->list[i].number = read_number(reader, node_of(reader, pairs[i].value));
    }
}

static void read_record(Reader *reader, const yaml_node_t *node, const Record *record, void *out);

static void read_records(Reader *reader, const yaml_node_t *node, const Record *record, List *out) {
    if (node->type != YAML_SEQUENCE_NODE) {
        say_mistake(reader, node->start_mark, "a list is expected here", NULL);
        return;
    }
    out->count = items_of(reader, node);
    out->list = add_block(reader->storage, out->count, record->size);
    for (int i = 0; i < out->count; i++)
        read_record(reader, node_of(reader, node->data.sequence.items.start[i]), record,
                    (char *)out->list + (size_t)i * record->size);
}

static void read_field(Reader *reader, const yaml_node_t *node, const Field *field, void *record) {
    void *at = (char *)record + field->offset;
    switch (field->kind) {
    case FIELD_TEXT: *(const char **)at = read_text(reader, node); break;
    case FIELD_WORDS: read_words(reader, node, at); break;
    case FIELD_POLICY:
        *(const char **)at = place_policy(reader, node, read_text(reader, node));
        break;
    case FIELD_POLICIES: read_policies(reader, node, at, place_policy); break;
    case FIELD_SETS: read_policies(reader, node, at, place_set); break;
    case FIELD_NUMBER: *(double *)at = read_number(reader, node); break;
    case FIELD_CHOICE: *(unsigned *)at = (unsigned)read_choice(reader, node, field->choices); break;
    case FIELD_VALUES: read_values(reader, node, at); break;
    case FIELD_RECORDS: read_records(reader, node, field->record, at); break;
    }
}

static int find_field(Reader *reader, const yaml_node_t *key, const Record *record) {
    const char *names[MOST_FIELDS];
    const char *name = read_text(reader, key);
    for (int i = 0; i < record->count; i++) {
        names[i] = record->fields[i].name;
        if (strcmp(names[i], name) == 0) return i;
    }
    char what[128];
    const char *nearest = tyto_nearest(name, names, record->count);
    snprintf(what, sizeof what, "%s%s%s%s has no", nearest ? "did you mean '" : "",
             nearest ? nearest : "", nearest ? "'? " : "", record->name);
    say_mistake(reader, key->start_mark, what, name);
    return -1;
}

static void read_record(Reader *reader, const yaml_node_t *node, const Record *record, void *out) {
    if (node->type != YAML_MAPPING_NODE) {
        say_mistake(reader, node->start_mark, "fields are expected here, of a", record->name);
        return;
    }
    bool is_given[MOST_FIELDS] = {false};
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_of(reader, pair->key);
        int i = find_field(reader, key, record);
        if (i < 0) continue;
        if (is_given[i])
            say_mistake(reader, key->start_mark, "given twice:", record->fields[i].name);
        is_given[i] = true;
        read_field(reader, node_of(reader, pair->value), &record->fields[i], out);
    }
    for (int i = 0; i < record->count; i++) {
        if (record->fields[i].is_needed && !is_given[i])
            say_mistake(reader, node->start_mark, "here is missing", record->fields[i].name);
    }
}

/* ---- What must fit together ---- */

static int find_program(const Experiment *experiment, const char *label) {
    for (int i = 0; i < experiment->programs.count; i++) {
        if (strcmp(experiment->programs.list[i].label, label) == 0) return i;
    }
    return -1;
}

int experiment_find_row(const Experiment *experiment, const char *label) {
    int program = find_program(experiment, label);
    if (program >= 0) return program;
    for (int i = 0; i < experiment->means.count; i++) {
        if (strcmp(experiment->means.list[i].label, label) == 0)
            return experiment->programs.count + i;
    }
    return -1;
}

const Setup *experiment_find_setup(const Experiment *experiment, const char *name) {
    for (int i = 0; i < experiment->setups.count; i++) {
        if (strcmp(experiment->setups.list[i].name, name) == 0) return &experiment->setups.list[i];
    }
    return NULL;
}

static bool has_column(const Experiment *experiment, const char *label) {
    for (int i = 0; i < experiment->columns.count; i++) {
        if (strcmp(experiment->columns.list[i].label, label) == 0) return true;
    }
    return false;
}

static bool has_value(const Claim *claim, const char *row) {
    for (int i = 0; i < claim->values.count; i++) {
        if (strcmp(claim->values.list[i].row, row) == 0) return true;
    }
    return false;
}

static void need(Reader *reader, bool is_there, const char *what, const char *name) {
    if (!is_there && reader->mistakes++ < MOST_MESSAGES)
        fprintf(stderr, "%s: error: there is no %s '%s'\n", reader->path, what, name);
}

/* Rows and columns are not without end: every cell is computed by looking at every run. */
static void check_size(Reader *reader, const Experiment *experiment) {
    int rows = experiment->programs.count + experiment->means.count;
    need(reader, rows * experiment->columns.count <= MOST_CELLS,
         "room for so many rows and columns in experiment", experiment->id);
}

/* The item of a record is its number, from 1. */
static void check_items_of_records(Reader *reader, const Experiment *experiment) {
    for (int i = 0; i < experiment->programs.count; i++) {
        double item = experiment->programs.list[i].item;
        need(reader, item >= 0 && item <= 1e6 && item == floor(item),
             "recorded item of such a number for program", experiment->programs.list[i].label);
    }
}

/* A run is of the row's workload, or else of the setup's. */
static void check_runs(Reader *reader, const Experiment *experiment) {
    for (int i = 0; i < experiment->programs.count; i++) {
        if (experiment->programs.list[i].run.count) continue;
        for (int j = 0; j < experiment->setups.count; j++)
            need(reader, experiment->setups.list[j].run.count, "field 'run' for program",
                 experiment->programs.list[i].label);
    }
}

static void check_names(Reader *reader, const Experiment *experiment) {
    for (int i = 0; i < experiment->columns.count; i++) {
        const Column *at = &experiment->columns.list[i];
        need(reader, experiment_find_setup(experiment, at->setup), "setup", at->setup);
        if (at->over) need(reader, experiment_find_setup(experiment, at->over), "setup", at->over);
        if (at->from) need(reader, has_column(experiment, at->from), "column", at->from);
    }
    for (int i = 0; i < experiment->means.count; i++) {
        const Words *of = &experiment->means.list[i].of;
        for (int w = 0; w < of->count; w++)
            need(reader, find_program(experiment, of->list[w]) >= 0, "program", of->list[w]);
    }
    for (int i = 0; i < experiment->published.count; i++) {
        const Claim *at = &experiment->published.list[i];
        need(reader, has_column(experiment, at->column), "column", at->column);
        for (int v = 0; v < at->values.count; v++)
            need(reader, experiment_find_row(experiment, at->values.list[v].row) >= 0, "row",
                 at->values.list[v].row);
        for (int h = 0; h < at->headline.count; h++)
            need(reader, has_value(at, at->headline.list[h]), "value of row", at->headline.list[h]);
    }
}

/* ---- Files ---- */

static void say_problem(Reader *reader, const yaml_parser_t *parser) {
    say_mistake(reader, parser->problem_mark, parser->problem ? parser->problem : "not YAML", NULL);
}

/* Whether an event is part of what an experiment is made of; its change of depth goes to *depth.
 * Aliases would let a short file stand for an endless one. */
static bool check_event(Reader *reader, const yaml_event_t *event, int *depth) {
    const char *what = NULL;
    bool is_named = false;
    if (event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT)
        ++*depth;
    if (event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT) --*depth;
    if (event->type == YAML_SCALAR_EVENT)
        is_named = event->data.scalar.anchor || event->data.scalar.tag;
    if (event->type == YAML_MAPPING_START_EVENT)
        is_named = event->data.mapping_start.anchor || event->data.mapping_start.tag;
    if (event->type == YAML_SEQUENCE_START_EVENT)
        is_named = event->data.sequence_start.anchor || event->data.sequence_start.tag;
    if (is_named || event->type == YAML_ALIAS_EVENT)
        what = "an experiment has no anchors, aliases or tags";
    if (*depth > MOST_DEPTH) what = "nested deeper than any field";
    if (what) say_mistake(reader, event->start_mark, what, NULL);
    return !what;
}

/* Looks at the whole file before any of it is kept: the library's own reader has no such bounds. */
static bool check_document(Reader *reader, const char *text, size_t length) {
    yaml_parser_t parser;
    bool is_right = true, is_over = false;
    int depth = 0;
    if (!yaml_parser_initialize(&parser)) return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (is_right && !is_over) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            say_problem(reader, &parser);
            is_right = false;
            break;
        }
        is_right = check_event(reader, &event, &depth);
        is_over = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return is_right;
}

static bool load_document(Reader *reader, const char *text, size_t length) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    bool is_right = yaml_parser_load(&parser, &reader->storage->document);
    if (!is_right) say_problem(reader, &parser);
    yaml_parser_delete(&parser);
    return is_right;
}

Experiment *experiment_parse(const char *path, const char *text, size_t length,
                             bool allows_plugins) {
    ExperimentStorage *storage = allocate(1, sizeof *storage);
    Reader reader = {.path = path, .storage = storage, .allows_plugins = allows_plugins};
    need(&reader, length <= MOST_BYTES, "experiment in a file of so many bytes:", path);
    if (reader.mistakes || !check_document(&reader, text, length) ||
        !load_document(&reader, text, length)) {
        free(storage);
        return NULL;
    }
    Experiment *out = add_block(storage, 1, sizeof *out);
    out->storage = storage;
    const yaml_node_t *root = yaml_document_get_root_node(&storage->document);
    if (root) read_record(&reader, root, &experiment_record, out);
    else need(&reader, false, "experiment in", path);
    if (!reader.mistakes) check_size(&reader, out);
    if (!reader.mistakes) check_items_of_records(&reader, out);
    if (!reader.mistakes) check_runs(&reader, out);
    if (!reader.mistakes) check_names(&reader, out);
    if (!reader.mistakes) return out;
    experiment_free(out);
    return NULL;
}

Experiment *experiment_read(const char *path, bool allows_plugins) {
    size_t length;
    char *text = file_read(path, FILE_TEXT_MAX, &length);
    if (!text) return NULL;
    Experiment *experiment = experiment_parse(path, text, length, allows_plugins);
    free(text);
    return experiment;
}

void experiment_free(Experiment *experiment) {
    if (!experiment) return;
    ExperimentStorage *storage = experiment->storage;
    yaml_document_delete(&storage->document);
    for (int i = 0; i < storage->count; i++)
        free(storage->blocks[i]); /* the experiment among them */
    free(storage->blocks);
    free(storage);
}
