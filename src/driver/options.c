/* The option table and its parser. */
#include "driver/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* How an option's value is written. */
typedef enum ValueKind {
    VALUE_FLAG,  /* no value */
    VALUE_SIZE,  /* bytes, with an optional suffix KiB, MiB, GiB (K, M, G) */
    VALUE_COUNT, /* a whole number */
    VALUE_TEXT,  /* any words; the name of a file */
    VALUE_LIST,  /* the same, any number of times; the number is counted in the next field */
    VALUE_DUMP   /* LINE[:CTA[:WARP]] */
} ValueKind;

typedef struct OptionRow {
    TytoOption option;
    ValueKind kind;
    size_t offset;         /* of the field in Options */
    uint64_t lowest, most; /* bounds of a number, whose default is the text option.initial */
} OptionRow;

#define FIELD(name) offsetof(Options, name)
#define KIB         (UINT64_C(1) << 10)
#define MIB         (UINT64_C(1) << 20)
#define GIB         (UINT64_C(1) << 30)

/* clang-format off */
static const OptionRow rows[] = {
    {{"--machine", "NAME", "gtx480", "The machine: one of tyto machines, or a file.yaml.", "Machine"},
     VALUE_TEXT, FIELD(machine), 0, 0},
    {{"--scheduler", "NAME[:P=V,...]", NULL,
      "Warp scheduler, one of tyto schedulers; else the machine's own.", "Machine"},
     VALUE_TEXT, FIELD(scheduler), 0, 0},
    {{"--cta-scheduler", "NAME[:P=V,...]", NULL,
      "Thread block (CTA) scheduler; else the machine's own.", "Machine"},
     VALUE_TEXT, FIELD(cta_scheduler), 0, 0},
    {{"--set", "KEY=VALUE", NULL, "Change a value of the machine: l1d.size=64KiB.", "Machine"},
     VALUE_LIST, FIELD(sets), 0, 0},
    {{"--functional", NULL, NULL, "Run kernels for their results alone, without timing.", "Machine"},
     VALUE_FLAG, FIELD(is_functional), 0, 1},
    {{"--kernels", "NAME[,NAME...]", NULL,
      "Time only the kernels of these names (* and ? stand for any letters); the others run "
      "functionally.",
      "Machine"},
     VALUE_TEXT, FIELD(kernels), 0, 0},
    {{"--skip", "N", "0", "Run the first N of those launches functionally too.", "Machine"},
     VALUE_COUNT, FIELD(skip), 0, UINT64_MAX},

    {{"--memory", "SIZE", "4GiB", "Device memory.", "Device"},
     VALUE_SIZE, FIELD(memory_bytes), MIB, 1024 * GIB},
    {{"--stack", "SIZE", "64KiB", "Local memory and call frames of one thread.", "Device"},
     VALUE_SIZE, FIELD(stack_bytes), KIB, 32 * MIB},
    {{"--heap", "SIZE", "8MiB", "Memory that kernels can malloc from.", "Device"},
     VALUE_SIZE, FIELD(heap_bytes), 4 * KIB, 512 * GIB},
    {{"--registers", "N", "0",
      "Registers per thread of every kernel, as another compiler allocated them; 0: our estimate.",
      "Device"},
     VALUE_COUNT, FIELD(registers), 0, 255},

    {{"--check-uninitialised", NULL, NULL,
      "Stop at a read of shared or global memory that was never written.", "Checks"},
     VALUE_FLAG, FIELD(check_uninitialised), 0, 1},
    {{"--check-barriers", NULL, NULL,
      "Stop when only a part of a warp's live threads reaches a barrier.", "Checks"},
     VALUE_FLAG, FIELD(check_barriers), 0, 1},
    {{"--limit-insts", "N", "0", "Stop a launch after N warp instructions; 0 means never.", "Checks"},
     VALUE_COUNT, FIELD(instruction_limit), 0, UINT64_MAX},
    {{"--dump-registers", "LINE[:CTA[:WARP]]", NULL,
      "Print a warp's registers whenever it reaches a line of the PTX text.", "Checks"},
     VALUE_DUMP, FIELD(dump_line), 1, UINT32_MAX},

    {{"--json", "FILE", NULL, "Write the results as JSON.", "Output"},
     VALUE_TEXT, FIELD(json_path), 0, 0},
    {{"--csv", "FILE", NULL, "Write every counter of every kernel as CSV.", "Output"},
     VALUE_TEXT, FIELD(csv_path), 0, 0},
    {{"--ctas", "FILE", NULL, "Write where and when every thread block ran as CSV.", "Output"},
     VALUE_TEXT, FIELD(ctas_path), 0, 0},
    {{"--timeline", "FILE", NULL, "Write a timeline for ui.perfetto.dev.", "Output"},
     VALUE_TEXT, FIELD(timeline_path), 0, 0},
    {{"--policies", "FILE", NULL,
      "Write what only the policies know (scores, groups, order) as CSV, every --sample cycles "
      "too.",
      "Output"},
     VALUE_TEXT, FIELD(policies_path), 0, 0},
    {{"--record-l1d", "FILE", NULL, "Record every L1D lookup, for tyto cache.", "Output"},
     VALUE_TEXT, FIELD(l1d_path), 0, 0},
    {{"--sample", "N", "0", "Sample the counters every N cycles, into the JSON and the timeline.",
      "Output"},
     VALUE_COUNT, FIELD(sample_cycles), 0, UINT64_MAX},
    {{"--stats", "FILE", NULL, "Write the statistics as tyto compare collects them.", "Output"},
     VALUE_TEXT, FIELD(stats_path), 0, 0},
    {{"--quiet", NULL, NULL, "Print nothing but errors.", "Output"},
     VALUE_FLAG, FIELD(is_quiet), 0, 1},
    {{"--verbose", NULL, NULL, "Print every counter of every kernel.", "Output"},
     VALUE_FLAG, FIELD(is_verbose), 0, 1},
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

int tyto_option_count(void) { return ROW_COUNT; }

const TytoOption *tyto_option(int i) { return &rows[i].option; }

/* ---- Values ---- */

/* Reads a decimal number at *text and moves past it; false when there is none or it is too big. */
static bool read_number(const char **text, uint64_t *value) {
    if (**text < '0' || **text > '9') return false;
    char *end;
    errno = 0;
    *value = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

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

/* LINE, LINE:CTA or LINE:CTA:WARP into three neighbouring words. */
static bool read_dump(const char *text, uint32_t out[3]) {
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        if (!read_number(&text, &value) || value > UINT32_MAX) return false;
        out[i] = (uint32_t)value;
        if (*text == '\0') return out[0] > 0;
        if (*text++ != ':') return false;
    }
    return false;
}

Options *options_new(void) {
    Arena *arena = arena_new();
    Options *options = ARENA_NEW(arena, Options);
    options->arena = arena;
    for (int i = 0; i < ROW_COUNT; i++) {
        char *field = (char *)options + rows[i].offset;
        uint64_t number = 0;
        if (!rows[i].option.initial) continue;
        if (rows[i].kind == VALUE_TEXT) {
            *(const char **)(void *)field = rows[i].option.initial;
        } else {
            tyto_read_size(rows[i].option.initial, &number);
            memcpy(field, &number, sizeof number);
        }
    }
    return options;
}

void options_free(Options *options) {
    if (options) arena_free(options->arena);
}

/* How bounds are told to the user. */
static void say_number(char *out, size_t size, uint64_t value, bool is_size) {
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (is_size && unit < 3 && value >= 1024 && value % 1024 == 0) {
        value /= 1024;
        unit++;
    }
    snprintf(out, size, "%llu%s", (unsigned long long)value, is_size ? suffixes[unit] : "");
}

typedef struct Source {
    const char *origin; /* where the words come from, NULL: the command line */
    Diag *diag;
} Source;

static bool refuse(const Source *source, const OptionRow *row, const char *value,
                   const char *reason) {
    diag_error(source->diag, source->origin, 0, 0, "%s %s: %s", row->option.name, value, reason);
    return false;
}

static bool set_number(Options *options, const OptionRow *row, const Source *source,
                       const char *text) {
    bool is_size = row->kind == VALUE_SIZE;
    const char *rest = text;
    uint64_t value;
    bool is_read =
        is_size ? tyto_read_size(text, &value) : read_number(&rest, &value) && *rest == '\0';
    if (!is_read)
        return refuse(source, row, text,
                      is_size ? "not a size; write for example 512MiB or 4GiB"
                              : "not a whole number");
    if (value < row->lowest || value > row->most) {
        char low[32], high[32], reason[96];
        say_number(low, sizeof low, row->lowest, is_size);
        say_number(high, sizeof high, row->most, is_size);
        snprintf(reason, sizeof reason, "must lie between %s and %s", low, high);
        return refuse(source, row, text, reason);
    }
    memcpy((char *)options + row->offset, &value, sizeof value);
    return true;
}

/* Appends to a list; its number of items stands in the int after the field. */
static void add_to_list(Options *options, char *field, const char *text) {
    const char ***list = (const char ***)(void *)field;
    int *count = (int *)(void *)(field + sizeof *list);
    const char **longer = ARENA_ARRAY(options->arena, const char *, *count + 1);
    if (*count) memcpy(longer, *list, (size_t)*count * sizeof *longer);
    longer[(*count)++] = arena_strdup(options->arena, text);
    *list = longer;
}

static bool set_value(Options *options, const OptionRow *row, const Source *source,
                      const char *text) {
    char *field = (char *)options + row->offset;
    switch (row->kind) {
    case VALUE_FLAG: *(bool *)field = true; return true;
    case VALUE_SIZE:
    case VALUE_COUNT: return set_number(options, row, source, text);
    case VALUE_TEXT:
        if (*text == '\0') return refuse(source, row, "''", "cannot be empty");
        *(const char **)(void *)field = arena_strdup(options->arena, text);
        return true;
    case VALUE_LIST: add_to_list(options, field, text); return true;
    case VALUE_DUMP: {
        uint32_t dump[3] = {0, 0, 0};
        if (!read_dump(text, dump))
            return refuse(source, row, text, "write LINE, LINE:CTA or LINE:CTA:WARP, lines from 1");
        memcpy(field, dump, sizeof dump);
        return true;
    }
    }
    return false;
}

/* ---- Words ---- */

static const OptionRow *find_row(const char *name, size_t length) {
    for (int i = 0; i < ROW_COUNT; i++) {
        const char *row_name = rows[i].option.name;
        if (strlen(row_name) == length && memcmp(row_name, name, length) == 0) return &rows[i];
    }
    return NULL;
}

static void say_unknown(const Source *source, const char *word) {
    const char *names[ROW_COUNT];
    for (int i = 0; i < ROW_COUNT; i++)
        names[i] = rows[i].option.name;
    const char *nearest = diag_nearest(word, names, ROW_COUNT);
    if (nearest)
        diag_error(source->diag, source->origin, 0, 0, "unknown option %s; did you mean %s?", word,
                   nearest);
    else diag_error(source->diag, source->origin, 0, 0, "unknown option %s", word);
}

bool options_parse(Options *options, const char *origin, int count, const char *const *words,
                   Diag *diag) {
    Source source = {origin, diag};
    int errors_before = diag_error_count(diag);
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        size_t length = equals ? (size_t)(equals - words[i]) : strlen(words[i]);
        const OptionRow *row = find_row(words[i], length);
        if (!row) {
            say_unknown(&source, words[i]);
        } else if (row->kind == VALUE_FLAG) {
            if (equals) refuse(&source, row, equals + 1, "takes no value");
            else set_value(options, row, &source, NULL);
        } else if (equals) {
            set_value(options, row, &source, equals + 1);
        } else if (i + 1 < count) {
            set_value(options, row, &source, words[++i]);
        } else {
            diag_error(diag, origin, 0, 0, "%s needs a value: %s", words[i], row->option.argument);
        }
    }
    return diag_error_count(diag) == errors_before;
}

/* Cuts the next word out of *string into `out`; false at the end, or at an unclosed quote (then
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
