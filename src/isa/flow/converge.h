/* How the lanes of a warp part and meet: two models behind one set of operations.
 *
 *   stack.c   a stack of (pc, reconvergence pc, lanes) whose top runs. Lanes that took the other
 * side of a branch, or stand at its immediate post-dominator, wait until the top is done, so lanes
 * of one warp cannot wait for each other in a loop. What GPUs before compute capability 7.0 do:
 * Fung et al., MICRO 2007. paths.c   independent threads, as the PTX ISA has them from sm_70 on:
 * groups of lanes (paths) take turns, so each makes progress. They still meet at immediate
 * post-dominators, until that would keep others from going on.
 *
 * IsaLaunch.has_independent_threads chooses. Both keep what runs in warp->pc, active, reconverge
 * and frame; control.c asks for changes through the operations below and calls converge_settle
 * after each instruction that may have made some. */
#ifndef TYTO_ISA_FLOW_CONVERGE_H
#define TYTO_ISA_FLOW_CONVERGE_H

#include "isa/launch.h"

/* Points the warp's cached bases at the frame it runs in. */
void converge_enter_frame(IsaWarp *warp, const IsaProgram *program, uint32_t frame);

/* ---- stack.c ---- */
bool stack_branch(IsaContext *context, IsaWarp *warp, uint32_t taken, uint32_t target,
                  uint32_t fallthrough, uint32_t reconverge);
bool stack_call(IsaContext *context, IsaWarp *warp, uint32_t return_pc);
void stack_leave(IsaWarp *warp, uint32_t lanes, uint32_t frame);
bool stack_settle(IsaWarp *warp, const IsaProgram *program);

/* ---- paths.c ---- */
/* Paths of a warp that starts: none but the running one. */
void paths_start(IsaWarp *warp);
void paths_free(IsaWarp *warp);
bool paths_branch(IsaContext *context, IsaWarp *warp, uint32_t taken, uint32_t target,
                  uint32_t fallthrough, uint32_t reconverge);
bool paths_call(IsaContext *context, IsaWarp *warp, uint32_t return_pc, uint32_t mask);
void paths_return(IsaWarp *warp, uint32_t lanes);
void paths_exit(IsaWarp *warp, uint32_t lanes);
bool paths_settle(IsaContext *context, IsaWarp *warp);
/* The running path goes round a loop: others get their turn when it has had its own. */
void paths_loop(IsaWarp *warp, bool is_waiting);

/* Of the live lanes that do not run, those whose next instruction ends them. */
uint32_t stack_exiting(const IsaWarp *warp, const IsaProgram *program);
uint32_t paths_exiting(const IsaWarp *warp, const IsaProgram *program);
static inline uint32_t converge_exiting(const IsaWarp *warp, const IsaProgram *program) {
    return (warp->paths ? paths_exiting : stack_exiting)(warp, program);
}
/* Whether a thread that executes the instruction is gone. */
static inline bool converge_is_exit(const IsaProgram *program, uint32_t pc) {
    return pc != ISA_NO_PC && program->infos[pc].flags & ISA_IS_EXIT &&
           program->insts[pc].guard == ISA_PRED_TRUE;
}

/* ---- What control.c uses ---- */

/* Sends `taken` (some of the active lanes, at least one) to `target`, the other active ones to
 * `fallthrough`; all meet at `reconverge`, if it is a pc. False: a fault is set. */
static inline bool converge_branch(IsaContext *context, IsaWarp *warp, uint32_t taken,
                                   uint32_t target, uint32_t fallthrough, uint32_t reconverge) {
    if (taken == warp->active || target == fallthrough) {
        warp->pc = target;
        return true;
    }
    return (warp->paths ? paths_branch : stack_branch)(context, warp, taken, target, fallthrough,
                                                       reconverge);
}

/* The lanes of `mask` are about to enter a function: all active lanes meet at `return_pc`, in the
 * caller's frame, which is still the running one. The caller then sets pc, active, frame. */
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

/* Some of the active lanes, already taken out of warp->alive, have exited. */
static inline void converge_exit(IsaWarp *warp, uint32_t lanes) {
    if (warp->paths) paths_exit(warp, lanes);
    else stack_leave(warp, lanes, 0);
}

/* Chooses what runs next. False when nothing is left: the warp has exited. It may set a fault. */
static inline bool converge_settle(IsaContext *context, IsaWarp *warp) {
    return warp->paths ? paths_settle(context, warp) : stack_settle(warp, context->program);
}

#endif
