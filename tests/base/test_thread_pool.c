/* Thread pools: each thread does its part of every piece and sees what the caller wrote; the caller
 * sees the results. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/thread_pool.h"

enum { THREADS = 3, PIECES = 2000 };

typedef struct Sums {
    uint64_t given;         /* set by the caller for this piece */
    uint64_t sums[THREADS]; /* sum of the values that each thread saw */
    uint32_t parts[THREADS];
} Sums;

static void add_part(void *user, uint32_t thread) {
    Sums *sums = user;
    sums->sums[thread] += sums->given * (thread + 1);
    sums->parts[thread]++;
}

static ThreadPool *make(uint32_t threads) {
    int why;
    ThreadPool *pool = thread_pool_new(threads, &why);
    assert_non_null(pool);
    assert_int_equal(thread_pool_threads(pool), threads);
    return pool;
}

static void every_thread_does_its_part_of_every_piece(void **state) {
    (void)state;
    ThreadPool *pool = make(THREADS);
    Sums sums = {0};
    for (uint32_t piece = 1; piece <= PIECES; piece++) {
        sums.given = piece;
        thread_pool_run(pool, THREADS, add_part, &sums);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(sums.parts[i], piece); /* visible at once */
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(sums.sums[i], (uint64_t)PIECES * (PIECES + 1) / 2 * (i + 1));
    thread_pool_free(pool);
}

/* Pieces for two threads and for all. In the second half the pieces for all are so rare that the
 * third thread falls asleep. */
static void threads_that_have_no_part_of_a_piece_are_left_alone(void **state) {
    (void)state;
    ThreadPool *pool = make(THREADS);
    Sums sums = {.given = 1};
    uint32_t pieces = 0, of_all = 0;
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        const bool is_for_all = piece < PIECES / 2 ? piece % 3 == 0 : piece % 100 == 0;
        if (piece > PIECES / 2 && is_for_all) usleep(10000);
        thread_pool_run(pool, is_for_all ? THREADS : 2, add_part, &sums);
        pieces++;
        of_all += is_for_all;
        assert_int_equal(sums.parts[0], pieces);
        assert_int_equal(sums.parts[1], pieces);
        assert_int_equal(sums.parts[2], of_all);
    }
    thread_pool_free(pool);
}

/* Pauses for longer than the threads spin before they fall asleep. */
static void threads_that_fell_asleep_wake_up(void **state) {
    (void)state;
    ThreadPool *pool = make(THREADS);
    Sums sums = {.given = 1};
    for (uint32_t piece = 1; piece <= 3; piece++) {
        usleep(50000);
        thread_pool_run(pool, THREADS, add_part, &sums);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(sums.parts[i], piece);
    }
    thread_pool_free(pool);
}

/* A piece with two meetings: what each thread sees of the others' work after each. */
typedef struct Meetings {
    ThreadPool *pool;
    uint64_t before[THREADS]; /* written before the first meeting */
    uint64_t leader;          /* written by thread 0 before the second meeting */
    uint64_t last[THREADS];   /* written by every thread after the second meeting */
    uint32_t wrong[THREADS];  /* number of values that were not visible yet */
    _Atomic bool has_passed;  /* thread 0 has passed a meeting at which the others only follow */
} Meetings;

static void meet_twice(void *user, uint32_t thread) {
    Meetings *m = user;
    const uint64_t piece = ++m->before[thread];
    thread_pool_meet(m->pool, thread);
    for (uint32_t i = 0; i < THREADS; i++)
        m->wrong[thread] += m->before[i] != piece;
    if (thread == 0) m->leader = piece;
    thread_pool_follow(m->pool, thread);
    m->wrong[thread] += m->leader != piece;
    m->last[thread] = piece;
}

static void all_see_at_a_meeting_what_was_written_before_it(void **state) {
    (void)state;
    Meetings m = {.pool = make(THREADS)};
    Sums sums = {.given = 1};
    for (uint64_t piece = 1; piece <= PIECES / 10; piece++) {
        thread_pool_run(m.pool, 2, add_part, &sums); /* must make no difference */
        thread_pool_run(m.pool, THREADS, meet_twice, &m);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(m.last[i], piece);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(m.wrong[i], 0);
    thread_pool_free(m.pool);
}

static void follow_late(void *user, uint32_t thread) {
    Meetings *m = user;
    if (thread == 0) {
        m->leader = 1;
        thread_pool_follow(m->pool, thread);
        atomic_store(&m->has_passed, true);
        return;
    }
    for (uint32_t turns = 0; !atomic_load(&m->has_passed);)
        thread_pool_wait(&turns);
    thread_pool_follow(m->pool, thread);
    m->last[thread] = m->leader;
}

/* This would hang if thread 0 waited for threads that arrive after it has passed. */
static void a_leader_goes_on_and_is_followed(void **state) {
    (void)state;
    Meetings m = {.pool = make(THREADS)};
    thread_pool_run(m.pool, THREADS, follow_late, &m);
    for (uint32_t i = 1; i < THREADS; i++)
        assert_int_equal(m.last[i], 1);
    thread_pool_free(m.pool);
}

static void a_pool_without_work_goes_home(void **state) {
    (void)state;
    thread_pool_free(make(2));
    thread_pool_free(NULL);
}

static void a_forks_child_has_no_pool_and_can_make_one(void **state) {
    (void)state;
    ThreadPool *pool = make(2);
    assert_true(thread_pool_is_here(pool));
    pid_t child = fork();
    if (child == 0) {
        int why;
        bool is_here = thread_pool_is_here(pool);
        thread_pool_free(pool);
        ThreadPool *own = thread_pool_new(2, &why);
        Sums sums = {.given = 1};
        if (own) thread_pool_run(own, 2, add_part, &sums);
        _exit(is_here || sums.parts[1] != 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    thread_pool_free(pool);
}

/* ---- Threads that end or crash ---- */

enum { TOLD = 7, UNTOLD = 8 }; /* exit statuses of a child */

static void tell(int number) {
    (void)number;
    _exit(thread_pool_is_other() ? TOLD : UNTOLD);
}

static int recurse(volatile int *depth) {
    volatile int deeper[1024];
    deeper[0] = *depth + 1;
    return deeper[0] > 0 ? recurse(deeper) + deeper[0] : 0;
}

static void use_up_stack(void *user, uint32_t thread) {
    volatile int depth = 0;
    (void)user;
    if (thread) depth = recurse(&depth);
}

static void raise_one(void *user, uint32_t thread) {
    (void)user;
    if (thread) raise(SIGFPE);
}

/* Exit status of a child in which another thread of a pool does that. */
static int status_after(ThreadPoolWork *work) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_handler = tell, .sa_flags = SA_ONSTACK};
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGFPE, &action, NULL);
        thread_pool_run(make(2), 2, work, NULL);
        _exit(UNTOLD);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void faults_of_a_thread_reach_their_handler(void **state) {
    (void)state;
    assert_int_equal(status_after(raise_one), TOLD);
    assert_int_equal(status_after(use_up_stack), TOLD);
}

static void note_who_is_other(void *user, uint32_t thread) {
    ((bool *)user)[thread] = thread_pool_is_other();
}

static void the_others_know_that_they_are(void **state) {
    (void)state;
    bool are_others[2] = {true, false};
    ThreadPool *pool = make(2);
    thread_pool_run(pool, 2, note_who_is_other, are_others);
    assert_false(are_others[0]);
    assert_true(are_others[1]);
    assert_false(thread_pool_is_other());
    thread_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_does_its_part_of_every_piece),
        cmocka_unit_test(threads_that_have_no_part_of_a_piece_are_left_alone),
        cmocka_unit_test(threads_that_fell_asleep_wake_up),
        cmocka_unit_test(all_see_at_a_meeting_what_was_written_before_it),
        cmocka_unit_test(a_leader_goes_on_and_is_followed),
        cmocka_unit_test(a_pool_without_work_goes_home),
        cmocka_unit_test(a_forks_child_has_no_pool_and_can_make_one),
        cmocka_unit_test(faults_of_a_thread_reach_their_handler),
        cmocka_unit_test(the_others_know_that_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
