/* Pools of host threads (see the header). Each piece of work has a number, which is stored in one
 * word with its number of threads. These threads begin when the number in the word rises. */
#include "base/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"

enum {
    THREAD_POOL_TURNS =
        64 * THREAD_POOL_SPINS,    /* polls for the next piece before a thread sleeps */
    THREADS_BITS = 16,             /* low bits of a piece's word, for its number of threads; the
                                    * piece's number is above them */
    HANDLER_BYTES = UINT16_MAX + 1 /* bytes of stack, for the handlers of a thread's own faults */
};
_Static_assert(THREAD_POOL_MOST < 1 << THREADS_BITS, "threads fit below a piece's number");

/* A thread. For the caller's thread, only `met` is used. */
typedef struct Member {
    _Atomic uint64_t done; /* number of the last piece whose part it has finished */
    _Atomic uint64_t met;  /* number of its piece, shifted, plus its number of meetings so far */
    _Atomic bool sleeps;   /* it sleeps or is about to */
    pthread_t handle;
    ThreadPool *pool;
    uint32_t number;
    char apart[THREAD_POOL_LINE - 5 * sizeof(uint64_t) - sizeof(uint32_t)];
} Member;
_Static_assert(sizeof(Member) == THREAD_POOL_LINE, "members write side by side");

struct ThreadPool {
    _Atomic uint64_t piece; /* the newest piece: its number, and how many threads take part */
    _Atomic int processor;  /* on which the caller was when it last woke or waited for the others */
    ThreadPoolWork *work;   /* of the newest piece; NULL: the thread must end */
    void *user;
    uint32_t taking_part;      /* number of threads in the newest piece */
    uint32_t threads, started; /* both include the caller */
    pid_t process;
    pthread_mutex_t mutex; /* protects `wake` */
    pthread_cond_t wake;
    uint32_t turns;       /* polls for other threads that the caller has made in this piece */
    Member *members;      /* by number */
    char *handler_stacks; /* by number, HANDLER_BYTES each */
};

/* ---- Processors ---- */

static _Thread_local ThreadPool *member_of; /* of a member thread: its pool; else NULL */
static _Thread_local ThreadPool *caller_of; /* a caller: its pool during a piece; else NULL */

static void tell_processor(ThreadPool *pool) {
    atomic_store_explicit(&pool->processor, sched_getcpu(), memory_order_relaxed);
}

/* A thread that wakes another often shares its processor with it, or the host may move two threads
 * to one processor. Threads on one processor wait for each other in turns, for many milliseconds
 * until the host separates them. So the member leaves that processor. */
static void leave_the_callers(const ThreadPool *pool) {
    cpu_set_t allowed, others;
    const int processor = sched_getcpu();
    const size_t here = (size_t)processor;
    if (processor < 0 || processor != atomic_load_explicit(&pool->processor, memory_order_relaxed))
        return;
    if (sched_getaffinity(0, sizeof allowed, &allowed) || !CPU_ISSET(here, &allowed)) return;
    others = allowed;
    CPU_CLR(here, &others);
    if (sched_setaffinity(0, sizeof others, &others)) return; /* there is only one processor */
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void thread_pool_offer(void) {
    if (caller_of) tell_processor(caller_of);
    if (member_of) leave_the_callers(member_of);
    sched_yield();
}

/* ---- The other threads ---- */

/* Whether a piece is newer than the one numbered `done`, and the thread takes part in it. */
static bool is_for(const Member *member, uint64_t piece, uint64_t done) {
    const uint64_t threads = piece & ((UINT64_C(1) << THREADS_BITS) - 1);
    return piece >> THREADS_BITS > done && member->number < threads;
}

static uint64_t sleep_until_wanted(Member *member, uint64_t done) {
    ThreadPool *pool = member->pool;
    uint64_t piece;
    atomic_store(&member->sleeps, true);
    pthread_mutex_lock(&pool->mutex);
    while (!is_for(member, piece = atomic_load(&pool->piece), done))
        pthread_cond_wait(&pool->wake, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    atomic_store(&member->sleeps, false);
    return piece >> THREADS_BITS;
}

/* The number of the next piece that the thread takes part in. */
static uint64_t wait_for_piece(Member *member, uint64_t done) {
    for (uint32_t turns = 0; turns < THREAD_POOL_TURNS; thread_pool_wait(&turns)) {
        const uint64_t piece = atomic_load_explicit(&member->pool->piece, memory_order_acquire);
        if (is_for(member, piece, done)) return piece >> THREADS_BITS;
    }
    return sleep_until_wanted(member, done);
}

static void begin_meetings(Member *member, uint64_t piece) {
    atomic_store_explicit(&member->met, piece << THREADS_BITS, memory_order_relaxed);
}

/* Unblocks the signals that a thread's own faults raise: a blocked one would end the process
 * without a message. A handler may need another stack than the one that overflowed. */
static void take_faults(void *stack) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    stack_t before;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaddset(&set, faults[i]);
    if (sigaltstack(NULL, &before) == 0 && before.ss_flags & SS_DISABLE)
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = HANDLER_BYTES}, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *member_main(void *argument) {
    Member *member = argument;
    ThreadPool *pool = member_of = member->pool;
    take_faults(pool->handler_stacks + (size_t)member->number * HANDLER_BYTES);
    for (uint64_t done = 0;;) {
        done = wait_for_piece(member, done);
        ThreadPoolWork *work = pool->work;
        if (!work) return NULL;
        begin_meetings(member, done);
        work(pool->user, member->number);
        atomic_store_explicit(&member->done, done, memory_order_release);
    }
}

/* ---- Start and end ---- */

/* Whether a thread that takes part in the newest piece may be asleep. */
static bool has_sleeper(ThreadPool *pool) {
    for (uint32_t i = 1; i < pool->taking_part; i++)
        if (atomic_load(&pool->members[i].sleeps)) return true;
    return false;
}

static void give_out(ThreadPool *pool, uint32_t threads, ThreadPoolWork *work, void *user) {
    const uint64_t last = atomic_load_explicit(&pool->piece, memory_order_relaxed) >> THREADS_BITS;
    pool->work = work;
    pool->user = user;
    pool->taking_part = threads;
    begin_meetings(&pool->members[0], last + 1);
    /* sequentially consistent with `sleeps`, so that no thread sleeps through it */
    atomic_store(&pool->piece, (last + 1) << THREADS_BITS | threads);
    if (!has_sleeper(pool)) return;
    tell_processor(pool);
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static int start_members(ThreadPool *pool) {
    sigset_t all, before;
    int why = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!why && pool->started < pool->threads) {
        Member *member = &pool->members[pool->started];
        *member = (Member){.pool = pool, .number = pool->started};
        why = pthread_create(&member->handle, NULL, member_main, member);
        if (why) break;
        pthread_setname_np(member->handle, "tyto-pool"); /* not one of the program's threads */
        pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return why;
}

ThreadPool *thread_pool_new(uint32_t threads, int *why) {
    assert(threads >= 2 && threads <= THREAD_POOL_MOST);
    ThreadPool *pool = base_calloc(1, sizeof *pool);
    pool->threads = threads;
    pool->started = 1;
    pool->process = getpid();
    pool->members = base_alloc_lines(threads * sizeof(Member));
    pool->handler_stacks = base_calloc(threads, HANDLER_BYTES);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    *why = start_members(pool);
    if (!*why) return pool;
    thread_pool_free(pool);
    return NULL;
}

void thread_pool_free(ThreadPool *pool) {
    if (!pool) return;
    if (thread_pool_is_here(pool)) {
        give_out(pool, pool->started, NULL, NULL);
        for (uint32_t i = 1; i < pool->started; i++)
            pthread_join(pool->members[i].handle, NULL);
        pthread_cond_destroy(&pool->wake);
        pthread_mutex_destroy(&pool->mutex);
    }
    free(pool->members);
    free(pool->handler_stacks);
    free(pool);
}

uint32_t thread_pool_threads(const ThreadPool *pool) { return pool->threads; }
bool thread_pool_is_here(const ThreadPool *pool) { return pool->process == getpid(); }
bool thread_pool_is_other(void) { return member_of != NULL; }

/* Announces that the thread is at the piece's next meeting; returns the meeting's number. */
static uint64_t come(ThreadPool *pool, uint32_t thread) {
    _Atomic uint64_t *met = &pool->members[thread].met;
    const uint64_t number = atomic_load_explicit(met, memory_order_relaxed) + 1;
    atomic_store_explicit(met, number, memory_order_release);
    return number;
}

/* Waits until a thread is there too; returns the number of polls. */
static uint32_t await(ThreadPool *pool, uint32_t thread, uint64_t number) {
    uint32_t turns = 0;
    while (atomic_load_explicit(&pool->members[thread].met, memory_order_acquire) < number)
        thread_pool_wait(&turns);
    return turns;
}

void thread_pool_meet(ThreadPool *pool, uint32_t thread) {
    const uint64_t number = come(pool, thread);
    uint32_t turns = 0;
    for (uint32_t i = 0; i < pool->taking_part; i++)
        turns += await(pool, i, number);
    if (thread == 0) pool->turns += turns;
}

void thread_pool_follow(ThreadPool *pool, uint32_t thread) {
    const uint64_t number = come(pool, thread);
    if (thread) await(pool, 0, number);
}

void thread_pool_start(ThreadPool *pool, uint32_t threads, ThreadPoolWork *work, void *user) {
    assert(threads >= 2 && threads <= pool->threads);
    pool->turns = 0;
    caller_of = pool;
    give_out(pool, threads, work, user);
}

uint32_t thread_pool_finish(ThreadPool *pool) {
    const uint64_t piece = atomic_load_explicit(&pool->piece, memory_order_relaxed) >> THREADS_BITS;
    uint32_t turns = 0;
    for (uint32_t i = 1; i < pool->taking_part; i++)
        while (atomic_load_explicit(&pool->members[i].done, memory_order_acquire) < piece)
            thread_pool_wait(&turns);
    caller_of = NULL;
    return pool->turns + turns;
}

uint32_t thread_pool_run(ThreadPool *pool, uint32_t threads, ThreadPoolWork *work, void *user) {
    thread_pool_start(pool, threads, work, user);
    work(user, 0);
    return thread_pool_finish(pool);
}
