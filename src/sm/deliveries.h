/* Copies of replies on their last step to an SM. A bulk copy with .multicast::cluster requests its
 * data once. Each reply crosses the network to the SM that requested it. From there a copy goes to
 * the port of each other destination SM, where it waits in this queue. A port delivers one copy per
 * cycle, in addition to the replies of its own SMs.
 *
 * This is our model: the way of multicast data on GPUs is not published. A reply waits at the port
 * of the SM that requested it until few enough copies of that SM wait elsewhere. So several SMs
 * that copy to the same port get equal shares of it. */
#ifndef TYTO_SM_DELIVERIES_H
#define TYTO_SM_DELIVERIES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SM_MOST_COPIES = 16,      /* of a reply: the largest cluster */
    SM_MOST_DELIVERIES = 64,  /* copies of an SM's replies that wait at once; our choice */
    SM_DELIVERY_PLACES = 2048 /* of a queue: those of 32 SMs; our choice */
};

typedef struct SmDelivery {
    uint32_t sm;  /* in the queue: the SM that requested the data; before: the destination */
    uint32_t job; /* number of the delivery in the unit for bulk copies of the requesting SM */
} SmDelivery;

typedef struct SmDeliveries {
    SmDelivery waiting[SM_DELIVERY_PLACES]; /* a ring */
    uint32_t head, count;
} SmDeliveries;

/* Whether there is room for a reply's copies, if all go to this port. */
static inline bool deliveries_have_room(const SmDeliveries *deliveries) {
    return deliveries->count + SM_MOST_COPIES <= SM_DELIVERY_PLACES;
}
static inline void deliveries_push(SmDeliveries *deliveries, SmDelivery delivery) {
    deliveries->waiting[(deliveries->head + deliveries->count++) % SM_DELIVERY_PLACES] = delivery;
}
/* There must be one. */
static inline SmDelivery deliveries_pop(SmDeliveries *deliveries) {
    const SmDelivery first = deliveries->waiting[deliveries->head];
    deliveries->head = (deliveries->head + 1) % SM_DELIVERY_PLACES;
    deliveries->count--;
    return first;
}

#endif
