/* The checks of kernels: the interface through which isa/ reports events while a launch with checks
 * runs. A launch without checks has no IsaCheck (IsaLaunch.check is NULL) and costs one comparison
 * per access.
 *
 * races (check_race.c): unordered accesses of two threads to a byte, at least one of them a write.
 * init  (check_init.c): reads of shared, global and local bytes that were never written.
 * sync  (check_sync.c): misuse of barriers and of warp-wide instructions.
 *
 * Findings are added to a list (stats/findings.h), and the kernel continues. */
#ifndef TYTO_ISA_CHECK_CHECK_H
#define TYTO_ISA_CHECK_CHECK_H

#include "isa/launch.h"
#include "stats/findings.h"

typedef struct IsaCheckOptions {
    bool races, init, sync, leaks;
    bool reports_faults; /* bad accesses become findings: reads return zero, writes are dropped */
} IsaCheckOptions;

typedef enum IsaAccess { ISA_ACCESS_READ, ISA_ACCESS_WRITE, ISA_ACCESS_ATOMIC } IsaAccess;

typedef struct IsaCheck IsaCheck;

/* `findings` is borrowed. */
IsaCheck *isa_check_new(IsaCheckOptions options, Findings *findings);
void isa_check_free(IsaCheck *check);
/* A launch of program number `program` begins. */
void isa_check_start(IsaCheck *check, const IsaLaunch *launch, uint64_t program);

/* A CTA begins; the CTA object is freed. */
void isa_check_cta(IsaCta *cta);
void isa_check_cta_free(IsaCta *cta);

/* The lanes of `mask` are about to access `bytes` bytes each at context->did.address. All of these
 * accesses are valid. `inst` is the store whose data can be compared; NULL for instructions that do
 * more than load or store. */
void isa_check_access(IsaContext *context, const IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                      uint32_t bytes, uint32_t mask, IsaAccess access);
/* The cluster barrier releases these warps of the CTA. Each warp executed a fence when it
 * arrived. */
void isa_check_released(const IsaCta *cta, uint32_t warps);
/* A fence for the whole device, or for the CTA only. */
void isa_check_fence(IsaContext *context, const IsaWarp *warp, bool is_cta_wide);
/* fence.proxy.async. */
void isa_check_proxy_fence(IsaContext *context, const IsaWarp *warp);
/* The warp commits its next group of products. / The warp's wait for IsaWarp.awaited_groups groups
 * of its warpgroup has ended. */
void isa_check_products_committed(const IsaWarp *warp);
void isa_check_products_over(const IsaWarp *warp);
/* The lanes of `mask` execute an instruction with member masks: `members` has one word per lane.
 * `sources` are the lanes that each lane reads from, -1 for none (NULL: the instruction reads
 * none). `is_barrier`: bar.warp.sync. */
void isa_check_members(IsaContext *context, const IsaWarp *warp, const uint32_t *members,
                       uint32_t mask, const int32_t *sources, bool is_barrier);
/* Lanes begin to wait for other lanes, which the mask of their instruction names. */
void isa_check_wait(const IsaWarp *warp, uint32_t lanes, uint32_t awaited);
/* Some lanes wait at a barrier of the CTA and other live lanes do not. */
void isa_check_divergence(IsaContext *context, const IsaWarp *warp, uint32_t pc, uint32_t lanes);
/* The lanes of `mask` arrive at a barrier with that thread count (0: none). / The barrier is
 * complete. */
void isa_check_arrival(IsaContext *context, const IsaWarp *warp, uint32_t number, uint32_t count,
                       uint32_t mask);
void isa_check_completion(const IsaContext *context, const IsaCta *cta, uint32_t number);
void isa_check_exit(IsaContext *context, const IsaWarp *warp);
/* A call begins: no byte of the new frame's local area, in any lane, has been written. / The call
 * itself writes bytes of a thread's local memory. */
void isa_check_frame(const IsaWarp *warp, uint32_t start, uint32_t end);
void isa_check_local_write(const IsaWarp *warp, int lane, uint32_t offset, uint32_t size);

/* Device malloc returned a block of the launch's heap to a lane. The allocation site is stored as
 * the block's tag. */
void isa_check_malloc(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address);
/* An allocation site. It lives as long as the check. */
typedef struct IsaSite {
    uint64_t number; /* from 1; the tag of its blocks */
    uint64_t program;
    uint32_t pc;
    char *text; /* the place in words, one or several lines */
    char *kernel, *file;
    uint32_t line;
} IsaSite;
const IsaSite *isa_check_site(const IsaCheck *check, uint32_t tag); /* NULL: there is none */

/* A bad access of a lane. Either ends the launch and returns false, or adds a finding and returns
 * true: then the lane continues without the access. */
bool isa_bad_access(IsaContext *context, const IsaWarp *warp, int lane, IsaFaultCode code,
                    uint64_t address, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
