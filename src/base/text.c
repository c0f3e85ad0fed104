/* Text buffer and whole files. */
#include "base/text.h"

#include "base/arena.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool write_all(int file, const char *bytes, size_t length) {
    while (length) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Writes and closes; errno is that of the first failure. */
static bool write_and_close(int file, const char *bytes, size_t length, bool can_sync) {
    bool is_written = write_all(file, bytes, length) && (!can_sync || fsync(file) == 0);
    int error = errno;
    if (close(file) != 0 && is_written) return false;
    errno = error;
    return is_written;
}

/* A device or a pipe is written as it is: it has no old content to keep, and replacing it by a file
 * would be a surprise. */
static bool write_special_file(const char *path, const void *bytes, size_t length) {
    int file = open(path, O_WRONLY);
    return file >= 0 && write_and_close(file, bytes, length, false);
}

static bool replace_file(const char *path, const void *bytes, size_t length) {
    Text temporary = {0};
    int file = -1;
    for (unsigned attempt = 0; file < 0 && attempt < 100; attempt++) {
        text_clear(&temporary);
        text_printf(&temporary, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
        file = open(temporary.bytes, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file < 0 && errno != EEXIST) break;
    }
    bool is_done = file >= 0 && write_and_close(file, bytes, length, true) &&
                   rename(temporary.bytes, path) == 0;
    int error = errno;
    if (file >= 0 && !is_done) unlink(temporary.bytes);
    text_free(&temporary);
    errno = error;
    return is_done;
}

bool text_write_file(const char *path, const void *bytes, size_t length) {
    char *target = realpath(path, NULL); /* a link stays a link; NULL for a new file */
    const char *place = target ? target : path;
    struct stat state;
    bool is_special = stat(place, &state) == 0 && !S_ISREG(state.st_mode);
    bool is_done =
        is_special ? write_special_file(place, bytes, length) : replace_file(place, bytes, length);
    int error = errno;
    free(target);
    errno = error;
    return is_done;
}

/* Reads to the end of `stream`; at most one byte more than `max_bytes`. */
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

char *text_read_file(const char *path, size_t max_bytes, size_t *length) {
    bool is_standard_input = strcmp(path, "-") == 0;
    FILE *stream = is_standard_input ? stdin : fopen(path, "rb");
    if (!stream) return NULL;
    Text text = {0};
    text_add(&text, "");
    bool is_read = read_stream(stream, max_bytes, &text);
    int error = errno;
    if (!is_standard_input) fclose(stream);
    if (!is_read) {
        text_free(&text);
        errno = error;
        return NULL;
    }
    *length = text.length;
    return text.bytes;
}
