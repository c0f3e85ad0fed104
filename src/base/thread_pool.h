/* A team of host threads that do one piece of work together, over and over: the caller and others
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
    TEAM_LINE = 128,  /* bytes that two threads must not both write: two lines, fetched as a pair */
    TEAM_MOST = 1024, /* threads of a team */
    TEAM_SPINS = 256, /* looks at a word before the processor is offered to others */
    TEAM_LONG = 16 * TEAM_SPINS /* looks that are a long wait: some 100 microseconds */
};

typedef struct Team Team;

/* One thread's part, 0 .. threads-1; the caller's is 0. */
typedef void TeamWork(void *user, uint32_t thread);

/* A team of 2 .. TEAM_MOST threads, the caller among them. NULL: the host gives no more threads,
 * and `why` (borrowed, for strerror) says what it said. Freed by team_free, NULL is allowed. */
Team *team_new(uint32_t threads, int *why);
void team_free(Team *team);
uint32_t team_threads(const Team *team);
/* Whether the process is the one in which the team was made: a fork's child has no other threads.
 */
bool team_is_here(const Team *team);

/* Whether the calling thread is one of the others of a team: it must not wait for the caller, which
 * waits for it. */
bool team_is_other(void);

/* The first `threads` of the team, 2 at least, do their part of a piece; returns when the last has.
 * What the caller wrote before is seen by all, and what they wrote by the caller; the others of the
 * team sleep on. Not to be called from two threads at once. How often the caller has looked for
 * others that it had to wait for: with TEAM_LONG, it looks as if they had no processor. */
uint32_t team_run(Team *team, uint32_t threads, TeamWork *work, void *user);

/* The same in two halves, for a caller that has something else to do meanwhile than a part of its
 * own: the others begin with theirs; the caller waits until the last has done it. */
void team_start(Team *team, uint32_t threads, TeamWork *work, void *user);
uint32_t team_finish(Team *team);

/* Called by every thread of a piece in its part, equally often: returns when all have called. What
 * each wrote before is seen by all after. */
void team_meet(Team *team, uint32_t thread);
/* A meeting at which all wait for thread 0 alone, which waits for nobody: what it wrote before is
 * seen by all after. */
void team_follow(Team *team, uint32_t thread);

/* For loops that wait for another thread's word: `turns` counts from 0. */
static inline void team_wait(uint32_t *turns);
void team_offer(void); /* gives the processor to whoever wants it */

static inline void team_wait(uint32_t *turns) {
    if (++*turns % TEAM_SPINS == 0) {
        team_offer();
        return;
    }
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#endif
}

#endif
