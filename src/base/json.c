/* JSON writer (declared in text.h). The output is valid UTF-8 and valid JSON for any bytes in the
 * strings. Source: RFC 8259. */
#include "base/text.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_begin(Json *json, Text *out) { *json = (Json){.out = out}; }

static void start_line(Json *json) {
    text_add(json->out, "\n");
    for (int i = 0; i < json->depth; i++)
        text_add(json->out, "  ");
}

/* Writes comma, line break and indentation before an item of an object or array. */
static void start_item(Json *json) {
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0) return;
    bool *has_item = &json->has_item[json->depth - 1];
    if (*has_item) text_add(json->out, ",");
    *has_item = true;
    start_line(json);
}

static void open_level(Json *json, const char *bracket) {
    assert(json->depth < JSON_MAX_DEPTH);
    start_item(json);
    text_add(json->out, bracket);
    json->has_item[json->depth++] = false;
}

static void close_level(Json *json, const char *bracket) {
    assert(json->depth > 0 && !json->after_key);
    json->depth--;
    if (json->has_item[json->depth]) start_line(json);
    text_add(json->out, bracket);
}

void json_object(Json *json) { open_level(json, "{"); }
void json_end_object(Json *json) { close_level(json, "}"); }
void json_array(Json *json) { open_level(json, "["); }
void json_end_array(Json *json) { close_level(json, "]"); }

/* Length of the UTF-8 sequence that starts at `s`, or 0 if it is not valid (RFC 3629). */
static size_t utf8_length(const unsigned char *s) {
    static const struct {
        unsigned char first, last; /* range of the lead byte */
        unsigned char low, high;   /* range of the second byte */
        size_t length;             /* bytes of the sequence */
    } rows[] = {
        {0x00, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (s[0] < rows[i].first || s[0] > rows[i].last) continue;
        if (rows[i].length > 1 && (s[1] < rows[i].low || s[1] > rows[i].high)) return 0;
        for (size_t j = 2; j < rows[i].length; j++) {
            if ((s[j] & 0xc0) != 0x80) return 0;
        }
        return rows[i].length;
    }
    return 0;
}

/* Writes one character and returns its number of bytes in the source. */
static size_t add_character(Text *out, const unsigned char *s) {
    size_t length = utf8_length(s);
    if (length == 0) {
        text_add(out, "\\ufffd");
        return 1;
    }
    if (*s == '"' || *s == '\\') text_printf(out, "\\%c", *s);
    else if (*s == '\n') text_add(out, "\\n");
    else if (*s == '\t') text_add(out, "\\t");
    else if (*s < ' ' || *s == 0x7f) text_printf(out, "\\u%04x", *s);
    else text_add_bytes(out, s, length);
    return length;
}

static void add_quoted(Text *out, const char *string) {
    text_add(out, "\"");
    const unsigned char *s = (const unsigned char *)string;
    while (*s)
        s += add_character(out, s);
    text_add(out, "\"");
}

void json_key(Json *json, const char *key) {
    assert(json->depth > 0 && !json->after_key);
    start_item(json);
    add_quoted(json->out, key);
    text_add(json->out, ": ");
    json->after_key = true;
}

void json_string(Json *json, const char *value) {
    start_item(json);
    add_quoted(json->out, value);
}

void json_uint(Json *json, uint64_t value) {
    start_item(json);
    text_printf(json->out, "%" PRIu64, value);
}

/* printf and strtod follow the host program's locale, which may have another decimal point (a
 * comma, or several bytes). */
static void restore_decimal_point(char *digits) {
    char *to = digits;
    for (const char *from = digits; *from; from++) {
        bool is_plain = strchr("0123456789+-e", *from) != NULL;
        if (is_plain) *to++ = *from;
        else if (to == digits || to[-1] != '.') *to++ = '.';
    }
    *to = '\0';
}

void json_double(Json *json, double value) {
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    start_item(json);
    char digits[64];
    /* A number of 15 digits survives conversion to a normal double and back, so fewer digits need
     * not be tried. */
    for (int precision = fabs(value) < DBL_MIN ? 1 : DBL_DIG; precision <= DBL_DECIMAL_DIG;
         precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    restore_decimal_point(digits);
    text_add(json->out, digits);
}

void json_bool(Json *json, bool value) {
    start_item(json);
    text_add(json->out, value ? "true" : "false");
}

void json_null(Json *json) {
    start_item(json);
    text_add(json->out, "null");
}
