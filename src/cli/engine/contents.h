/* Hashes of the contents of files, so that a run of another build is never taken for one of this
 * build. */
#ifndef TYTO_CLI_ENGINE_CONTENTS_H
#define TYTO_CLI_ENGINE_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Contents Contents;

Contents *contents_new(void);
void contents_free(Contents *contents); /* NULL is allowed */

/* Adds the current contents of a file to a hash. A file is read again only if it was written since.
 * All of these functions return false after a message. */
bool contents_add_file(Contents *contents, const char *path, uint64_t *hash);
bool contents_add_library(Contents *contents, uint64_t *hash);
/* Adds a program; for a workload also its PTX; for any program also the libraries that the loader
 * maps from outside the system's folders. */
bool contents_add_program(Contents *contents, const char *name, uint64_t *hash);
/* Adds an environment variable, whether it is set or not. */
void contents_add_variable(const char *name, uint64_t *hash);
/* The file that a word names and a program may read: the word itself, or the part after its "=".
 * NULL: none. */
const char *contents_named_file(const char *word);

#endif
