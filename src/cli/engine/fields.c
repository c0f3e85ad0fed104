/* Reads declarations with libyaml (see the header). */
#include "cli/engine/fields.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "cli/command.h"

/* The first fields of every list. */
typedef struct List {
    void *list;
    int count;
} List;

enum {
    MOST_FIELDS = 16,
    MOST_MESSAGES = 20,
    MOST_BYTES = 1 << 20,   /* of a file; the largest that comes with Tyto has a hundredth of it */
    MOST_DEPTH = 6,         /* nested lists and mappings; a claim's values are the fourth */
    MOST_ITEMS = 4096,      /* of a list */
    MOST_ORDINAL = 1000000, /* fewer things than this can be recorded */
};

/* A text that is a copy of one in the document; messages give the place of the original. */
typedef struct Alias {
    const char *word;
    yaml_mark_t mark;
} Alias;

/* Texts are stored in the document, arrays in blocks. */
struct FieldFile {
    char *path;
    bool allows_plugins;
    int mistakes;   /* reported so far */
    bool is_loaded; /* `document` is loaded */
    yaml_document_t document;
    void **blocks; /* owned, with their contents */
    int count;     /* of blocks */
    Alias *aliases;
    int alias_count;
};

FieldFile *fields_new(const char *path, bool allows_plugins) {
    FieldFile *file = allocate(1, sizeof *file);
    file->path = words_copy_text(path);
    file->allows_plugins = allows_plugins;
    return file;
}

void fields_free(FieldFile *file) {
    if (!file) return;
    if (file->is_loaded) yaml_document_delete(&file->document);
    for (int i = 0; i < file->count; i++)
        free(file->blocks[i]);
    free(file->blocks);
    free(file->aliases);
    free(file->path);
    free(file);
}

const char *fields_path(const FieldFile *file) { return file->path; }
int fields_mistakes(const FieldFile *file) { return file->mistakes; }

/* Adds an item to a list and returns it; may move `list`. */
static void *grow(void *list, int count, size_t size) {
    void *longer = realloc(list, ((size_t)count + 1) * size);
    if (longer) return longer;
    say_error("out of memory");
    exit(EXIT_FAILED);
}

void *fields_allocate(FieldFile *file, int count, size_t size) {
    file->blocks = grow(file->blocks, file->count, sizeof *file->blocks);
    return file->blocks[file->count++] = allocate((size_t)count, size);
}

/* ---- Mistakes ---- */

static void say_mistake(FieldFile *file, yaml_mark_t mark, const char *what, const char *word) {
    if (file->mistakes++ < MOST_MESSAGES)
        fprintf(stderr, "%s:%zu:%zu: error: %s%s%s%s\n", file->path, mark.line + 1, mark.column + 1,
                what, word ? " '" : "", word ? word : "", word ? "'" : "");
}

/* Finds the place of this text in the file; false: it is not a text of the file. */
static bool find_place(const FieldFile *file, const char *word, yaml_mark_t *mark) {
    for (int i = 0; i < file->alias_count; i++) {
        if (file->aliases[i].word != word) continue;
        *mark = file->aliases[i].mark;
        return true;
    }
    const yaml_node_t *node = file->is_loaded ? file->document.nodes.start : NULL;
    for (; node && node < file->document.nodes.top; node++) {
        if (node->type != YAML_SCALAR_NODE || (const char *)node->data.scalar.value != word)
            continue;
        *mark = node->start_mark;
        return true;
    }
    return false;
}

void fields_say(FieldFile *file, const char *word, const char *format, ...) {
    yaml_mark_t mark;
    if (file->mistakes++ >= MOST_MESSAGES) return;
    fprintf(stderr, "%s", file->path);
    if (find_place(file, word, &mark)) fprintf(stderr, ":%zu:%zu", mark.line + 1, mark.column + 1);
    fprintf(stderr, ": error: ");
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void fields_say_unknown(FieldFile *file, const char *what, const char *word,
                        const char *const *names, int count) {
    const char *nearest = tyto_nearest(word, names, count);
    fields_say(file, word, "there is no %s '%s'%s%s%s", what, word, MEANT(nearest));
}

/* ---- Reading ---- */

static yaml_node_t *node_of(FieldFile *file, int index) {
    return yaml_document_get_node(&file->document, index);
}

/* Whether a text contains control characters (of ASCII or Latin-1, in UTF-8) or Unicode's line
 * ends. They would break a table, a page or a plot. */
static bool has_control(const unsigned char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] < ' ' || text[i] == 0x7f) return true;
        if (text[i] == 0xc2 && i + 1 < length && text[i + 1] < 0xa0) return true;
        if (text[i] == 0xe2 && i + 2 < length && text[i + 1] == 0x80 && (text[i + 2] | 1) == 0xa9)
            return true;
    }
    return false;
}

/* A scalar's text; "" after a message if it is not valid. */
static const char *read_text(FieldFile *file, const yaml_node_t *node) {
    bool is_text = node->type == YAML_SCALAR_NODE && node->data.scalar.length;
    if (is_text && !has_control(node->data.scalar.value, node->data.scalar.length))
        return (const char *)node->data.scalar.value;
    say_mistake(file, node->start_mark,
                is_text ? "a text must not contain line breaks or other control characters"
                        : "expected a text",
                NULL);
    return "";
}

static double read_number(FieldFile *file, const yaml_node_t *node) {
    const char *text = read_text(file, node);
    char *end;
    double number = strtod(text, &end);
    if (*text && (*end || !isfinite(number)))
        say_mistake(file, node->start_mark, "not a number:", text);
    return isfinite(number) ? number : 0;
}

static int read_ordinal(FieldFile *file, const yaml_node_t *node) {
    const int most = MOST_ORDINAL, before = file->mistakes;
    char what[64];
    double number = read_number(file, node);
    if (number >= 1 && number <= most && number == floor(number)) return (int)number;
    snprintf(what, sizeof what, "not a whole number from 1 to %d:", most);
    if (file->mistakes == before) say_mistake(file, node->start_mark, what, read_text(file, node));
    return 0;
}

static int read_choice(FieldFile *file, const yaml_node_t *node, const char *const *choices) {
    const char *text = read_text(file, node);
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) return i;
    }
    if (*text) say_mistake(file, node->start_mark, "not an allowed value:", text);
    return 0;
}

/* The number of items of a node; 0 after a message if there are too many. */
static int check_items(FieldFile *file, const yaml_node_t *node, ptrdiff_t items) {
    if (items <= MOST_ITEMS) return (int)items;
    say_mistake(file, node->start_mark, "too many items", NULL);
    return 0;
}

static int items_of(FieldFile *file, const yaml_node_t *list) {
    return check_items(file, list, list->data.sequence.items.top - list->data.sequence.items.start);
}

/* Records that a text is a copy of a node's text. */
static const char *add_alias(FieldFile *file, const char *word, const yaml_node_t *node) {
    file->aliases = grow(file->aliases, file->alias_count, sizeof *file->aliases);
    file->aliases[file->alias_count++] = (Alias){word, node->start_mark};
    return word;
}

/* A path in the file is relative to the file's folder. */
static const char *place_path(FieldFile *file, const yaml_node_t *node, const char *path) {
    if (path[0] == '/') return path;
    if (strncmp(path, "./", 2) == 0) path += 2;
    const char *slash = strrchr(file->path, '/');
    const int folder = slash ? (int)(slash + 1 - file->path) : 0;
    const size_t size = (size_t)folder + strlen(path) + sizeof "./";
    char *placed = fields_allocate(file, 1, size);
    snprintf(placed, size, "%.*s%s%s", folder, file->path, folder ? "" : "./", path);
    return add_alias(file, placed, node);
}

static const char *place_machine(FieldFile *file, const yaml_node_t *node, const char *machine) {
    const bool is_file = tyto_is_machine_file(machine) && strcmp(machine, "-") != 0;
    return is_file ? place_path(file, node, machine) : machine;
}

/* The name of a scheduler for runs. A shared object is code, so the user must allow it. */
static const char *place_policy(FieldFile *file, const yaml_node_t *node, const char *policy) {
    if (!tyto_is_plugin(policy)) return policy;
    if (!file->allows_plugins)
        say_mistake(file, node->start_mark,
                    "this is code, which a file may load only with --allow-plugins:", policy);
    return place_path(file, node, policy);
}

/* Does the same with `key=value` if the value is a scheduler. */
static const char *place_set(FieldFile *file, const yaml_node_t *node, const char *set) {
    const char *equals = strchr(set, '=');
    static const char ending[] = ".policy";
    size_t length = equals ? (size_t)(equals - set) : 0;
    if (length < sizeof ending ||
        strncmp(equals + 1 - sizeof ending, ending, sizeof ending - 1) != 0)
        return set;
    const char *policy = place_policy(file, node, equals + 1);
    size_t size = length + 1 + strlen(policy) + 1;
    char *placed = fields_allocate(file, 1, size);
    snprintf(placed, size, "%.*s=%s", (int)length, set, policy);
    return add_alias(file, placed, node);
}

typedef const char *PlaceWord(FieldFile *file, const yaml_node_t *node, const char *word);

/* Reads a list of scalars, or one scalar; with NULL for `place` it copies them unchanged. */
static void read_words(FieldFile *file, const yaml_node_t *node, Words *words, PlaceWord *place) {
    bool is_list = node->type == YAML_SEQUENCE_NODE;
    words->count = is_list ? items_of(file, node) : 1;
    words->list = fields_allocate(file, words->count, sizeof *words->list);
    for (int i = 0; i < words->count; i++) {
        const yaml_node_t *item =
            is_list ? node_of(file, node->data.sequence.items.start[i]) : node;
        const char *text = read_text(file, item);
        words->list[i] = place ? place(file, item, text) : text;
    }
}

static void read_values(FieldFile *file, const yaml_node_t *node, Values *values) {
    if (node->type != YAML_MAPPING_NODE) {
        say_mistake(file, node->start_mark, "expected a mapping of rows to numbers", NULL);
        return;
    }
    const yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
    values->count = check_items(file, node, node->data.mapping.pairs.top - pairs);
    values->list = fields_allocate(file, values->count, sizeof *values->list);
    for (int i = 0; i < values->count; i++) {
        values->list[i].row = read_text(file, node_of(file, pairs[i].key));
        values->list[i].number = read_number(file, node_of(file, pairs[i].value));
    }
}

static bool is_empty(const yaml_node_t *node) {
    if (node->type == YAML_SEQUENCE_NODE)
        return node->data.sequence.items.top == node->data.sequence.items.start;
    return node->type == YAML_MAPPING_NODE &&
           node->data.mapping.pairs.top == node->data.mapping.pairs.start;
}

/* False after a message if a list or mapping needs at least one item and is empty. */
static bool check_not_empty(FieldFile *file, const yaml_node_t *node, const char *name) {
    if (!is_empty(node)) return true;
    say_mistake(file, node->start_mark, "needs at least one item:", name);
    return false;
}

static void read_lists(FieldFile *file, const yaml_node_t *node, NamedLists *lists) {
    if (node->type != YAML_MAPPING_NODE) {
        say_mistake(file, node->start_mark, "expected a mapping of names to values", NULL);
        return;
    }
    const yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
    lists->count = check_items(file, node, node->data.mapping.pairs.top - pairs);
    lists->list = fields_allocate(file, lists->count, sizeof *lists->list);
    for (int i = 0; i < lists->count; i++) {
        const yaml_node_t *values = node_of(file, pairs[i].value);
        lists->list[i].name = read_text(file, node_of(file, pairs[i].key));
        if (check_not_empty(file, values, lists->list[i].name))
            read_words(file, values, &lists->list[i].words, NULL);
    }
}

static void read_record(FieldFile *file, const yaml_node_t *node, const Record *record, void *out);

static void read_records(FieldFile *file, const yaml_node_t *node, const Record *record,
                         List *out) {
    if (node->type != YAML_SEQUENCE_NODE) {
        say_mistake(file, node->start_mark, "expected a list", NULL);
        return;
    }
    out->count = items_of(file, node);
    out->list = fields_allocate(file, out->count, record->size);
    for (int i = 0; i < out->count; i++)
        read_record(file, node_of(file, node->data.sequence.items.start[i]), record,
                    (char *)out->list + (size_t)i * record->size);
}

static void read_field(FieldFile *file, const yaml_node_t *node, const Field *field, void *record) {
    void *at = (char *)record + field->offset;
    switch (field->kind) {
    case FIELD_TEXT: *(const char **)at = read_text(file, node); break;
    case FIELD_WORDS: read_words(file, node, at, NULL); break;
    case FIELD_POLICY: *(const char **)at = place_policy(file, node, read_text(file, node)); break;
    case FIELD_POLICIES: read_words(file, node, at, place_policy); break;
    case FIELD_MACHINE:
        *(const char **)at = place_machine(file, node, read_text(file, node));
        break;
    case FIELD_MACHINES: read_words(file, node, at, place_machine); break;
    case FIELD_SETS: read_words(file, node, at, place_set); break;
    case FIELD_NUMBER: *(double *)at = read_number(file, node); break;
    case FIELD_ORDINAL: *(int *)at = read_ordinal(file, node); break;
    case FIELD_CHOICE: *(unsigned *)at = (unsigned)read_choice(file, node, field->choices); break;
    case FIELD_VALUES: read_values(file, node, at); break;
    case FIELD_LISTS: read_lists(file, node, at); break;
    case FIELD_RECORDS: read_records(file, node, field->record, at); break;
    }
}

static int find_field(FieldFile *file, const yaml_node_t *key, const Record *record) {
    const char *names[MOST_FIELDS];
    const char *name = read_text(file, key);
    for (int i = 0; i < record->count; i++) {
        names[i] = record->fields[i].name;
        if (strcmp(names[i], name) == 0) return i;
    }
    char what[128];
    const char *nearest = tyto_nearest(name, names, record->count);
    snprintf(what, sizeof what, "%s%s%s%s has no", nearest ? "did you mean '" : "",
             nearest ? nearest : "", nearest ? "'? " : "", record->name);
    say_mistake(file, key->start_mark, what, name);
    return -1;
}

static void read_record(FieldFile *file, const yaml_node_t *node, const Record *record, void *out) {
    if (node->type != YAML_MAPPING_NODE) {
        say_mistake(file, node->start_mark, "expected the fields of a", record->name);
        return;
    }
    bool is_given[MOST_FIELDS] = {false};
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_of(file, pair->key), *value = node_of(file, pair->value);
        int i = find_field(file, key, record);
        if (i < 0) continue;
        if (is_given[i]) say_mistake(file, key->start_mark, "given twice:", record->fields[i].name);
        is_given[i] = true;
        if (!record->fields[i].is_needed || check_not_empty(file, value, record->fields[i].name))
            read_field(file, value, &record->fields[i], out);
    }
    for (int i = 0; i < record->count; i++) {
        if (record->fields[i].is_needed && !is_given[i])
            say_mistake(file, node->start_mark, "missing field:", record->fields[i].name);
    }
}

static void say_problem(FieldFile *file, const yaml_parser_t *parser) {
    say_mistake(file, parser->problem_mark, parser->problem ? parser->problem : "not YAML", NULL);
}

/* Whether such a file may contain this event; adds the event's change of depth to *depth. Aliases
 * are excluded, because a short file with aliases can expand without end. */
static bool check_event(FieldFile *file, const yaml_event_t *event, int *depth) {
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
        what = "the file must have no anchors, aliases or tags";
    if (*depth > MOST_DEPTH) what = "nested deeper than any field";
    if (what) say_mistake(file, event->start_mark, what, NULL);
    return !what;
}

/* Whether an event does not begin a second document, which would not be read. */
static bool check_start(FieldFile *file, const yaml_event_t *event, int *documents) {
    if (event->type != YAML_DOCUMENT_START_EVENT || !(*documents)++) return true;
    say_mistake(file, event->start_mark, "only a single document is allowed", NULL);
    return false;
}

/* Checks the whole file before loading it, because the library's reader has no such limits. */
static bool check_document(FieldFile *file, const char *text, size_t length) {
    yaml_parser_t parser;
    bool is_right = true, is_over = false;
    int depth = 0, documents = 0;
    if (!yaml_parser_initialize(&parser)) return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    while (is_right && !is_over) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            say_problem(file, &parser);
            is_right = false;
            break;
        }
        is_right = check_event(file, &event, &depth) && check_start(file, &event, &documents);
        is_over = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return is_right;
}

static bool load_document(FieldFile *file, const char *text, size_t length) {
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return false;
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    bool is_right = yaml_parser_load(&parser, &file->document);
    if (!is_right) say_problem(file, &parser);
    yaml_parser_delete(&parser);
    return is_right;
}

void *fields_read(FieldFile *file, const Record *record, const char *text, size_t length) {
    if (length > MOST_BYTES) {
        fields_say(file, NULL, "the file has too many bytes for one %s", record->name);
        return NULL;
    }
    file->is_loaded = check_document(file, text, length) && load_document(file, text, length);
    const yaml_node_t *root = file->is_loaded ? yaml_document_get_root_node(&file->document) : NULL;
    if (file->is_loaded && !root) fields_say(file, NULL, "the file contains no %s", record->name);
    if (!root) return NULL;
    void *out = fields_allocate(file, 1, record->size);
    read_record(file, root, record, out);
    return out;
}
