/* Reading and writing of policies' parameters (see the header). */
#include "sched/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORD = 64, MAX_ROWS = 64 }; /* no policy has longer names or values, or more rows */

/* `name=value`, as cut from the text. */
typedef struct Setting {
    char name[MAX_WORD];
    char value[MAX_WORD];
} Setting;

static bool cut(const char *policy, const char *text, size_t length, Setting *setting, Diag *diag) {
    const char *equals = memchr(text, '=', length);
    if (!equals || equals == text || equals + 1 == text + length) {
        diag_error(diag, NULL, 0, 0, "%s: '%.*s' is not of the form parameter=value", policy,
                   (int)length, text);
        return false;
    }
    size_t name = (size_t)(equals - text), value = length - name - 1;
    if (name >= MAX_WORD || value >= MAX_WORD) {
        diag_error(diag, NULL, 0, 0, "%s: '%.*s...' is too long", policy, MAX_WORD, text);
        return false;
    }
    *setting = (Setting){0};
    memcpy(setting->name, text, name);
    memcpy(setting->value, equals + 1, value);
    return true;
}

void spec_unknown(const char *kind, const char *name, const char *const *names, int count,
                  Diag *diag) {
    const char *nearest = diag_nearest(name, names, count);
    if (nearest) {
        diag_error(diag, NULL, 0, 0, "there is no %s '%s'; did you mean '%s'?", kind, name,
                   nearest);
        return;
    }
    Text all = {0};
    for (int i = 0; i < count; i++)
        text_printf(&all, "%s%s", i ? ", " : "", names[i]);
    diag_error(diag, NULL, 0, 0, "there is no %s '%s'; there are %s", kind, name,
               count ? text_string(&all) : "none");
    text_free(&all);
}

static const TytoPolicyParameter *find_row(const SpecOwner *owner, const char *name, Diag *diag) {
    const char *names[MAX_ROWS];
    for (uint32_t i = 0; i < owner->count; i++) {
        if (!strcmp(owner->rows[i].name, name)) return &owner->rows[i];
        names[i] = owner->rows[i].name;
    }
    char kind[MAX_WORD + 16];
    snprintf(kind, sizeof kind, "%.*s parameter", MAX_WORD, owner->name);
    spec_unknown(kind, name, names, (int)owner->count, diag);
    return NULL;
}

/* Reads digits with an optional fraction, independent of the locale. */
static bool read_number(const TytoPolicyParameter *row, const char *text, double *value) {
    static const char DIGITS[] = "0123456789";
    bool is_negative = *text == '-';
    text += is_negative;
    size_t whole = strspn(text, DIGITS);
    size_t parts = text[whole] == '.' ? strspn(text + whole + 1, DIGITS) : 0;
    bool is_number = whole && !text[whole + (parts ? 1 + parts : 0)];
    double sum = 0, scale = 1;
    for (const char *c = text; is_number && *c; c++) {
        if (*c != '.') sum = sum * 10 + (*c - '0');
        if (c > text + whole) scale *= 10;
    }
    *value = (is_negative ? -sum : sum) / scale;
    return is_number && (row->kind == TYTO_REAL || *value == floor(*value));
}

static bool read_choice(const TytoPolicyParameter *row, const char *text, double *value) {
    for (int i = 0; row->choices[i]; i++)
        if (!strcmp(row->choices[i], text)) {
            *value = i;
            return true;
        }
    return false;
}

static void read_value(const char *policy, const TytoPolicyParameter *row, const char *text,
                       double *value, Diag *diag) {
    static const char *const KINDS[] = {"not a whole number", "not a number", "not one of"};
    bool is_choice = row->kind == TYTO_CHOICE;
    bool is_kind = is_choice ? read_choice(row, text, value) : read_number(row, text, value);
    bool is_inside = *value >= row->minimum && *value <= row->maximum;
    if (is_kind && (is_choice || is_inside)) return;
    Text bounds = {0};
    spec_write_bounds(&bounds, row);
    diag_error(diag, NULL, 0, 0, "%s: %s=%s: %s (%s)", policy, row->name, text,
               is_kind ? "out of bounds" : KINDS[row->kind], text_string(&bounds));
    text_free(&bounds);
}

static void read_setting(const SpecOwner *owner, const Setting *setting, double *values,
                         uint64_t *seen, Diag *diag) {
    const TytoPolicyParameter *row = find_row(owner, setting->name, diag);
    if (!row) return;
    uint64_t bit = UINT64_C(1) << (row - owner->rows);
    if (*seen & bit) diag_error(diag, NULL, 0, 0, "%s: %s is set twice", owner->name, row->name);
    else read_value(owner->name, row, setting->value, &values[row - owner->rows], diag);
    *seen |= bit;
}

const double *spec_read(const SpecOwner *owner, const char *text, Arena *arena, Diag *diag) {
    int before = diag_error_count(diag);
    double *values = ARENA_ARRAY(arena, double, owner->count + 1);
    uint64_t seen = 0; /* rows that were set, one bit each */
    for (uint32_t i = 0; i < owner->count; i++)
        values[i] = owner->rows[i].initial;
    while (*text) { /* `text` is at a colon or comma; a setting follows */
        size_t length = strcspn(++text, ",");
        Setting setting;
        if (cut(owner->name, text, length, &setting, diag))
            read_setting(owner, &setting, values, &seen, diag);
        text += length;
    }
    return diag_error_count(diag) == before ? values : NULL;
}

static void write_number(Text *out, double value) {
    Json json;
    json_begin(&json, out);
    json_double(&json, value);
}

void spec_write_value(Text *out, const TytoPolicyParameter *row, double value) {
    if (row->kind == TYTO_CHOICE) text_add(out, row->choices[(int)value]);
    else write_number(out, value);
}

void spec_write_bounds(Text *out, const TytoPolicyParameter *row) {
    if (row->kind == TYTO_CHOICE) {
        for (int i = 0; row->choices[i]; i++)
            text_printf(out, "%s%s", i ? "|" : "", row->choices[i]);
        return;
    }
    write_number(out, row->minimum);
    text_add(out, " to ");
    write_number(out, row->maximum);
}

const char *spec_write(const SpecOwner *owner, const char *name, const double *values,
                       Arena *arena) {
    Text out = {0};
    text_add(&out, name);
    char separator = ':';
    for (uint32_t i = 0; i < owner->count; i++) {
        if (values[i] == owner->rows[i].initial) continue;
        text_printf(&out, "%c%s=", separator, owner->rows[i].name);
        spec_write_value(&out, &owner->rows[i], values[i]);
        separator = ',';
    }
    const char *written = arena_strdup(arena, text_string(&out));
    text_free(&out);
    return written;
}

static bool is_word(const char *word) {
    return word && *word && strlen(word) < MAX_WORD &&
           strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(word);
}

static const char *check_row(const TytoPolicyParameter *row) {
    if (!is_word(row->name)) return "a parameter's name is not made of a-z, 0-9, _ and -";
    if (!row->meaning || !row->source) return "a parameter has no meaning or no source";
    if (row->kind > TYTO_CHOICE) return "a parameter is of no known kind";
    double most = row->maximum;
    if (row->kind == TYTO_CHOICE) {
        if (!row->choices || !row->choices[0]) return "a choice has nothing to choose from";
        for (most = 0; row->choices[(int)most]; most++)
            if (!is_word(row->choices[(int)most]))
                return "a choice's name is not made of a-z, 0-9, _ and -";
        most -= 1;
    }
    double least = row->kind == TYTO_CHOICE ? 0 : row->minimum;
    bool is_inside = row->initial >= least && row->initial <= most;
    bool is_whole = row->kind == TYTO_REAL || row->initial == floor(row->initial);
    return is_inside && is_whole ? NULL : "a parameter's initial value is not among those it takes";
}

const char *spec_check_rows(const TytoPolicyParameter *rows, uint32_t count) {
    if (count > MAX_ROWS) return "it has more than 64 parameters";
    if (count && !rows) return "its parameters are missing";
    for (uint32_t i = 0; i < count; i++) {
        const char *fault = check_row(&rows[i]);
        if (fault) return fault;
        for (uint32_t j = 0; j < i; j++)
            if (!strcmp(rows[i].name, rows[j].name)) return "two parameters have one name";
    }
    return NULL;
}
