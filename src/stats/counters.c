/* Sums, ratios, identities and documentation of the counters, all derived from the rows in the
 * header. */
#include "stats/counters.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stats/histogram.h"
#include "stats/sets.h"
#include "stats/warp_states.h"

static_assert(sizeof(Counters) == COUNTER_COUNT * sizeof(uint64_t), "counters are one flat array");

#define NO_ROW(...)
#define SUM_ROW(name, unit, meaning) {#name, unit, meaning, false},
#define MAX_ROW(name, unit, meaning) {#name, unit, meaning, true},
const CounterRow counter_rows[COUNTER_COUNT] = {COUNTERS(NO_ROW, SUM_ROW, MAX_ROW)};

#define GROUP_ROW(first, source, title) {COUNTER_##first, source, title},
static const CounterGroup groups[] = {COUNTERS(GROUP_ROW, NO_ROW, NO_ROW)};

#define TERM(name)      COUNTER_##name,
#define TERMS(...)      {__VA_ARGS__}
#define TERM_COUNT(...) (int)(sizeof((const CounterId[]){__VA_ARGS__}) / sizeof(CounterId))
#define RATIO_ROW(name, unit, scale, above, below, meaning)                                        \
    {#name, unit, scale, TERM_COUNT above, TERM_COUNT below, TERMS above, TERMS below, meaning},
const RatioRow ratio_rows[RATIO_COUNT] = {RATIOS(RATIO_ROW, TERM)};

const CounterGroup *counter_groups(int *count) {
    *count = (int)(sizeof groups / sizeof *groups);
    return groups;
}

const char *counters_present_name(const char *name) {
#define RENAMED_ROW(old, present) {#old, #present},
    static const char *const renamed[][2] = {RENAMED_COUNTERS(RENAMED_ROW)};
#undef RENAMED_ROW
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(renamed[i][0], name) == 0) return renamed[i][1];
    return name;
}

/* Unrolled counter by counter, so that the compiler can vectorize the sums. */
#define ADD(name, ...)      sum->name += part->name;
#define KEEP_MAX(name, ...) sum->name = part->name > sum->name ? part->name : sum->name;
#define SUBTRACT(name, ...) between.name -= earlier->name;

void counters_add(Counters *sum, const Counters *part) { COUNTERS(NO_ROW, ADD, KEEP_MAX); }

Counters counters_since(const Counters *earlier, const Counters *later) {
    Counters between = *later;
    COUNTERS(NO_ROW, SUBTRACT, NO_ROW);
    return between;
}

static uint64_t sum_of(const Counters *counters, const CounterId *ids, int count) {
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += counters_get(counters, ids[i]);
    return sum;
}

double counters_ratio(const Counters *counters, RatioId id) {
    const RatioRow *row = &ratio_rows[id];
    uint64_t below = sum_of(counters, row->denominator, row->denominator_terms);
    if (!below) return NAN;
    uint64_t above = sum_of(counters, row->numerator, row->numerator_terms);
    return row->scale * (double)above / (double)below;
}

/* --- identities --- */

typedef enum Relation { EQUALS, AT_MOST } Relation;
typedef enum Factor { ONCE, PER_SM, PER_SCHEDULER } Factor;

enum { IDENTITY_MAX_TERMS = 10 };

/* The sum of the left counters is in `relation` to the sum of the right counters times `factor`. */
typedef struct Identity {
    const char *meaning;
    bool at_end; /* only valid once nothing is under way */
    Relation relation;
    Factor factor;
    int left_terms, right_terms;
    CounterId left[IDENTITY_MAX_TERMS];
    CounterId right[IDENTITY_MAX_TERMS];
} Identity;

#define IDENTITY(meaning, at_end, left, relation, right, factor)                                   \
    {meaning, at_end, relation, factor, TERM_COUNT left, TERM_COUNT right, TERMS left, TERMS right}
#define T TERM

/* clang-format off */
static const Identity identities[] = {
    IDENTITY("every scheduler cycle has one outcome", false,
        (T(issued) T(idle_no_warp) T(idle_barrier) T(idle_branch) T(idle_fetch) T(scoreboard_memory)
         T(scoreboard_other) T(pipeline_lsu) T(pipeline_other) T(throttled)),
        EQUALS, (T(scheduler_cycles)), ONCE),
    IDENTITY("every scheduler cycle has one, too, by the warps that the policy looks at", false,
        (T(issued) T(seen_vacant) T(seen_idle) T(seen_scoreboard) T(seen_pipeline)),
        EQUALS, (T(scheduler_cycles)), ONCE),
    IDENTITY("an SM without warps is idle", false,
        (T(seen_vacant)), AT_MOST, (T(idle_no_warp)), ONCE),
    IDENTITY("while a launch waits, no warp is resident", false,
        (T(idle_launch)), AT_MOST, (T(idle_no_warp)), ONCE),
    IDENTITY("every scheduler is counted in every cycle", false,
        (T(scheduler_cycles)), EQUALS, (T(cycles)), PER_SCHEDULER),
    IDENTITY("every SM is counted in every cycle", false,
        (T(sm_cycles)), EQUALS, (T(cycles)), PER_SM),
    IDENTITY("an SM blocked on memory or without warps does not issue", false,
        (T(MemoryBlockCycles) T(NoWarpCycles)), AT_MOST, (T(no_issue_cycles)), ONCE),
    IDENTITY("an SM that does not issue is counted once a cycle", false,
        (T(no_issue_cycles)), AT_MOST, (T(sm_cycles)), ONCE),
    IDENTITY("every instruction went to one kind of pipeline", false,
        (T(sp_instructions) T(sfu_instructions) T(dp_instructions) T(int_instructions)
             T(tensor_instructions) T(ldst_instructions)),
        EQUALS, (T(warp_instructions)), ONCE),
    IDENTITY("only branches split a warp", false,
        (T(divergent_branches)), AT_MOST, (T(branches)), ONCE),
    IDENTITY("data side by side need no more accesses than were made", true,
        (T(least_accesses)), AT_MOST, (T(coalesced_accesses)), ONCE),
    IDENTITY("shared memory takes no fewer cycles with bank conflicts", false,
        (T(least_shared_cycles)), AT_MOST, (T(shared_cycles)), ONCE),
    IDENTITY("every L1D lookup has one outcome", false,
        (T(l1d_hits) T(l1d_pending_hits) T(l1d_misses)), EQUALS, (T(l1d_accesses)), ONCE),
    IDENTITY("every L1D hit is on a line of the same warp or another's", false,
        (T(l1d_intra_warp_hits) T(l1d_inter_warp_hits)), EQUALS, (T(l1d_hits)), ONCE),
    IDENTITY("an L1D hit of the same threads is one of the same warp", false,
        (T(l1d_intra_thread_hits)), AT_MOST, (T(l1d_intra_warp_hits)), ONCE),
    IDENTITY("every L2 lookup has one outcome", false,
        (T(l2_hits) T(l2_pending_hits) T(l2_misses)), EQUALS, (T(l2_accesses)), ONCE),
    IDENTITY("an atomic in turn is an atomic", false,
        (T(l2_atomics_in_turn)), AT_MOST, (T(l2_atomics)), ONCE),
    IDENTITY("every read at a coalescer is merged or goes on to L2", false,
        (T(lrc_merged) T(lrc_sent)), EQUALS, (T(lrc_reads)), ONCE),
    IDENTITY("every sector of a merged read was answered", true,
        (T(lrc_merged_sectors)), EQUALS, (T(lrc_copies)), ONCE),
    IDENTITY("every DRAM request found its row open, its bank closed or another row", false,
        (T(dram_row_hits) T(dram_row_misses) T(dram_row_conflicts)),
        EQUALS, (T(dram_reads) T(dram_writes)), ONCE),
    IDENTITY("the parts of the load latency are the whole", false,
        (T(load_noc_cycles) T(load_l2_cycles) T(load_queue_cycles) T(load_dram_cycles)),
        EQUALS, (T(load_cycles)), ONCE),
    IDENTITY("every CTA given to an SM finished", true,
        (T(ctas_launched)), EQUALS, (T(ctas_finished)), ONCE),
    IDENTITY("every warp given to an SM finished", true,
        (T(warps_launched)), EQUALS, (T(warps_finished)), ONCE),
    IDENTITY("every read sent was answered", true,
        (T(reads_sent)), EQUALS, (T(reads_answered)), ONCE),
    IDENTITY("every write sent was acknowledged", true,
        (T(writes_sent)), EQUALS, (T(writes_acknowledged)), ONCE),
    IDENTITY("every request packet arrived", true,
        (T(request_packets_sent)), EQUALS, (T(request_packets_received)), ONCE),
    IDENTITY("every reply packet arrived", true,
        (T(reply_packets_sent)), EQUALS, (T(reply_packets_received)), ONCE),
};
/* clang-format on */

static void explain(const Identity *identity, uint64_t left, uint64_t right, Text *why) {
    text_printf(why, "%s:", identity->meaning);
    for (int i = 0; i < identity->left_terms; i++)
        text_printf(why, "%s %s", i ? " +" : "", counter_rows[identity->left[i]].name);
    text_printf(why, " = %" PRIu64 ", %s", left, identity->relation == AT_MOST ? "over" : "not");
    for (int i = 0; i < identity->right_terms; i++)
        text_printf(why, "%s %s", i ? " +" : "", counter_rows[identity->right[i]].name);
    static const char *const factors[] = {"", " x SMs", " x SMs x schedulers"};
    text_printf(why, "%s = %" PRIu64 "\n", factors[identity->factor], right);
}

bool counters_check(const Counters *counters, CountersShape shape, Text *why) {
    const uint64_t factors[] = {1, shape.sms, (uint64_t)shape.sms * shape.schedulers};
    bool is_good = true;
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        const Identity *identity = &identities[i];
        uint64_t left = sum_of(counters, identity->left, identity->left_terms);
        uint64_t right =
            sum_of(counters, identity->right, identity->right_terms) * factors[identity->factor];
        bool holds = identity->relation == EQUALS ? left == right : left <= right;
        if (holds || (identity->at_end && !shape.is_complete)) continue;
        explain(identity, left, right, why);
        is_good = false;
    }
    return is_good;
}

/* --- documentation --- */

static void document_terms(const CounterId *ids, int count, Text *out) {
    if (count > 1) text_add(out, "(");
    for (int i = 0; i < count; i++)
        text_printf(out, "%s%s", i ? " + " : "", counter_rows[ids[i]].name);
    if (count > 1) text_add(out, ")");
}

static void document_counters(Text *out) {
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        bool is_last = g + 1 == sizeof groups / sizeof *groups;
        CounterId end = is_last ? COUNTER_COUNT : groups[g + 1].first;
        text_printf(out,
                    "\n## %s\n\nCounted by: %s.\n\n| counter | unit | meaning |\n|---|---|---|\n",
                    groups[g].title, groups[g].source);
        for (CounterId id = groups[g].first; id < end; id++) {
            text_printf(out, "| `%s` | %s | %s |\n", counter_rows[id].name, counter_rows[id].unit,
                        counter_rows[id].meaning);
        }
    }
}

void counters_explain(CounterId id, Text *out) {
    const CounterRow *row = &counter_rows[id];
    size_t g = 0;
    while (g + 1 < sizeof groups / sizeof *groups && groups[g + 1].first <= id)
        g++;
    text_printf(out, "%s, in %s\n  %s\n  counted by: %s (%s)\n  over units and kernels: %s\n",
                row->name, row->unit, row->meaning, groups[g].source, groups[g].title,
                row->is_max ? "the largest" : "the sum");
    text_add(out, "  part of:");
    bool is_open = false;
    for (RatioId ratio = 0; ratio < RATIO_COUNT; ratio++) {
        const RatioRow *of = &ratio_rows[ratio];
        bool is_part = false;
        for (int i = 0; i < of->numerator_terms; i++)
            is_part |= of->numerator[i] == id;
        for (int i = 0; i < of->denominator_terms; i++)
            is_part |= of->denominator[i] == id;
        if (is_part) text_printf(out, "%s %s", is_open ? "," : "", of->name);
        is_open |= is_part;
    }
    text_add(out, is_open ? "\n" : " no ratio\n");
    if (sets_have(id)) text_add(out, "  of each set of the cache: --per-unit\n");
}

/* Adds a sum of counters with their meanings, one per line. */
static void explain_terms(const CounterId *ids, int count, Text *out) {
    for (int i = 0; i < count; i++)
        text_printf(out, "    %-28s %s\n", counter_rows[ids[i]].name, counter_rows[ids[i]].meaning);
}

void counters_explain_ratio(RatioId id, Text *out) {
    const RatioRow *row = &ratio_rows[id];
    text_printf(out, "%s, a ratio, in %s\n  %s\n  = ", row->name, row->unit, row->meaning);
    if (row->scale > 1) text_printf(out, "%.0f x ", row->scale);
    document_terms(row->numerator, row->numerator_terms, out);
    text_add(out, " / ");
    if (row->scale < 1) text_printf(out, "(%.0f x ", 1 / row->scale);
    document_terms(row->denominator, row->denominator_terms, out);
    text_printf(out, "%s\n", row->scale < 1 ? ")" : "");
    explain_terms(row->numerator, row->numerator_terms, out);
    explain_terms(row->denominator, row->denominator_terms, out);
}

void counters_document(Text *out) {
    text_add(out,
             "# Metrics\n\n"
             "Generated from the counter table (`src/stats/counters.h`). Every counter and ratio "
             "appears under this name in the text report, in JSON and in CSV, per kernel and in "
             "total; a C program asks for it by this name ([library](library.md)). A ratio whose "
             "denominator is 0 has no value (`null`).\n\n"
             "## Ratios\n\n| ratio | unit | definition | meaning |\n|---|---|---|---|\n");
    for (RatioId id = 0; id < RATIO_COUNT; id++) {
        const RatioRow *row = &ratio_rows[id];
        text_printf(out, "| `%s` | %s | ", row->name, row->unit);
        if (row->scale > 1) text_printf(out, "%.0f x ", row->scale);
        document_terms(row->numerator, row->numerator_terms, out);
        text_add(out, " / ");
        if (row->scale < 1) text_printf(out, "(%.0f x ", 1 / row->scale);
        document_terms(row->denominator, row->denominator_terms, out);
        text_printf(out, "%s | %s |\n", row->scale < 1 ? ")" : "", row->meaning);
    }
    document_counters(out);
    histograms_document(out);
    warp_states_document(out);
    text_add(out, "\n## Checked after every run\n\n| identity | always |\n|---|---|\n");
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        text_printf(out, "| %s | %s |\n", identities[i].meaning,
                    identities[i].at_end ? "when the run was complete" : "yes");
    }
}
