/* Order between SMs that several host threads step at once. Accesses to memory that all SMs see,
 * and calls of listeners, happen in the order of the SMs' places within a cycle, as if the SMs were
 * stepped one after another. Before such an access an SM waits until all SMs before it have issued
 * in this cycle. Before it calls a listener, it waits until they have finished the cycle.
 * Everything else in a cycle runs in parallel. The request network may still be moving packets when
 * the SMs begin; an SM that sends waits for the network.
 *
 * A cycle begins with the SM in place 0 and continues round robin. An SM always belongs to the same
 * thread, which steps its SMs in ascending places. So a thread's progress is one number: the place
 * of the first of its SMs that did not pass a point yet. The first SM of a cycle never waits, so
 * all of them finish. */
#ifndef TYTO_SM_ORDER_H
#define TYTO_SM_ORDER_H

#include "base/thread_pool.h"

/* A thread's progress. It increases from cycle to cycle (SmOrder.base). Only the thread itself
 * writes it. */
typedef struct SmPace {
    _Atomic uint64_t issued;   /* all of its SMs before this place have issued */
    _Atomic uint64_t finished; /* all of its SMs before this place have finished the cycle */
    uint64_t next;             /* private: the place after the SM that the thread is stepping */
    char apart[THREAD_POOL_LINE - 3 * sizeof(uint64_t)];
} SmPace;

/* Whether the request network has moved packets in this cycle. Only the thread that moves them
 * writes it. */
typedef struct SmMoved {
    _Atomic uint64_t base; /* SmOrder.base of the last cycle in which packets moved */
    char apart[THREAD_POOL_LINE - sizeof(uint64_t)];
} SmMoved;

/* Written between cycles, by the thread that distributes the work. */
typedef struct SmOrder {
    bool is_kept;     /* SMs are stepped in parallel; false: one after another, so none waits */
    uint32_t threads; /* SM i, and the SM in place i, belongs to thread i modulo this */
    uint32_t sms;     /* number of SMs of the GPU */
    uint32_t first;   /* the SM in place 0; if not 0, `threads` divides it and `sms` */
    uint64_t base;    /* progress that stands for place 0 of this cycle */
    SmPace *paces;    /* by thread */
    SmMoved *moved;
} SmOrder;

/* The place of an SM in this cycle, and the SM in a place. */
static inline uint32_t order_place(const SmOrder *order, uint32_t sm) {
    return sm >= order->first ? sm - order->first : sm - order->first + order->sms;
}
static inline uint32_t order_sm(const SmOrder *order, uint32_t place) {
    const uint32_t sm = place + order->first;
    return sm < order->sms ? sm : sm - order->sms;
}

static inline void order_wait(_Atomic uint64_t *progress, uint64_t until) {
    uint32_t turns = 0;
    while (atomic_load_explicit(progress, memory_order_acquire) < until)
        thread_pool_wait(&turns);
}

/* Records that the request network has moved its packets in this cycle. */
static inline void order_moved(SmOrder *order) {
    atomic_store_explicit(&order->moved->base, order->base, memory_order_release);
}

/* Waits for order_moved: after that an SM may check for room in the network and send. */
static inline void order_wait_moved(SmOrder *order) {
    if (order->is_kept) order_wait(&order->moved->base, order->base);
}

/* Waits until all SMs before `sm` have issued in this cycle. */
static inline void order_wait_issued(SmOrder *order, uint32_t sm) {
    if (!order->is_kept) return;
    const uint32_t own = sm % order->threads, place = order_place(order, sm);
    for (uint32_t thread = 0; thread < order->threads && thread < place; thread++)
        if (thread != own) order_wait(&order->paces[thread].issued, order->base + place);
}

/* Waits until all SMs before `sm` have finished the cycle. */
static inline void order_wait_finished(SmOrder *order, uint32_t sm) {
    if (!order->is_kept) return;
    const uint32_t own = sm % order->threads, place = order_place(order, sm);
    for (uint32_t thread = 0; thread < order->threads && thread < place; thread++)
        if (thread != own) order_wait(&order->paces[thread].finished, order->base + place);
}

/* Records that `sm` has no more effects in this cycle that depend on the order of issue. */
static inline void order_issued(SmOrder *order, uint32_t sm) {
    if (!order->is_kept) return;
    SmPace *pace = &order->paces[sm % order->threads];
    atomic_store_explicit(&pace->issued, order->base + pace->next, memory_order_release);
}

/* A thread begins a cycle at the place `next`, or continues there. `next` is the number of SMs if
 * the thread has no more SMs. */
static inline void order_go_on(SmOrder *order, uint32_t thread, uint64_t next) {
    SmPace *pace = &order->paces[thread];
    pace->next = next;
    atomic_store_explicit(&pace->issued, order->base + next, memory_order_release);
    atomic_store_explicit(&pace->finished, order->base + next, memory_order_release);
}

#endif
