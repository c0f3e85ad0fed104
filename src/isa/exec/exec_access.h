/* Access to memory for instructions that do more than load or store: addresses of lanes, and the
 * bytes behind them after every check (exec_memory.c). */
#ifndef TYTO_ISA_EXEC_EXEC_ACCESS_H
#define TYTO_ISA_EXEC_EXEC_ACCESS_H

#include "isa/exec/exec.h"

#define ISA_ACCESS(name) ISA_PASTE(isa_access, name, ISA_VARIANT)

/* The byte at `address` of what begins at `bias` with address 0: added up as numbers, as registered
 * memory of the host may lie below it. */
static inline uint8_t *isa_byte(const uint8_t *bias, uint64_t address) {
    return (uint8_t *)((uintptr_t)bias + address);
}

/* Fills context->did.address with each lane's base + imm. */
void ISA_ACCESS(lane_addresses)(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                                IsaOperand base);

/* host[lane] becomes where the `bytes` bytes (a power of two, and their alignment) at each lane's
 * context->did.address are, in global or shared memory; PTX_SPACE_NONE: a generic address, which is
 * resolved, PTX_SPACE_CLUSTER: a shared one with a rank. Of these two context->did.space says where
 * each is. False after a fault. */
bool ISA_ACCESS(open_lanes)(IsaContext *context, IsaWarp *warp, PtxSpace space, uint32_t bytes,
                            uint32_t mask, bool is_write, uint8_t **host);

/* What a reduction of global memory leaves where `old` was; size and flags are the instruction's.
 */
uint64_t ISA_ACCESS(combine)(const IsaInst *inst, PtxSub operation, uint64_t old, uint64_t b);

#endif
