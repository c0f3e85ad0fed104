/* Access to memory for instructions that do more than load or store: the lanes' addresses, and host
 * pointers to the bytes after all checks (exec_memory.c). */
#ifndef TYTO_ISA_EXEC_EXEC_ACCESS_H
#define TYTO_ISA_EXEC_EXEC_ACCESS_H

#include "isa/exec/exec.h"

#define ISA_ACCESS(name) ISA_PASTE(isa_access, name, ISA_VARIANT)

/* The byte at `address`, relative to `bias`, the host address of device address 0. The sum is
 * computed with integers, because registered host memory may be below `bias`. */
static inline uint8_t *isa_byte(const uint8_t *bias, uint64_t address) {
    return (uint8_t *)((uintptr_t)bias + address);
}

/* Fills context->did.address with each lane's base + imm. */
void ISA_ACCESS(lane_addresses)(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                                IsaOperand base);

/* Sets host[lane] to the location of the `bytes` bytes (a power of two, also their alignment) at
 * each lane's context->did.address, in global or shared memory. PTX_SPACE_NONE: a generic address,
 * which is resolved. PTX_SPACE_CLUSTER: a shared address with a rank. For these two,
 * context->did.space receives the space of each lane. Returns false after a fault. */
bool ISA_ACCESS(open_lanes)(IsaContext *context, IsaWarp *warp, PtxSpace space, uint32_t bytes,
                            uint32_t mask, bool is_write, uint8_t **host);

/* The value that a reduction of global memory stores in place of `old`. Size and flags are the
 * instruction's. */
uint64_t ISA_ACCESS(combine)(const IsaInst *inst, PtxSub operation, uint64_t old, uint64_t b);

#endif
