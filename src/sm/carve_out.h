/* How a kernel divides a data store that L1D and shared memory share.
 *
 * Source: the CUDA C++ programming guide on cudaFuncAttributePreferredSharedMemoryCarveout ("the
 * driver will choose a configuration"). By default, and as in GPGPU-Sim 4.2's Volta model, shared
 * memory gets the least of the possible sizes that holds the requests of all CTAs that can be
 * resident. With a preference, it gets the least size that is at least that percentage of the
 * largest, if one CTA fits. */
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
