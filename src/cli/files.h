/* Reads and writes files of the command. Each failure is reported on stderr. */
#ifndef TYTO_CLI_FILES_H
#define TYTO_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a file, because some files never end (/dev/zero). */
#define FILE_TEXT_MAX                                                                              \
    ((size_t)1 << 28) /* PTX, experiments: the largest known file has a tenth of it */
#define FILE_DATA_MAX ((size_t)1 << 32)

/* Reads a whole file of at most `most` bytes ("-": standard input). A NUL follows its *length
 * bytes. NULL after a message. The caller frees it. */
char *file_read(const char *path, size_t most, size_t *length);
/* Writes a whole file ("-": standard output); false after a message. */
bool file_write(const char *path, const void *bytes, size_t length);

#endif
