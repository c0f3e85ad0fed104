/* Results for people (see the header). */
#include "stats/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/columns.h"
#include "base/demangle.h"
#include "base/map.h"
#include "stats/format.h"

enum {
    BAR_WIDTH = 40,
    REPORT_KERNELS = 3 /* with more launches, only the total */
};

/* --- where the scheduler cycles went --- */

enum { CAUSE_MAX_COUNTERS = 2 };

/* The outcomes of a scheduler cycle that a report shows. */
static const struct Cause {
    char mark; /* character in bars */
    const char *name;
    CounterId counters[CAUSE_MAX_COUNTERS];
    int count;
    CounterId without; /* part of these counters that is a cause of its own; COUNTER_COUNT: none */
} causes[] = {
    {'#', "issued", {COUNTER_issued}, 1, COUNTER_COUNT},
    {'m', "waited for memory", {COUNTER_scoreboard_memory}, 1, COUNTER_COUNT},
    {'r', "waited for a result", {COUNTER_scoreboard_other}, 1, COUNTER_COUNT},
    {'l', "found the load/store unit full", {COUNTER_pipeline_lsu}, 1, COUNTER_COUNT},
    {'u', "found other units full", {COUNTER_pipeline_other}, 1, COUNTER_COUNT},
    {'t', "the policy held back", {COUNTER_throttled}, 1, COUNTER_COUNT},
    {'b', "waited at a barrier", {COUNTER_idle_barrier}, 1, COUNTER_COUNT},
    {'f', "waited for a fetch", {COUNTER_idle_fetch, COUNTER_idle_branch}, 2, COUNTER_COUNT},
    {'w', "waited for the launch", {COUNTER_idle_launch}, 1, COUNTER_COUNT},
    {'.', "had no warp", {COUNTER_idle_no_warp}, 1, COUNTER_idle_launch},
};
enum { CAUSES = sizeof causes / sizeof *causes };

static uint64_t cause_cycles(const Counters *counters, int cause) {
    uint64_t cycles = 0;
    for (int i = 0; i < causes[cause].count; i++)
        cycles += counters_get(counters, causes[cause].counters[i]);
    if (causes[cause].without != COUNTER_COUNT)
        cycles -= counters_get(counters, causes[cause].without);
    return cycles;
}

/* Adds a bar of `width` characters. They are assigned by largest remainders, so that the bar is
 * always full. */
static void add_bar(const Counters *counters, int width, Text *out) {
    uint64_t total = counters->scheduler_cycles, taken = 0;
    if (!total) return;
    uint64_t marks[CAUSES], rest[CAUSES];
    for (int i = 0; i < CAUSES; i++) {
        unsigned __int128 share = (unsigned __int128)cause_cycles(counters, i) * (unsigned)width;
        marks[i] = (uint64_t)(share / total);
        rest[i] = (uint64_t)(share % total);
        taken += marks[i];
    }
    for (; taken < (uint64_t)width; taken++) {
        int largest = 0;
        for (int i = 1; i < CAUSES; i++) {
            if (rest[i] > rest[largest]) largest = i;
        }
        marks[largest]++;
        rest[largest] = 0;
    }
    for (int i = 0; i < CAUSES; i++) {
        for (uint64_t m = 0; m < marks[i]; m++)
            text_add_bytes(out, &causes[i].mark, 1);
    }
}

static void add_causes(const Counters *counters, Text *out) {
    char share[FORMAT_BYTES];
    double total = (double)counters->scheduler_cycles;
    text_add(out, "  where the scheduler cycles went\n");
    for (int i = 0; i < CAUSES; i++) {
        uint64_t cycles = cause_cycles(counters, i);
        if (!cycles) continue;
        format_value(share, 100 * (double)cycles / total, 1);
        int marks = (int)round(BAR_WIDTH * (double)cycles / total);
        text_printf(out, "    %-30s %6s%%%s", causes[i].name, share, marks ? "  " : "");
        for (int m = 0; m < marks; m++)
            text_add_bytes(out, &causes[i].mark, 1);
        text_add(out, "\n");
    }
}

/* --- one run --- */

/* Adds the most important figures of a kernel, grouped in lines. */
static const struct {
    const char *title;
    RatioId ratios[5];
    int count;
} headlines[] = {
    {"speed", {RATIO_ipc, RATIO_warp_ipc, RATIO_lanes_active, RATIO_CINV}, 4},
    {"SM",
     {RATIO_resident_ctas, RATIO_resident_warps, RATIO_memory_block_share, RATIO_no_warp_share},
     4},
    {"caches",
     {RATIO_l1d_miss_rate, RATIO_l1d_MPKI, RATIO_l1d_intra_warp_share, RATIO_l2_miss_rate,
      RATIO_lrc_merged_share},
     5},
    {"access",
     {RATIO_accesses_per_request, RATIO_needed_access_share, RATIO_shared_conflict_degree,
      RATIO_atomic_contention},
     4},
    {"latency",
     {RATIO_load_latency, RATIO_load_latency_noc, RATIO_load_latency_l2, RATIO_load_latency_queue,
      RATIO_load_latency_dram},
     5},
    {"DRAM", {RATIO_BLP, RATIO_RBL, RATIO_dram_bandwidth_use, RATIO_dram_queue_mean}, 4},
};

static void add_headlines(const Counters *counters, Text *out) {
    char field[FORMAT_BYTES];
    for (size_t i = 0; i < sizeof headlines / sizeof *headlines; i++) {
        bool is_open = false;
        for (int r = 0; r < headlines[i].count; r++) {
            RatioId id = headlines[i].ratios[r];
            if (isnan(counters_ratio(counters, id))) continue;
            format_ratio(field, counters, id);
            if (!is_open) text_printf(out, "  %-8s", headlines[i].title);
            text_printf(out, "%s%s %s", is_open ? ", " : "", ratio_rows[id].name, field);
            is_open = true;
        }
        if (is_open) text_add(out, "\n");
    }
}

static void add_everything(const Counters *counters, Text *out) {
    char field[FORMAT_BYTES];
    int count;
    const CounterGroup *groups = counter_groups(&count);
    for (int g = 0; g < count; g++) {
        CounterId end = g + 1 < count ? groups[g + 1].first : COUNTER_COUNT;
        text_printf(out, "  %s\n", groups[g].title);
        for (CounterId id = groups[g].first; id < end; id++) {
            format_count(field, counters_get(counters, id));
            text_printf(out, "    %-26s %20s  %s\n", counter_rows[id].name, field,
                        counter_rows[id].unit);
        }
    }
    text_add(out, "  Ratios\n");
    for (RatioId id = 0; id < RATIO_COUNT; id++) {
        format_ratio(field, counters, id);
        text_printf(out, "    %-26s %20s  %s\n", ratio_rows[id].name, field,
                    ratio_rows[id].meaning);
    }
}

/* The input of the advice for a kernel, or for all together. */
typedef struct Told {
    const Counters *counters;
    const Spreads *spreads;
    const RunStats *run;
    AdviceFacts facts;
    bool has_overlapped; /* then a limit cannot be attributed to it */
} Told;

static void add_counters(const Told *told, bool has_all, Text *out) {
    const Counters *counters = told->counters;
    char cycles[FORMAT_BYTES], instructions[FORMAT_BYTES];
    format_count(cycles, counters->cycles);
    format_count(instructions, counters->warp_instructions);
    text_printf(out, "  cycles  %s, warp instructions %s", cycles, instructions);
    if (counters->machine_instructions) {
        format_count(instructions, counters->machine_instructions);
        text_printf(out, ", issued as %s of the machine's own", instructions);
    }
    text_add(out, "\n");
    add_headlines(counters, out);
    levels_report(&told->run->peaks, counters, out);
    if (counters->scheduler_cycles) add_causes(counters, out);
    if (!told->has_overlapped) advice_report(&told->facts, out);
    spreads_report(told->spreads, told->run->shape.sms, out);
    if (has_all) add_everything(counters, out);
}

static void add_states(const WarpStates *states, const Counters *counters, Text *out) {
    if (warp_states_sum(states)) warp_states_report(states, counters->issued, out);
}

/* Adds the peculiarities of a launch: code other than PTX, a stream other than the legacy
 * default. */
static void add_special(const KernelStats *kernel, Text *out) {
    if (*kernel->code && strcmp(kernel->code, "ptx") != 0)
        text_printf(out, ", code %s", kernel->code);
    if (kernel->stream) text_printf(out, ", stream %u", kernel->stream);
}

/* Adds the shape of clusters, if there were any. */
static void add_cluster(const KernelStats *kernel, const char *format, Text *out) {
    if (kernel->cluster[0])
        text_printf(out, format, kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]);
}

static void add_kernel(const RunStats *run, const KernelStats *kernel, bool has_all, Text *out) {
    text_add(out, "\nkernel ");
    demangle_short(kernel->name, out);
    text_printf(out, ", %u x %u x %u CTAs of %u x %u x %u threads", kernel->grid[0],
                kernel->grid[1], kernel->grid[2], kernel->block[0], kernel->block[1],
                kernel->block[2]);
    add_cluster(kernel, ", clusters of %u x %u x %u", out);
    text_printf(out, ", %u CTAs per SM, %u registers, %u B shared", kernel->timing->ctas_per_sm,
                kernel->registers, kernel->shared_bytes);
    add_special(kernel, out);
    text_add(out, "\n");
    if (kernel->has_overlapped)
        text_add(out, "  overlapped with another kernel: shared resources are counted for both\n");
    if (kernel->status != RUN_COMPLETE)
        text_printf(out, "  incomplete: %s; the figures are those so far\n",
                    run_status_names[kernel->status]);
    KernelFigures figures = run_figures(kernel->timing);
    occupancy_report(&kernel->timing->occupancy, &figures.counters, out);
    const Told told = {&figures.counters, &figures.spreads, run,
                       run_kernel_facts(run, kernel, &figures.counters), kernel->has_overlapped};
    add_counters(&told, has_all, out);
    if (has_all) add_states(&figures.states, &figures.counters, out);
}

/* The launch with the most cycles that is not `told`; -1: there is none. */
static int longest(const RunStats *run, const Map *told) {
    uint64_t most = 0;
    int found = -1;
    for (int i = 0; i < run->kernel_count; i++) {
        const KernelStats *kernel = &run->kernels[i];
        if (!kernel->timing || kernel->has_overlapped) continue;
        if (map_has(told, kernel->name, strlen(kernel->name))) continue;
        const uint64_t cycles = run_kernel_counters(kernel).cycles;
        if (cycles <= most) continue;
        most = cycles;
        found = i;
    }
    return found;
}

/* If there are too many launches to show each one: adds what limits the longest launches of some
 * kernels. */
static void add_longest(const RunStats *run, Text *out) {
    Map *told = map_new();
    for (int i = longest(run, told); i >= 0 && map_count(told) < REPORT_KERNELS;
         i = longest(run, told)) {
        const KernelStats *kernel = &run->kernels[i];
        const KernelFigures figures = run_figures(kernel->timing);
        const AdviceFacts facts = run_kernel_facts(run, kernel, &figures.counters);
        char cycles[FORMAT_BYTES];
        format_count(cycles, figures.counters.cycles);
        text_add(out, map_count(told) ? "" : "\nthe longest launches of the longest kernels\n");
        text_printf(out, "  %d: ", i + 1);
        demangle_short(kernel->name, out);
        text_printf(out, ", %s cycles\n", cycles);
        occupancy_report(&kernel->timing->occupancy, &figures.counters, out);
        levels_report(&run->peaks, &figures.counters, out);
        advice_report(&facts, out);
        map_put(told, kernel->name, strlen(kernel->name), NULL);
    }
    map_free(told);
}

/* Adds the names of the kernels that ran without timing, each once. */
static Map *untimed_names(const RunStats *run) {
    Map *names = map_new();
    for (int i = 0; i < run->kernel_count; i++) {
        const KernelStats *kernel = &run->kernels[i];
        if (!run_is_counted(run, kernel)) map_put(names, kernel->name, strlen(kernel->name), NULL);
    }
    return names;
}

/* Adds the launches without timing: their number and kernels. */
static void add_untimed(const RunStats *run, Text *out) {
    char field[FORMAT_BYTES];
    UntimedTotal untimed = run_untimed(run);
    if (!untimed.kernels) return;
    format_count(field, untimed.counters.warp_instructions);
    text_printf(out, "\nnot timed: %d kernel%s, %s warp instruction%s (", untimed.kernels,
                text_plural((uint64_t)untimed.kernels), field,
                text_plural(untimed.counters.warp_instructions));
    Map *names = untimed_names(run);
    size_t count = map_count(names), told = count < REPORT_KERNELS ? count : REPORT_KERNELS;
    for (size_t i = 0; i < told; i++) {
        text_add(out, i ? ", " : "");
        demangle_short(map_key(names, i), out);
    }
    if (count > told) text_printf(out, " and %zu more", count - told);
    text_add(out, ")\n");
    map_free(names);
}

/* Warp instructions per second of wall clock time; 0 if no time has passed. */
static double rate_of(const Counters *total, HostStats host) {
    return host.wall_seconds > 0 ? (double)total->warp_instructions / host.wall_seconds : 0;
}

/* Formats 24200000 as "24.2 million". */
static void format_rounded(char field[static FORMAT_BYTES], double value) {
    static const struct {
        double least;
        const char *name;
        int decimals;
    } scales[] = {{1e9, " billion", 2}, {1e6, " million", 1}, {1e3, " thousand", 1}};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        if (value < scales[i].least) continue;
        format_value(field, value / scales[i].least, scales[i].decimals);
        strcat(field, scales[i].name);
        return;
    }
    format_value(field, value, 0);
}

/* Adds one line about a run without timing. */
static void add_functional(const RunStats *run, Text *out) {
    char instructions[FORMAT_BYTES], seconds[FORMAT_BYTES], speed[FORMAT_BYTES];
    Counters total = run_total(run);
    HostStats host = run_host(run);
    format_count(instructions, total.warp_instructions);
    format_value(seconds, host.wall_seconds, 2);
    format_rounded(speed, rate_of(&total, host));
    text_printf(
        out,
        "%s on %s, functionally: %d kernel%s, %s warp instruction%s in %s s (%s warp instructions "
        "a second)\n",
        run->program, run->machine ? run->machine : "no machine", run->kernel_count,
        text_plural((uint64_t)run->kernel_count), instructions,
        text_plural(total.warp_instructions), seconds, speed);
}

/* Adds the host time of the timed launches. */
static void add_host(const RunStats *run, const Counters *total, Text *out) {
    char seconds[FORMAT_BYTES], speed[FORMAT_BYTES], memory[FORMAT_BYTES];
    HostStats host = run_host(run);
    format_value(memory, (double)run->peak_memory_bytes / (1024 * 1024), 0);
    if (host.wall_seconds > 0) {
        format_value(seconds, host.wall_seconds, 2);
        format_count(speed, (uint64_t)rate_of(total, host));
        text_printf(out, "\nhost: %s s, %s warp instructions per second, ", seconds, speed);
    } else {
        text_add(out, "\nhost: nothing was timed, ");
    }
    text_printf(out, "%s MiB at most\n", memory);
}

static void add_timed(const RunStats *run, bool has_all, int columns, Text *out) {
    text_printf(out, "%s on %s, warps by %s, CTAs by %s\n", run->program, run->machine,
                run->scheduler, run->cta_scheduler);
    int timed = run->kernel_count - run_untimed(run).kernels;
    bool has_each = has_all || timed <= REPORT_KERNELS;
    for (int i = 0; has_each && i < run->kernel_count; i++) {
        if (run->kernels[i].timing) add_kernel(run, &run->kernels[i], has_all, out);
    }
    Counters total = run_total(run);
    if (timed > 1) {
        text_printf(out, "\nall %d %skernels\n", timed, timed < run->kernel_count ? "timed " : "");
        Spreads spreads = {0};
        if (run->units) spreads = units_spreads(run->units);
        const Told told = {&total, &spreads, run, run_total_facts(run, &total),
                           run_has_overlap(run)};
        add_counters(&told, has_all, out);
        const WarpStates states = run_total_states(run);
        if (has_all) add_states(&states, &total, out);
    }
    if (!has_each) add_longest(run, out);
    if (run->tells_units) units_report(run->units, out);
    add_untimed(run, out);
    if (run->profile) profile_report(run->profile, columns, out);
    add_host(run, &total, out);
}

void report_run(const RunStats *run, bool has_all, int columns, Text *out) {
    if (run_is_timed(run)) add_timed(run, has_all, columns, out);
    else add_functional(run, out);
    text_show_lines(out->bytes); /* names of files and programs */
}

void report_launch(const RunStats *run, int i, Text *out) {
    const KernelStats *kernel = &run->kernels[i];
    Counters counters = run_kernel_counters(kernel);
    char field[FORMAT_BYTES];
    text_printf(out, "tyto: kernel %d: ", i + 1);
    demangle_short(kernel->name, out);
    text_printf(out, " grid %u,%u,%u block %u,%u,%u", kernel->grid[0], kernel->grid[1],
                kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2]);
    add_cluster(kernel, " cluster %u,%u,%u", out);
    text_printf(out, ": %u registers, ", kernel->registers);
    if (kernel->shared_bytes)
        text_printf(out, "%u byte%s of shared memory, ", kernel->shared_bytes,
                    text_plural(kernel->shared_bytes));
    format_count(field, counters.warp_instructions);
    text_printf(out, "%s warp instruction%s", field, text_plural(counters.warp_instructions));
    if (counters.cycles) {
        format_count(field, counters.cycles);
        text_printf(out, ", %s cycle%s", field, text_plural(counters.cycles));
        format_ratio(field, &counters, RATIO_ipc);
        text_printf(out, ", IPC %s", field);
    }
    add_special(kernel, out);
    if (kernel->has_overlapped) text_add(out, ", overlapped");
    if (!run_is_counted(run, kernel)) text_add(out, ", not timed");
    const char *ends[RUN_STATUSES] = {[RUN_COMPLETE] = "", [RUN_STOPPED] = ", stopped"};
    text_printf(out, "%s\n", ends[kernel->status] ? ends[kernel->status] : ", failed");
}

/* --- several runs --- */

/* The names of the runs in a comparison: the schedulers in which they differ. */
typedef struct RunNames {
    bool has_warps, has_ctas; /* which schedulers are in the names */
    char **list;              /* by run; owned */
    int width;                /* width of the longest name, at least that of the heading */
} RunNames;

static const char *heading_of(const RunNames *names) {
    return names->has_warps ? "scheduler" : "CTA scheduler";
}

static char *name_of(const RunStats *run, const RunNames *names) {
    Text name = {0};
    if (names->has_warps) text_add(&name, run->scheduler);
    if (names->has_warps && names->has_ctas) text_add(&name, " with ");
    if (names->has_ctas) text_add(&name, run->cta_scheduler);
    return name.bytes ? name.bytes : strdup("");
}

static RunNames name_runs(const RunStats *const *runs, int count) {
    RunNames names = {.list = base_calloc((size_t)count, sizeof *names.list)};
    for (int i = 1; i < count; i++) {
        names.has_warps |= strcmp(runs[i]->scheduler, runs[0]->scheduler) != 0;
        names.has_ctas |= strcmp(runs[i]->cta_scheduler, runs[0]->cta_scheduler) != 0;
    }
    names.has_warps |= !names.has_ctas;
    names.width = columns_of(heading_of(&names));
    for (int i = 0; i < count; i++) {
        names.list[i] = name_of(runs[i], &names);
        int columns = columns_of(names.list[i]);
        if (columns > names.width) names.width = columns;
    }
    return names;
}

static void free_names(RunNames *names, int count) {
    for (int i = 0; i < count; i++)
        free(names->list[i]);
    free(names->list);
}

static void add_comparison_row(const char *name, int width, const Counters *total, double speedup,
                               Text *out) {
    static const RatioId columns[] = {RATIO_l1d_miss_rate, RATIO_l2_miss_rate, RATIO_RBL};
    char field[FORMAT_BYTES];
    format_count(field, total->cycles);
    text_printf(out, "%-*s %15s", columns_pad(name, width), name, field);
    format_ratio(field, total, RATIO_ipc);
    text_printf(out, " %8s", field);
    format_value(field, speedup, 3);
    text_printf(out, " %8s", field);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        format_ratio(field, total, columns[i]);
        text_printf(out, " %8s", field);
    }
    text_add(out, "  ");
    add_bar(total, BAR_WIDTH, out);
    text_add(out, "\n");
}

/* Figures that can explain why a run is slow, and whether higher is worse. */
static const struct Evidence {
    const char *name;
    RatioId ratio;
    bool is_worse_higher;
} evidence[] = {
    {"mean load latency", RATIO_load_latency, true},
    {"L1D misses", RATIO_l1d_miss_rate, true},
    {"L2 misses", RATIO_l2_miss_rate, true},
    {"row hits", RATIO_RBL, false},
    {"busy banks", RATIO_BLP, false},
};
enum { EVIDENCE = sizeof evidence / sizeof *evidence };

#define LEAST_EFFECT 1.02 /* smaller effects are not mentioned */

/* By which factor a loser's value is worse than the winner's: below 1 if it is better, 0 if one of
 * them is undefined. */
static double effect_of(int i, const Counters *winner, const Counters *loser) {
    double best = counters_ratio(winner, evidence[i].ratio);
    double other = counters_ratio(loser, evidence[i].ratio);
    double effect = evidence[i].is_worse_higher ? other / best : best / other;
    return effect > 0 ? effect : 0; /* false for NaN */
}

/* Adds the figures that are worse, in descending order of the effect: "; L1D misses 63.2% instead
 * of 41.0%, ..." */
static void add_evidence(const Counters *winner, const Counters *loser, Text *out) {
    bool is_told[EVIDENCE] = {false};
    for (int told = 0; told < EVIDENCE; told++) {
        int worst = -1;
        double most = LEAST_EFFECT;
        for (int i = 0; i < EVIDENCE; i++) {
            double effect = effect_of(i, winner, loser);
            if (is_told[i] || !(effect > most)) continue;
            worst = i;
            most = effect;
        }
        if (worst < 0) return;
        char ours[FORMAT_BYTES], theirs[FORMAT_BYTES];
        format_ratio(ours, loser, evidence[worst].ratio);
        format_ratio(theirs, winner, evidence[worst].ratio);
        text_printf(out, "%s%s %s instead of %s", told ? ", " : "; ", evidence[worst].name, ours,
                    theirs);
        is_told[worst] = true;
    }
}

#define LEAST_SHARE 0.1 /* share of the loss; smaller ones are not named */

/* Adds the causes that took more scheduler cycles than in the winner, as shares of all additional
 * cycles, largest first: "88% found the load/store unit full, 12% waited for memory". */
static void add_losses(const Counters *winner, const Counters *loser, Text *out) {
    uint64_t losses[CAUSES], all = 0;
    for (int i = 0; i < CAUSES; i++) {
        uint64_t theirs = cause_cycles(winner, i), ours = cause_cycles(loser, i);
        losses[i] = ours > theirs ? ours - theirs : 0;
        all += losses[i];
    }
    for (bool is_open = false; all; is_open = true) {
        int largest = 0;
        for (int i = 1; i < CAUSES; i++)
            largest = losses[i] > losses[largest] ? i : largest;
        double share = (double)losses[largest] / (double)all;
        if (share < LEAST_SHARE) return;
        char percent[FORMAT_BYTES];
        format_value(percent, 100 * share, 0);
        text_printf(out, is_open ? ", %s%% %s" : ": %s%% of the added scheduler cycles %s", percent,
                    causes[largest].name);
        losses[largest] = 0;
    }
}

/* Smaller relative differences in cycles are not explained, because they do not allow any
 * conclusion. */
#define NEGLIGIBLE 0.01

/* Adds why a run is slower than the fastest. */
static void add_reason(const Counters *winner, const Counters *loser, Text *out) {
    char percent[FORMAT_BYTES];
    double share = (double)(loser->cycles - winner->cycles) / (double)winner->cycles;
    format_value(percent, 100 * share, share < NEGLIGIBLE ? 2 : 1);
    text_printf(out, "%s%% more cycles", percent);
    if (share < NEGLIGIBLE) {
        text_add(out, ", too few to explain");
        return;
    }
    add_losses(winner, loser, out);
    add_evidence(winner, loser, out);
}

/* Runs with identical results, and their common name. */
typedef struct Rank {
    Counters total;
    Text names; /* owned */
    int count;  /* number of these runs */
} Rank;

/* Sorts the runs from the fastest to the slowest; equally fast runs stay in the order of the table.
 * Returns the number of ranks. */
static int rank_runs(const RunStats *const *runs, int count, const RunNames *names, Rank *ranks) {
    int ranked = 0;
    for (int i = 0; i < count; i++) {
        Counters total = run_total(runs[i]);
        int at = 0;
        while (at < ranked && memcmp(&ranks[at].total, &total, sizeof total) != 0)
            at++;
        if (at == ranked) {
            for (; at > 0 && ranks[at - 1].total.cycles > total.cycles; at--)
                ranks[at] = ranks[at - 1];
            ranks[at] = (Rank){.total = total};
            ranked++;
        }
        text_printf(&ranks[at].names, "%s%s", ranks[at].count++ ? ", " : "", names->list[i]);
    }
    return ranked;
}

/* Adds which run is fastest, and then a line for each other run, faster ones first. */
static void add_reasons(const RunStats *const *runs, int count, const RunNames *names, Text *out) {
    Rank *ranks = base_calloc((size_t)count, sizeof *ranks);
    int ranked = rank_runs(runs, count, names, ranks), ties = 0, width = 0;
    text_add(out, "\n");
    for (; ties < ranked && ranks[ties].total.cycles == ranks[0].total.cycles; ties++)
        text_printf(out, "%s%s", ties ? ", " : "", text_string(&ranks[ties].names));
    bool is_tie = ties > 1 || ranks[0].count > 1;
    if (ties == ranked) text_add(out, ": the same number of cycles.\n");
    else if (is_tie) text_add(out, ": fastest, with the same number of cycles. The others:\n");
    else text_add(out, " is fastest. The others:\n");
    for (int i = ties; i < ranked; i++) {
        int columns = columns_of(text_string(&ranks[i].names));
        width = columns > width ? columns : width;
    }
    for (int i = ties; i < ranked; i++) {
        const char *ranked_names = text_string(&ranks[i].names);
        text_printf(out, "  %-*s ", columns_pad(ranked_names, width), ranked_names);
        add_reason(&ranks[0].total, &ranks[i].total, out);
        text_add(out, "\n");
    }
    for (int i = 0; i < ranked; i++)
        text_free(&ranks[i].names);
    free(ranks);
}

/* Adds a legend of the bars' characters, for causes that any run has. */
static void add_legend(const Counters *all, Text *out) {
    text_add(out, "\nscheduler cycles that");
    bool is_open = false;
    for (int i = 0; i < CAUSES; i++) {
        if (!cause_cycles(all, i)) continue;
        text_printf(out, "%s  %c %s", is_open ? "," : "", causes[i].mark, causes[i].name);
        is_open = true;
    }
    text_add(out, "\n");
}

void report_comparison(const RunStats *const *runs, int count, Text *out) {
    if (!count) return;
    RunNames names = name_runs(runs, count);
    uint64_t first = run_total(runs[0]).cycles;
    Counters all = {0};
    text_printf(out, "%s on %s", runs[0]->program, runs[0]->machine);
    if (!names.has_warps) text_printf(out, ", warps by %s", runs[0]->scheduler);
    int untimed = run_untimed(runs[0]).kernels, kernels = runs[0]->kernel_count;
    if (untimed) text_printf(out, ", %d of %d kernels timed", kernels - untimed, kernels);
    text_printf(out, "\n\n%-*s %15s %8s %8s %8s %8s %8s  %s\n", names.width, heading_of(&names),
                "cycles", "IPC", "speed-up", "L1D miss", "L2 miss", "row hits", "scheduler cycles");
    for (int i = 0; i < count; i++) {
        Counters total = run_total(runs[i]);
        double speedup = (double)first / (double)total.cycles;
        add_comparison_row(names.list[i], names.width, &total, speedup, out);
        counters_add(&all, &total);
    }
    add_legend(&all, out);
    if (count > 1) add_reasons(runs, count, &names, out);
    free_names(&names, count);
}
