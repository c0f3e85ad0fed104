/* Entry point for replies: a port of the reply network, shared by one or more SMs, and the queue in
 * which replies wait for their SM. One packet arrives per cycle and one leaves for an SM. Only the
 * oldest can leave: while it cannot, none does.
 *
 * The inbox does not know which SM a reply belongs to; the owner reads that from the handle and
 * offers the reply to the SM. */
#ifndef TYTO_SM_INBOX_H
#define TYTO_SM_INBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "noc/noc.h"

enum { SM_INBOX_LINE = 64 }; /* host cache line: each inbox has its own, for parallel threads */

typedef struct SmInbox {
    uint32_t *handles;          /* handles of the waiting replies, a ring */
    uint32_t head, count, mask; /* index of the oldest, number of handles, places - 1 */
    uint32_t room;              /* most handles at once */
    Noc *network;               /* borrowed */
    int node;                   /* of the reply network */
    char apart[SM_INBOX_LINE - 2 * sizeof(void *) - 5 * sizeof(uint32_t)];
} SmInbox;
_Static_assert(sizeof(SmInbox) == SM_INBOX_LINE, "threads write side by side");

/* Number of places of a ring for `room` handles: a power of two. */
static inline uint32_t inbox_places(uint32_t room) {
    uint32_t places = 1;
    while (places < room)
        places *= 2;
    return places;
}
/* Makes an empty inbox at a node. Its ring is `handles`, with inbox_places(room) entries, which
 * must outlive it. */
static inline void inbox_init(SmInbox *inbox, Noc *network, uint32_t node, uint32_t *handles,
                              uint32_t room) {
    *inbox = (SmInbox){.handles = handles,
                       .mask = inbox_places(room) - 1,
                       .room = room,
                       .node = (int)node,
                       .network = network};
}

static inline bool inbox_has_waiting(const SmInbox *inbox) { return inbox->count != 0; }
/* The oldest waiting handle; there must be one. inbox_pop removes it. */
static inline uint32_t inbox_peek(const SmInbox *inbox) { return inbox->handles[inbox->head]; }
static inline void inbox_pop(SmInbox *inbox) {
    inbox->count--;
    inbox->head = (inbox->head + 1) & inbox->mask;
}
/* Takes in a packet if one has arrived and there is room; returns its handle. */
static inline bool inbox_take(SmInbox *inbox, uint32_t *handle) {
    if (inbox->count == inbox->room || !noc_take(inbox->network, inbox->node, handle)) return false;
    inbox->handles[(inbox->head + inbox->count++) & inbox->mask] = *handle;
    return true;
}

#endif
