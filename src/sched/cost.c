/* Formulas of the papers' hardware cost (see the header). Only storage is counted: adders,
 * comparators and wires are left out. */
#include "sched/cost.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"

static uint32_t bits_for(uint32_t values) {
    return values > 1 ? 1 + (uint32_t)bits_highest32(values - 1) : 0;
}

typedef int Formula(const SchedPolicy *policy, const CostMachine *m, CostRow *rows);

static int cost_swl(const SchedPolicy *policy, const CostMachine *m, CostRow *rows) {
    (void)policy;
    rows[0] = (CostRow){"register with the limit", "CCWS section 3.2", bits_for(m->warps + 1), 0};
    return 1;
}

static int cost_ccws(const SchedPolicy *policy, const CostMachine *m, CostRow *rows) {
    uint32_t sets = 1u << bits_highest32((uint32_t)sched_policy_value(policy, "vta_sets", 1));
    uint32_t ways = (uint32_t)sched_policy_value(policy, "vta_ways", 1);
    uint32_t tag = 48 - bits_for(m->l1d_line_bytes) - bits_for(sets); /* of 48-bit addresses */
    const char *source = "CCWS section 5.7";
    rows[0] = (CostRow){"victim tags", source, (uint64_t)m->warps * sets * ways * tag, 0};
    rows[1] =
        (CostRow){"owner of each L1D line", source, (uint64_t)m->l1d_lines * bits_for(m->warps), 0};
    rows[2] = (CostRow){"scores, 10 bits per warp", source, (uint64_t)m->warps * 10, 0};
    rows[3] = (CostRow){"counters of instructions and victim tag hits",
                        "CCWS section 5.7, which gives no width: 32 bits each", 64, 0};
    return 4;
}

static int cost_pro(const SchedPolicy *policy, const CostMachine *m, CostRow *rows) {
    (void)policy;
    const char *source = "PRO section III.E";
    rows[0] = (CostRow){"progress of each warp, 4 bytes", source, 32 * (uint64_t)m->warps, 0};
    rows[1] = (CostRow){"progress of each CTA, 4 bytes", source, 32 * (uint64_t)m->ctas, 0};
    rows[2] = (CostRow){"warps at a barrier or finished, 1 byte per CTA", source,
                        8 * (uint64_t)m->ctas, 0};
    rows[3] = (CostRow){"order of the CTAs, 1 byte each", source, 8 * (uint64_t)m->ctas, 0};
    return 4;
}

static int cost_groups(const SchedPolicy *policy, const CostMachine *m, CostRow *rows) {
    (void)policy, (void)m;
    rows[0] =
        (CostRow){"formation of groups, priorities",
                  "OWL section 4.5, which gives an area (0.18 mm2 for 28 SMs) and no bits", 0, 0};
    return 1;
}

static int cost_owl(const SchedPolicy *policy, const CostMachine *m, CostRow *rows) {
    const TytoDramPrefetch *prefetch = &policy->prefetch;
    bool has_mean = prefetch->scheme == TYTO_PREFETCH_MIN && prefetch->threshold == 0;
    const char *source = "OWL section 4.5";
    int count = cost_groups(policy, m, rows);
    if (prefetch->scheme != TYTO_PREFETCH_NONE)
        rows[count++] = (CostRow){"lines of each bank's open row that have been sent", source, 0,
                                  (uint64_t)m->banks * (m->row_bytes / m->prefetch_bytes)};
    if (has_mean)
        rows[count++] = (CostRow){"mean of the requests waiting", source, 0, bits_for(m->queue)};
    return count;
}

static const struct {
    const char *policy;
    Formula *formula;
} FORMULAS[] = {
    {"swl", cost_swl},
    {"ccws", cost_ccws},
    {"pro", cost_pro},
    {"cta-aware", cost_groups},
    {"cta-aware-locality", cost_groups},
    {"cta-aware-locality-blp", cost_groups},
    {"owl", cost_owl},
};

int sched_cost(const SchedPolicy *policy, const CostMachine *machine, CostRow rows[COST_MAX_ROWS]) {
    for (size_t i = 0; i < sizeof FORMULAS / sizeof *FORMULAS && !policy->is_loaded; i++)
        if (!strcmp(FORMULAS[i].policy, policy->policy->name))
            return FORMULAS[i].formula(policy, machine, rows);
    return 0;
}

static void add_bits(Text *out, const char *where, uint64_t bits) {
    text_printf(out, "%-12s %10" PRIu64 " bits", where, bits);
    if (bits % 8 == 0) text_printf(out, " = %" PRIu64 " bytes", bits / 8);
    text_add(out, "\n");
}

void sched_cost_text(const SchedPolicy *policy, const CostMachine *machine, Text *out) {
    CostRow rows[COST_MAX_ROWS];
    int count = sched_cost(policy, machine, rows);
    uint64_t per_sm = 0, per_channel = 0;
    if (!count) {
        text_printf(out, "%s: no storage beyond any scheduler's, or none that its source tells\n",
                    policy->text);
        return;
    }
    text_printf(out, "%s\n%12s %12s\n", policy->text, "bits per SM", "per channel");
    for (int i = 0; i < count; i++) {
        text_printf(out, "%12" PRIu64 " %12" PRIu64 "  %s [%s]\n", rows[i].per_sm,
                    rows[i].per_channel, rows[i].what, rows[i].source);
        per_sm += rows[i].per_sm;
        per_channel += rows[i].per_channel;
    }
    add_bits(out, "per SM", per_sm);
    add_bits(out, "per channel", per_channel);
    add_bits(out, "whole GPU", per_sm * machine->sms + per_channel * machine->channels);
}
