/* Reading JSON that json_begin and its like have written, value by value: the caller asks for what
 * it expects. What is not there, or not JSON, is remembered as bad, and everything after it reads
 * as empty, so that only the end need be checked. */
#ifndef TYTO_BASE_JSON_READ_H
#define TYTO_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct JsonReader {
    const char *at; /* in the text, which ends with a NUL and stays the caller's */
    bool is_bad;    /* the text has something else here */
} JsonReader;

JsonReader json_reader(const char *text);
/* Goes into the object or array that is next; false: it is none, null among them, and is skipped.
 */
bool json_enter_object(JsonReader *reader);
bool json_enter_array(JsonReader *reader);
/* Inside an object: the next key, cut to the room; false at its end. */
bool json_next_key(JsonReader *reader, char *key, size_t size_bytes);
/* Inside an array: whether there is one more value; false at its end. */
bool json_next_value(JsonReader *reader);
/* The value that is next. Texts are cut to the room. */
void json_read_string(JsonReader *reader, char *text, size_t size_bytes); /* null reads as "" */
uint64_t json_read_uint(JsonReader *reader);
bool json_read_bool(JsonReader *reader);
void json_skip(JsonReader *reader);
/* Whether all was read and nothing bad was met. */
bool json_is_over(JsonReader *reader);

#endif
