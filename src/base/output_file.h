/* Every file that Tyto writes is written by this: to the side, flushed to the disk, and put in the
 * place of the old one in one step, so that whoever looks finds the old file or the whole new one.
 * A full disk, a limit on the size of files (`ulimit -f`) or the end of the process leaves the old
 * file as it was; where the file system can keep a file without a name, not even a kill leaves
 * anything beside it.
 *
 * "-" is standard output; a device or a pipe is written as it is: it has no old content to keep. */
#ifndef TYTO_BASE_OUTPUT_FILE_H
#define TYTO_BASE_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct OutputFile OutputFile;

/* From now on standard output is standard error, and "-" is what standard output was: what is
 * written there stands there alone. So it is in programs that are started from here, too. False
 * with errno set. */
bool output_file_claim(void);
bool output_file_is_claimed(void);

/* NULL with errno set when nothing can be written there. */
OutputFile *output_file_open(const char *path);
/* Where its bytes go. The first write that fails is remembered: whoever writes need not look. */
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
