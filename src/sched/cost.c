/* The storage that policies report, as text (see the header). */
#include "sched/cost.h"

#include <inttypes.h>

typedef struct Rows {
    CostRow *rows;
    int count; /* number of rows */
} Rows;

static void add_row(void *context, const char *what, const char *source, uint64_t per_sm,
                    uint64_t per_channel) {
    Rows *to = context;
    if (to->count == COST_MAX_ROWS) return;
    to->rows[to->count++] = (CostRow){what, source, per_sm, per_channel};
}

int sched_cost(const SchedPolicy *policy, const TytoMachineSizes *machine,
               CostRow rows[COST_MAX_ROWS]) {
    Rows to = {rows, 0};
    TytoMachineSizes sizes = *machine;
    sizes.size = sizeof sizes;
    const TytoStorage out = {sizeof out, &to, add_row};
    if (policy->policy->storage) policy->policy->storage(policy->values, &sizes, &out);
    return to.count;
}

static void add_bits(Text *out, const char *where, uint64_t bits) {
    text_printf(out, "%-12s %10" PRIu64 " bits", where, bits);
    if (bits % 8 == 0) text_printf(out, " = %" PRIu64 " bytes", bits / 8);
    text_add(out, "\n");
}

void sched_cost_text(const SchedPolicy *policy, const TytoMachineSizes *machine, Text *out) {
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
