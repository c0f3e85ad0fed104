/* Cache policies: the values that createpolicy creates, and the priority that they give an address.
 * Also the windows of addresses with their own priority that a launch can have.
 *
 * A policy has the layout that NVIDIA's C++ library documents (CCCL, libcudacxx,
 * cuda/__annotated_ptr/access_property_encoding.h), so properties that programs create have the
 * meaning that is documented there:
 *
 *   bits 59..60  0: no policy, 2: a fraction of all addresses, 3: blocks
 *   bits 57..58  priority of these: 0 unchanged, 1 first, 2 last, 3 normal
 *   bit 56       priority of the rest: 0 unchanged, 1 first
 *   bits 52..55  fraction: sixteenths, less one; blocks: log2 of their bytes, less 12
 *   bits 44..50  number of the first block, modulo 128
 *   bits 37..43  blocks
 *
 * Which addresses belong to the fraction is not known; here a hash of the line's address
 * decides. */
#ifndef TYTO_ISA_POLICY_H
#define TYTO_ISA_POLICY_H

#include <stdint.h>

#include "ptx/ptx.h"

/* A range of addresses: one share of it has one priority, the rest another. */
typedef struct PolicyWindow {
    uint64_t address;  /* first byte */
    uint64_t bytes;    /* 0: no window */
    float share;       /* 0 to 1 */
    uint8_t hit, miss; /* PtxEvict of the share, and of the rest */
} PolicyWindow;

/* createpolicy.fractional. Fractions outside 0 to 1 are replaced by the nearest that a policy can
 * express. */
uint64_t policy_of_fraction(PtxEvict primary, PtxEvict rest, float fraction);
/* createpolicy.range. The block size is a power of two from 4 KiB on, chosen so that 128 blocks
 * hold the total. */
uint64_t policy_of_range(PtxEvict primary, PtxEvict rest, uint64_t address, uint32_t primary_bytes,
                         uint32_t total_bytes);
/* The priority that a policy gives an address; PTX_EVICT_NONE if `policy` is not a policy. */
PtxEvict policy_for(uint64_t policy, uint64_t address);
/* The same for a window. */
PtxEvict policy_window_for(const PolicyWindow *window, uint64_t address);

#endif
