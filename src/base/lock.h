/* Mutexes whose holder cannot be cancelled (pthread_cancel). A thread that ends while it holds a
 * lock never releases it, and the next thread that takes the lock would wait forever. */
#ifndef TYTO_BASE_LOCK_H
#define TYTO_BASE_LOCK_H

#include <pthread.h>

/* Returns the argument for lock_allow_cancel: whether the thread could be cancelled before. */
static inline int lock_forbid_cancel(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void lock_allow_cancel(int before) { pthread_setcancelstate(before, NULL); }

/* Returns the argument for lock_give. */
static inline int lock_take(pthread_mutex_t *mutex) {
    const int before = lock_forbid_cancel();
    pthread_mutex_lock(mutex);
    return before;
}

static inline void lock_give(pthread_mutex_t *mutex, int before) {
    pthread_mutex_unlock(mutex);
    lock_allow_cancel(before);
}

#endif
