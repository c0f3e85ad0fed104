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

/* Redirects standard output to standard error from now on, and keeps the old standard output for
 * "-", so that it gets only results. This also holds in programs that this process starts. Returns
 * false with errno set. */
bool output_file_claim(void);
bool output_file_is_claimed(void);

/* Opens the file; returns NULL with errno set if it cannot be written. */
OutputFile *output_file_open(const char *path);
/* The stream to write to. The first write error is remembered, so callers need not check each
 * write. */
FILE *output_file_stream(OutputFile *file);
/* Moves the file to its place. On failure it returns false with the first failure's errno, and the
 * old file is unchanged. */
bool output_file_close(OutputFile *file);
/* The same for a file that will soon be written again: it does not wait for the disk. */
bool output_file_close_soon(OutputFile *file);
/* Discards the new file and leaves the old one unchanged. NULL is allowed. */
void output_file_abandon(OutputFile *file);

/* Whether the file could be written now; returns false with errno set. Changes nothing. */
bool output_file_probe(const char *path);

/* The absolute path that `path` refers to, with all links resolved; the file itself need not exist.
 * NULL if its folder does not exist. The caller frees it. */
char *output_file_place(const char *path);

/* Sets the length of an open file to `size_bytes` and reserves disk space for all of it, so that a
 * mapping of it can be written. Returns false with errno set. */
bool output_file_reserve(int descriptor, uint64_t size_bytes);

#endif
