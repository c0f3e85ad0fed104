/* In which state the warps were, by the names of NVIDIA's profiler (Nsight Compute, Kernel
 * Profiling Guide, warp stall reasons): each resident warp is in exactly one in each SM cycle. One
 * row each; the enum, the JSON object, the text and the table in docs/metrics.md derive from the
 * rows.
 *
 * A core that knows them counts them (sm.core: modern); those of other cores are all 0. */
#ifndef TYTO_STATS_WARP_STATES_H
#define TYTO_STATS_WARP_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* STATE(name, meaning): "the warp ..." */
/* clang-format off */
#define WARP_STATES(STATE) \
    STATE(selected, "issued an instruction") \
    STATE(not_selected, "could issue, and its sub-core issued another warp or the policy held it back") \
    STATE(wait, "waits for the stall count of its last instruction") \
    STATE(long_scoreboard, "waits for a counter that a global, local or texture access raised") \
    STATE(short_scoreboard, "waits for a counter that something else raised: shared memory, constants, shuffles, special functions") \
    STATE(math_pipe_throttle, "finds the pipe of its instruction taken") \
    STATE(mio_throttle, "finds the way to shared memory, shuffles or special functions full") \
    STATE(lg_throttle, "finds the queue full with a global or local access") \
    STATE(tex_throttle, "finds the queue full with a texture access") \
    STATE(imc_miss, "waits for a constant operand that its cache lacks") \
    STATE(no_instruction, "waits for its next instruction to be fetched") \
    STATE(branch_resolving, "waits for the target of a taken branch") \
    STATE(barrier, "waits at a CTA barrier") \
    STATE(membar, "waits at a memory fence") \
    STATE(dispatch_stall, "finds the stage behind issue taken") \
    STATE(drain, "has exited, and something of it is under way") \
    STATE(sleeping, "sleeps by its own will; no instruction here makes it") \
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
/* Warp cycles of all states together; 0: the core does not count them. */
uint64_t warp_states_sum(const WarpStates *states);

/* Adds the object of all states, in warp cycles. */
void warp_states_write_json(const WarpStates *states, Json *json);
/* Adds them for people, as the profiler states them: warps for each of `issued` instructions. */
void warp_states_report(const WarpStates *states, uint64_t issued, Text *out);
/* Adds the part of docs/metrics.md. */
void warp_states_document(Text *out);

#endif
