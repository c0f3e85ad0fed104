/* Sampler variables (see the header). */
#include "memory/texture.h"

/* Bits: 0..1 flags; from 8 on the modes, 2 bits each; 63 set to mark a sampler. */
uint64_t mem_sampler_pack(unsigned flags, const MemAddressMode mode[3]) {
    uint64_t packed = UINT64_C(1) << 63 | flags;
    for (int axis = 0; axis < 3; axis++)
        packed |= (uint64_t)mode[axis] << (8 + 2 * axis);
    return packed;
}

void mem_sampler_apply(uint64_t packed, MemSampler *sampler) {
    sampler->is_linear_filter = (packed & MEM_SAMPLER_IS_LINEAR) != 0;
    if (packed & MEM_SAMPLER_IS_FORCED_OFF) sampler->is_normalised = false;
    for (int axis = 0; axis < 3; axis++)
        sampler->mode[axis] = (MemAddressMode)(packed >> (8 + 2 * axis) & 3);
}
