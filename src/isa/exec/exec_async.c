/* cp.async and mbarrier. Semantics: PTX ISA 9.0, sections 9.7.9.25 and 9.7.13.15. The bytes of a
 * copy move when it issues, and its arrival on an mbarrier counts at once. A program that waits
 * correctly cannot see the difference; a program that does not wait sees the new bytes early. */
#include "isa/exec/exec_access.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/async.h"
#include "isa/bulk.h"
#include "isa/cluster.h"
#include "isa/launch.h"

/* ---- cp.async ---- */

/* The number of bytes that each lane reads. Returns false after a fault. */
static bool bytes_to_read(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                          uint32_t mask, uint32_t *bytes) {
    uint32_t ignored = 0;
    if (inst->sub & ISA_COPY_HAS_IGNORE) ignored = warp->preds[inst->operand[2]];
    if (inst->sub & ISA_COPY_IGNORE_NEGATED) ignored = ~ignored;
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        bytes[lane] = ignored & lane_bit[lane] ? 0 : inst->size;
        if (inst->sub & ISA_COPY_HAS_SIZE) bytes[lane] = isa_row32(warp, inst->operand[2])[lane];
        if (bytes[lane] <= inst->size) continue;
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
                  "cp.async reads %u bytes and writes %u: it cannot read more than it writes",
                  bytes[lane], inst->size);
        return false;
    }
    return true;
}

/* Stores the source addresses in context->did.address and pointers to the bytes in `host`. Returns
 * the lanes that read; after a fault, all of them. */
static uint32_t open_source(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                            const uint32_t *bytes, uint8_t **host) {
    uint32_t whole = 0, partial = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        if (bytes[lane] == inst->size) whole |= lane_bit[lane];
        else if (bytes[lane]) partial |= lane_bit[lane];
    }
    ISA_ACCESS(lane_addresses)(context, warp, inst, inst->operand[1]);
    if (whole &&
        !ISA_ACCESS(open_lanes)(context, warp, PTX_SPACE_GLOBAL, inst->size, whole, false, host))
        return mask;
    for (uint32_t rest = partial; rest; rest &= rest - 1) { /* the first byte and the last */
        const int lane = bits_lowest32(rest);
        const uint64_t address = context->did.address[lane];
        if (address % inst->size) {
            isa_fault(context, warp, lane, ISA_FAULT_MISALIGNED,
                      "misaligned read of %u bytes at global address 0x%" PRIx64, inst->size,
                      address);
            return mask;
        }
        uint8_t *last[ISA_LANES];
        context->did.address[lane] = address + bytes[lane] - 1;
        const bool is_good =
            ISA_ACCESS(open_lanes)(context, warp, PTX_SPACE_GLOBAL, 1, lane_bit[lane], false, last);
        context->did.address[lane] = address;
        if (!is_good || !ISA_ACCESS(open_lanes)(context, warp, PTX_SPACE_GLOBAL, 1, lane_bit[lane],
                                                false, host))
            return mask;
    }
    return whole | partial;
}

/* Checks the source and returns the lanes that have one. */
EXEC(COPY_READ) {
    uint32_t bytes[ISA_LANES];
    uint8_t *host[ISA_LANES];
    if (!bytes_to_read(context, warp, inst, mask, bytes)) return;
    context->did.executed = open_source(context, warp, inst, mask, bytes, host);
}

EXEC(COPY_WRITE) {
    uint32_t bytes[ISA_LANES];
    uint8_t *from[ISA_LANES], *to[ISA_LANES], data[ISA_LANES][16] = {0};
    if (!bytes_to_read(context, warp, inst, mask, bytes)) return;
    const uint32_t reading = open_source(context, warp, inst, mask, bytes, from);
    if (context->fault.is_set) return;
    for (uint32_t rest = reading; rest; rest &= rest - 1)
        memcpy(data[bits_lowest32(rest)], from[bits_lowest32(rest)], bytes[bits_lowest32(rest)]);
    IsaInst destination = *inst;
    destination.imm = (int32_t)inst->target;
    destination.flags = inst->sub & ISA_COPY_TO_IS_32 ? ISA_BASE_IS_32 : 0;
    ISA_ACCESS(lane_addresses)(context, warp, &destination, inst->operand[0]);
    if (!ISA_ACCESS(open_lanes)(context, warp, PTX_SPACE_SHARED, inst->size, mask, true, to))
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(to[bits_lowest32(rest)], data[bits_lowest32(rest)], inst->size);
}

/* ---- mbarrier ---- */

static void fault_barrier(IsaContext *context, const IsaWarp *warp, int lane, const char *what) {
    isa_fault(context, warp, lane, ISA_FAULT_BARRIER,
              "mbarrier at shared address 0x%" PRIx64 ": %s", context->did.address[lane], what);
}

/* The count of init and arrive; 1 if there is none. */
static uint64_t count_of(const IsaWarp *warp, const IsaInst *inst, int lane) {
    return inst->operand[2] == ISA_SINK ? 1 : isa_row32(warp, inst->operand[2])[lane];
}

/* Adds `count` transactions to wait for; a negative count removes some. */
static bool add_transactions(IsaContext *context, const IsaWarp *warp, int lane, int64_t count,
                             IsaMbarrier *barrier) {
    if (isa_mbarrier_add(barrier, count)) return true;
    fault_barrier(context, warp, lane, ISA_MBARRIER_OVERFLOW);
    return false;
}

static bool arrive(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, int lane,
                   IsaMbarrier *barrier) {
    const bool expects = inst->flags & ISA_MBARRIER_EXPECTS;
    const uint64_t count = expects ? 1 : count_of(warp, inst, lane);
    const char *what = NULL;
    const bool drops = inst->sub == ISA_MBARRIER_DROP;
    if (expects &&
        !add_transactions(context, warp, lane, (int64_t)count_of(warp, inst, lane), barrier))
        return false;
    if (count == 0) what = "an arrival of no threads";
    else if (inst->flags & ISA_MBARRIER_NO_COMPLETE && count == barrier->pending)
        what = ".noComplete ends the phase";
    else what = isa_mbarrier_arrive(barrier, count, drops);
    if (what) {
        fault_barrier(context, warp, lane, what);
        return false;
    }
    isa_mbarrier_end_phase(barrier);
    return true;
}

/* Executes the instruction for one lane's barrier. Returns true if there was no fault. */
static bool step_barrier(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, int lane,
                         uint64_t *bits, uint32_t *done) {
    if (inst->sub == ISA_MBARRIER_INIT) {
        const uint64_t count = count_of(warp, inst, lane);
        if (count == 0 || count > ISA_MBARRIER_MAX_COUNT) {
            fault_barrier(context, warp, lane, "a count must be from 1 to 2^20 - 1");
            return false;
        }
        *bits = isa_mbarrier_bits((IsaMbarrier){.pending = count, .expected = count});
        return true;
    }
    if (*bits >> 62 != ISA_MBARRIER_MARK) {
        fault_barrier(context, warp, lane, "it was never initialised");
        return false;
    }
    IsaMbarrier barrier = isa_mbarrier_of(*bits);
    switch (inst->sub) {
    case ISA_MBARRIER_INVAL: *bits = 0; return true;
    case ISA_MBARRIER_LOOK: return true;
    case ISA_MBARRIER_WAIT: {
        const uint64_t state = isa_row64(warp, inst->operand[2])[lane];
        if (isa_mbarrier_of(state).phase != barrier.phase) *done |= lane_bit[lane];
        return true;
    }
    case ISA_MBARRIER_WAIT_PARITY: {
        const uint32_t parity = isa_row32(warp, inst->operand[2])[lane] & 1;
        if (parity != (barrier.phase & 1)) *done |= lane_bit[lane];
        return true;
    }
    case ISA_MBARRIER_EXPECT:
    case ISA_MBARRIER_COMPLETE: {
        const int64_t count = (int64_t)count_of(warp, inst, lane);
        const bool expects = inst->sub == ISA_MBARRIER_EXPECT;
        if (!add_transactions(context, warp, lane, expects ? count : -count, &barrier))
            return false;
        isa_mbarrier_end_phase(&barrier);
        *bits = isa_mbarrier_bits(barrier);
        return true;
    }
    default:
        if (!arrive(context, warp, inst, lane, &barrier)) return false;
        *bits = isa_mbarrier_bits(barrier);
        return true;
    }
}

/* Whether the barrier may belong to another CTA of the cluster. */
static bool has_ranks(const IsaInst *inst) {
    return inst->space == PTX_SPACE_NONE || inst->space == PTX_SPACE_CLUSTER;
}

/* In a timed run an arrival at another CTA's barrier takes effect later, so it is recorded. */
static bool is_later(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, int lane,
                     IsaPhaseStep step) {
    if (!context->bulk || !has_ranks(inst) || context->did.space[lane] != PTX_SPACE_CLUSTER)
        return false;
    const uint64_t address = context->did.address[lane];
    const IsaBulk arrival = {.global = step.arrivals,
                             .barrier = (uint32_t)(address & ISA_RANK_OFFSETS),
                             .transactions = (int32_t)step.transactions,
                             .ranks = (uint16_t)(1u << (address >> ISA_RANK_SHIFT)),
                             .kind = ISA_BULK_ARRIVE,
                             .lane = (uint8_t)lane,
                             .drops = step.drops};
    isa_bulk_begun(context, warp, &arrival);
    return true;
}

/* Pointers to the lanes' barriers; false after a fault. Only arrivals may use other CTAs'
 * barriers. */
static bool open_barriers(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                          bool is_write, bool is_arrival, uint8_t **host) {
    if (has_ranks(inst)) context->bulk_count = 0;
    ISA_ACCESS(lane_addresses)(context, warp, inst, inst->operand[1]);
    if (!ISA_ACCESS(open_lanes)(context, warp, (PtxSpace)inst->space, sizeof(uint64_t), mask,
                                is_write, host))
        return false;
    for (; mask && has_ranks(inst); mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const PtxSpace space = (PtxSpace)context->did.space[lane];
        if (space == PTX_SPACE_SHARED || (space == PTX_SPACE_CLUSTER && is_arrival)) continue;
        isa_fault(context, warp, lane, ISA_FAULT_SPACE,
                  "wrong space: an mbarrier at 0x%" PRIx64 ", which is not %sshared memory",
                  context->did.address[lane], is_arrival ? "" : "the CTA's own ");
        return false;
    }
    return true;
}

static bool arrives(const IsaInst *inst) {
    return inst->sub == ISA_MBARRIER_ARRIVE || inst->sub == ISA_MBARRIER_DROP ||
           inst->sub == ISA_MBARRIER_EXPECT || inst->sub == ISA_MBARRIER_COMPLETE;
}

/* The change that an arrival of the lane makes. */
static IsaPhaseStep arrival_of(const IsaWarp *warp, const IsaInst *inst, int lane) {
    const uint64_t count = count_of(warp, inst, lane);
    if (inst->sub == ISA_MBARRIER_EXPECT) return (IsaPhaseStep){.transactions = (int64_t)count};
    if (inst->sub == ISA_MBARRIER_COMPLETE) return (IsaPhaseStep){.transactions = -(int64_t)count};
    const bool drops = inst->sub == ISA_MBARRIER_DROP;
    if (inst->flags & ISA_MBARRIER_EXPECTS) return (IsaPhaseStep){1, (int64_t)count, drops};
    return (IsaPhaseStep){count, 0, drops};
}

/* Sets the results of a wait. Remembers the barrier of a lane that has to wait, for messages. */
static void write_answers(const IsaContext *context, IsaWarp *warp, const IsaInst *inst,
                          uint32_t done, uint32_t mask) {
    const uint32_t waiting = mask & ~done;
    write_pred(warp, inst->operand[0], done, mask);
    warp->mbarrier = 0;
    if (waiting) warp->mbarrier = (uint32_t)context->did.address[bits_lowest32(waiting)] + 1;
}

/* Executes lane after lane, as atomics do. */
EXEC(MBARRIER) {
    uint8_t *host[ISA_LANES];
    uint32_t done = 0;
    uint64_t state[ISA_LANES] = {0}, difference = 0;
    if (!open_barriers(context, warp, inst, mask, inst->sub == ISA_MBARRIER_INIT, arrives(inst),
                       host))
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        if (arrives(inst) && is_later(context, warp, inst, lane, arrival_of(warp, inst, lane)))
            continue;
        uint64_t bits;
        memcpy(&bits, host[lane], sizeof bits);
        state[lane] = bits;
        if (!step_barrier(context, warp, inst, lane, &bits, &done)) return;
        difference |= bits ^ state[lane];
        memcpy(host[lane], &bits, sizeof bits);
    }
    context->changes += difference != 0;
    if (inst->sub == ISA_MBARRIER_WAIT || inst->sub == ISA_MBARRIER_WAIT_PARITY) {
        write_answers(context, warp, inst, done, mask);
        return;
    }
    if (inst->operand[0] == ISA_SINK) return;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        isa_row64(warp, inst->operand[0])[bits_lowest32(rest)] = state[bits_lowest32(rest)];
}

EXEC(MBARRIER_PENDING) {
    const uint64_t *state = isa_row64(warp, inst->operand[1]);
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES result[lane] = (uint32_t)isa_mbarrier_of(state[lane]).pending;
    write_row32(warp, inst, 0, result, mask);
}

/* ---- mbarriers of machine code ---- */

/* Lanes of the mask that use the same barrier as that lane. */
static uint32_t lanes_beside(const IsaContext *context, uint32_t mask, int lane) {
    uint32_t same = 0;
    for (; mask; mask &= mask - 1) {
        const int other = bits_lowest32(mask);
        if (context->did.address[other] == context->did.address[lane]) same |= lane_bit[other];
    }
    return same;
}

/* The change that a lane's arrival makes. */
static IsaPhaseStep step_of(const IsaWarp *warp, const IsaInst *inst, int lane) {
    IsaPhaseStep step = {.drops = inst->sub & ISA_PHASE_DROP};
    if (!(inst->sub & ISA_PHASE_STAYS)) step.arrivals = count_of(warp, inst, lane);
    if (inst->operand[3] == ISA_SINK) return step;
    const int64_t count = isa_row32(warp, inst->operand[3])[lane];
    step.transactions = inst->sub & ISA_PHASE_COMPLETES ? -count : count;
    return step;
}

EXEC(PHASE_ARRIVE) {
    const IsaPhaseLayout *layout = inst->sub & ISA_PHASE_90 ? &isa_phase_of_90 : &isa_phase_of_80;
    uint8_t *host[ISA_LANES];
    uint64_t state[ISA_LANES] = {0};
    if (!open_barriers(context, warp, inst, mask, false, true, host)) return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        const IsaPhaseStep step = step_of(warp, inst, lane);
        if (is_later(context, warp, inst, lane, step)) continue;
        memcpy(&state[lane], host[lane], sizeof *state);
        const uint64_t after = isa_phase_after(layout, state[lane], step);
        memcpy(host[lane], &after, sizeof after);
    }
    if (inst->operand[0] == ISA_SINK) return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        const uint32_t beside = lanes_beside(context, mask, lane);
        const uint64_t of_lanes = beside | state[bits_lowest32(beside)] >> 32 << 32;
        isa_row64(warp, inst->operand[0])[lane] =
            inst->sub & ISA_PHASE_OF_LANES ? of_lanes : state[lane];
    }
}

EXEC(PHASE_CHECK) {
    uint8_t *host[ISA_LANES];
    uint32_t done = 0;
    if (!open_barriers(context, warp, inst, mask, false, false, host)) return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        uint64_t bits;
        memcpy(&bits, host[lane], sizeof bits);
        const uint32_t asked = isa_row32(warp, inst->operand[2])[lane] >> 31;
        if (bits >> ISA_PHASE_AT != asked) done |= lane_bit[lane];
    }
    write_answers(context, warp, inst, done, mask);
}
