/* Advice on a kernel (see the header): for each rule, a function for its weight and one for its
 * sentence. Sentences only contain what was counted. */
#include "stats/advice.h"

#include <inttypes.h>
#include <math.h>

#include "stats/format.h"

static const double most_of_peak = 0.6; /* share of a level's peak from which it bounds a kernel */
static const double least_scatter = 0.25; /* share of the accesses */
static const double least_in_turn = 0.5;  /* share of the atomics */
static const double most_occupancy = 0.5; /* share of an SM's warps */
static const double most_lanes = 0.75;    /* lanes, of 32 */

/* ---- Shares ---- */

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/* The share of all cycles outside the launch latency. */
static double active_part(const AdviceFacts *facts) {
    const Counters *c = facts->counters;
    return 1 - share((double)c->idle_launch, (double)c->scheduler_cycles);
}
static double active_cycles(const AdviceFacts *facts) {
    return (double)facts->counters->cycles * active_part(facts);
}
/* A share of the scheduler cycles, or of the SM cycles, in which there was a warp. */
static double of_schedulers(const AdviceFacts *facts, uint64_t cycles) {
    const Counters *c = facts->counters;
    return share((double)cycles, (double)(c->scheduler_cycles - c->idle_no_warp));
}
static double of_sms(const AdviceFacts *facts, uint64_t cycles) {
    const Counters *c = facts->counters;
    return share((double)cycles, (double)(c->sm_cycles - c->NoWarpCycles));
}

/* CTAs that fit on the whole GPU, by an SM's resources. */
static uint64_t wave(const AdviceFacts *facts) {
    return (uint64_t)occupancy_ctas(facts->occupancy) * facts->sms;
}
static bool knows_grid(const AdviceFacts *facts) {
    return facts->occupancy && facts->occupancy->warps && facts->ctas;
}

static double memory(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->scoreboard_memory);
}
static double result(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->scoreboard_other);
}
static double lsu(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->pipeline_lsu);
}
static double issued(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->issued);
}

/* The memory level that came nearest to its peak, and its share of the peak. */
static double busiest(const AdviceFacts *facts, Level *level) {
    static const Level levels[] = {LEVEL_l1d, LEVEL_l2, LEVEL_dram};
    double most = 0;
    *level = LEVEL_l1d;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const double used =
            level_share(facts->peaks, levels[i], facts->counters, active_cycles(facts));
        if (!(used > most)) continue;
        most = used;
        *level = levels[i];
    }
    return most;
}

/* Accesses that contiguous data would not need. Accesses of atomics that had to wait for each other
 * are excluded, because their cause is different. */
static double scatter(const AdviceFacts *facts) {
    const Counters *c = facts->counters;
    const uint64_t needed = c->least_accesses + c->l2_atomics_in_turn;
    if (needed >= c->coalesced_accesses) return 0;
    return share((double)(c->coalesced_accesses - needed), (double)c->coalesced_accesses);
}

static double lanes(const AdviceFacts *facts) {
    return counters_ratio(facts->counters, RATIO_lanes_active);
}

/* Scheduler cycles, or SM cycles, without a warp after the launch latency, as a share of all. */
static double idle(const AdviceFacts *facts) {
    const Counters *c = facts->counters;
    return share((double)(c->idle_no_warp - c->idle_launch),
                 (double)(c->scheduler_cycles - c->idle_launch));
}
static double empty(const AdviceFacts *facts) {
    const Counters *c = facts->counters;
    const double active = (double)c->sm_cycles * active_part(facts);
    return share((double)c->NoWarpCycles - ((double)c->sm_cycles - active), active);
}

/* ---- Weights ---- */

static double weigh_launch_bound(const AdviceFacts *facts) { return 1 - active_part(facts); }

static double weigh_small_grid(const AdviceFacts *facts) {
    return knows_grid(facts) && facts->ctas < wave(facts) ? idle(facts) : 0;
}

static double weigh_tail(const AdviceFacts *facts) {
    return knows_grid(facts) && facts->ctas >= wave(facts) ? empty(facts) : 0;
}

static double weigh_memory_bound(const AdviceFacts *facts) {
    Level level;
    return busiest(facts, &level);
}

static double weigh_uncoalesced(const AdviceFacts *facts) {
    const double scattered = scatter(facts);
    return scattered >= least_scatter ? scattered * (memory(facts) + lsu(facts)) : 0;
}

static double weigh_bank_conflicts(const AdviceFacts *facts) {
    const Counters *c = facts->counters;
    return of_sms(facts, c->shared_cycles - c->least_shared_cycles);
}

static double weigh_contended_atomics(const AdviceFacts *facts) {
    const Counters *c = facts->counters;
    const uint64_t ended = c->idle_no_warp - c->seen_vacant; /* warps whose atomics are under way */
    const uint64_t waits = c->scoreboard_memory + c->scoreboard_other + c->pipeline_lsu + ended;
    if (!(counters_ratio(c, RATIO_atomic_contention) >= least_in_turn)) return 0;
    return share((double)waits, (double)(c->scheduler_cycles - c->seen_vacant)) *
           share((double)c->l2_atomics, (double)c->coalesced_accesses);
}

/* Whether a rule explains why accesses take long. If so, rules that only report that they do stay
 * silent. */
static bool has_cause(const AdviceFacts *facts) {
    return advice_weight(facts, ADVICE_uncoalesced) > 0 ||
           advice_weight(facts, ADVICE_contended_atomics) > 0;
}

static double weigh_memory_latency(const AdviceFacts *facts) {
    return weigh_memory_bound(facts) < most_of_peak && !has_cause(facts) ? memory(facts) : 0;
}

static double weigh_low_occupancy(const AdviceFacts *facts) {
    if (!knows_grid(facts) || facts->ctas < wave(facts)) return 0;
    const double fit = occupancy_theoretical(facts->occupancy);
    return fit < most_occupancy ? (memory(facts) + result(facts)) * (1 - fit) : 0;
}

static double weigh_divergence(const AdviceFacts *facts) {
    const double used = lanes(facts);
    return used <= most_lanes ? (issued(facts) + result(facts)) * (1 - used) : 0;
}

static double weigh_barrier_bound(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->idle_barrier);
}

static double weigh_fetch_bound(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->idle_fetch + facts->counters->idle_branch);
}

static double weigh_load_store_bound(const AdviceFacts *facts) {
    return has_cause(facts) ? 0 : lsu(facts);
}

static double weigh_pipe_bound(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->pipeline_other);
}

static double weigh_result_latency(const AdviceFacts *facts) { return result(facts); }

static double weigh_issue_bound(const AdviceFacts *facts) { return issued(facts); }

static double weigh_held_back(const AdviceFacts *facts) {
    return of_schedulers(facts, facts->counters->throttled);
}

/* ---- Sentences ---- */

static void add_percent(Text *out, double part) {
    char field[FORMAT_BYTES];
    format_value(field, 100 * part, 1);
    text_printf(out, "%s%%", field);
}

/* A share of the scheduler cycles in which there was a warp. */
static void add_cycles(Text *out, double part) {
    add_percent(out, part);
    text_add(out, " of the cycles with a warp");
}

static void add_value(Text *out, double value) {
    char field[FORMAT_BYTES];
    format_value(field, value, 1);
    text_add(out, field);
}

static void add_count(Text *out, uint64_t value) {
    char field[FORMAT_BYTES];
    format_count(field, value);
    text_add(out, field);
}

static void say_launch_bound(const AdviceFacts *facts, Text *out) {
    const uint64_t kernels = facts->counters->kernels;
    text_add(out, "the launch latency is ");
    add_percent(out, weigh_launch_bound(facts));
    text_add(out, " of the time of ");
    if (kernels > 1) {
        text_add(out, "these ");
        add_count(out, kernels);
        text_add(out, " launches; give each launch more work, or make fewer launches");
    } else {
        text_add(out, "this launch; give it more work");
    }
}

static void say_small_grid(const AdviceFacts *facts, Text *out) {
    text_add(out, "the GPU holds ");
    add_count(out, wave(facts));
    text_add(out, " of these thread blocks at once, and the grid has ");
    add_count(out, facts->ctas);
    text_add(out, "; schedulers had no warp in ");
    add_percent(out, weigh_small_grid(facts));
    text_add(out, " of their cycles");
}

static void say_tail(const AdviceFacts *facts, Text *out) {
    add_count(out, facts->ctas);
    text_add(out, " thread blocks are ");
    add_value(out, share((double)facts->ctas, (double)wave(facts)));
    text_add(out, " times what the GPU holds at once; SMs had no warp in ");
    add_percent(out, weigh_tail(facts));
    text_add(out, " of their cycles");
}

static void say_memory_bound(const AdviceFacts *facts, Text *out) {
    Level level;
    const double most = busiest(facts, &level);
    text_printf(out, "%s moves ", level_titles[level]);
    add_percent(out, most);
    text_add(out, " of its peak; fewer bytes, or more reuse above it, make the kernel faster");
}

static void say_memory_latency(const AdviceFacts *facts, Text *out) {
    char latency[FORMAT_BYTES];
    Level level;
    const double most = busiest(facts, &level);
    text_add(out, "warps wait for memory in ");
    add_cycles(out, memory(facts));
    text_printf(out, ", although %s, the busiest level, moves only ", level_titles[level]);
    add_percent(out, most);
    text_add(out, " of its peak");
    format_value(latency, counters_ratio(facts->counters, RATIO_load_latency), 0);
    if (facts->counters->reads_answered)
        text_printf(out, "; a read that leaves the SM takes %s cycles", latency);
}

static void say_uncoalesced(const AdviceFacts *facts, Text *out) {
    text_add(out, "a global or local instruction makes ");
    add_value(out, counters_ratio(facts->counters, RATIO_accesses_per_request));
    text_add(out, " accesses; ");
    add_percent(out, scatter(facts));
    text_add(out, " of all accesses would not be needed with contiguous data");
}

static void say_bank_conflicts(const AdviceFacts *facts, Text *out) {
    const Counters *c = facts->counters;
    text_add(out, "an instruction of shared memory takes ");
    add_value(out, counters_ratio(c, RATIO_shared_conflict_degree));
    text_add(out, " cycles instead of ");
    add_value(out, share((double)c->least_shared_cycles, (double)c->shared_instructions));
    text_add(out, "; conflicts take ");
    add_cycles(out, weigh_bank_conflicts(facts));
}

static void say_contended_atomics(const AdviceFacts *facts, Text *out) {
    const Counters *c = facts->counters;
    add_percent(out, counters_ratio(c, RATIO_atomic_contention));
    text_add(out, " of ");
    add_count(out, c->l2_atomics);
    text_add(out, " atomics waited for the previous atomic to the same sector; first add up in "
                  "registers or shared memory");
}

static void say_low_occupancy(const AdviceFacts *facts, Text *out) {
    const Occupancy *occupancy = facts->occupancy;
    const uint32_t ctas = occupancy_ctas(occupancy);
    text_printf(out, "%" PRIu32 " thread block%s of %" PRIu32 " warp%s fit", ctas,
                text_plural(ctas), occupancy->cta_warps, text_plural(occupancy->cta_warps));
    text_add(out, " on an SM, ");
    add_percent(out, occupancy_theoretical(occupancy));
    text_add(out, " of its warps, limited by ");
    occupancy_add_limiters(occupancy, out);
    text_add(out, "; warps wait for memory or results in ");
    add_cycles(out, memory(facts) + result(facts));
}

static void say_divergence(const AdviceFacts *facts, Text *out) {
    const Counters *c = facts->counters;
    text_add(out, "instructions use ");
    add_value(out, 32 * lanes(facts));
    text_add(out, " of 32 lanes; ");
    if (!c->divergent_branches) {
        text_add(out, "no branch splits a warp, so predicates or the block size leave lanes idle");
        return;
    }
    add_percent(out, share((double)c->divergent_branches, (double)c->branches));
    text_add(out, " of the branches split their warp");
}

static void say_barrier_bound(const AdviceFacts *facts, Text *out) {
    text_add(out, "all warps of a scheduler wait at barriers in ");
    add_cycles(out, weigh_barrier_bound(facts));
}

static void say_fetch_bound(const AdviceFacts *facts, Text *out) {
    text_add(out, "warps wait for their instructions in ");
    add_cycles(out, weigh_fetch_bound(facts));
    if (!facts->counters->l1i_accesses) return;
    text_add(out, "; the instruction cache misses ");
    add_percent(out, counters_ratio(facts->counters, RATIO_l1i_miss_rate));
}

static void say_load_store_bound(const AdviceFacts *facts, Text *out) {
    text_add(out, "ready instructions find the load/store unit full in ");
    add_cycles(out, lsu(facts));
}

static void say_pipe_bound(const AdviceFacts *facts, Text *out) {
    text_add(out, "ready instructions find their pipeline full in ");
    add_cycles(out, weigh_pipe_bound(facts));
}

static void say_result_latency(const AdviceFacts *facts, Text *out) {
    text_add(out, "warps wait for results of arithmetic, shared memory or constants in ");
    add_cycles(out, result(facts));
}

static void say_issue_bound(const AdviceFacts *facts, Text *out) {
    text_add(out, "schedulers issue in ");
    add_cycles(out, issued(facts));
    text_add(out, "; fewer instructions make the kernel faster");
}

static void say_held_back(const AdviceFacts *facts, Text *out) {
    text_add(out, "the policy lets no ready warp issue in ");
    add_cycles(out, weigh_held_back(facts));
}

/* ---- The rules ---- */

static const struct Rule {
    const char *title;
    double least; /* least weight at which it is reported */
    const char *when, *what;
    double (*weigh)(const AdviceFacts *facts);
    void (*say)(const AdviceFacts *facts, Text *out);
} rules[ADVICE_RULE_COUNT] = {
#define RULE_ROW(name, title, least, when, what)                                                   \
    {title, least / 100.0, when, what, weigh_##name, say_##name},
    ADVICE_RULES(RULE_ROW)};

double advice_weight(const AdviceFacts *facts, AdviceRule rule) {
    const double weight = rules[rule].weigh(facts);
    return weight >= rules[rule].least ? weight : 0;
}

int advice_find(const AdviceFacts *facts, AdviceRule found[static ADVICE_MOST]) {
    double weights[ADVICE_MOST + 1];
    int count = 0;
    if (!facts->counters->scheduler_cycles) return 0;
    for (AdviceRule rule = 0; rule < ADVICE_RULE_COUNT; rule++) {
        const double weight = advice_weight(facts, rule);
        int at = count;
        if (!(weight > 0)) continue;
        for (; at > 0 && weights[at - 1] < weight; at--) {
            weights[at] = weights[at - 1];
            if (at < ADVICE_MOST) found[at] = found[at - 1];
        }
        weights[at] = weight;
        if (at < ADVICE_MOST) found[at] = rule;
        if (count < ADVICE_MOST) count++;
    }
    return count;
}

void advice_say(const AdviceFacts *facts, AdviceRule rule, Text *out) {
    rules[rule].say(facts, out);
}

void advice_write_json(const AdviceFacts *facts, Json *json) {
    AdviceRule found[ADVICE_MOST];
    const int count = advice_find(facts, found);
    json_array(json);
    for (int i = 0; i < count; i++) {
        Text text = {0};
        advice_say(facts, found[i], &text);
        json_object(json);
        json_key(json, "rule");
        json_string(json, rules[found[i]].title);
        json_key(json, "weight");
        json_double(json, advice_weight(facts, found[i]));
        json_key(json, "text");
        json_string(json, text_string(&text));
        json_end_object(json);
        text_free(&text);
    }
    json_end_array(json);
}

void advice_report(const AdviceFacts *facts, Text *out) {
    AdviceRule found[ADVICE_MOST];
    const int count = advice_find(facts, found);
    if (count) text_add(out, "  what limits it (tyto explain RULE)\n");
    for (int i = 0; i < count; i++) {
        text_printf(out, "    %s: ", rules[found[i]].title);
        advice_say(facts, found[i], out);
        text_add(out, "\n");
    }
}

/* ---- Documentation ---- */

const char *advice_name(int rule) {
    return rule >= 0 && rule < ADVICE_RULE_COUNT ? rules[rule].title : NULL;
}

void advice_explain(AdviceRule rule, Text *out) {
    char least[FORMAT_BYTES];
    format_value(least, 100 * rules[rule].least, 0);
    text_printf(
        out,
        "%s, a rule of advice\n  applies: %s\n  weight: %s\n  reported from a weight of %s%%, if "
        "among the %d rules with the most weight\n",
        rules[rule].title, rules[rule].when, rules[rule].what, least, ADVICE_MOST);
}

void advice_document(Text *out) {
    text_add(
        out,
        "# Advice\n\n"
        "Generated from the tables of `src/stats/advice.h` and `src/stats/levels.h`.\n\n"
        "The report of a run ends each kernel with up to three sentences on what limits it. JSON "
        "has them under `advice`, with their\n"
        "`rule` and `weight`. If several kernels are reported together, so is their advice. A "
        "kernel "
        "that overlapped with another has none, because shared\n"
        "resources are counted for both. `tyto explain RULE` prints a row of the table.\n\n"
        "A sentence reports only what was counted. Its weight is the part of the cycles to "
        "which the rule points. It puts the rules in order; it is not\n"
        "the time that a change would save. If no rule applies there is no sentence.\n\n"
        "## Rules\n\n"
        "Shares of `launch-bound` are of all cycles. Those of `small-grid`, `tail` and the levels "
        "are of the "
        "cycles after the launch latency. All others are of the cycles with a warp: scheduler\n"
        "cycles minus `idle_no_warp`, SM cycles minus `NoWarpCycles`.\n\n"
        "| rule | applies if | weight | reported from |\n|---|---|---|---:|\n");
    for (AdviceRule rule = 0; rule < ADVICE_RULE_COUNT; rule++)
        text_printf(out, "| `%s` | %s | %s | %.0f%% |\n", rules[rule].title, rules[rule].when,
                    rules[rule].what, 100 * rules[rule].least);
    text_add(out, "\n## Levels\n\n"
                  "The report, and JSON under `of_peak`, have the share of each level's peak that "
                  "a kernel used, over all of its cycles. `peaks` of a run has the\n"
                  "peaks from the machine's parameters, including `--set` and your own machine "
                  "files. Networks and queues may limit a kernel before it reaches a peak.\n\n");
    levels_document(out);
    text_add(out, "\n## Occupancy\n\n"
                  "`occupancy` of a kernel has the share of an SM's warps that fit "
                  "(`theoretical`), and the mean share that was resident while an SM had any\n"
                  "(`achieved`). `ctas` are the thread blocks that fit by each resource (null: the "
                  "kernel does not use it). `limited_by` names the\n"
                  "resources that limit them: `slots`, `warps`, `registers`, `shared`. "
                  "[How many CTAs fit](machines.md#how-many-ctas-fit) has the rules.\n");
}
