/* Machine code that takes the place of a function's own: it goes on elsewhere. */
#ifndef TYTO_CUDART_REDIRECT_JUMP_H
#define TYTO_CUDART_REDIRECT_JUMP_H

#include <stdbool.h>
#include <stddef.h>

/* The longest code below. */
enum { JUMP_MOST_BYTES = 32 };

/* Writes a jump over the function at `place`, of `room_bytes` bytes, which can be written to. The
 * target sees the caller's arguments and returns to the caller. False: there is too little room. */
bool jump_write(void *place, size_t room_bytes, const void *target);
/* The same, but the target's first argument is `argument`. */
bool jump_write_with(void *place, size_t room_bytes, const void *target, const void *argument);
/* Whether jump_write has written a jump at `place`. */
bool jump_is_at(const void *place);

#endif
