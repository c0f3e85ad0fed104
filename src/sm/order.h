/* The order of SMs that several host threads step at once. What an instruction does to memory that
 * all SMs see, and what listeners get, is ordered by the SMs' places within a cycle, as if one were
 * stepped after another. An SM waits before such an instruction until all SMs before it have issued
 * in this cycle. It waits before it calls a listener until they have finished the cycle. All else
 * that SMs do in a cycle is parallel. The requests' network may still move when they begin; an SM
 * that sends waits for it.
 *
 * A cycle begins with one of the SMs, in place 0, and goes round. An SM always belongs to the same
 * thread, which takes its SMs in rising places. So a thread's progress is one number: the place of
 * the first of its SMs that it has yet to pass. The first SM under way never waits, so all of them
 * finish. */
#ifndef TYTO_SM_ORDER_H
#define TYTO_SM_ORDER_H

#include "base/thread_pool.h"

/* A thread's progress; counts on from cycle to cycle (SmOrder.base). Written by it alone. */
typedef struct SmPace {
    _Atomic uint64_t issued;   /* all of its SMs before have issued */
    _Atomic uint64_t finished; /* all of its SMs before have finished the cycle */
    uint64_t next;             /* the place after that of the one that it steps; its own */
    char apart[THREAD_POOL_LINE - 3 * sizeof(uint64_t)];
} SmPace;

/* Whether requests have moved in this cycle; written by the thread that moves them. */
typedef struct SmMoved {
    _Atomic uint64_t base; /* of the last cycle in which they have */
    char apart[THREAD_POOL_LINE - sizeof(uint64_t)];
} SmMoved;

/* Written between cycles, by the thread that gives out the work. */
typedef struct SmOrder {
    bool is_kept;     /* SMs are stepped in parallel; else one after another, and no SM waits */
    uint32_t threads; /* SM i, and what is in place i, is thread i's modulo this */
    uint32_t sms;     /* of the GPU */
    uint32_t first;   /* the one in place 0; where it is not SM 0, threads divide it and `sms` */
    uint64_t base;    /* progress at place 0 of this cycle */
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

/* The requests' network has made its move of this cycle. */
static inline void order_moved(SmOrder *order) {
    atomic_store_explicit(&order->moved->base, order->base, memory_order_release);
}

/* Waits for that: an SM may now look for room in it, and send. */
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

/* `sm` will do nothing more in this cycle that others must not see before those before it. */
static inline void order_issued(SmOrder *order, uint32_t sm) {
    if (!order->is_kept) return;
    SmPace *pace = &order->paces[sm % order->threads];
    atomic_store_explicit(&pace->issued, order->base + pace->next, memory_order_release);
}

/* A thread begins a cycle at, or goes on to, the place `next`; the number of SMs: it has no more.
 */
static inline void order_go_on(SmOrder *order, uint32_t thread, uint64_t next) {
    SmPace *pace = &order->paces[thread];
    pace->next = next;
    atomic_store_explicit(&pace->issued, order->base + next, memory_order_release);
    atomic_store_explicit(&pace->finished, order->base + next, memory_order_release);
}

#endif
