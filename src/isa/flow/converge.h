/* How the lanes of a warp diverge and reconverge: two models behind one set of operations.
 *
 * stack.c: a stack of (pc, reconvergence pc, lanes) whose top runs. Lanes that took the other side
 * of a branch, or have reached its immediate post-dominator, wait until the top is done. So lanes
 * of one warp cannot wait for each other in a loop. GPUs before compute capability 7.0 work this
 * way: Fung et al., MICRO 2007.
 *
 * paths.c: independent threads, as in the PTX ISA from sm_70 on. Groups of lanes (paths) take
 * turns, so each makes progress. They still meet at immediate post-dominators, unless that would
 * keep others from continuing.
 *
 * IsaLaunch.has_independent_threads selects the model. Both keep the state of the running lanes in
 * warp->pc, active, reconverge and frame. control.c changes it through the operations below and
 * calls converge_settle after each instruction that may have changed it. */
#ifndef TYTO_ISA_FLOW_CONVERGE_H
#define TYTO_ISA_FLOW_CONVERGE_H

#include "isa/launch.h"

/* Sets the warp's cached base pointers to the given frame. */
void converge_enter_frame(IsaWarp *warp, const IsaProgram *program, uint32_t frame);

/* ---- stack.c ---- */
bool stack_branch(IsaContext *context, IsaWarp *warp, uint32_t taken, uint32_t target,
                  uint32_t fallthrough, uint32_t reconverge);
bool stack_call(IsaContext *context, IsaWarp *warp, uint32_t return_pc);
void stack_leave(IsaWarp *warp, uint32_t lanes, uint32_t frame);
bool stack_settle(IsaWarp *warp, const IsaProgram *program);

/* ---- paths.c ---- */
/* Initialises the paths of a warp that starts: only the running one. */
void paths_start(IsaWarp *warp);
void paths_free(IsaWarp *warp);
bool paths_branch(IsaContext *context, IsaWarp *warp, uint32_t taken, uint32_t target,
                  uint32_t fallthrough, uint32_t reconverge);
bool paths_call(IsaContext *context, IsaWarp *warp, uint32_t return_pc, uint32_t mask);
void paths_return(IsaWarp *warp, uint32_t lanes);
void paths_exit(IsaWarp *warp, uint32_t lanes);
bool paths_settle(IsaContext *context, IsaWarp *warp);
/* The running path completes a round of a loop. If its turn is over, other paths run. */
void paths_loop(IsaWarp *warp, bool is_waiting);

/* The live lanes that are not running and whose next instruction ends them. */
uint32_t stack_exiting(const IsaWarp *warp, const IsaProgram *program);
uint32_t paths_exiting(const IsaWarp *warp, const IsaProgram *program);
static inline uint32_t converge_exiting(const IsaWarp *warp, const IsaProgram *program) {
    return (warp->paths ? paths_exiting : stack_exiting)(warp, program);
}
/* Whether the instruction ends every thread that executes it. */
static inline bool converge_is_exit(const IsaProgram *program, uint32_t pc) {
    return pc != ISA_NO_PC && program->infos[pc].flags & ISA_IS_EXIT &&
           program->insts[pc].guard == ISA_PRED_TRUE;
}

/* ---- What control.c uses ---- */

/* Sends `taken` (some of the active lanes, at least one) to `target` and the other active lanes to
 * `fallthrough`. All meet at `reconverge`, if it is a pc. Returns false after a fault. */
static inline bool converge_branch(IsaContext *context, IsaWarp *warp, uint32_t taken,
                                   uint32_t target, uint32_t fallthrough, uint32_t reconverge) {
    if (taken == warp->active || target == fallthrough) {
        warp->pc = target;
        return true;
    }
    return (warp->paths ? paths_branch : stack_branch)(context, warp, taken, target, fallthrough,
                                                       reconverge);
}

/* The lanes of `mask` are about to enter a function. All active lanes meet at `return_pc`, in the
 * caller's frame, which is still the running one. The caller of this function then sets pc, active
 * and frame. */
static inline bool converge_call(IsaContext *context, IsaWarp *warp, uint32_t return_pc,
                                 uint32_t mask) {
    return warp->paths ? paths_call(context, warp, return_pc, mask)
                       : stack_call(context, warp, return_pc);
}

/* Some of the active lanes return from the running frame. */
static inline void converge_return(IsaWarp *warp, uint32_t lanes) {
    if (warp->paths) paths_return(warp, lanes);
    else stack_leave(warp, lanes, warp->frame);
}

/* Some of the active lanes, already removed from warp->alive, have exited. */
static inline void converge_exit(IsaWarp *warp, uint32_t lanes) {
    if (warp->paths) paths_exit(warp, lanes);
    else stack_leave(warp, lanes, 0);
}

/* Selects what runs next. Returns false if nothing is left: the warp has exited. May set a
 * fault. */
static inline bool converge_settle(IsaContext *context, IsaWarp *warp) {
    return warp->paths ? paths_settle(context, warp) : stack_settle(warp, context->program);
}

#endif
