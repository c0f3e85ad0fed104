/* Independent threads: the lanes of a warp are at up to 32 places (paths), which take turns.
 *
 * A divergent branch opens a join at its immediate post-dominator: lanes that arrive wait there for
 * the others it expects, and go on together. That is an optimisation and can be given up. Locks
 * that lanes of one warp hand to each other need that: the lane with the lock waits at the end of
 * the loop in which the others spin. So, when the warp goes round loops and no lane arrives
 * anywhere, the lanes that have waited longest are let go. The others follow when they arrive.
 *
 * A path runs until it ends, waits, or has gone round loops TURN_LOOPS times; the last one parked
 * is next, as with a stack, and one whose turn is over goes to the end of the line. Instructions
 * with a member mask wait until every named lane that still runs is at such an instruction too;
 * lanes at the same instruction execute it together. A CTA barrier waits for all lanes of the warp.
 *
 * Sources: PTX ISA, "Parallel Synchronization and Communication Instructions" (what member masks
 * and barriers wait for); NVIDIA, "Tesla V100 GPU Architecture" (2017), "Independent thread
 * scheduling" (each thread makes progress; an optimiser groups threads). The two models' vocabulary
 * is that of ElTantawy and Aamodt, "MIMD synchronization on SIMT architectures", MICRO 2016. */
#include "isa/flow/converge.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "isa/check/check.h"

/* How NVIDIA's hardware spaces turns is not published. These are ours: results of programs that are
 * right under any fair order do not depend on them. */
enum {
    TURN_LOOPS = 32,         /* backward branches of a path before the next gets its turn */
    GIVE_UP_SPINS = 32,      /* rounds of loops that poll for another thread's store, while no lane
                                arrives, after which waiting lanes are let go */
    GIVE_UP_LOOPS = 1 << 16, /* the same for rounds of any loop */
    MAX_JOINS = 1 << 16,     /* of one warp; as deep as the stack of stack.c */
    FIRST_JOINS = 16,
    NO_JOIN = -1
};

typedef enum PathState {
    PATH_READY,
    PATH_AT_SYNC,   /* at an instruction whose member mask names lanes that are not there yet */
    PATH_AT_BARRIER /* at a CTA barrier, other lanes of the warp are not */
} PathState;

typedef struct Path {
    uint32_t pc;
    uint32_t lanes;
    uint32_t frame;
    int32_t join; /* innermost join it is expected at, NO_JOIN */
    PathState state;
    uint32_t members; /* PATH_AT_SYNC: lanes it waits for */
    bool is_let_go;   /* need not wait at its current instruction */
} Path;

/* Where lanes meet. Unused: it expects no lanes, and none wait. */
typedef struct Join {
    uint32_t pc;
    uint32_t frame;
    int32_t outer;  /* the join its lanes are expected at next, NO_JOIN; unused: next unused one */
    uint32_t depth; /* joins outside it */
    uint32_t expected; /* lanes still to come */
    uint32_t arrived;  /* lanes that wait */
    uint64_t since;    /* IsaWarp.instructions when the first of them arrived */
} Join;

struct IsaPaths {
    Path waiting[ISA_LANES]; /* all paths but the running one; the last ready one is next */
    uint32_t count;
    Join *joins;
    uint32_t join_count; /* ever used */
    uint32_t join_capacity;
    int32_t free_join;     /* first unused one below join_count, NO_JOIN */
    int32_t join;          /* of the running path */
    bool is_let_go;        /* of the running path */
    uint32_t turn;         /* loops left of its turn */
    uint32_t spins, loops; /* rounds since somebody last arrived, exited or was let go */
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

/* A path waits from now on, to be written where it says: a copy of what has just been written by
 * parts makes the host's processor wait until the parts have left for its cache. */
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

/* The running path now waits; none runs. (A call: inlined, gcc reads pc and lanes at once for paths
 * that go on, too, and has them wait likewise.) */
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

/* A join of the running path's lanes; NO_JOIN: too many, a fault is set. */
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

/* Sends on the lanes that have arrived. */
static void join_release(IsaWarp *warp, Join *join) {
    if (!join->arrived) return;
    *park(warp) =
        (Path){.pc = join->pc, .lanes = join->arrived, .frame = join->frame, .join = join->outer};
    join->arrived = 0;
}

/* `lanes` are no longer expected; when no lanes are expected any more, those that wait go on. */
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

/* Lets the lanes go that have waited longest at a join. False: none waits. */
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

/* The innermost join of both; neither is expected any more at those within it. */
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

/* Paths of the same state at the same instruction become one. */
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

/* The lanes that those of `mask` name at pc. */
static uint32_t members_of(const IsaWarp *warp, const IsaProgram *program, uint32_t pc,
                           uint32_t mask) {
    const uint32_t *row = isa_row32(warp, (IsaOperand)program->insts[pc].target);
    uint32_t members = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        members |= row[bits_lowest32(rest)];
    return members;
}

/* Whether members must come to the path's very instruction: to any other sync they may, but a lane
 * at such a one is at no other. */
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

/* Paths whose members have all come execute their instruction. */
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
                                       : path->members; /* others may have left meanwhile */
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

/* Finds lanes at CTA barriers that other lanes do not wait at, or at barriers that differ. */
static void check_barriers(IsaContext *context, const IsaWarp *warp) {
    const IsaPaths *paths = warp->paths;
    for (uint32_t i = 0; context->launch->check && i < paths->count; i++)
        if (paths->waiting[i].state == PATH_AT_BARRIER)
            isa_check_divergence(context, warp, paths->waiting[i].pc, paths->waiting[i].lanes);
}

/* All lanes stand at CTA barriers. The warp arrives once, by the last path; the others need not. */
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
            inst->sub == PTX_SUB_BAR_RED)
            isa_fault(context, warp, bits_lowest32(path->lanes), ISA_FAULT_BARRIER,
                      "divergent barrier: lanes 0x%08x and 0x%08x of a warp stand at barriers that "
                      "are not the same",
                      path->lanes, paths->waiting[paths->count - 1].lanes);
        path->pc++;
        path->is_let_go = false;
    }
}

/* Whether the running path must wait at its next instruction; then it has been stopped. */
static bool must_wait(const IsaContext *context, IsaWarp *warp) {
    const IsaInst *inst = &context->program->insts[warp->pc];
    const bool is_sync = context->program->infos[warp->pc].flags & ISA_NEEDS_MEMBERS;
    if (!is_sync && inst->flow != ISA_FLOW_BARRIER) return false;
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

/* No lane can go on: those at a BSYNC are let go. Code of ptxas -O0 leaves the region of a BSSY by
 * a branch alone, for a WARPSYNC of all lanes. False: none is at a BSYNC. */
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

/* Chooses the next path to run. False: none is left. */
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
    warp->reconverge = ISA_NO_PC; /* the callee's frame is another */
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
