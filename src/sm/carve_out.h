/* How a kernel divides a data store that L1D and shared memory share.
 *
 * Source: the CUDA C++ programming guide on cudaFuncAttributePreferredSharedMemoryCarveout ("the
 * driver will choose a configuration"). By default, shared memory gets the smallest configurable
 * size that holds the requests of all CTAs that can be resident, as in GPGPU-Sim 4.2's Volta model.
 * With a preference, it gets the smallest size that is at least that percentage of the largest
 * size, if one CTA fits. */
#ifndef TYTO_SM_CARVE_OUT_H
#define TYTO_SM_CARVE_OUT_H

#include "sm/sm_config.h"

enum { CARVE_OUT_DEFAULT = -1 }; /* no preference */

/* Bytes of shared memory when `ctas` CTAs that use `cta_bytes` each can be resident and the kernel
 * prefers `percent`. Without a unified store: the whole shared memory. */
uint32_t carve_out_bytes(const SmConfig *config, uint32_t cta_bytes, uint32_t ctas, int percent);

/* The number of CTAs, at most `ctas` and at least one, that a preference leaves room for. */
uint32_t carve_out_ctas(const SmConfig *config, uint32_t cta_bytes, uint32_t ctas, int percent);

#endif
