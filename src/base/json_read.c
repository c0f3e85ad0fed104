/* Reads JSON (see the header). The reader stores nothing: it reads values in place. */
#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 64 /* nesting of values that are skipped; ours are at most nine deep */ };

static void skip_blanks(JsonReader *reader) { reader->at += strspn(reader->at, " \t\r\n"); }

static void fail(JsonReader *reader) {
    reader->is_bad = true;
    reader->at = "";
}

/* Consumes a mark if it is next. */
static bool take(JsonReader *reader, char mark) {
    skip_blanks(reader);
    if (*reader->at != mark) return false;
    reader->at++;
    return true;
}

JsonReader json_reader(const char *text) { return (JsonReader){.at = text}; }

static bool enter(JsonReader *reader, char mark) {
    if (take(reader, mark)) return true;
    json_skip(reader);
    return false;
}

bool json_enter_object(JsonReader *reader) { return enter(reader, '{'); }
bool json_enter_array(JsonReader *reader) { return enter(reader, '['); }

/* Skips a comma if one is next; returns false at the end that `mark` closes. */
static bool next_item(JsonReader *reader, char mark) {
    if (reader->is_bad) return false;
    bool has_comma = take(reader, ',');
    if (take(reader, mark)) {
        if (has_comma) fail(reader);
        return false;
    }
    if (!*reader->at) fail(reader);
    return !reader->is_bad;
}

bool json_next_key(JsonReader *reader, char *key, size_t size) {
    *key = '\0';
    if (!next_item(reader, '}')) return false;
    if (*reader->at == '"') json_read_string(reader, key, size);
    else fail(reader);
    if (!take(reader, ':')) fail(reader);
    return !reader->is_bad;
}

bool json_next_value(JsonReader *reader) { return next_item(reader, ']'); }

/* The number in the four digits of a \u escape; -1 if they are not hexadecimal digits. */
static int take_digits(JsonReader *reader) {
    int number = 0;
    for (int i = 0; i < 4; i++, reader->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = *reader->at ? strchr(digits, *reader->at) : NULL;
        if (!digit) return -1;
        number = number * 16 + (int)((digit - digits) % 16);
    }
    return number;
}

/* The character of an escape. The writer uses numbers only for control characters. */
static char take_escape(JsonReader *reader) {
    static const char names[] = "\"\\/bfnrt", letters[] = "\"\\/\b\f\n\r\t";
    char name = *reader->at++;
    const char *found = name ? strchr(names, name) : NULL;
    if (found) return letters[found - names];
    int number = name == 'u' ? take_digits(reader) : -1;
    if (number < 0 || number > 0x7f) fail(reader);
    return (char)number;
}

void json_read_string(JsonReader *reader, char *text, size_t size) {
    size_t length = 0;
    *text = '\0';
    if (!take(reader, '"')) {
        json_skip(reader);
        return;
    }
    while (*reader->at && *reader->at != '"') {
        char letter = *reader->at++;
        if (letter == '\\') letter = take_escape(reader);
        if (length + 1 < size) text[length++] = letter;
    }
    if (!take(reader, '"')) fail(reader);
    text[length] = '\0';
}

uint64_t json_read_uint(JsonReader *reader) {
    skip_blanks(reader);
    char *end;
    bool is_number = *reader->at >= '0' && *reader->at <= '9';
    uint64_t number = is_number ? strtoull(reader->at, &end, 10) : 0;
    if (is_number && !strchr(".eE", *end ? *end : ' ')) reader->at = end;
    else fail(reader);
    return number;
}

/* Consumes a word if it is next. */
static bool take_word(JsonReader *reader, const char *word) {
    skip_blanks(reader);
    if (strncmp(reader->at, word, strlen(word)) != 0) return false;
    reader->at += strlen(word);
    return true;
}

bool json_read_bool(JsonReader *reader) {
    if (take_word(reader, "true")) return true;
    if (!take_word(reader, "false")) fail(reader);
    return false;
}

/* Skips a value other than an object or array. */
static void skip_scalar(JsonReader *reader) {
    char nothing[1];
    skip_blanks(reader);
    size_t length = strspn(reader->at, "+-.eE0123456789");
    if (*reader->at == '"') json_read_string(reader, nothing, sizeof nothing);
    else if (length) reader->at += length;
    else if (!take_word(reader, "true") && !take_word(reader, "false") &&
             !take_word(reader, "null"))
        fail(reader);
}

void json_skip(JsonReader *reader) {
    char nothing[1];
    bool is_object[MOST_DEPTH];
    int depth = 0;
    do {
        bool opens_object = take(reader, '{');
        if (opens_object || take(reader, '[')) {
            if (depth == MOST_DEPTH) fail(reader);
            else is_object[depth++] = opens_object;
        } else {
            skip_scalar(reader);
        }
        while (depth && !(is_object[depth - 1] ? json_next_key(reader, nothing, sizeof nothing)
                                               : json_next_value(reader)))
            depth--;
    } while (depth && !reader->is_bad);
}

bool json_is_over(JsonReader *reader) {
    skip_blanks(reader);
    return !reader->is_bad && !*reader->at;
}
