/* Checks JSON without storing it (see the header). Values may be nested MAX_DEPTH deep. */
#include "cli/report/json.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

typedef struct Reader {
    const char *at;
    const char *fault; /* the first fault; NULL: none so far */
    int depth;         /* open objects and arrays */
} Reader;

static bool fail(Reader *reader, const char *fault) {
    if (!reader->fault) reader->fault = fault;
    return false;
}

static void skip_blanks(Reader *reader) { reader->at += strspn(reader->at, " \t\r\n"); }

static bool read_string(Reader *reader) {
    if (*reader->at != '"') return fail(reader, "a string is expected");
    for (reader->at++; *reader->at != '"'; reader->at++) {
        if ((unsigned char)*reader->at < ' ') return fail(reader, "a string does not end");
        if (*reader->at != '\\') continue;
        reader->at++;
        if (!*reader->at || !strchr("\"\\/bfnrtu", *reader->at))
            return fail(reader, "an unknown escape");
        if (*reader->at != 'u') continue;
        if (strspn(reader->at + 1, "0123456789abcdefABCDEF") < 4)
            return fail(reader, "an unknown escape");
        reader->at += 4;
    }
    reader->at++;
    return true;
}

static size_t digits(Reader *reader) {
    size_t count = strspn(reader->at, "0123456789");
    reader->at += count;
    return count;
}

static bool read_number(Reader *reader) {
    if (*reader->at == '-') reader->at++;
    bool is_zero = *reader->at == '0';
    size_t whole = digits(reader);
    if (!whole || (is_zero && whole > 1)) return fail(reader, "a value is expected");
    if (*reader->at == '.') {
        reader->at++;
        if (!digits(reader)) return fail(reader, "a digit is expected");
    }
    if (*reader->at != 'e' && *reader->at != 'E') return true;
    reader->at++;
    if (*reader->at == '+' || *reader->at == '-') reader->at++;
    return digits(reader) || fail(reader, "a digit is expected");
}

static bool read_value(Reader *reader);

/* Reads the items of an array or object, in an object each with its key. */
static bool read_items(Reader *reader, char end, bool has_keys) {
    if (++reader->depth > MAX_DEPTH) return fail(reader, "too many levels");
    reader->at++;
    skip_blanks(reader);
    if (*reader->at != end) {
        while (true) {
            skip_blanks(reader);
            if (has_keys) {
                if (!read_string(reader)) return false;
                skip_blanks(reader);
                if (*reader->at != ':') return fail(reader, "':' is expected");
                reader->at++;
            }
            if (!read_value(reader)) return false;
            if (*reader->at == end) break;
            if (*reader->at != ',') return fail(reader, "',' or an end is expected");
            reader->at++;
        }
    }
    reader->at++;
    reader->depth--;
    return true;
}

static bool read_word(Reader *reader, const char *word) {
    size_t length = strlen(word);
    if (strncmp(reader->at, word, length) != 0) return fail(reader, "a value is expected");
    reader->at += length;
    return true;
}

/* Reads a value and the blanks around it. */
static bool read_value(Reader *reader) {
    bool is_right;
    skip_blanks(reader);
    switch (*reader->at) {
    case '{': is_right = read_items(reader, '}', true); break;
    case '[': is_right = read_items(reader, ']', false); break;
    case '"': is_right = read_string(reader); break;
    case 't': is_right = read_word(reader, "true"); break;
    case 'f': is_right = read_word(reader, "false"); break;
    case 'n': is_right = read_word(reader, "null"); break;
    default: is_right = read_number(reader); break;
    }
    skip_blanks(reader);
    return is_right;
}

const char *json_fault(const char *text, size_t length, size_t *at) {
    Reader reader = {.at = text};
    if (read_value(&reader) && reader.at != text + length) reader.fault = "more after the end";
    *at = (size_t)(reader.at - text);
    return reader.fault;
}
