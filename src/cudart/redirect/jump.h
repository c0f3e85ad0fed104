/* Machine code that replaces the beginning of a function and jumps elsewhere. */
#ifndef TYTO_CUDART_REDIRECT_JUMP_H
#define TYTO_CUDART_REDIRECT_JUMP_H

#include <stdbool.h>
#include <stddef.h>

/* Size of the longest code below. */
enum { JUMP_MOST_BYTES = 32 };

/* Writes a jump over the function at `place`, of `room_bytes` bytes, which must be writable. The
 * target sees the caller's arguments and returns to the caller. Returns false if there is too
 * little room. */
bool jump_write(void *place, size_t room_bytes, const void *target);
/* The same, but passes `argument` as the target's first argument. */
bool jump_write_with(void *place, size_t room_bytes, const void *target, const void *argument);
/* Whether jump_write has written a jump at `place`. */
bool jump_is_at(const void *place);

#endif
