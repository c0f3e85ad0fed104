/* A line of text composed in a buffer without any library call, for signal handlers. What does not
 * fit is truncated. */
#ifndef TYTO_BASE_LINE_H
#define TYTO_BASE_LINE_H

#include <stddef.h>
#include <stdint.h>

typedef struct Line {
    char *bytes;   /* always NUL-terminated; borrowed */
    size_t length; /* so far */
    size_t size;   /* of the buffer, at least 1 */
} Line;

static inline Line line_begin(char *bytes, size_t size) {
    bytes[0] = '\0';
    return (Line){bytes, 0, size};
}

static inline void line_add(Line *line, const char *text) {
    while (*text && line->length + 1 < line->size)
        line->bytes[line->length++] = *text++;
    line->bytes[line->length] = '\0';
}

static inline void line_add_number(Line *line, uint64_t number) {
    char digits[21];
    int at = sizeof digits - 1;
    digits[at] = '\0';
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    line_add(line, &digits[at]);
}

#endif
