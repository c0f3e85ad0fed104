/* Reading and writing of policies' parameters (see the header). */
#include "sched/spec.h"

#include <math.h>
#include <string.h>

enum { MAX_WORD = 64, MAX_ROWS = 64 }; /* longer names and values, and more rows, are nobody's */

/* `name=value`, cut out of the text. */
typedef struct Setting {
    char name[MAX_WORD];
    char value[MAX_WORD];
} Setting;

static bool cut(const char *policy, const char *text, size_t length, Setting *setting, Diag *diag) {
    const char *equals = memchr(text, '=', length);
    if (!equals || equals == text || equals + 1 == text + length) {
        diag_error(diag, NULL, 0, 0, "%s: \"%.*s\" is not of the form parameter=value", policy,
                   (int)length, text);
        return false;
    }
    size_t name = (size_t)(equals - text), value = length - name - 1;
    if (name >= MAX_WORD || value >= MAX_WORD) {
        diag_error(diag, NULL, 0, 0, "%s: \"%.*s...\" is too long", policy, MAX_WORD, text);
        return false;
    }
    *setting = (Setting){0};
    memcpy(setting->name, text, name);
    memcpy(setting->value, equals + 1, value);
    return true;
}

static const TytoParameter *find_row(const char *policy, const char *name, const TytoParameter *rows,
                                     uint32_t count, Diag *diag) {
    const char *names[MAX_ROWS];
    for (uint32_t i = 0; i < count; i++) {
        if (!strcmp(rows[i].name, name)) return &rows[i];
        names[i] = rows[i].name;
    }
    const char *nearest = diag_nearest(name, names, (int)count);
    if (!count) diag_error(diag, NULL, 0, 0, "%s has no parameters, so no \"%s\"", policy, name);
    else if (nearest)
        diag_error(diag, NULL, 0, 0, "%s has no parameter \"%s\"; did you mean \"%s\"?", policy, name,
                   nearest);
    else {
        Text all = {0};
        for (uint32_t i = 0; i < count; i++) text_printf(&all, "%s%s", i ? ", " : "", names[i]);
        diag_error(diag, NULL, 0, 0, "%s has no parameter \"%s\"; it has %s", policy, name,
                   text_string(&all));
        text_free(&all);
    }
    return NULL;
}

/* Digits, and more of them after a point: the same in every locale. */
static bool read_number(const TytoParameter *row, const char *text, double *value) {
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

static bool read_choice(const TytoParameter *row, const char *text, double *value) {
    for (int i = 0; row->choices[i]; i++)
        if (!strcmp(row->choices[i], text)) {
            *value = i;
            return true;
        }
    return false;
}

static bool read_value(const char *policy, const TytoParameter *row, const char *text, double *value,
                       Diag *diag) {
    static const char *const KINDS[] = {"not a whole number", "not a number", "not one of"};
    bool is_choice = row->kind == TYTO_CHOICE;
    bool is_kind = is_choice ? read_choice(row, text, value) : read_number(row, text, value);
    bool is_inside = *value >= row->minimum && *value <= row->maximum;
    if (is_kind && (is_choice || is_inside)) return true;
    Text bounds = {0};
    spec_write_bounds(&bounds, row);
    diag_error(diag, NULL, 0, 0, "%s: %s=%s: %s (%s)", policy, row->name, text,
               is_kind ? "out of bounds" : KINDS[row->kind], text_string(&bounds));
    text_free(&bounds);
    return false;
}

bool spec_read_values(const char *policy, const char *text, const TytoParameter *rows, uint32_t count,
                      double *values, Diag *diag) {
    int before = diag_error_count(diag);
    uint64_t seen = 0; /* rows, bit each */
    for (uint32_t i = 0; i < count; i++) values[i] = rows[i].initial;
    while (text && *text) {
        size_t length = strcspn(text, ",");
        Setting setting;
        if (cut(policy, text, length, &setting, diag)) {
            const TytoParameter *row = find_row(policy, setting.name, rows, count, diag);
            size_t i = row ? (size_t)(row - rows) : 0;
            if (row && seen >> i & 1)
                diag_error(diag, NULL, 0, 0, "%s: %s is set twice", policy, row->name);
            else if (row && read_value(policy, row, setting.value, &values[i], diag))
                seen |= UINT64_C(1) << i;
        }
        text += length;
        if (*text == ',' && !*++text)
            diag_error(diag, NULL, 0, 0, "%s: a parameter should follow the last comma", policy);
    }
    return diag_error_count(diag) == before;
}

static void write_number(Text *out, double value) {
    Json json;
    json_begin(&json, out);
    json_double(&json, value);
}

void spec_write_value(Text *out, const TytoParameter *row, double value) {
    if (row->kind == TYTO_CHOICE) text_add(out, row->choices[(int)value]);
    else write_number(out, value);
}

void spec_write_bounds(Text *out, const TytoParameter *row) {
    if (row->kind == TYTO_CHOICE) {
        for (int i = 0; row->choices[i]; i++)
            text_printf(out, "%s%s", i ? "|" : "", row->choices[i]);
        return;
    }
    write_number(out, row->minimum);
    text_add(out, " to ");
    write_number(out, row->maximum);
}

void spec_write(Text *out, const char *policy, const TytoParameter *rows, uint32_t count,
                const double *values) {
    text_add(out, policy);
    char separator = ':';
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] == rows[i].initial) continue;
        text_printf(out, "%c%s=", separator, rows[i].name);
        spec_write_value(out, &rows[i], values[i]);
        separator = ',';
    }
}

static bool is_word(const char *word) {
    return word && *word && strlen(word) < MAX_WORD &&
           strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(word);
}

static const char *check_row(const TytoParameter *row) {
    if (!is_word(row->name)) return "a parameter's name is not made of a-z, 0-9, _ and -";
    if (!row->meaning || !row->source) return "a parameter has no meaning or no source";
    if (row->kind > TYTO_CHOICE) return "a parameter is of no known kind";
    double most = row->maximum;
    if (row->kind == TYTO_CHOICE) {
        if (!row->choices || !row->choices[0]) return "a choice has nothing to choose from";
        for (most = 0; row->choices[(int)most]; most++)
            if (!is_word(row->choices[(int)most])) return "a choice has a name it cannot have";
        most -= 1;
    }
    double least = row->kind == TYTO_CHOICE ? 0 : row->minimum;
    bool is_inside = row->initial >= least && row->initial <= most;
    bool is_whole = row->kind == TYTO_REAL || row->initial == floor(row->initial);
    return is_inside && is_whole ? NULL : "a parameter's initial value is not among those it takes";
}

const char *spec_check_rows(const TytoParameter *rows, uint32_t count) {
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
