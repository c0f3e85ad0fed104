/* Where replies come in: a port of the reply network, of one SM or of several, and the queue in
 * which they wait for the SM that they are for. One packet comes in a cycle, and one goes on to an
 * SM: the oldest, and while that cannot, none.
 *
 * Whose replies they are is their handles' business; the owner offers them to the SMs. */
#ifndef TYTO_SM_INBOX_H
#define TYTO_SM_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "noc/noc.h"

enum { SM_INBOX_LINE = 64 }; /* threads that take in replies side by side write to their own */

typedef struct SmInbox {
    uint32_t *handles;          /* of what waits, a ring */
    uint32_t head, count, mask; /* index of the oldest, number of handles, places - 1 */
    uint32_t room;              /* most handles at once */
    Noc *network;               /* borrowed */
    int node;                   /* of it */
    char apart[SM_INBOX_LINE - 2 * sizeof(void *) - 5 * sizeof(uint32_t)];
} SmInbox;
_Static_assert(sizeof(SmInbox) == SM_INBOX_LINE, "threads write side by side");

/* Places of a ring for `room` handles: a power of two. */
static inline uint32_t inbox_places(uint32_t room) {
    uint32_t places = 1;
    while (places < room)
        places *= 2;
    return places;
}
/* An empty one at a node, whose ring is in `handles`, inbox_places(room) of them, which outlive it.
 */
static inline void inbox_init(SmInbox *inbox, Noc *network, uint32_t node, uint32_t *handles,
                              uint32_t room) {
    *inbox = (SmInbox){.handles = handles,
                       .mask = inbox_places(room) - 1,
                       .room = room,
                       .node = (int)node,
                       .network = network};
}

static inline bool inbox_has_waiting(const SmInbox *inbox) { return inbox->count != 0; }
/* The oldest that waits; there must be one. inbox_pop takes it out. */
static inline uint32_t inbox_peek(const SmInbox *inbox) { return inbox->handles[inbox->head]; }
static inline void inbox_pop(SmInbox *inbox) {
    inbox->count--;
    inbox->head = (inbox->head + 1) & inbox->mask;
}
/* A packet comes in, if one has arrived and there is room; then its handle. */
static inline bool inbox_take(SmInbox *inbox, uint32_t *handle) {
    if (inbox->count == inbox->room || !noc_take(inbox->network, inbox->node, handle)) return false;
    inbox->handles[(inbox->head + inbox->count++) & inbox->mask] = *handle;
    return true;
}

#endif
