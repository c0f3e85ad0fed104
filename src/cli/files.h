/* Files that the command reads and writes. Every failure is told on stderr. */
#ifndef TYTO_CLI_FILES_H
#define TYTO_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* A whole file ("-": standard input), ended by a NUL past *length; NULL after a message. The caller
 * frees it. */
char *file_read(const char *path, size_t *length);
/* Writes a file anew ("-": standard output); false after a message. */
bool file_write(const char *path, const void *bytes, size_t length);

#endif
