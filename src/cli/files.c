/* Reading and writing whole files. */
#include "cli/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* Reads to the end of the file; false with errno set. */
static bool read_all(FILE *file, size_t most, char **bytes, size_t *length) {
    size_t capacity = 1 << 16;
    *bytes = allocate(capacity, 1);
    *length = 0;
    for (;;) {
        *length += fread(*bytes + *length, 1, capacity - *length - 1, file);
        if (ferror(file)) return false;
        if (*length > most) {
            errno = EFBIG;
            return false;
        }
        if (*length < capacity - 1) break;
        char *grown = realloc(*bytes, capacity *= 2);
        if (!grown) return false;
        *bytes = grown;
    }
    (*bytes)[*length] = '\0';
    return true;
}

char *file_read(const char *path, size_t most, size_t *length) {
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *bytes = NULL;
    if (file && read_all(file, most, &bytes, length)) {
        if (file != stdin) fclose(file);
        return bytes;
    }
    say_error("cannot read %s: %s", path, strerror(errno));
    free(bytes);
    if (file && file != stdin) fclose(file);
    return NULL;
}

bool file_write(const char *path, const void *bytes, size_t length) {
    char message[256];
    if (tyto_write_file(path, bytes, length, message, sizeof message) == TYTO_OK) return true;
    say_error("cannot write %s: %s", path, message);
    return false;
}
