/* Barriers of a CTA and of a warp, and memory fences. __syncthreads() itself is clang's own. */
#ifndef TYTO_DEVICE_SYNC_H
#define TYTO_DEVICE_SYNC_H

#include "language.h"

/* Barriers that also return to every thread how many (_count), whether all (_and) and whether any
 * (_or) threads of the CTA have a non-zero predicate. */
static __device__ __forceinline__ int __syncthreads_count(int predicate) {
    return __nvvm_bar0_popc(predicate);
}
static __device__ __forceinline__ int __syncthreads_and(int predicate) {
    return __nvvm_bar0_and(predicate);
}
static __device__ __forceinline__ int __syncthreads_or(int predicate) {
    return __nvvm_bar0_or(predicate);
}

static __device__ __forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) {
    __nvvm_bar_warp_sync(mask);
}

/* Programmatic dependent launch: a grid waits for the one before it, or lets the next one begin.
 * Before compute capability 9.0 the grids run one after the other, so that both have no effect. */
static __device__ __forceinline__ void cudaGridDependencySynchronize() {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

static __device__ __forceinline__ void __threadfence_block() { __nvvm_membar_cta(); }
static __device__ __forceinline__ void __threadfence() { __nvvm_membar_gl(); }
static __device__ __forceinline__ void __threadfence_system() { __nvvm_membar_sys(); }

#endif
