/* The option table and its parser. */
#include "simulator/options.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simulator/caller.h"
#include "stats/timeline.h"

#define KIND_CONSTANT(name, type) KIND_##name,
typedef enum OptionKind { OPTION_KINDS(KIND_CONSTANT) } OptionKind;

typedef struct OptionRow {
    TytoOption option;
    OptionKind kind;
    size_t offset;      /* offset of the field in Options, which has the type of its kind */
    uint64_t low, high; /* bounds of a number, inclusive */
} OptionRow;

enum {
    A_FILE = TYTO_OPTION_FILE | TYTO_OPTION_ONE_RUN,
    TIMED = TYTO_OPTION_TIMED,
    ONE_RUN = TYTO_OPTION_ONE_RUN,
    NO_RESULT = TYTO_OPTION_NO_RESULT,
    UNTOLD = TYTO_OPTION_UNTOLD | TYTO_OPTION_NO_RESULT,
    LAUNCHES = TYTO_OPTION_LAUNCHES
};

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const OptionRow rows[] = {
#define OPTION(kind, group, name, field, argument, initial, low, high, traits, help)               \
    {{name, argument, initial, help, group, traits},                                               \
     KIND_##kind,                                                                                  \
     offsetof(Options, field),                                                                     \
     low,                                                                                          \
     high},
#include "simulator/options.def"
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

int tyto_option_count(void) { return ROW_COUNT; }

const TytoOption *tyto_option(int i) {
    CALLER_CHECK_INDEX("option", i, ROW_COUNT);
    return &rows[i].option;
}

/* ---- Values ---- */

/* Reads a decimal number at *text and advances *text; returns false if there is none or it is too
 * large. */
static bool read_digits(const char **text, int base, uint64_t *value) {
    if (**text < '0' || **text > '9') return false;
    char *end;
    errno = 0;
    *value = strtoull(*text, &end, base);
    *text = end;
    return errno == 0;
}

static bool read_number(const char **text, uint64_t *value) { return read_digits(text, 10, value); }

bool tyto_read_size(const char *text, uint64_t *value) {
    static const struct {
        const char *suffix;
        uint64_t bytes;
    } units[] = {{"", 1},     {"B", 1},     {"K", KIB}, {"KB", KIB}, {"KiB", KIB}, {"M", MIB},
                 {"MB", MIB}, {"MiB", MIB}, {"G", GIB}, {"GB", GIB}, {"GiB", GIB}};
    if (!read_number(&text, value)) return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text, units[i].suffix) == 0)
            return !__builtin_mul_overflow(*value, units[i].bytes, value);
    }
    return false;
}

/* Writes a bound in the form of messages. */
static void say_number(char *out, size_t size, uint64_t value, bool is_size) {
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (is_size && unit < 3 && value >= 1024 && value % 1024 == 0) {
        value /= 1024;
        unit++;
    }
    snprintf(out, size, "%llu%s", (unsigned long long)value, is_size ? suffixes[unit] : "");
}

/* An option that is being set. */
typedef struct Setting {
    const OptionRow *row;
    Arena *arena;       /* memory of strings */
    const char *origin; /* where the words come from; NULL: the command line */
    Diag *diag;
} Setting;

static bool refuse(const Setting *setting, const char *value, const char *reason) {
    diag_error(setting->diag, setting->origin, 0, 0, "%s %s: %s", setting->row->option.name, value,
               reason);
    return false;
}

/* Reports `what`, followed by the bounds of the row's values. */
static bool refuse_for_bounds(const Setting *setting, const char *value, const char *what) {
    const OptionRow *row = setting->row;
    char low[32], high[32], reason[96];
    say_number(low, sizeof low, row->low, row->kind == KIND_SIZE);
    say_number(high, sizeof high, row->high, row->kind == KIND_SIZE);
    snprintf(reason, sizeof reason, "%s between %s and %s", what, low, high);
    return refuse(setting, value, reason);
}

static bool check_bounds(const Setting *setting, uint64_t value, const char *text) {
    const OptionRow *row = setting->row;
    if (value >= row->low && value <= row->high) return true;
    return refuse_for_bounds(setting, text, "must lie");
}

/* ---- For each kind of value, a function that sets a field of its type ---- */

static bool set_FLAG(const Setting *setting, bool *field, const char *text) {
    (void)setting;
    (void)text;
    *field = true;
    return true;
}

static bool set_SIZE(const Setting *setting, uint64_t *field, const char *text) {
    uint64_t value;
    if (!tyto_read_size(text, &value))
        return refuse(setting, text, "not a size; write for example 512MiB or 4GiB");
    if (!check_bounds(setting, value, text)) return false;
    *field = value;
    return true;
}

static bool set_COUNT(const Setting *setting, uint64_t *field, const char *text) {
    const char *rest = text;
    uint64_t value;
    if (!read_number(&rest, &value) || *rest != '\0')
        return refuse_for_bounds(setting, text, "not a whole number");
    if (!check_bounds(setting, value, text)) return false;
    *field = value;
    return true;
}

static bool set_TEXT(const Setting *setting, const char **field, const char *text) {
    if (*text == '\0') return refuse(setting, "''", "cannot be empty");
    *field = arena_strdup(setting->arena, text);
    return true;
}

static bool set_RESULT(const Setting *setting, const char **field, const char *text) {
    return set_TEXT(setting, field, text);
}

static bool set_RECORDING(const Setting *setting, const char **field, const char *text) {
    return set_TEXT(setting, field, text);
}

static bool set_TIMELINE(const Setting *setting, const char **field, const char *text) {
    if (!timeline_takes(text)) return refuse(setting, text, "must end in " TIMELINE_ENDINGS);
    return set_TEXT(setting, field, text);
}

static void add_item(Arena *arena, OptionList *list, const char *text) {
    const char **longer = ARENA_ARRAY(arena, const char *, list->count + 1);
    if (list->count) memcpy(longer, list->items, (size_t)list->count * sizeof *longer);
    longer[list->count++] = arena_strdup(arena, text);
    list->items = longer;
}

static bool set_LIST(const Setting *setting, OptionList *list, const char *text) {
    add_item(setting->arena, list, text);
    return true;
}

/* The index of a word among those in the row's argument, which are separated by `between`; -1: not
 * among them. */
static int find_word(const Setting *setting, const char *word, size_t length, char between) {
    const char *at = setting->row->option.argument;
    for (int i = 0;; i++) {
        size_t here = strcspn(at, (char[]){between, '\0'});
        if (here == length && memcmp(at, word, length) == 0) return i;
        if (!at[here]) return -1;
        at += here + 1;
    }
}

static bool refuse_word(const Setting *setting, const char *text, const char *among) {
    char reason[128];
    snprintf(reason, sizeof reason, "must be %s %s", among, setting->row->option.argument);
    return refuse(setting, *text ? text : "''", reason);
}

static bool set_SET(const Setting *setting, uint64_t *field, const char *text) {
    uint64_t set = 0;
    for (const char *at = text;;) {
        size_t length = strcspn(at, ",");
        int bit = find_word(setting, at, length, ',');
        if (bit < 0) return refuse_word(setting, text, "some of");
        set |= UINT64_C(1) << bit;
        if (!at[length]) break;
        at += length + 1;
    }
    *field = set;
    return true;
}

static bool set_WORD(const Setting *setting, uint64_t *field, const char *text) {
    int place = find_word(setting, text, strlen(text), '|');
    if (place < 0) return refuse_word(setting, text, "one of");
    *field = (uint64_t)place;
    return true;
}

/* LINE, LINE:CTA or LINE:CTA:WARP; missing parts are 0. LINE may be hexadecimal. */
static bool read_dump(const char *text, uint32_t values[3]) {
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        if (!read_digits(&text, strncmp(text, "0x", 2) ? 10 : 16, &value) || value > UINT32_MAX)
            return false;
        values[i] = (uint32_t)value;
        if (*text == '\0') return values[0] > 0;
        if (*text++ != ':') return false;
    }
    return false;
}

static bool set_DUMP(const Setting *setting, OptionDump *dump, const char *text) {
    uint32_t values[3] = {0};
    if (!read_dump(text, values))
        return refuse(setting, text, "write LINE, LINE:CTA or LINE:CTA:WARP, lines from 1");
    *dump = (OptionDump){values[0], values[1], values[2]};
    return true;
}

static bool set_CAPABILITY(const Setting *setting, OptionCapability *field, const char *text) {
    char reason[96] = "must be";
    for (int i = 0; i < GPU_CAPABILITY_COUNT; i++) {
        const char *name = gpu_capability_names[i];
        if (strcmp(text, name) == 0) {
            *field = (OptionCapability){true, (GpuCapability)i};
            return true;
        }
        bool is_last = i == GPU_CAPABILITY_COUNT - 1;
        size_t length = strlen(reason);
        snprintf(reason + length, sizeof reason - length, "%s %s",
                 i == 0    ? ""
                 : is_last ? " or"
                           : ",",
                 name);
    }
    return refuse(setting, text, reason);
}

static bool set_value(Options *options, const Setting *setting, const char *text) {
    void *field = (char *)options + setting->row->offset;
#define KIND_CASE(name, type)                                                                      \
    case KIND_##name: {                                                                            \
        OptionType##name *typed = field;                                                           \
        return set_##name(setting, typed, text);                                                   \
    }
    switch (setting->row->kind) { OPTION_KINDS(KIND_CASE) }
    return false;
}

Options *options_new(void) {
    Arena *arena = arena_new();
    Options *options = ARENA_NEW(arena, Options);
    Diag *diag = diag_new();
    options->arena = arena;
    for (int i = 0; i < ROW_COUNT; i++) {
        const Setting setting = {&rows[i], arena, NULL, diag};
        if (rows[i].option.initial) set_value(options, &setting, rows[i].option.initial);
    }
    assert(!diag_error_count(diag) && "every row's default is one of its values");
    diag_free(diag);
    return options;
}

void options_free(Options *options) {
    if (options) arena_free(options->arena);
}

/* ---- Words ---- */

static const OptionRow *find_row(const char *name, size_t length) {
    for (int i = 0; i < ROW_COUNT; i++) {
        const char *row_name = rows[i].option.name;
        if (strlen(row_name) == length && memcmp(row_name, name, length) == 0) return &rows[i];
    }
    return NULL;
}

static void say_unknown(const char *origin, const char *word, Diag *diag) {
    const char *names[ROW_COUNT];
    for (int i = 0; i < ROW_COUNT; i++)
        names[i] = rows[i].option.name;
    const char *nearest = diag_nearest(word, names, ROW_COUNT);
    if (nearest)
        diag_error(diag, origin, 0, 0, "unknown option %s; did you mean '%s'?", word, nearest);
    else diag_error(diag, origin, 0, 0, "unknown option %s", word);
}

/* Sets an option, and records that it was given. */
static void take_value(Options *options, const Setting *setting, const char *text) {
    const TytoOption *option = &setting->row->option;
    if (!set_value(options, setting, text)) return;
    add_item(options->arena, &options->given, option->name);
    if (option->argument) add_item(options->arena, &options->given, text);
}

bool options_parse(Options *options, const char *origin, int count, const char *const *words,
                   Diag *diag) {
    int errors_before = diag_error_count(diag);
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        size_t length = equals ? (size_t)(equals - words[i]) : strlen(words[i]);
        const OptionRow *row = find_row(words[i], length);
        const Setting setting = {row, options->arena, origin, diag};
        if (!row) {
            say_unknown(origin, words[i], diag);
        } else if (row->kind == KIND_FLAG) {
            if (equals) refuse(&setting, equals + 1, "takes no value");
            else take_value(options, &setting, NULL);
        } else if (equals) {
            take_value(options, &setting, equals + 1);
        } else if (i + 1 < count) {
            take_value(options, &setting, words[++i]);
        } else {
            diag_error(diag, origin, 0, 0, "%s needs a value: %s", words[i], row->option.argument);
        }
    }
    return diag_error_count(diag) == errors_before;
}

/* Moves the next word of *string to `out`; returns false at the end, or at an unclosed quote (then
 * *string is NULL). */
static bool next_word(const char **string, char *out) {
    const char *at = *string;
    while (*at == ' ' || *at == '\t' || *at == '\n')
        at++;
    if (*at == '\0') return false;
    char quote = 0;
    for (; *at && (quote || !strchr(" \t\n", *at)); at++) {
        if (quote && *at == quote) quote = 0;
        else if (!quote && (*at == '\'' || *at == '"')) quote = *at;
        else if (*at == '\\' && quote != '\'' && at[1]) *out++ = *++at;
        else *out++ = *at;
    }
    *out = '\0';
    *string = quote ? NULL : at;
    return !quote;
}

bool options_parse_string(Options *options, const char *origin, const char *string, Diag *diag) {
    size_t length = strlen(string);
    Arena *arena = arena_new();
    const char **words = ARENA_ARRAY(arena, const char *, length + 1);
    int count = 0;
    char *word = arena_alloc(arena, length + 1);
    while (next_word(&string, word)) {
        words[count++] = arena_strdup(arena, word);
    }
    bool is_right = string != NULL;
    if (!is_right) diag_error(diag, origin, 0, 0, "a quote is not closed");
    else is_right = options_parse(options, origin, count, words, diag);
    arena_free(arena);
    return is_right;
}

/* ---- Combinations of options ---- */

/* Whether the row's field differs from that in `initial`, the default options. */
static bool is_changed(const Options *options, const Options *initial, const OptionRow *row) {
    static const size_t sizes[] = {
#define KIND_BYTES(name, type) [KIND_##name] = sizeof(type),
        OPTION_KINDS(KIND_BYTES)};
    const void *field = (const char *)options + row->offset;
    const void *before = (const char *)initial + row->offset;
    if (row->kind == KIND_TEXT && row->option.initial)
        return strcmp(*(const char *const *)field, *(const char *const *)before) != 0;
    return memcmp(field, before, sizes[row->kind]) != 0;
}

/* The file that an option writes; NULL: none. */
static const char *file_of(const Options *options, const OptionRow *row) {
    if (!(row->option.traits & TYTO_OPTION_FILE)) return NULL;
    return *(const char *const *)((const char *)options + row->offset);
}

const char *options_file(const Options *options, int i) { return file_of(options, &rows[i]); }

void options_drop_file(Options *options, int i) {
    *(const char **)((char *)options + rows[i].offset) = NULL;
}

static void check_file(const Options *options, int i, Diag *diag) {
    const char *path = file_of(options, &rows[i]);
    if (!path) return;
    if (!tyto_can_write(path))
        diag_error(diag, path, 0, 0, "cannot be written: %s", strerror(errno));
    for (int before = 0; before < i; before++) {
        const char *other = file_of(options, &rows[before]);
        const char *common = other ? tyto_common_output(other, path) : NULL;
        if (common)
            diag_error(diag, common, 0, 0, "both %s and %s write this file",
                       rows[before].option.name, rows[i].option.name);
    }
}

bool options_write_output(const Options *options) {
    for (int i = 0; i < ROW_COUNT; i++) {
        const char *path = file_of(options, &rows[i]);
        if (path && strcmp(path, "-") == 0) return true;
    }
    return false;
}

bool options_check(const Options *options, Diag *diag) {
    Options *initial = options_new();
    int errors_before = diag_error_count(diag);
    for (int i = 0; i < ROW_COUNT; i++) {
        const OptionRow *row = &rows[i];
        check_file(options, i, diag);
        if (options->is_functional && row->option.traits & TYTO_OPTION_TIMED &&
            is_changed(options, initial, row))
            diag_error(diag, NULL, 0, 0, "%s needs timing; leave --functional out",
                       row->option.name);
    }
    options_free(initial);
    return diag_error_count(diag) == errors_before;
}

/* ---- Values as text ---- */

static void write_value(const OptionRow *row, const void *field, Text *out) {
    const OptionDump *dump = field;
    const OptionList *list = field;
    const OptionCapability *capability = field;
    switch (row->kind) {
    case KIND_FLAG: text_add(out, *(const bool *)field ? " yes" : " no"); break;
    case KIND_SIZE:
    case KIND_SET:
    case KIND_WORD:
    case KIND_COUNT: text_printf(out, " %llu", (unsigned long long)*(const uint64_t *)field); break;
    case KIND_DUMP: text_printf(out, " %u:%u:%u", dump->line, dump->cta, dump->warp); break;
    case KIND_CAPABILITY:
        if (capability->is_given) text_printf(out, " %s", gpu_capability_names[capability->value]);
        break;
    case KIND_LIST:
        for (int i = 0; i < list->count; i++)
            text_printf(out, " %s", list->items[i]);
        break;
    case KIND_TEXT:
    case KIND_RESULT:
    case KIND_RECORDING:
    case KIND_TIMELINE:
        if (*(const char *const *)field) text_printf(out, " %s", *(const char *const *)field);
        break;
    }
}

void options_write_values(const Options *options, Text *out) {
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].option.traits & (TYTO_OPTION_FILE | TYTO_OPTION_NO_RESULT)) continue;
        text_add(out, rows[i].option.name);
        write_value(&rows[i], (const char *)options + rows[i].offset, out);
        text_add(out, "\n");
    }
}

/* Whether a list, which ends with NULL, contains a row's name. */
static bool is_among(const OptionRow *row, const char *const *names) {
    for (; names && *names; names++) {
        if (strcmp(row->option.name, *names) == 0) return true;
    }
    return false;
}

void options_write_given(const Options *options, const char *const *without, Text *out) {
    if (!options->given.count) return;
    const char *const *word = options->given.items, *const *end = word + options->given.count;
    while (word < end) {
        const OptionRow *row = find_row(*word, strlen(*word));
        int words = row->option.argument ? 2 : 1;
        bool is_told = !(row->option.traits & (TYTO_OPTION_FILE | TYTO_OPTION_UNTOLD)) &&
                       !is_among(row, without);
        for (int i = 0; i < words && is_told; i++)
            text_add_word(out, word[i]);
        word += words;
    }
}

/* The absolute path of a file that is written. */
static void add_whole_path(const char *path, Text *out) {
    char *folder = *path == '/' || strcmp(path, "-") == 0 ? NULL : getcwd(NULL, 0);
    if (folder) text_printf(out, "%s/", folder);
    text_add(out, path);
    free(folder);
}

void options_write_words(const Options *options, Text *out) {
    for (int i = 0; i < options->given.count; i++) {
        const char *word = options->given.items[i];
        const TytoOption *option = &find_row(word, strlen(word))->option;
        text_add_bytes(out, word, strlen(word) + 1);
        if (!option->argument) continue;
        if (option->traits & TYTO_OPTION_FILE) add_whole_path(options->given.items[++i], out);
        else text_add(out, options->given.items[++i]);
        text_add_bytes(out, "", 1);
    }
}

/* ---- The page ---- */

void options_document(Text *out) {
    const char *group = "";
    text_add(out,
             "# Options of a simulation\n\n"
             "Generated from the option table (`src/simulator/options.def`). `tyto run`, `tyto "
             "compare`, `tyto sweep`, "
             "`tyto launch` and the\nenvironment variable `TYTO_OPTIONS` take these; "
             "[the command](command.md) describes some of them in more detail. "
             "`tyto compare` has a `--json` and a\n`--csv` of its own.\n");
    for (int i = 0; i < ROW_COUNT; i++) {
        const TytoOption *option = &rows[i].option;
        if (strcmp(group, option->group))
            text_printf(out,
                        "\n## %s\n\n| option | meaning | default | not with |\n|---|---|---|---|\n",
                        option->group);
        group = option->group;
        text_printf(out, "| `%s%s%s` | %s | %s |", option->name, option->argument ? " " : "",
                    option->argument ? option->argument : "", option->help,
                    option->initial ? option->initial : "");
        if (option->traits & TYTO_OPTION_TIMED) text_add(out, " `--functional`");
        if (option->traits & TYTO_OPTION_ONE_RUN) text_add(out, " `tyto compare`");
        text_add(out, " |\n");
    }
}
