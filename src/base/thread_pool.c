/* Teams of host threads (see the header). A piece of work has a number; that the number rises is
 * the sign to begin for those that are told with it to take part. */
#include "base/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"

enum {
    TEAM_TURNS = 64 * TEAM_SPINS,  /* looks for the next piece before a thread sleeps */
    THREADS_BITS = 16,             /* of a piece's word, in which its number is above its threads */
    HANDLER_BYTES = UINT16_MAX + 1 /* of stack, for the handler of a thread's own fault */
};
_Static_assert(TEAM_MOST < 1 << THREADS_BITS, "threads fit below a piece's number");

/* A thread; of the caller's, only `met` is used. */
typedef struct Member {
    _Atomic uint64_t done; /* number of the last piece whose part it has done */
    _Atomic uint64_t met;  /* the number of its piece, above how many meetings it has come to */
    _Atomic bool sleeps;   /* or is about to */
    pthread_t handle;
    Team *team;
    uint32_t number;
    char apart[TEAM_LINE - 5 * sizeof(uint64_t) - sizeof(uint32_t)];
} Member;
_Static_assert(sizeof(Member) == TEAM_LINE, "members write side by side");

struct Team {
    _Atomic uint64_t piece; /* the newest: number, and how many threads take part */
    _Atomic int processor;  /* on which the caller was when it last woke or waited for them */
    TeamWork *work;         /* of the newest piece, NULL: go home */
    void *user;
    uint32_t taking_part;      /* of the threads, in that */
    uint32_t threads, started; /* the caller among both */
    pid_t process;
    pthread_mutex_t mutex; /* of `wake` */
    pthread_cond_t wake;
    uint32_t turns;       /* looks for others that the caller has made in this piece */
    Member *members;      /* by number */
    char *handler_stacks; /* likewise, HANDLER_BYTES each */
};

/* ---- Processors ---- */

static _Thread_local Team *member_of; /* of the other threads, the team; of the caller NULL */
static _Thread_local Team *caller_of; /* of the caller, while it has given out a piece */

static void tell_processor(Team *team) {
    atomic_store_explicit(&team->processor, sched_getcpu(), memory_order_relaxed);
}

/* Whoever wakes a thread has often been given its processor too, and the host may move two threads
 * to one. There they wait for each other by turns, for many milliseconds before the host parts
 * them: the member goes. */
static void leave_the_callers(const Team *team) {
    cpu_set_t allowed, others;
    const int processor = sched_getcpu();
    const size_t here = (size_t)processor;
    if (processor < 0 || processor != atomic_load_explicit(&team->processor, memory_order_relaxed))
        return;
    if (sched_getaffinity(0, sizeof allowed, &allowed) || !CPU_ISSET(here, &allowed)) return;
    others = allowed;
    CPU_CLR(here, &others);
    if (sched_setaffinity(0, sizeof others, &others)) return; /* there is but one */
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void team_offer(void) {
    if (caller_of) tell_processor(caller_of);
    if (member_of) leave_the_callers(member_of);
    sched_yield();
}

/* ---- The other threads ---- */

/* Whether a piece is newer than one that it has done, and the thread is to take part. */
static bool is_for(const Member *member, uint64_t piece, uint64_t done) {
    const uint64_t threads = piece & ((UINT64_C(1) << THREADS_BITS) - 1);
    return piece >> THREADS_BITS > done && member->number < threads;
}

static uint64_t sleep_until_wanted(Member *member, uint64_t done) {
    Team *team = member->team;
    uint64_t piece;
    atomic_store(&member->sleeps, true);
    pthread_mutex_lock(&team->mutex);
    while (!is_for(member, piece = atomic_load(&team->piece), done))
        pthread_cond_wait(&team->wake, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
    atomic_store(&member->sleeps, false);
    return piece >> THREADS_BITS;
}

/* The number of the next piece that is the thread's too. */
static uint64_t wait_for_piece(Member *member, uint64_t done) {
    for (uint32_t turns = 0; turns < TEAM_TURNS; team_wait(&turns)) {
        const uint64_t piece = atomic_load_explicit(&member->team->piece, memory_order_acquire);
        if (is_for(member, piece, done)) return piece >> THREADS_BITS;
    }
    return sleep_until_wanted(member, done);
}

static void begin_meetings(Member *member, uint64_t piece) {
    atomic_store_explicit(&member->met, piece << THREADS_BITS, memory_order_relaxed);
}

/* What a thread has done itself is told on it: blocked, it would end the process unheard. Whoever
 * handles it may want another stack than the one that is used up. */
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
    Team *team = member_of = member->team;
    take_faults(team->handler_stacks + (size_t)member->number * HANDLER_BYTES);
    for (uint64_t done = 0;;) {
        done = wait_for_piece(member, done);
        TeamWork *work = team->work;
        if (!work) return NULL;
        begin_meetings(member, done);
        work(team->user, member->number);
        atomic_store_explicit(&member->done, done, memory_order_release);
    }
}

/* ---- Life ---- */

/* Whether one of the threads that take part in the newest piece may sleep. */
static bool has_sleeper(Team *team) {
    for (uint32_t i = 1; i < team->taking_part; i++)
        if (atomic_load(&team->members[i].sleeps)) return true;
    return false;
}

static void give_out(Team *team, uint32_t threads, TeamWork *work, void *user) {
    const uint64_t last = atomic_load_explicit(&team->piece, memory_order_relaxed) >> THREADS_BITS;
    team->work = work;
    team->user = user;
    team->taking_part = threads;
    begin_meetings(&team->members[0], last + 1);
    /* in one order with `sleeps`: none of them sleeps through it */
    atomic_store(&team->piece, (last + 1) << THREADS_BITS | threads);
    if (!has_sleeper(team)) return;
    tell_processor(team);
    pthread_mutex_lock(&team->mutex);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->mutex);
}

static int start_members(Team *team) {
    sigset_t all, before;
    int why = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!why && team->started < team->threads) {
        Member *member = &team->members[team->started];
        *member = (Member){.team = team, .number = team->started};
        why = pthread_create(&member->handle, NULL, member_main, member);
        if (why) break;
        pthread_setname_np(member->handle, "tyto-team"); /* to be told from the program's own */
        team->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return why;
}

Team *team_new(uint32_t threads, int *why) {
    assert(threads >= 2 && threads <= TEAM_MOST);
    Team *team = base_calloc(1, sizeof *team);
    team->threads = threads;
    team->started = 1;
    team->process = getpid();
    team->members = base_alloc_lines(threads * sizeof(Member));
    team->handler_stacks = base_calloc(threads, HANDLER_BYTES);
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->wake, NULL);
    *why = start_members(team);
    if (!*why) return team;
    team_free(team);
    return NULL;
}

void team_free(Team *team) {
    if (!team) return;
    if (team_is_here(team)) {
        give_out(team, team->started, NULL, NULL);
        for (uint32_t i = 1; i < team->started; i++)
            pthread_join(team->members[i].handle, NULL);
        pthread_cond_destroy(&team->wake);
        pthread_mutex_destroy(&team->mutex);
    }
    free(team->members);
    free(team->handler_stacks);
    free(team);
}

uint32_t team_threads(const Team *team) { return team->threads; }
bool team_is_here(const Team *team) { return team->process == getpid(); }
bool team_is_other(void) { return member_of != NULL; }

/* The thread is at the piece's next meeting, and tells all; the meeting's number. */
static uint64_t come(Team *team, uint32_t thread) {
    _Atomic uint64_t *met = &team->members[thread].met;
    const uint64_t number = atomic_load_explicit(met, memory_order_relaxed) + 1;
    atomic_store_explicit(met, number, memory_order_release);
    return number;
}

/* Until a thread is there too; how often it has been looked for. */
static uint32_t await(Team *team, uint32_t thread, uint64_t number) {
    uint32_t turns = 0;
    while (atomic_load_explicit(&team->members[thread].met, memory_order_acquire) < number)
        team_wait(&turns);
    return turns;
}

void team_meet(Team *team, uint32_t thread) {
    const uint64_t number = come(team, thread);
    uint32_t turns = 0;
    for (uint32_t i = 0; i < team->taking_part; i++)
        turns += await(team, i, number);
    if (thread == 0) team->turns += turns;
}

void team_follow(Team *team, uint32_t thread) {
    const uint64_t number = come(team, thread);
    if (thread) await(team, 0, number);
}

void team_start(Team *team, uint32_t threads, TeamWork *work, void *user) {
    assert(threads >= 2 && threads <= team->threads);
    team->turns = 0;
    caller_of = team;
    give_out(team, threads, work, user);
}

uint32_t team_finish(Team *team) {
    const uint64_t piece = atomic_load_explicit(&team->piece, memory_order_relaxed) >> THREADS_BITS;
    uint32_t turns = 0;
    for (uint32_t i = 1; i < team->taking_part; i++)
        while (atomic_load_explicit(&team->members[i].done, memory_order_acquire) < piece)
            team_wait(&turns);
    caller_of = NULL;
    return team->turns + turns;
}

uint32_t team_run(Team *team, uint32_t threads, TeamWork *work, void *user) {
    team_start(team, threads, work, user);
    work(user, 0);
    return team_finish(team);
}
