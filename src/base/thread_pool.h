/* A pool of host threads that do one piece of work together, over and over: the caller and others
 * that wait for it, awake for a short while and asleep after that. Work is given out and waited for
 * in some hundred nanoseconds while all are awake, so a piece may be as small as a simulated cycle.
 *
 * Linux: the others take no signals but those of their own faults, so that handlers run on the
 * program's own threads; a fault's handler has a stack of its own there, if it asks for one. */
#ifndef TYTO_BASE_THREAD_POOL_H
#define TYTO_BASE_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    THREAD_POOL_LINE =
        128, /* bytes that two threads must not both write: two lines, fetched as a pair */
    THREAD_POOL_MOST = 1024, /* threads of a pool */
    THREAD_POOL_SPINS = 256, /* looks at a word before the processor is offered to others */
    THREAD_POOL_LONG =
        16 * THREAD_POOL_SPINS /* looks that are a long wait: some 100 microseconds */
};

typedef struct ThreadPool ThreadPool;

/* One thread's part, 0 .. threads-1; the caller's is 0. */
typedef void ThreadPoolWork(void *user, uint32_t thread);

/* A pool of 2 .. THREAD_POOL_MOST threads, the caller among them. NULL: the host gives no more
 * threads, and `why` (borrowed, for strerror) says what it said. Freed by thread_pool_free, NULL is
 * allowed. */
ThreadPool *thread_pool_new(uint32_t threads, int *why);
void thread_pool_free(ThreadPool *pool);
uint32_t thread_pool_threads(const ThreadPool *pool);
/* Whether the process is the one in which the pool was made: a fork's child has no other threads.
 */
bool thread_pool_is_here(const ThreadPool *pool);

/* Whether the calling thread is one of the others of a pool: it must not wait for the caller, which
 * waits for it. */
bool thread_pool_is_other(void);

/* The first `threads` of the pool, 2 at least, do their part of a piece; returns when the last has.
 * What the caller wrote before is seen by all, and what they wrote by the caller; the others of the
 * pool sleep on. Not to be called from two threads at once. How often the caller has looked for
 * others that it had to wait for: with THREAD_POOL_LONG, it looks as if they had no processor. */
uint32_t thread_pool_run(ThreadPool *pool, uint32_t threads, ThreadPoolWork *work, void *user);

/* The same in two halves, for a caller that has something else to do meanwhile than a part of its
 * own: the others begin with theirs; the caller waits until the last has done it. */
void thread_pool_start(ThreadPool *pool, uint32_t threads, ThreadPoolWork *work, void *user);
uint32_t thread_pool_finish(ThreadPool *pool);

/* Called by every thread of a piece in its part, equally often: returns when all have called. What
 * each wrote before is seen by all after. */
void thread_pool_meet(ThreadPool *pool, uint32_t thread);
/* A meeting at which all threads wait for thread 0 alone, and thread 0 waits for none. After it,
 * all threads see what thread 0 wrote before. */
void thread_pool_follow(ThreadPool *pool, uint32_t thread);

/* For loops that wait for another thread's word: `turns` counts from 0. */
static inline void thread_pool_wait(uint32_t *turns);
void thread_pool_offer(void); /* yields the processor to any thread that wants it */

static inline void thread_pool_wait(uint32_t *turns) {
    if (++*turns % THREAD_POOL_SPINS == 0) {
        thread_pool_offer();
        return;
    }
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

#endif
