/* Sums and writers of the warps' states, derived from the rows in the header. */
#include "stats/warp_states.h"

#include "stats/format.h"

#define ROW(name, meaning) {#name, meaning},
static const struct {
    const char *name, *meaning;
} rows[WARP_STATE_COUNT] = {WARP_STATES(ROW)};

void warp_states_add(WarpStates *sum, const WarpStates *part) {
    for (int state = 0; state < WARP_STATE_COUNT; state++)
        sum->of[state] += part->of[state];
}

uint64_t warp_states_sum(const WarpStates *states) {
    uint64_t sum = 0;
    for (int state = 0; state < WARP_STATE_COUNT; state++)
        sum += states->of[state];
    return sum;
}

void warp_states_write_json(const WarpStates *states, Json *json) {
    json_object(json);
    for (int state = 0; state < WARP_STATE_COUNT; state++) {
        json_key(json, rows[state].name);
        json_uint(json, states->of[state]);
    }
    json_end_object(json);
}

void warp_states_report(const WarpStates *states, uint64_t issued, Text *out) {
    char cycles[FORMAT_BYTES], warps[FORMAT_BYTES];
    text_add(out, "  Warp states, in warp cycles, and warps per issue\n");
    for (int state = 0; state < WARP_STATE_COUNT; state++) {
        format_count(cycles, states->of[state]);
        format_value(warps, issued ? (double)states->of[state] / (double)issued : 0, 3);
        text_printf(out, "    %-26s %20s  %8s\n", rows[state].name, cycles, warps);
    }
}

void warp_states_document(Text *out) {
    text_add(out, "\n## Warp states\n\n"
                  "In JSON under `warp_states`, in warp x SM cycles, of machines with the [modern "
                  "core](modern-core.md#warp-states) alone; the text report has them with "
                  "`--verbose`. The names are those of Nsight Compute "
                  "(`smsp__average_warps_issue_stalled_NAME_per_issue_active` is a state divided "
                  "by `issued`). Together they are `warp_cycles`, which is checked after every "
                  "run.\n\n| state | the warp |\n|---|---|\n");
    for (int state = 0; state < WARP_STATE_COUNT; state++)
        text_printf(out, "| `%s` | %s |\n", rows[state].name, rows[state].meaning);
}
