/* The states of warps, with the names of NVIDIA's profiler (Nsight Compute, Kernel Profiling Guide,
 * warp stall reasons). Each resident warp is in exactly one state in each SM cycle. Each state is
 * one row. The enum, the JSON object, the text and the table in docs/metrics.md are derived from
 * the rows.
 *
 * Cores that distinguish the states count them (sm.core: modern); for other cores they are all
 * 0. */
#ifndef TYTO_STATS_WARP_STATES_H
#define TYTO_STATS_WARP_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* STATE(name, meaning): "the warp ..." */
/* clang-format off */
#define WARP_STATES(STATE) \
    STATE(selected, "issued an instruction") \
    STATE(not_selected, "could issue, but its sub-core issued another warp or the policy held it back") \
    STATE(wait, "waits for the stall count of its last instruction") \
    STATE(long_scoreboard, "waits for a counter that a global, local or texture access raised") \
    STATE(short_scoreboard, "waits for a counter that something else raised: shared memory, constants, shuffles, special functions") \
    STATE(math_pipe_throttle, "finds the pipe of its instruction busy") \
    STATE(mio_throttle, "finds the path to shared memory, shuffles or special functions full") \
    STATE(lg_throttle, "has a global or local access, but finds the queue full") \
    STATE(tex_throttle, "has a texture access, but finds the queue full") \
    STATE(imc_miss, "waits for a constant operand that its cache lacks") \
    STATE(no_instruction, "waits for its next instruction to be fetched") \
    STATE(branch_resolving, "waits for the target of a taken branch") \
    STATE(barrier, "waits at a CTA barrier") \
    STATE(membar, "waits at a memory fence") \
    STATE(dispatch_stall, "finds the stage after issue occupied") \
    STATE(drain, "has exited, but operations of it are still under way") \
    STATE(sleeping, "sleeps because of an instruction; no supported instruction does this") \
    STATE(misc, "waits for anything else")
/* clang-format on */

#define WARP_STATE_ID(name, meaning) WARP_STATE_##name,
typedef enum WarpState { WARP_STATES(WARP_STATE_ID) WARP_STATE_COUNT } WarpState;
#undef WARP_STATE_ID

/* Warp cycles in each state. */
typedef struct WarpStates {
    uint64_t of[WARP_STATE_COUNT];
} WarpStates;

void warp_states_add(WarpStates *sum, const WarpStates *part);
/* Warp cycles in all states together; 0: the core does not count them. */
uint64_t warp_states_sum(const WarpStates *states);

/* Adds the JSON object of all states, in warp cycles. */
void warp_states_write_json(const WarpStates *states, Json *json);
/* Adds the states as text, in the profiler's form: warps for each of `issued` instructions. */
void warp_states_report(const WarpStates *states, uint64_t issued, Text *out);
/* Adds the part of docs/metrics.md about warp states. */
void warp_states_document(Text *out);

#endif
