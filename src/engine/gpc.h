/* Groups of SMs (GPCs). Pairs of SMs (TPCs) are assigned to the groups in turn, because the TPCs
 * that a chip lacks are spread over its groups. */
#ifndef TYTO_ENGINE_GPC_H
#define TYTO_ENGINE_GPC_H

#include <stdint.h>

/* The group of an SM, for `gpcs` groups, at least one. */
static inline uint32_t gpc_of(uint32_t sm, uint32_t gpcs) { return sm / 2 % gpcs; }

/* SMs of a group, of `sms`. */
static inline uint32_t gpc_sms(uint32_t sms, uint32_t gpcs, uint32_t gpc) {
    uint32_t count = 0;
    for (uint32_t sm = 0; sm < sms; ++sm)
        count += gpc_of(sm, gpcs) == gpc;
    return count;
}

#endif
