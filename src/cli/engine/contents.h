/* Hashes of what files hold, so that no run of another build of anything is taken for one of this.
 */
#ifndef TYTO_CLI_ENGINE_CONTENTS_H
#define TYTO_CLI_ENGINE_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Contents Contents;

Contents *contents_new(void);
void contents_free(Contents *contents); /* NULL is allowed */

/* Adds to a hash what a file holds now. A file is read again only when it has been written since.
 * All of these: false after a message. */
bool contents_add_file(Contents *contents, const char *path, uint64_t *hash);
bool contents_add_library(Contents *contents, uint64_t *hash);
/* Of a workload, its PTX too; of any, the libraries that the loader maps from outside of the
 * system's folders. */
bool contents_add_program(Contents *contents, const char *name, uint64_t *hash);
/* Adds a variable of the environment, set or not. */
void contents_add_variable(const char *name, uint64_t *hash);
/* Whether a word names a file that a program may read: itself, or what follows its "=". NULL: none.
 */
const char *contents_named_file(const char *word);

#endif
