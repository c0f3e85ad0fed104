/* What the policies cost: speed of simulation under each warp scheduler, relative to gto, on kernels on
 * which all of them do about the same work. Best of several runs. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../tests/sched/on_machine.h"
#include "sched/registry.h"

enum { RUNS = 3 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void measure(const char *title, Workload w) {
    const TytoPolicy *policy;
    double base = 0;
    printf("%s\n%-24s %14s %22s %10s\n", title, "scheduler", "SM cycles", "SM cycles per second", "over gto");
    for (int pass = 0; pass < 2; pass++) /* gto first: the others are measured by it */
        for (int i = 0; (policy = sched_policy_at(i)) != NULL; i++) {
            if ((pass == 0) != !strcmp(policy->name, "gto")) continue;
            double best = 0, cycles = 0;
            w.scheduler = policy->name;
            for (int run = 0; run < RUNS; run++) {
                double start = seconds();
                cycles = (double)run_on_machine(&w).counters.sm_cycles;
                double speed = cycles / (seconds() - start);
                if (speed > best) best = speed;
            }
            if (pass == 0) base = best;
            printf("%-24s %14.0f %22.0f %10.3f\n", policy->name, cycles, best, best / base);
        }
}

int main(void) {
    measure("arithmetic, all warps ready:",
            (Workload){.kernel = "walk", .machine = "gtx480", .ctas = 60, .warps_per_cta = 6, .lines = 4,
                       .rounds = 4, .work = 60});
    measure("misses, most warps waiting:",
            (Workload){.kernel = "walk", .machine = "gtx480", .ctas = 90, .warps_per_cta = 6, .lines = 40,
                       .rounds = 2, .work = 2});
    measure("barriers and unequal warps:",
            (Workload){.kernel = "phases", .machine = "gtx480", .ctas = 60, .warps_per_cta = 8,
                       .lines = 1, .rounds = 10, .work = 10});
    return 0;
}
