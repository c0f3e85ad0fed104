/* Teams of threads: each does its part of every piece, sees what the caller wrote and is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/team.h"

enum { THREADS = 3, PIECES = 2000 };

typedef struct Sums {
    uint64_t given;         /* by the caller, for this piece */
    uint64_t sums[THREADS]; /* of what each thread was given */
    uint32_t parts[THREADS];
} Sums;

static void add_part(void *user, uint32_t thread) {
    Sums *sums = user;
    sums->sums[thread] += sums->given * (thread + 1);
    sums->parts[thread]++;
}

static Team *make(uint32_t threads) {
    int why;
    Team *team = team_new(threads, &why);
    assert_non_null(team);
    assert_int_equal(team_threads(team), threads);
    return team;
}

static void every_thread_does_its_part_of_every_piece(void **state) {
    (void)state;
    Team *team = make(THREADS);
    Sums sums = {0};
    for (uint32_t piece = 1; piece <= PIECES; piece++) {
        sums.given = piece;
        team_run(team, add_part, &sums);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(sums.parts[i], piece); /* seen at once */
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(sums.sums[i], (uint64_t)PIECES * (PIECES + 1) / 2 * (i + 1));
    team_free(team);
}

/* Longer than the others stay awake. */
static void threads_that_fell_asleep_wake_up(void **state) {
    (void)state;
    Team *team = make(THREADS);
    Sums sums = {.given = 1};
    for (uint32_t piece = 1; piece <= 3; piece++) {
        usleep(50000);
        team_run(team, add_part, &sums);
        for (uint32_t i = 0; i < THREADS; i++)
            assert_int_equal(sums.parts[i], piece);
    }
    team_free(team);
}

static void a_team_without_work_goes_home(void **state) {
    (void)state;
    team_free(make(2));
    team_free(NULL);
}

static void a_forks_child_has_no_team_and_can_make_one(void **state) {
    (void)state;
    Team *team = make(2);
    assert_true(team_is_here(team));
    pid_t child = fork();
    if (child == 0) {
        int why;
        bool is_here = team_is_here(team);
        team_free(team);
        Team *own = team_new(2, &why);
        Sums sums = {.given = 1};
        if (own) team_run(own, add_part, &sums);
        _exit(is_here || sums.parts[1] != 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    team_free(team);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_does_its_part_of_every_piece),
        cmocka_unit_test(threads_that_fell_asleep_wake_up),
        cmocka_unit_test(a_team_without_work_goes_home),
        cmocka_unit_test(a_forks_child_has_no_team_and_can_make_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
