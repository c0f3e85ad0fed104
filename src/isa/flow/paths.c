/* Independent threads: the lanes of a warp are at up to 32 places (paths), which take turns.
 *
 * A divergent branch opens a join at its immediate post-dominator. Lanes that arrive there wait for
 * the other lanes that the join expects, and all continue together. This is an optimisation and can
 * be given up. Locks that are passed between lanes of one warp require that: the lane with the lock
 * waits at the end of the loop in which the others spin. So if the warp executes loops and no lane
 * arrives at a join, the lanes that have waited longest are released. The others follow when they
 * arrive.
 *
 * A path runs until it ends, waits, or has completed TURN_LOOPS rounds of loops. The next path is
 * the one that was parked last, as with a stack. A path whose turn is over goes to the end of the
 * queue. Instructions with a member mask wait until every named lane that still runs is at such an
 * instruction too; lanes at the same instruction execute it together. A CTA barrier, and the wait
 * at a cluster's barrier, wait for all lanes of the warp.
 *
 * Sources: PTX ISA, "Parallel Synchronization and Communication Instructions" (what member masks
 * and barriers wait for); NVIDIA, "Tesla V100 GPU Architecture" (2017), "Independent thread
 * scheduling" (each thread makes progress; an optimiser groups threads). The terms of both models
 * are those of ElTantawy and Aamodt, "MIMD synchronization on SIMT architectures", MICRO 2016. */
#include "isa/flow/converge.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/check/check.h"

/* How NVIDIA's hardware schedules turns is not published. These numbers are ours. A program that
 * is correct under any fair order gives the same results with other numbers. */
enum {
    TURN_LOOPS = 32,         /* backward branches of a path until the next path gets its turn */
    GIVE_UP_SPINS = 32,      /* rounds of polling loops, without an arrival of any lane, until
                              * waiting lanes are released */
    GIVE_UP_LOOPS = 1 << 16, /* the same for rounds of any loop */
    MAX_JOINS = 1 << 16,     /* per warp; as deep as the stack of stack.c */
    FIRST_JOINS = 16,
    NO_JOIN = -1
};

typedef enum PathState {
    PATH_READY,
    PATH_AT_SYNC,   /* at an instruction whose member mask names lanes that have not arrived */
    PATH_AT_BARRIER /* at a barrier that other lanes of the warp have not reached */
} PathState;

typedef struct Path {
    uint32_t pc;
    uint32_t lanes;
    uint32_t frame;
    int32_t join; /* innermost join that expects it; NO_JOIN: none */
    PathState state;
    uint32_t members; /* PATH_AT_SYNC: lanes it waits for */
    bool is_let_go;   /* may execute its current instruction without waiting */
} Path;

/* A place where lanes meet. An unused join expects no lanes, and none wait at it. */
typedef struct Join {
    uint32_t pc;
    uint32_t frame;
    int32_t outer;  /* the next join that expects its lanes; NO_JOIN: none; of an unused join: the
                     * next unused one */
    uint32_t depth; /* number of joins outside it */
    uint32_t expected; /* lanes that have not arrived */
    uint32_t arrived;  /* lanes that wait here */
    uint64_t since;    /* IsaWarp.instructions at the first arrival */
} Join;

struct IsaPaths {
    Path waiting[ISA_LANES]; /* all paths except the running one; the last ready one runs next */
    uint32_t count;
    Join *joins;
    uint32_t join_count; /* including unused ones */
    uint32_t join_capacity;
    int32_t free_join;     /* first unused one below join_count; NO_JOIN: none */
    int32_t join;          /* of the running path */
    bool is_let_go;        /* of the running path */
    uint32_t turn;         /* rounds of loops left in its turn */
    uint32_t spins, loops; /* rounds since a lane last arrived, exited or was released */
};

void paths_start(IsaWarp *warp) {
    if (!warp->paths) {
        warp->paths = base_calloc(1, sizeof *warp->paths);
        warp->paths->joins = base_calloc(FIRST_JOINS, sizeof *warp->paths->joins);
        warp->paths->join_capacity = FIRST_JOINS;
    }
    IsaPaths *paths = warp->paths;
    paths->count = paths->join_count = 0;
    paths->free_join = paths->join = NO_JOIN;
    paths->is_let_go = false;
    paths->turn = TURN_LOOPS;
    paths->spins = paths->loops = 0;
}

void paths_free(IsaWarp *warp) {
    if (warp->paths) free(warp->paths->joins);
    free(warp->paths);
    warp->paths = NULL;
}

/* ---- Paths ---- */

static void note_progress(IsaPaths *paths) { paths->spins = paths->loops = 0; }

/* Adds a waiting path and returns it; the caller writes it in place. Copying a path that was just
 * written in parts would stall the host's processor until the parts have reached its cache. */
static Path *park(IsaWarp *warp) {
    IsaPaths *paths = warp->paths;
    assert(paths->count < ISA_LANES);
    warp->depth++;
    return &paths->waiting[paths->count++];
}

static Path running(const IsaWarp *warp) {
    return (Path){
        .pc = warp->pc, .lanes = warp->active, .frame = warp->frame, .join = warp->paths->join};
}

/* The running path now waits, and no path runs. (Not inlined: otherwise gcc reads pc and lanes
 * together also for paths that continue, and these stall in the same way.) */
__attribute__((noinline)) static void stop(IsaWarp *warp, PathState state, uint32_t members) {
    Path *path = park(warp);
    *path = running(warp);
    path->state = state;
    path->members = members;
    warp->active = 0;
}

static void set_join(IsaWarp *warp, int32_t join) {
    IsaPaths *paths = warp->paths;
    paths->join = join;
    warp->reconverge = join != NO_JOIN && paths->joins[join].frame == warp->frame
                           ? paths->joins[join].pc
                           : ISA_NO_PC;
}

static Path take(IsaWarp *warp, uint32_t at) {
    IsaPaths *paths = warp->paths;
    Path path = paths->waiting[at];
    memmove(&paths->waiting[at], &paths->waiting[at + 1],
            (--paths->count - at) * sizeof *paths->waiting);
    warp->depth--;
    return path;
}

static void run(IsaWarp *warp, const IsaProgram *program, Path path) {
    warp->pc = path.pc;
    warp->active = path.lanes;
    if (path.frame != warp->frame) converge_enter_frame(warp, program, path.frame);
    set_join(warp, path.join);
    warp->paths->is_let_go = path.is_let_go;
    warp->paths->turn = TURN_LOOPS;
}

/* ---- Joins ---- */

/* Opens a join for the running path's lanes. NO_JOIN: too many joins, a fault is set. */
static int32_t join_open(IsaContext *context, IsaWarp *warp, uint32_t pc) {
    IsaPaths *paths = warp->paths;
    int32_t index = paths->free_join;
    if (index != NO_JOIN) {
        paths->free_join = paths->joins[index].outer;
    } else if (paths->join_count == MAX_JOINS) {
        isa_fault(context, warp, bits_lowest32(warp->active), ISA_FAULT_STACK,
                  "stack overflow: more than %d nested divergent regions or calls", MAX_JOINS);
        return NO_JOIN;
    } else {
        if (paths->join_count == paths->join_capacity) {
            paths->join_capacity *= 2;
            paths->joins = base_realloc(paths->joins, paths->join_capacity * sizeof *paths->joins);
        }
        index = (int32_t)paths->join_count++;
    }
    int32_t outer = paths->join;
    paths->joins[index] = (Join){.pc = pc,
                                 .frame = warp->frame,
                                 .outer = outer,
                                 .depth = outer == NO_JOIN ? 0 : paths->joins[outer].depth + 1,
                                 .expected = warp->active};
    warp->depth++;
    return index;
}

/* Releases the lanes that have arrived. */
static void join_release(IsaWarp *warp, Join *join) {
    if (!join->arrived) return;
    *park(warp) =
        (Path){.pc = join->pc, .lanes = join->arrived, .frame = join->frame, .join = join->outer};
    join->arrived = 0;
}

/* The join no longer expects `lanes`. If it expects no other lanes, it releases those that wait. */
static void join_leave(IsaWarp *warp, int32_t index, uint32_t lanes) {
    IsaPaths *paths = warp->paths;
    Join *join = &paths->joins[index];
    if (!join->expected) return;
    join->expected &= ~lanes;
    if (join->expected) return;
    join_release(warp, join);
    join->outer = paths->free_join;
    paths->free_join = index;
    warp->depth--;
}

static void join_arrive(IsaWarp *warp, int32_t index, uint32_t lanes) {
    Join *join = &warp->paths->joins[index];
    if (!join->arrived) join->since = warp->instructions;
    join->arrived |= lanes;
    note_progress(warp->paths);
    join_leave(warp, index, lanes);
}

/* Releases the lanes that have waited longest at a join. Returns false if no lane waits at one. */
static bool join_give_up(IsaWarp *warp) {
    IsaPaths *paths = warp->paths;
    Join *oldest = NULL;
    for (uint32_t i = 0; i < paths->join_count; i++) {
        Join *join = &paths->joins[i];
        if (join->arrived && (!oldest || join->since < oldest->since)) oldest = join;
    }
    if (!oldest) return false;
    join_release(warp, oldest);
    note_progress(paths);
    return true;
}

/* The innermost join of both paths. Joins inside it no longer expect either of them. */
static int32_t join_common(IsaWarp *warp, Path a, Path b) {
    const IsaPaths *paths = warp->paths;
    while (a.join != b.join) {
        bool is_a = b.join == NO_JOIN ||
                    (a.join != NO_JOIN && paths->joins[a.join].depth >= paths->joins[b.join].depth);
        Path *deeper = is_a ? &a : &b;
        int32_t left = deeper->join;
        deeper->join = paths->joins[left].outer;
        join_leave(warp, left, deeper->lanes);
    }
    return a.join;
}

/* ---- Waiting for each other ---- */

/* Merges paths in the same state at the same instruction. */
static void merge_waiting(IsaWarp *warp, PathState state) {
    IsaPaths *paths = warp->paths;
    for (uint32_t i = 0; i < paths->count; i++) {
        for (uint32_t k = i + 1; k < paths->count;) {
            Path a = paths->waiting[i], b = paths->waiting[k];
            if (a.state != state || b.state != state || a.pc != b.pc || a.frame != b.frame) {
                k++;
                continue;
            }
            take(warp, k);
            paths->waiting[i].members |= b.members;
            paths->waiting[i].lanes |= b.lanes;
            paths->waiting[i].join = join_common(warp, a, b);
        }
    }
}

static uint32_t lanes_in(const IsaPaths *paths, PathState state) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < paths->count; i++)
        if (paths->waiting[i].state == state) lanes |= paths->waiting[i].lanes;
    return lanes;
}

/* The lanes that the member masks of `mask`'s lanes name at pc. */
static uint32_t members_of(const IsaWarp *warp, const IsaProgram *program, uint32_t pc,
                           uint32_t mask) {
    const uint32_t *row = isa_row32(warp, (IsaOperand)program->insts[pc].target);
    uint32_t members = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        members |= row[bits_lowest32(rest)];
    return members;
}

/* Whether members must reach the same instruction as the path. Other syncs accept members at any
 * sync instruction, except at one of this kind. */
static bool is_here(const IsaProgram *program, const Path *path) {
    return program->code && program->insts[path->pc].sub & ISA_SYNC_IS_HERE;
}

static uint32_t lanes_at_any_sync(const IsaPaths *paths, const IsaProgram *program) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < paths->count; i++)
        if (paths->waiting[i].state == PATH_AT_SYNC && !is_here(program, &paths->waiting[i]))
            lanes |= paths->waiting[i].lanes;
    return lanes;
}

/* Releases paths whose members have all arrived; they execute their instruction. */
static void let_syncs_go(IsaWarp *warp, const IsaProgram *program) {
    IsaPaths *paths = warp->paths;
    if (!lanes_in(paths, PATH_AT_SYNC)) return;
    merge_waiting(warp, PATH_AT_SYNC);
    const uint32_t there = lanes_at_any_sync(paths, program);
    for (uint32_t i = 0; i < paths->count; i++) {
        Path *path = &paths->waiting[i];
        if (path->state != PATH_AT_SYNC) continue;
        const bool stays = is_here(program, path);
        const uint32_t members = stays ? members_of(warp, program, path->pc, path->lanes)
                                       : path->members; /* other lanes may have left meanwhile */
        if (members & warp->alive & ~(stays ? path->lanes : there)) continue;
        path->state = PATH_READY;
        path->is_let_go = true;
    }
}

uint32_t paths_exiting(const IsaWarp *warp, const IsaProgram *program) {
    const IsaPaths *paths = warp->paths;
    uint32_t exiting = 0;
    for (uint32_t i = 0; i < paths->count; i++)
        if (converge_is_exit(program, paths->waiting[i].pc)) exiting |= paths->waiting[i].lanes;
    for (uint32_t i = 0; i < paths->join_count; i++)
        if (converge_is_exit(program, paths->joins[i].pc)) exiting |= paths->joins[i].arrived;
    return exiting;
}

/* Whether all lanes of a warp wait here together, as a warp. */
static bool is_barrier(const IsaInst *inst) {
    return inst->flow == ISA_FLOW_BARRIER ||
           (inst->flow == ISA_FLOW_CLUSTER && inst->sub != PTX_SUB_BAR_ARRIVE);
}

/* Reports lanes at barriers that other lanes have not reached, or at different barriers. */
static void check_barriers(IsaContext *context, const IsaWarp *warp) {
    const IsaPaths *paths = warp->paths;
    for (uint32_t i = 0; context->launch->check && i < paths->count; i++)
        if (paths->waiting[i].state == PATH_AT_BARRIER)
            isa_check_divergence(context, warp, paths->waiting[i].pc, paths->waiting[i].lanes);
}

/* All lanes are at barriers. The warp arrives once, through the last path; the other paths skip
 * the barrier. */
static void let_barriers_go(IsaContext *context, IsaWarp *warp) {
    IsaPaths *paths = warp->paths;
    merge_waiting(warp, PATH_AT_BARRIER);
    if (paths->count > 1) check_barriers(context, warp);
    const IsaInst *last = &context->program->insts[paths->waiting[paths->count - 1].pc];
    for (uint32_t i = 0; i < paths->count; i++) {
        Path *path = &paths->waiting[i];
        const IsaInst *inst = &context->program->insts[path->pc];
        path->state = PATH_READY;
        path->is_let_go = true;
        if (i == paths->count - 1) break;
        if (inst->operand[0] != last->operand[0] || inst->sub != last->sub ||
            inst->flow != last->flow || inst->sub == PTX_SUB_BAR_RED)
            isa_fault(context, warp, bits_lowest32(path->lanes), ISA_FAULT_BARRIER,
                      "divergent barrier: lanes 0x%08x and 0x%08x of a warp stand at barriers that "
                      "are not the same",
                      path->lanes, paths->waiting[paths->count - 1].lanes);
        path->pc++;
        path->is_let_go = false;
    }
}

/* Whether the running path must wait at its next instruction. If so, it has been stopped. */
static bool must_wait(const IsaContext *context, IsaWarp *warp) {
    const IsaInst *inst = &context->program->insts[warp->pc];
    const bool is_sync = context->program->infos[warp->pc].flags & ISA_NEEDS_MEMBERS;
    if (!is_sync && !is_barrier(inst)) return false;
    uint32_t guard = warp->preds[inst->guard] ^ -(uint32_t)(inst->flags >> 7);
    uint32_t mask = warp->active & guard;
    if (!mask) return false;
    if (!is_sync) {
        stop(warp, PATH_AT_BARRIER, 0);
        return true;
    }
    const uint32_t members = members_of(warp, context->program, warp->pc, mask);
    uint32_t awaited = members & warp->alive & ~warp->active;
    if (!awaited) return false;
    if (context->launch->check) isa_check_wait(warp, warp->active, awaited);
    stop(warp, PATH_AT_SYNC, members);
    return true;
}

/* No lane can continue: releases the lanes at one BSYNC. Code of ptxas -O0 leaves the region of a
 * BSSY by a branch alone, to a WARPSYNC of all lanes. Returns false if no lane is at a BSYNC. */
static bool meeting_give_up(IsaWarp *warp, const IsaProgram *program) {
    IsaPaths *paths = warp->paths;
    for (uint32_t i = 0; program->code && i < paths->count; i++) {
        Path *path = &paths->waiting[i];
        if (path->state != PATH_AT_SYNC || !(program->insts[path->pc].sub & ISA_SYNC_IS_MEETING))
            continue;
        path->state = PATH_READY;
        path->is_let_go = true;
        return true;
    }
    return false;
}

/* Selects the next path to run. Returns false if none is left. */
static bool pick(IsaContext *context, IsaWarp *warp) {
    IsaPaths *paths = warp->paths;
    for (;;) {
        let_syncs_go(warp, context->program);
        for (uint32_t i = paths->count; i-- > 0;) {
            if (paths->waiting[i].state != PATH_READY) continue;
            run(warp, context->program, take(warp, i));
            return true;
        }
        if (!warp->alive) return false;
        if (join_give_up(warp)) {
            check_barriers(context, warp);
            continue;
        }
        if (meeting_give_up(warp, context->program)) continue;
        uint32_t at_sync = lanes_in(paths, PATH_AT_SYNC);
        if (!at_sync) {
            let_barriers_go(context, warp);
            continue;
        }
        uint32_t first = 0;
        while (paths->waiting[first].state != PATH_AT_SYNC)
            first++;
        Path path = take(warp, first);
        run(warp, context->program, path);
        isa_fault(context, warp, bits_lowest32(path.lanes), ISA_FAULT_DEADLOCK,
                  "deadlock: lanes 0x%08x wait for lanes 0x%08x of their member mask 0x%08x, which "
                  "stand at a CTA barrier",
                  path.lanes, path.members & warp->alive & ~at_sync, path.members);
        return true;
    }
}

bool paths_settle(IsaContext *context, IsaWarp *warp) {
    IsaPaths *paths = warp->paths;
    paths->is_let_go = false;
    for (;;) {
        if (!warp->active && !pick(context, warp)) return false;
        if (context->fault.is_set) return true;
        if (warp->pc == warp->reconverge) {
            join_arrive(warp, paths->join, warp->active);
            warp->active = 0;
            continue;
        }
        warp->is_apart = warp->active != warp->alive;
        if (!warp->is_apart || paths->is_let_go || !must_wait(context, warp)) return true;
    }
}

/* ---- Control flow ---- */

bool paths_branch(IsaContext *context, IsaWarp *warp, uint32_t taken, uint32_t target,
                  uint32_t fallthrough, uint32_t reconverge) {
    IsaPaths *paths = warp->paths;
    int32_t join = paths->join;
    if (reconverge != ISA_NO_PC && reconverge != warp->reconverge) {
        join = join_open(context, warp, reconverge);
        if (join == NO_JOIN) return false;
    }
    const uint32_t others = warp->active & ~taken;
    warp->pc = target;
    warp->active = taken;
    set_join(warp, join);
    if (fallthrough == reconverge) join_arrive(warp, join, others);
    else
        *park(warp) =
            (Path){.pc = fallthrough, .lanes = others, .frame = warp->frame, .join = join};
    return true;
}

bool paths_call(IsaContext *context, IsaWarp *warp, uint32_t return_pc, uint32_t mask) {
    int32_t join = join_open(context, warp, return_pc);
    if (join == NO_JOIN) return false;
    warp->paths->join = join;
    warp->reconverge = ISA_NO_PC; /* the callee has another frame */
    uint32_t others = warp->active & ~mask;
    if (others) join_arrive(warp, join, others);
    return true;
}

void paths_return(IsaWarp *warp, uint32_t lanes) {
    IsaPaths *paths = warp->paths;
    warp->active &= ~lanes;
    int32_t join = paths->join;
    while (paths->joins[join].frame == warp->frame) {
        int32_t outer = paths->joins[join].outer;
        join_leave(warp, join, lanes);
        join = outer;
    }
    join_arrive(warp, join, lanes);
}

void paths_exit(IsaWarp *warp, uint32_t lanes) {
    IsaPaths *paths = warp->paths;
    warp->active &= ~lanes;
    note_progress(paths);
    for (uint32_t i = 0; i < paths->join_count; i++)
        join_leave(warp, (int32_t)i, lanes);
}

void paths_loop(IsaWarp *warp, bool is_waiting) {
    IsaPaths *paths = warp->paths;
    if (!warp->is_apart) return;
    paths->loops++;
    paths->spins += is_waiting;
    if (paths->spins >= GIVE_UP_SPINS || paths->loops >= GIVE_UP_LOOPS) {
        note_progress(paths);
        join_give_up(warp);
    }
    if (--paths->turn) return;
    paths->turn = TURN_LOOPS;
    park(warp);
    memmove(&paths->waiting[1], &paths->waiting[0], (paths->count - 1) * sizeof(Path));
    paths->waiting[0] = running(warp);
    warp->active = 0;
}
