/* Measures the host's cost of a call. */
#ifndef TYTO_BENCH_CALLS_H
#define TYTO_BENCH_CALLS_H

#include <time.h>

/* A call to measure. */
typedef struct BenchCall {
    const char *name;
    void (*call)(void);
} BenchCall;

/* Nanoseconds of processor time of one call: the least of several rounds of `calls`. */
static inline double bench_nanoseconds(void (*call)(void), int calls) {
    enum { ROUNDS = 7 };
    double least = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec start, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        for (int i = 0; i < calls; i++)
            call();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        double taken =
            (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
        if (taken / calls < least) least = taken / calls;
    }
    return least;
}

#endif
