/* How a data store that L1D and shared memory divide is divided for a kernel.
 *
 * Source: the CUDA C++ programming guide on cudaFuncAttributePreferredSharedMemoryCarveout ("the
 * driver will choose a configuration"): by default, and as in GPGPU-Sim 4.2's Volta model, shared
 * memory gets the least of the possible sizes that holds what the CTAs ask for which can be
 * resident; with a preference, the least that is so many percent of the most, if one CTA fits. */
#ifndef TYTO_SM_CARVE_OUT_H
#define TYTO_SM_CARVE_OUT_H

#include "sm/sm_config.h"

enum { CARVE_OUT_DEFAULT = -1 }; /* no preference */

/* Bytes for shared memory where `ctas` that ask for `cta_bytes` each can be resident and `percent`
 * are preferred. Without a unified store, all of the shared memory that there is. */
uint32_t carve_out_bytes(const SmConfig *config, uint32_t cta_bytes, uint32_t ctas, int percent);

/* How many of `ctas` a preference leaves room for; one at least. */
uint32_t carve_out_ctas(const SmConfig *config, uint32_t cta_bytes, uint32_t ctas, int percent);

#endif
