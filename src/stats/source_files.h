/* Files of a program's source, whose lines a profile shows. PTX and machine code can name any
 * file, and a profile may be shared. So only regular files below folders that the user trusts are
 * read. */
#ifndef TYTO_STATS_SOURCE_FILES_H
#define TYTO_STATS_SOURCE_FILES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct SourceFiles {
    char **folders; /* without symbolic links; owned */
    uint32_t count;
} SourceFiles;

/* Allows the files below a folder; returns false with errno set if there is no such folder. */
bool source_files_allow(SourceFiles *files, const char *folder);
/* Allows the files below the folder that contains the file `path`. */
void source_files_allow_beside(SourceFiles *files, const char *path);
void source_files_free(SourceFiles *files);

/* The text of a file, which the caller must free(). A relative name is looked up in each folder in
 * turn. NULL: no such file, or not one to be shown. *is_outside: it exists, but outside the
 * folders. */
char *source_files_read(const SourceFiles *files, const char *name, bool *is_outside);

#endif
