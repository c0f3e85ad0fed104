/* Cubins that ptxas made, kept in the folder `cubins` of the user's cache (base/user_cache.h). A
 * file begins with what it was made from (KeptKey) and a hash of the cubin, so that a damaged file
 * or another text with the same name is not taken for it. */
#ifndef TYTO_PTXAS_KEPT_H
#define TYTO_PTXAS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* All that decides what ptxas makes. */
typedef struct KeptKey {
    uint64_t text_hash, text_length; /* of the PTX */
    uint64_t assembler;              /* hash of the ptxas in use */
    uint64_t architecture;           /* 75 for sm_75 */
} KeptKey;

/* The most that the folder holds, in bytes; the cubins used longest ago go first. Ours: some
 * thousand programs. */
#define KEPT_MAX_BYTES (UINT64_C(256) << 20)

/* The cubin of a key, allocated in `arena`, its bytes in *size; NULL when it is not there. */
const char *kept_find_cubin(const KeptKey *key, Arena *arena, size_t *size);
/* Keeps a cubin. What fails leaves the cache as it was, silently: it is only slower then. */
void kept_add_cubin(const KeptKey *key, const char *cubin, size_t size);
/* Removes the files of a folder that were used longest ago until the others have `most` bytes. */
void kept_trim(const char *folder, uint64_t most);

#endif
