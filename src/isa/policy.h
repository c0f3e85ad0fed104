/* Cache policies: what createpolicy makes, and what such a value says of an address; and windows of
 * addresses with a priority of their own, as a launch has them.
 *
 * A policy has the layout that NVIDIA's C++ library documents (CCCL, libcudacxx,
 * cuda/__annotated_ptr/access_property_encoding.h), so that properties made by programs mean what
 * they mean there:
 *
 *   bits 59..60  0: no policy, 2: a fraction of all addresses, 3: blocks
 *   bits 57..58  priority of these: 0 unchanged, 1 first, 2 last, 3 normal
 *   bit 56       priority of the rest: 0 unchanged, 1 first
 *   bits 52..55  fraction: sixteenths, less one; blocks: log2 of their bytes, less 12
 *   bits 44..50  number of the first block, modulo 128
 *   bits 37..43  blocks
 *
 * Which addresses make the fraction is not known: here a hash of the line's decides. */
#ifndef TYTO_ISA_POLICY_H
#define TYTO_ISA_POLICY_H

#include <stdint.h>

#include "ptx/ptx.h"

/* A range of addresses: a share of it has one priority and the rest another. */
typedef struct PolicyWindow {
    uint64_t address;  /* first byte */
    uint64_t bytes;    /* 0: there is no window */
    float share;       /* 0 to 1 */
    uint8_t hit, miss; /* PtxEvict of the share, and of the rest */
} PolicyWindow;

/* createpolicy.fractional; fractions beyond 0 to 1 are taken for the nearest that can be. */
uint64_t policy_of_fraction(PtxEvict primary, PtxEvict rest, float fraction);
/* createpolicy.range. Sizes of blocks are powers of two from 4 KiB on, so that 128 hold the total.
 */
uint64_t policy_of_range(PtxEvict primary, PtxEvict rest, uint64_t address, uint32_t primary_bytes,
                         uint32_t total_bytes);
/* What a policy says of an address; PTX_EVICT_NONE where it is none. */
PtxEvict policy_for(uint64_t policy, uint64_t address);
/* The same of a window. */
PtxEvict policy_window_for(const PolicyWindow *window, uint64_t address);

#endif
