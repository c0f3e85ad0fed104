/* A pool of host threads that do pieces of work together: the caller, and others that wait for the
 * next piece, first awake for a short while and then asleep. Starting and finishing a piece takes a
 * few hundred nanoseconds while all are awake, so a piece may be as small as a simulated cycle.
 *
 * Linux: the other threads take only the signals of their own faults, so that handlers run on the
 * program's threads; they have a separate stack for handlers of faults that ask for one. */
#ifndef TYTO_BASE_THREAD_POOL_H
#define TYTO_BASE_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    THREAD_POOL_LINE =
        128, /* bytes that two threads must not both write: two cache lines, fetched as a pair */
    THREAD_POOL_MOST = 1024, /* most threads of a pool */
    THREAD_POOL_SPINS = 256, /* polls of a word before the thread yields its processor */
    THREAD_POOL_LONG =
        16 * THREAD_POOL_SPINS /* polls that make a long wait: some 100 microseconds */
};

typedef struct ThreadPool ThreadPool;

/* One thread's part, 0 .. threads-1; the caller is 0. */
typedef void ThreadPoolWork(void *user, uint32_t thread);

/* Returns a pool of 2 .. THREAD_POOL_MOST threads, including the caller. Returns NULL if the host
 * refuses more threads, with its error number in `why` (for strerror). Freed by thread_pool_free,
 * for which NULL is allowed. */
ThreadPool *thread_pool_new(uint32_t threads, int *why);
void thread_pool_free(ThreadPool *pool);
uint32_t thread_pool_threads(const ThreadPool *pool);
/* Whether this is the process in which the pool was made: after a fork, the child does not have the
 * other threads. */
bool thread_pool_is_here(const ThreadPool *pool);

/* Whether the calling thread is one of a pool's other threads: it must not wait for the caller,
 * which waits for it. */
bool thread_pool_is_other(void);

/* Runs a piece on the first `threads` threads of the pool, at least 2, and returns when the last
 * has finished. All see what the caller wrote before, and the caller sees what they wrote; the
 * pool's other threads keep sleeping. Must not be called from two threads at once. Returns how
 * often the caller polled for others; from THREAD_POOL_LONG on, they probably had no processor. */
uint32_t thread_pool_run(ThreadPool *pool, uint32_t threads, ThreadPoolWork *work, void *user);

/* The same in two halves, for a caller that does other work meanwhile instead of a part: the others
 * begin with their parts; the caller waits until the last has finished. */
void thread_pool_start(ThreadPool *pool, uint32_t threads, ThreadPoolWork *work, void *user);
uint32_t thread_pool_finish(ThreadPool *pool);

/* Called by every thread of a piece in its part, the same number of times by each. Returns when all
 * have called. All then see what each wrote before. */
void thread_pool_meet(ThreadPool *pool, uint32_t thread);
/* A meeting at which all threads wait only for thread 0, and thread 0 waits for none. After it, all
 * threads see what thread 0 wrote before. */
void thread_pool_follow(ThreadPool *pool, uint32_t thread);

/* For loops that wait for another thread's write; `turns` must start at 0. */
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
