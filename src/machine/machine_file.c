/* The reader of machine files. YAML events (libyaml) become a flat list of paths and values; then
 * the base machine is read; then each value is set through its row. Hostile files are rejected
 * early: size, nesting and the number of bases are limited, and anchors, aliases and tags are not
 * accepted. */
#include "machine/machine_file.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/arena.h"
#include "base/map.h"
#include "machine/machine_internal.h"
#include "machine/machine_rows.h"

enum {
    FILE_MAX_BYTES = 256 * 1024, /* ten times a file with every key and comment */
    FILE_MAX_DEPTH = 4,          /* most nested mappings; the deepest key has three parts */
    FILE_MAX_BASES = 8,          /* most machines in a chain of bases */
    FILE_MAX_LIST = 4096,        /* most bytes of a list written on one line */
    NOTE_MAX_BYTES = 200,        /* most bytes of a comment kept as a value's origin */
};

/* One `path: value` of a file. */
typedef struct Entry {
    const char *path;  /* keys joined by dots */
    const char *value; /* as written; a list as [1, 2] */
    const char *note;  /* the comment after it, "" if there is none */
    int line, column;  /* line of the value, from 1 */
} Entry;

typedef struct Reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current event */
    bool has_event;
    const char *file; /* name for messages */
    const char *text;
    size_t length;
    const char *line_text; /* position where line `line` of the text (from 0) begins: the last one
                              requested */
    size_t line;
    Arena *arena; /* paths, values and notes */
    Map *entries; /* from path to Entry, in the file's order */
    Diag *diag;
} Reader;

/* --- from YAML to entries --- */

static void report(Reader *reader, yaml_mark_t mark, const char *what) {
    diag_error(reader->diag, reader->file, (int)mark.line + 1, (int)mark.column + 1, "%s", what);
}

/* Reads the next event; returns false after an error, which is reported. */
static bool next_event(Reader *reader) {
    if (reader->has_event) yaml_event_delete(&reader->event);
    reader->has_event = yaml_parser_parse(&reader->parser, &reader->event);
    if (reader->has_event) return true;
    const char *problem = reader->parser.problem ? reader->parser.problem : "unreadable text";
    yaml_mark_t mark = reader->parser.problem_mark;
    if (reader->parser.error == YAML_READER_ERROR) {
        diag_error(reader->diag, reader->file, 0, 0, "not YAML: %s at byte %zu", problem,
                   reader->parser.problem_offset);
    } else {
        diag_error(reader->diag, reader->file, (int)mark.line + 1, (int)mark.column + 1,
                   "not YAML: %s", problem);
    }
    return false;
}

/* Whether the event is a value without anchor and tag. */
static bool is_plain(Reader *reader) {
    const yaml_event_t *event = &reader->event;
    bool has_anchor = false, has_tag = false;
    if (event->type == YAML_SCALAR_EVENT) {
        has_anchor = event->data.scalar.anchor;
        has_tag = event->data.scalar.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        has_anchor = event->data.mapping_start.anchor;
        has_tag = event->data.mapping_start.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        has_anchor = event->data.sequence_start.anchor;
        has_tag = event->data.sequence_start.tag;
    }
    if (!has_anchor && !has_tag && event->type != YAML_ALIAS_EVENT) return true;
    report(reader, event->start_mark, "a machine file has no anchors, aliases or tags");
    return false;
}

/* The text of a scalar event; NULL, with a report, if it contains a NUL. */
static const char *scalar_text(Reader *reader) {
    const yaml_event_t *event = &reader->event;
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) == event->data.scalar.length)
        return arena_strndup(reader->arena, text, event->data.scalar.length);
    report(reader, event->start_mark, "a value must not hold a NUL");
    return NULL;
}

/* The position where a line begins, counted from 0. Events come in the order of lines, so requests
 * never go back. NULL: the text ends before the line. */
static const char *find_line(Reader *reader, size_t line) {
    const char *at = reader->line_text, *stop = reader->text + reader->length;
    for (; reader->line < line; reader->line++) {
        at = memchr(at, '\n', (size_t)(stop - at));
        if (!at) return NULL;
        reader->line_text = ++at;
    }
    return at;
}

/* The comment after a value that ends at `end` (in characters, so at least as many bytes). */
static const char *comment_after(Reader *reader, yaml_mark_t end) {
    const char *at = find_line(reader, end.line), *stop = reader->text + reader->length;
    if (!at) return "";
    const char *line_end = memchr(at, '\n', (size_t)(stop - at));
    if (!line_end) line_end = stop;
    if ((size_t)(line_end - at) <= end.column) return "";
    at += end.column;
    while (at < line_end && *at != '#')
        at++;
    while (at < line_end && (*at == '#' || *at == ' '))
        at++;
    while (line_end > at && (line_end[-1] == ' ' || line_end[-1] == '\r'))
        line_end--;
    return arena_strndup(reader->arena, at, (size_t)(line_end - at));
}

static bool add_entry(Reader *reader, const char *path, const char *value, yaml_mark_t start) {
    Entry *entry = ARENA_NEW(reader->arena, Entry);
    *entry = (Entry){.path = path,
                     .value = value,
                     .note = comment_after(reader, reader->event.end_mark),
                     .line = (int)start.line + 1,
                     .column = (int)start.column + 1};
    const Entry *earlier = map_put(reader->entries, path, strlen(path), entry);
    if (!earlier) return true;
    diag_error(reader->diag, reader->file, entry->line, entry->column,
               "%.60s: given a second time, after line %d", path, earlier->line);
    return false;
}

/* Reads a list of scalars, which the current event opens, as one value. */
static bool read_list(Reader *reader, const char *path) {
    yaml_mark_t start = reader->event.start_mark;
    Text items = {0};
    text_add(&items, "[");
    bool is_good = true;
    while (is_good && (is_good = next_event(reader)) &&
           reader->event.type != YAML_SEQUENCE_END_EVENT) {
        const char *item = NULL;
        is_good = is_plain(reader);
        if (is_good && (reader->event.type != YAML_SCALAR_EVENT || items.length > FILE_MAX_LIST)) {
            report(reader, reader->event.start_mark, "a list holds a few plain values");
            is_good = false;
        }
        if (is_good) item = scalar_text(reader);
        is_good = is_good && item;
        if (is_good) text_printf(&items, "%s%s", items.length > 1 ? ", " : "", item);
    }
    text_add(&items, "]");
    is_good =
        is_good && add_entry(reader, path, arena_strdup(reader->arena, text_string(&items)), start);
    text_free(&items);
    return is_good;
}

static bool read_mapping(Reader *reader, const char *prefix, int depth);

/* Reads the current event as the value of `path`. */
static bool read_value(Reader *reader, const char *path, int depth) {
    if (!is_plain(reader)) return false;
    if (reader->event.type == YAML_SEQUENCE_START_EVENT) return read_list(reader, path);
    if (reader->event.type == YAML_MAPPING_START_EVENT)
        return read_mapping(reader, path, depth + 1);
    const char *value = scalar_text(reader);
    return value && add_entry(reader, path, value, reader->event.start_mark);
}

/* Reads a mapping, which the current event opens; its keys are below `prefix`. */
static bool read_mapping(Reader *reader, const char *prefix, int depth) {
    if (depth > FILE_MAX_DEPTH) {
        report(reader, reader->event.start_mark, "nested deeper than any section");
        return false;
    }
    for (;;) {
        if (!next_event(reader)) return false;
        if (reader->event.type == YAML_MAPPING_END_EVENT) return true;
        if (!is_plain(reader)) return false;
        if (reader->event.type != YAML_SCALAR_EVENT) {
            report(reader, reader->event.start_mark, "a key is a plain word");
            return false;
        }
        const char *key = scalar_text(reader);
        if (!key) return false;
        const char *path = *prefix ? arena_printf(reader->arena, "%s.%s", prefix, key) : key;
        if (!next_event(reader) || !read_value(reader, path, depth)) return false;
    }
}

/* Skips one event. */
static bool pass_event(Reader *reader) {
    bool is_passed = next_event(reader);
    return is_passed && next_event(reader);
}

static bool read_document(Reader *reader) {
    if (!pass_event(reader)) return false; /* start of stream and document */
    if (reader->event.type == YAML_DOCUMENT_START_EVENT && !next_event(reader)) return false;
    if (reader->event.type != YAML_MAPPING_START_EVENT) {
        report(reader, reader->event.start_mark, "a machine file holds sections such as 'l1d:'");
        return false;
    }
    if (!is_plain(reader) || !read_mapping(reader, "", 1)) return false;
    if (!pass_event(reader)) return false; /* end of document, of stream */
    if (reader->event.type == YAML_STREAM_END_EVENT) return true;
    report(reader, reader->event.start_mark, "a machine file is a single document");
    return false;
}

/* Fills in reader->entries; returns false after an error, which is reported. */
static bool read_entries(Reader *reader) {
    if (reader->length > FILE_MAX_BYTES) {
        diag_error(reader->diag, reader->file, 0, 0, "longer than %d bytes: no machine file",
                   FILE_MAX_BYTES);
        return false;
    }
    if (!yaml_parser_initialize(&reader->parser)) {
        diag_error(reader->diag, reader->file, 0, 0, "out of memory");
        return false;
    }
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)reader->text,
                                 reader->length);
    bool is_good = read_document(reader);
    if (reader->has_event) yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
    return is_good;
}

/* --- from entries to the machine --- */

/* The key whose value sets others. It is read before them, wherever it is in the file. */
#define SIMULATOR "simulator"

static bool is_section(const char *key) {
    int count;
    const MachineRow *rows = machine_rows(&count);
    size_t length = strlen(key);
    for (int i = 0; i < count; i++) {
        if (!strncmp(rows[i].key, key, length) && rows[i].key[length] == '.') return true;
    }
    return false;
}

static const char *nearest_key(const char *key) {
    int count;
    const MachineRow *rows = machine_rows(&count);
    const char *names[MACHINE_MAX_ROWS];
    for (int i = 0; i < count; i++)
        names[i] = rows[i].key;
    return diag_nearest(key, names, count);
}

static void report_unknown(Diag *diag, const char *file, const Entry *entry) {
    const char *nearest = nearest_key(entry->path);
    if (is_section(entry->path)) {
        diag_error(diag, file, entry->line, entry->column,
                   "%.60s is a section: it holds keys, not a value", entry->path);
    } else if (nearest) {
        diag_error(diag, file, entry->line, entry->column, "%.60s: no such key; did you mean '%s'?",
                   entry->path, nearest);
    } else {
        diag_error(diag, file, entry->line, entry->column,
                   "%.60s: no such key (docs/machine-parameters.md lists them)", entry->path);
    }
}

/* The part of a comment that describes the origin of a value: an effective file has the row's
 * meaning before it. */
static const char *origin_in(const char *note, const MachineRow *row) {
    size_t length = strlen(row->meaning);
    bool has_meaning = !strncmp(note, row->meaning, length) && !strncmp(note + length, "; ", 2);
    if (has_meaning) note += length + 2;
    return note + strspn(note, " ");
}

/* The origin of the value of `entry`. Without a comment it is the place in the file. A comment of a
 * base is marked as such. */
static const char *origin_of(Arena *arena, const char *file, const Entry *entry,
                             const MachineRow *row, bool is_base) {
    const char *note = origin_in(entry->note, row);
    char *origin = !*note && entry->line ? arena_printf(arena, "%s:%d", file, entry->line)
                   : !*note              ? arena_strdup(arena, file)
                   : is_base             ? arena_printf(arena, "%s: %s", file, note)
                                         : arena_strdup(arena, note);
    size_t length = strnlen(origin, NOTE_MAX_BYTES); /* the same after printing and reading back */
    while (length && origin[length - 1] == ' ')
        length--;
    origin[length] = '\0';
    for (char *c = origin; *c; c++) { /* characters that could end a comment */
        if (*c < ' ' || *c > '~') *c = '?';
    }
    return origin;
}

/* Sets the origin and layer of a row, but not its value. */
static void note_origin(Machine *machine, const MachineRow *row, const char *origin,
                        const char *file, const Entry *entry) {
    int count;
    ptrdiff_t i = row - machine_rows(&count);
    machine->origins[i] = origin;
    machine->layers[i] = entry->line ? LAYER_FILE : LAYER_SET;
    machine->places[i] = (MachinePlace){0};
    if (entry->line)
        machine->places[i] =
            (MachinePlace){arena_strdup(machine->arena, file), entry->line, entry->column};
}

/* Sets every quirk to its value for the simulator that was chosen. */
static void apply_quirks(Machine *machine, const char *file, const Entry *entry) {
    const Quirk *quirk;
    Text why = {0};
    for (int i = 0; (quirk = quirk_at(machine->config.simulator, i)) != NULL; i++) {
        const MachineRow *row = machine_find_row(quirk->key, strlen(quirk->key));
        bool is_set = machine_set_row(&machine->config, row, quirk->value, &why);
        assert(is_set && "a quirk's value is one of its row's");
        (void)is_set;
        note_origin(machine, row, quirk->origin, file, entry);
    }
    text_free(&why);
}

/* Checks an entry for a fixed value: it must have that value. */
static bool check_constant(const Machine *machine, const char *file, const Entry *entry,
                           const MachineRow *constant, Diag *diag) {
    MachineConfig said = machine->config;
    Text why = {0}, value = {0}, fixed = {0};
    bool is_set = machine_set_row(&said, constant, entry->value, &why);
    machine_format_row(&said, constant, &value);
    machine_format_row(&machine->config, constant, &fixed);
    bool is_good = is_set && !strcmp(text_string(&value), text_string(&fixed));
    if (!is_good)
        diag_error(diag, file, entry->line, entry->column,
                   "%s: is %s on every machine, and no parameter (docs/machine-parameters.md)",
                   constant->key, constant->initial);
    text_free(&why);
    text_free(&value);
    text_free(&fixed);
    return is_good;
}

static bool apply_entry(Machine *machine, const char *file, const Entry *entry, bool is_base,
                        Diag *diag) {
    const MachineRow *row = machine_find_row(entry->path, strlen(entry->path));
    const MachineRow *constant = machine_find_constant(entry->path, strlen(entry->path));
    if (constant) return check_constant(machine, file, entry, constant, diag);
    if (!row) {
        report_unknown(diag, file, entry);
        return false;
    }
    Text why = {0};
    bool is_set = machine_set_row(&machine->config, row, entry->value, &why);
    if (!is_set) {
        diag_error(diag, file, entry->line, entry->column, "%s: %s", row->key, text_string(&why));
    } else {
        const char *origin = origin_of(machine->arena, file, entry, row, is_base);
        note_origin(machine, row, origin, file, entry);
        if (!strcmp(row->key, SIMULATOR)) apply_quirks(machine, file, entry);
    }
    text_free(&why);
    return is_set;
}

bool machine_is_path(const char *name) {
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml")) ||
           !strcmp(name, "-");
}

static bool load_into(Machine *machine, const char *name, int bases, Diag *diag);

/* Completes a base: values of its own that follow from others are derived, and what builds on it
 * inherits them all. */
static void finish_base(Machine *machine) {
    int count;
    machine_rows(&count);
    machine_derive(machine);
    for (int i = 0; i < count; i++)
        if (machine->layers[i] == LAYER_FILE) machine->layers[i] = LAYER_INHERITED;
}

/* Reads the machine that `entry` of `file` names as its base. */
static bool load_base(Machine *machine, const char *file, const Entry *entry, int bases,
                      Diag *diag) {
    if (bases >= FILE_MAX_BASES) {
        diag_error(diag, file, entry->line, entry->column,
                   "base: over %d machines build on each other, or they do so in a circle",
                   FILE_MAX_BASES);
        return false;
    }
    const char *name = entry->value, *slash = strrchr(file, '/');
    if (!strcmp(name, "-")) {
        diag_error(diag, file, entry->line, entry->column, "base: must be a machine or a file");
        return false;
    }
    if (machine_is_path(name) && name[0] != '/' && slash)
        name = arena_printf(machine->arena, "%.*s/%s", (int)(slash - file), file, name);
    if (load_into(machine, name, bases + 1, diag)) {
        finish_base(machine);
        return true;
    }
    if (!bases) {
        diag_error(diag, file, entry->line, entry->column, "base: %.60s cannot be used",
                   entry->value);
    }
    return false;
}

/* A machine without a name gets that of its file, not that of its base. */
static void name_after_file(Machine *machine, const char *file) {
    const char *slash = strrchr(file, '/'), *stem = slash ? slash + 1 : file;
    const char *dot = strrchr(stem, '.');
    size_t length = dot && dot > stem ? (size_t)(dot - stem) : strlen(stem);
    const char *name = arena_strndup(machine->arena, stem, length);
    Text why = {0};
    machine_set_row(&machine->config, machine_find_row("name", 4), name, &why);
    machine_set_row(&machine->config, machine_find_row("title", 5), "", &why);
    text_free(&why);
}

static bool apply_entries(Machine *machine, const Reader *reader, int bases, Diag *diag) {
    const Entry *base = map_get(reader->entries, "base", 4);
    if (base && !load_base(machine, reader->file, base, bases, diag)) return false;
    name_after_file(machine, reader->file);
    int errors = diag_error_count(diag);
    const Entry *simulator = map_get(reader->entries, SIMULATOR, strlen(SIMULATOR));
    if (simulator) apply_entry(machine, reader->file, simulator, bases > 0, diag);
    for (size_t i = 0; i < map_count(reader->entries); i++) {
        const Entry *entry = map_value(reader->entries, i);
        if (entry == base || entry == simulator) continue;
        apply_entry(machine, reader->file, entry, bases > 0, diag);
        if (diag_error_count(diag) >= errors + DIAG_MAX_ERRORS) break;
    }
    return diag_error_count(diag) == errors;
}

static bool parse_into(Machine *machine, const char *file, const char *text, size_t length,
                       int bases, Diag *diag) {
    Reader reader = {.file = file,
                     .text = text,
                     .line_text = text,
                     .length = length,
                     .arena = arena_new(),
                     .entries = map_new(),
                     .diag = diag};
    bool is_good = read_entries(&reader) && apply_entries(machine, &reader, bases, diag);
    map_free(reader.entries);
    arena_free(reader.arena);
    return is_good;
}

static void report_no_machine(const char *name, Diag *diag) {
    const char *names[MACHINE_MAX_ROWS];
    Text all = {0};
    for (int i = 0; i < machine_shipped_count(); i++) {
        names[i] = machine_shipped_name(i);
        text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *nearest = diag_nearest(name, names, machine_shipped_count());
    if (nearest)
        diag_error(diag, NULL, 0, 0, "no machine '%.60s'; did you mean '%s'?", name, nearest);
    else
        diag_error(diag, NULL, 0, 0, "no machine '%.60s'; there are %s, or give a .yaml file", name,
                   text_string(&all));
    text_free(&all);
}

static bool load_shipped(Machine *machine, const char *name, int bases, Diag *diag) {
    for (int i = 0; i < machine_shipped_count(); i++) {
        const MachineShipped *shipped = &machine_shipped[i];
        if (!strcmp(shipped->name, name))
            return parse_into(machine, name, shipped->text, shipped->length, bases, diag);
    }
    report_no_machine(name, diag);
    return false;
}

static bool load_into(Machine *machine, const char *name, int bases, Diag *diag) {
    if (!machine_is_path(name)) return load_shipped(machine, name, bases, diag);
    size_t length;
    char *text = text_read_file(name, FILE_MAX_BYTES, &length);
    if (!text) {
        diag_error(diag, name, 0, 0, "cannot be read: %s", strerror(errno));
        return false;
    }
    bool is_good = parse_into(machine, name, text, length, bases, diag);
    free(text);
    return is_good;
}

/* --- the public functions --- */

static Machine *machine_new(void) {
    int count;
    machine_rows(&count);
    Arena *arena = arena_new();
    Machine *machine = ARENA_NEW(arena, Machine);
    machine->arena = arena;
    machine->origins = ARENA_ARRAY(arena, const char *, count);
    machine->places = ARENA_ARRAY(arena, MachinePlace, count);
    machine->layers = ARENA_ARRAY(arena, uint8_t, count);
    machine_init(&machine->config);
    return machine;
}

void machine_free(Machine *machine) {
    if (machine) arena_free(machine->arena);
}

Machine *machine_load(const char *name, Diag *diag) {
    Machine *machine = machine_new();
    if (load_into(machine, name, 0, diag)) return machine;
    machine_free(machine);
    return NULL;
}

Machine *machine_parse(const char *file, const char *text, size_t length, Diag *diag) {
    Machine *machine = machine_new();
    if (parse_into(machine, file, text, length, 0, diag)) return machine;
    machine_free(machine);
    return NULL;
}

bool machine_set(Machine *machine, const char *assignment, Diag *diag) {
    const char *equals = strchr(assignment, '=');
    if (!equals) {
        diag_error(diag, "--set", 0, 0, "'%.60s' is not key=value", assignment);
        return false;
    }
    Arena *arena = arena_new();
    Entry entry = {.path = arena_strndup(arena, assignment, (size_t)(equals - assignment)),
                   .value = equals + 1,
                   .note = ""};
    bool is_set = apply_entry(machine, "--set", &entry, false, diag);
    arena_free(arena);
    return is_set;
}

/* Sets one frequency. */
static bool set_clock(Machine *machine, const char *key, uint64_t khz, Diag *diag) {
    char assignment[64];
    snprintf(assignment, sizeof assignment, "%s=%llu kHz", key, (unsigned long long)khz);
    return machine_set(machine, assignment, diag);
}

bool machine_use_profiled_clock(Machine *machine, Diag *diag) {
    const ClockConfig clock = machine->config.clock;
    const uint64_t noc_khz = ((uint64_t)clock.noc_khz * clock.profiled_khz + clock.sm_khz / 2) /
                             clock.sm_khz; /* rounded to the nearest */
    if (clock.profiled_khz)
        return set_clock(machine, "clock.sm", clock.profiled_khz, diag) &&
               set_clock(machine, "clock.noc", noc_khz, diag);
    diag_error(diag, NULL, 0, 0,
               "machine %s does not state the clock of a profiler: give it, as in --set "
               "'clock.profiled=1095 MHz'",
               machine->config.name);
    return false;
}

MachinePlace machine_place(const Machine *machine, const char *key) {
    int count;
    return machine->places[machine_find_row(key, strlen(key)) - machine_rows(&count)];
}

const MachineConfig *machine_finish(Machine *machine, Diag *diag) {
    machine_derive(machine);
    machine_resolve(&machine->config);
    return machine_check(&machine->config, diag) ? &machine->config : NULL;
}

const MachineConfig *machine_config(const Machine *machine) { return &machine->config; }

int machine_shipped_count(void) {
    int count = 0;
    while (machine_shipped[count].name)
        count++;
    return count;
}

const char *machine_shipped_name(int i) { return machine_shipped[i].name; }
