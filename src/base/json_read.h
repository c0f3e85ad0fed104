/* Reads JSON that was written by the functions of text.h, value by value: the caller asks for what
 * it expects. If the value is missing or malformed, the reader sets is_bad and reads everything
 * after it as empty, so that callers only need to check at the end. */
#ifndef TYTO_BASE_JSON_READ_H
#define TYTO_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct JsonReader {
    const char *at; /* in the text, which is NUL-terminated and owned by the caller */
    bool is_bad;    /* the text contained something else */
} JsonReader;

JsonReader json_reader(const char *text);
/* Enters the next object or array. Returns false, and skips the value, if it has another type, such
 * as null. */
bool json_enter_object(JsonReader *reader);
bool json_enter_array(JsonReader *reader);
/* Inside an object: reads the next key, truncated to `size_bytes`; returns false at its end. */
bool json_next_key(JsonReader *reader, char *key, size_t size_bytes);
/* Inside an array: whether there is another value; returns false at its end. */
bool json_next_value(JsonReader *reader);
/* Reads the next value. Strings are truncated to `size_bytes`. */
void json_read_string(JsonReader *reader, char *text, size_t size_bytes); /* null is read as "" */
uint64_t json_read_uint(JsonReader *reader);
bool json_read_bool(JsonReader *reader);
void json_skip(JsonReader *reader);
/* Whether all was read without an error. */
bool json_is_over(JsonReader *reader);

#endif
