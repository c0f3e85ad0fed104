/* Tyto writes every file with these functions. They write a temporary file, flush it to the disk,
 * and rename it to the final name in one step, so that a reader finds either the old file or the
 * whole new one. A full disk, a limit on the size of files (`ulimit -f`) or the end of the process
 * leaves the old file as it was. Where the file system can keep a file without a name, even a kill
 * leaves no temporary file.
 *
 * "-" is standard output. A device or a pipe is written directly: it has no old content to keep. */
#ifndef TYTO_BASE_OUTPUT_FILE_H
#define TYTO_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct OutputFile OutputFile;

/* From now on standard output goes to standard error, and "-" is the old standard output, so that
 * results are alone there. The same holds in programs that this process starts. False with errno
 * set. */
bool output_file_claim(void);
bool output_file_is_claimed(void);

/* NULL with errno set when nothing can be written there. */
OutputFile *output_file_open(const char *path);
/* Where its bytes go. The first write that fails is remembered, so callers need not check each
 * write. */
FILE *output_file_stream(OutputFile *file);
/* Puts the file in its place; false with the first failure's errno, and the old file is still
 * there. */
bool output_file_close(OutputFile *file);
/* The same for a file that is soon written again: nothing waits for the disk. */
bool output_file_close_soon(OutputFile *file);
/* Leaves the old file as it is. NULL is allowed. */
void output_file_abandon(OutputFile *file);

/* Whether a file could be written there now; false with errno set. Changes nothing. */
bool output_file_probe(const char *path);

/* What a path stands for, whatever its spelling and the links on its way, from the root on; also of
 * a file that is not there yet. NULL: there is no such folder. The caller frees it. */
char *output_file_place(const char *path);

/* Makes an open file `size_bytes` long, with room on the disk for all of it: a mapping of it can be
 * written. False with errno set. */
bool output_file_reserve(int descriptor, uint64_t size_bytes);

#endif
