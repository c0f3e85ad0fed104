/* Text buffer and whole files. */
#include "base/text.h"

#include "base/arena.h"
#include "base/output_file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_free(Text *text) {
    free(text->bytes);
    *text = (Text){0};
}

void text_clear(Text *text) {
    text->length = 0;
    if (text->bytes) text->bytes[0] = '\0';
}

/* Makes room for `extra` bytes and the NUL after them. */
static void reserve(Text *text, size_t extra) {
    size_t needed = text->length + extra + 1;
    if (needed <= text->capacity) return;
    size_t capacity = text->capacity ? text->capacity * 2 : 64;
    text->capacity = capacity > needed ? capacity : needed;
    text->bytes = base_realloc(text->bytes, text->capacity);
}

void text_add_bytes(Text *text, const void *bytes, size_t length) {
    reserve(text, length);
    if (length) memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void text_add(Text *text, const char *string) { text_add_bytes(text, string, strlen(string)); }

void text_vprintf(Text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    assert(length >= 0);
    reserve(text, (size_t)length);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

void text_printf(Text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vprintf(text, format, args);
    va_end(args);
}

const char *text_string(const Text *text) { return text->bytes ? text->bytes : ""; }

bool text_write_file(const char *path, const void *bytes, size_t length) {
    OutputFile *file = output_file_open(path);
    if (!file) return false;
    if (length) fwrite(bytes, 1, length, output_file_stream(file));
    return output_file_close(file);
}

/* Reads `stream` to its end, but at most one byte more than `max_bytes`. */
static bool read_stream(FILE *stream, size_t max_bytes, Text *text) {
    char chunk[1 << 16];
    size_t got;
    while ((got = fread(chunk, 1, sizeof(chunk), stream)) > 0) {
        if (got > max_bytes - text->length) {
            errno = EFBIG;
            return false;
        }
        text_add_bytes(text, chunk, got);
    }
    return !ferror(stream);
}

void text_add_word(Text *text, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (text->length) text_add(text, " ");
    if (*word && !word[strspn(word, plain)]) {
        text_add(text, word);
        return;
    }
    text_add(text, "'");
    for (; *word; word++) {
        if (*word == '\'') text_add(text, "'\\''");
        else text_add_bytes(text, word, 1);
    }
    text_add(text, "'");
}

/* Replaces each control character that is not in `kept` by '?'. */
static void show_controls(char *text, const char *kept) {
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        const bool is_wide = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0; /* U+0080 to U+009F */
        if ((*at < ' ' && !strchr(kept, *at)) || *at == 0x7f || is_wide) *at = '?';
        if (is_wide) *++at = '?';
    }
}

void text_show_controls(char *text) { show_controls(text, "\t"); }

void text_show_lines(char *text) { show_controls(text, "\t\n"); }

char *text_read_stream(FILE *stream, size_t max_bytes, size_t *length) {
    Text text = {0};
    text_add(&text, "");
    if (!read_stream(stream, max_bytes, &text)) {
        int error = errno;
        text_free(&text);
        errno = error;
        return NULL;
    }
    *length = text.length;
    return text.bytes;
}

char *text_read_file(const char *path, size_t max_bytes, size_t *length) {
    bool is_standard_input = strcmp(path, "-") == 0;
    FILE *stream = is_standard_input ? stdin : fopen(path, "rb");
    if (!stream) return NULL;
    char *text = text_read_stream(stream, max_bytes, length);
    int error = errno;
    if (!is_standard_input) fclose(stream);
    errno = error;
    return text;
}
