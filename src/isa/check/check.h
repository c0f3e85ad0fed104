/* The checks of kernels: what isa/ asks and tells them while a launch with checks runs. A launch
 * without has no IsaCheck (IsaLaunch.check is NULL), and pays for one comparison per access.
 *
 * races (check_race.c): two accesses of two threads to a byte, one a write, that nothing orders.
 * init  (check_init.c): reads of shared, global and local bytes that were never written.
 * sync  (check_sync.c): misuses of barriers and of instructions of a warp.
 *
 * What they find goes to a list (stats/findings.h), and the kernel goes on. */
#ifndef TYTO_ISA_CHECK_CHECK_H
#define TYTO_ISA_CHECK_CHECK_H

#include "isa/launch.h"
#include "stats/findings.h"

typedef struct IsaCheckOptions {
    bool races, init, sync, leaks;
    bool reports_faults; /* bad accesses are findings: reads give zero, writes are dropped */
} IsaCheckOptions;

typedef enum IsaAccess { ISA_ACCESS_READ, ISA_ACCESS_WRITE, ISA_ACCESS_ATOMIC } IsaAccess;

typedef struct IsaCheck IsaCheck;

/* `findings` is borrowed. */
IsaCheck *isa_check_new(IsaCheckOptions options, Findings *findings);
void isa_check_free(IsaCheck *check);
/* A launch of the `program`-th program begins. */
void isa_check_start(IsaCheck *check, const IsaLaunch *launch, uint64_t program);

/* A CTA begins; the CTA object is freed. */
void isa_check_cta(IsaCta *cta);
void isa_check_cta_free(IsaCta *cta);

/* The lanes of mask are about to access `bytes` bytes each at context->did.address, all of them
 * theirs to access. `inst` is what is stored's; NULL: of an instruction that does more than load or
 * store.
 */
void isa_check_access(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                      uint32_t bytes, uint32_t mask, IsaAccess access);
/* The barrier of the cluster, to which each warp came with a fence, lets warps of the CTA go on. */
void isa_check_released(const IsaCta *cta, uint32_t warps);
/* A fence of the whole device, or of the CTA only. */
void isa_check_fence(IsaContext *context, const IsaWarp *warp, bool is_cta_wide);
/* fence.proxy.async. */
void isa_check_proxy_fence(IsaContext *context, const IsaWarp *warp);
/* The warp commits its next group of products; its wait for IsaWarp.awaited_groups groups of its
 * warpgroup is over. */
void isa_check_products_committed(const IsaWarp *warp);
void isa_check_products_over(const IsaWarp *warp);
/* The lanes of `mask` execute an instruction for the lanes of `members`, a word of each. `sources`
 * (NULL: none) are the lanes that they read from, -1 none; bar.warp.sync is_barrier. */
void isa_check_members(IsaContext *context, const IsaWarp *warp, const uint32_t *members,
                       uint32_t mask, const int32_t *sources, bool is_barrier);
/* Lanes begin to wait for others, which their instruction's mask names. */
void isa_check_wait(const IsaWarp *warp, uint32_t lanes, uint32_t awaited);
/* Some lanes stand at a barrier of the CTA at which other live ones do not. */
void isa_check_divergence(IsaContext *context, const IsaWarp *warp, uint32_t pc, uint32_t lanes);
/* The lanes of `mask` arrive at a barrier with that count (0: none); it is complete. */
void isa_check_arrival(IsaContext *context, const IsaWarp *warp, uint32_t number, uint32_t count,
                       uint32_t mask);
void isa_check_completion(const IsaContext *context, const IsaCta *cta, uint32_t number);
void isa_check_exit(IsaContext *context, const IsaWarp *warp);
/* A call begins: the bytes of the new frame's local area, of all lanes, have no writer yet. Bytes
 * of a thread's local memory are written by the call itself. */
void isa_check_frame(const IsaWarp *warp, uint32_t start, uint32_t end);
void isa_check_local_write(const IsaWarp *warp, int lane, uint32_t offset, uint32_t size);

/* Device malloc gave a lane a block, in the launch's heap. Its place is kept as the block's tag. */
void isa_check_malloc(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address);
/* A place that allocates. Lives as long as the check. */
typedef struct IsaSite {
    uint64_t number; /* from 1: the tag of its blocks */
    uint64_t program;
    uint32_t pc;
    char *text; /* lines that say where */
    char *kernel, *file;
    uint32_t line;
} IsaSite;
const IsaSite *isa_check_site(const IsaCheck *check, uint32_t tag); /* NULL: there is none */

/* A bad access of a lane. Ends the launch, or is a finding, and then true: the lane goes on without
 * the access. */
bool isa_bad_access(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
                    uint64_t address, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
