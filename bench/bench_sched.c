/* Cost of the policies: the speed of simulation under each warp scheduler, relative to gto, on
 * kernels on which all schedulers do about the same work. The best of several rounds counts. Each
 * round runs every scheduler, so that a busy host slows all of them equally. A policy may cost at
 * most 15% (ccws 30%), in SM cycles or in warp instructions per second: a policy that makes the
 * kernel run longer has less to do in each cycle, and a policy that makes it run shorter has more.
 * A policy that is slower in both is marked. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../tests/sched/on_machine.h"
#include "sched/registry.h"

enum { ROUNDS = 7, MOST_POLICIES = 64 };

static const double MOST_COST = 1.15, MOST_COST_CCWS = 1.30; /* host time, relative to gto */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

typedef struct Speed {
    double cycles;       /* SM cycles of the kernel, summed over the SMs */
    double instructions; /* warp instructions */
    double seconds;      /* processor time of the best run */
} Speed;

static void run_once(Workload w, const char *scheduler, Speed *best) {
    w.scheduler = scheduler;
    double start = seconds();
    Counters counters = run_on_machine(&w).counters;
    double taken = seconds() - start;
    if (best->seconds > 0 && best->seconds < taken) return;
    *best = (Speed){(double)counters.sm_cycles, (double)counters.warp_instructions, taken};
}

static double cycle_rate(const Speed *speed) { return speed->cycles / speed->seconds; }
static double instruction_rate(const Speed *speed) { return speed->instructions / speed->seconds; }

/* Prints a scheduler's speed, and "over" if it costs too much. */
static void print_speed(const char *name, const Speed *speed, const Speed *gto) {
    const double cycles = cycle_rate(speed) / cycle_rate(gto);
    const double instructions = instruction_rate(speed) / instruction_rate(gto);
    const double better = cycles > instructions ? cycles : instructions;
    const double most = strcmp(name, "ccws") ? MOST_COST : MOST_COST_CCWS;
    printf("%-24s %12.0f %16.0f %10.3f %24.0f %10.3f%s\n", name, speed->cycles, cycle_rate(speed),
           cycles, instruction_rate(speed), instructions, better * most < 1 ? "  over" : "");
}

static void measure(const char *title, Workload w) {
    Speed best[MOST_POLICIES] = {{0, 0, 0}};
    const TytoPolicy *policy;
    int gto = 0;
    assert(!sched_policy_at(MOST_POLICIES));
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; (policy = sched_policy_at(i)) != NULL; i++) {
            if (!strcmp(policy->name, "gto")) gto = i;
            run_once(w, policy->name, &best[i]);
        }
    printf("%s\n%-24s %12s %16s %10s %24s %10s\n", title, "scheduler", "SM cycles", "SM cycles/s",
           "over gto", "warp instructions/s", "over gto");
    for (int i = 0; (policy = sched_policy_at(i)) != NULL; i++)
        print_speed(policy->name, &best[i], &best[gto]);
    fflush(stdout);
}

int main(void) {
    measure("arithmetic, all warps ready:", (Workload){.kernel = "walk",
                                                       .machine = "gtx480",
                                                       .ctas = 60,
                                                       .warps_per_cta = 6,
                                                       .lines = 4,
                                                       .rounds = 4,
                                                       .work = 60});
    measure("misses, most warps waiting:", (Workload){.kernel = "walk",
                                                      .machine = "gtx480",
                                                      .ctas = 90,
                                                      .warps_per_cta = 6,
                                                      .lines = 40,
                                                      .rounds = 2,
                                                      .work = 2});
    measure("barriers and unequal warps:", (Workload){.kernel = "phases",
                                                      .machine = "gtx480",
                                                      .ctas = 60,
                                                      .warps_per_cta = 8,
                                                      .lines = 1,
                                                      .rounds = 10,
                                                      .work = 10});
    return 0;
}
