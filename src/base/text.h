/* Text buffer: a growing string, with a JSON writer on top of it. */
#ifndef TYTO_BASE_TEXT_H
#define TYTO_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Text {
    char *bytes;   /* NUL-terminated, owned; NULL while empty */
    size_t length; /* bytes before the NUL */
    size_t capacity;
} Text;

void text_free(Text *text); /* leaves an empty text */
void text_clear(Text *text);
void text_add(Text *text, const char *string);
void text_add_bytes(Text *text, const void *bytes, size_t length);
void text_printf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(Text *text, const char *format, va_list args);
const char *text_string(const Text *text); /* never NULL */
/* The plural ending of a noun after `count`: "1 byte", "2 bytes". */
static inline const char *text_plural(uint64_t count) { return count == 1 ? "" : "s"; }
/* Adds a word of a command line, quoted if a shell would split or change it, with a blank before it
 * unless it is the first. */
void text_add_word(Text *text, const char *word);

/* JSON writer, indented by two spaces. It puts commas; the caller closes objects and arrays.
 * Doubles are written with the fewest digits that read back to the same value (NaN and infinities
 * as null). */
enum { JSON_MAX_DEPTH = 32 };
typedef struct Json {
    Text *out;
    int depth;                     /* number of open objects and arrays */
    bool has_item[JSON_MAX_DEPTH]; /* by level: it has an item already */
    bool after_key;                /* a key was written, and its value is next */
} Json;

void json_begin(Json *json, Text *out);
void json_object(Json *json);
void json_end_object(Json *json);
void json_array(Json *json);
void json_end_array(Json *json);
void json_key(Json *json, const char *key);
void json_string(Json *json, const char *value);
void json_uint(Json *json, uint64_t value);
void json_double(Json *json, double value);
void json_bool(Json *json, bool value);
void json_null(Json *json);

/* Writes `length` bytes to `path` ("-" is standard output) so that readers see either the old file
 * or the complete new one (base/output_file.h). Returns false with errno set on failure. */
bool text_write_file(const char *path, const void *bytes, size_t length);
/* Replaces each control character except tabs in a foreign string by '?', because a terminal would
 * obey them. */
void text_show_controls(char *text);
/* The same for a text of several lines; keeps the line ends. */
void text_show_lines(char *text);
/* Reads a whole file ("-" is standard input). Returns NULL with errno set on failure, EFBIG past
 * `max_bytes`. The result has a NUL after its *length bytes and is freed with free(). */
char *text_read_file(const char *path, size_t max_bytes, size_t *length);
/* The same for an open stream, from its current position. */
char *text_read_stream(FILE *stream, size_t max_bytes, size_t *length);

#endif
