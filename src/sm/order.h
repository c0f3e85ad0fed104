/* The order of SMs that are stepped by several host threads at once. What an instruction does to
 * memory that all SMs see, and what listeners are told, has the order of the SMs' numbers within a
 * cycle, as if one were stepped after another: an SM waits before such an instruction until all SMs
 * before it have issued in this cycle, and before it tells a listener until they have finished it.
 * All else that SMs do in a cycle is side by side.
 *
 * An SM always belongs to the same thread, which takes its SMs in rising order: a thread's progress
 * is one number, the first of its SMs that it has yet to pass. The first SM under way waits for
 * nobody, so all come to an end. */
#ifndef TYTO_SM_ORDER_H
#define TYTO_SM_ORDER_H

#include "base/team.h"

/* A thread's progress; counts on from cycle to cycle (SmOrder.base). Written by it alone. */
typedef struct SmPace {
    _Atomic uint64_t issued;   /* all of its SMs below have issued */
    _Atomic uint64_t finished; /* all of its SMs below have finished the cycle */
    uint64_t next;             /* the SM after the one that it steps; its own */
    char apart[TEAM_LINE - 3 * sizeof(uint64_t)];
} SmPace;

/* Written between cycles, by the thread that gives out the work. */
typedef struct SmOrder {
    bool is_kept;     /* SMs are stepped side by side; else one after another, and nobody waits */
    uint32_t threads; /* SM i is thread i modulo this */
    uint64_t base;    /* progress at SM 0 of this cycle */
    SmPace *paces;    /* by thread */
} SmOrder;

static inline void order_wait(_Atomic uint64_t *progress, uint64_t until) {
    uint32_t turns = 0;
    while (atomic_load_explicit(progress, memory_order_acquire) < until)
        team_wait(&turns);
}

/* Waits until all SMs before `sm` have issued in this cycle. */
static inline void order_wait_issued(SmOrder *order, uint32_t sm) {
    if (!order->is_kept) return;
    const uint32_t own = sm % order->threads;
    for (uint32_t thread = 0; thread < order->threads && thread < sm; thread++)
        if (thread != own) order_wait(&order->paces[thread].issued, order->base + sm);
}

/* Waits until all SMs before `sm` have finished the cycle. */
static inline void order_wait_finished(SmOrder *order, uint32_t sm) {
    if (!order->is_kept) return;
    const uint32_t own = sm % order->threads;
    for (uint32_t thread = 0; thread < order->threads && thread < sm; thread++)
        if (thread != own) order_wait(&order->paces[thread].finished, order->base + sm);
}

/* `sm` will do nothing more in this cycle that others must not see before those before it. */
static inline void order_issued(SmOrder *order, uint32_t sm) {
    if (!order->is_kept) return;
    SmPace *pace = &order->paces[sm % order->threads];
    atomic_store_explicit(&pace->issued, order->base + pace->next, memory_order_release);
}

/* A thread begins a cycle at, or goes on to, its SM `next`; the number of SMs: it has no more. */
static inline void order_go_on(SmOrder *order, uint32_t thread, uint64_t next) {
    SmPace *pace = &order->paces[thread];
    pace->next = next;
    atomic_store_explicit(&pace->issued, order->base + next, memory_order_release);
    atomic_store_explicit(&pace->finished, order->base + next, memory_order_release);
}

#endif
