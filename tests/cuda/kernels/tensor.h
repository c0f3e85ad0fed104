/* Tensor-core instructions by inline assembly, for kernels that nvcc and clang compile alike. */
#ifndef TYTO_TESTS_TENSOR_H
#define TYTO_TESTS_TENSOR_H

#include "kernel.h"

/* The 16-bit or 8-bit pattern of a small integer: every product and sum of the tests is exact. */
static __device__ __forceinline__ unsigned short half_of(int x) {
    return __half_as_ushort(__float2half((float)x));
}
static __device__ __forceinline__ unsigned short bfloat_of(int x) {
    return (unsigned short)(__float_as_uint((float)x) >> 16);
}

static __device__ __forceinline__ unsigned shared_address(const void *pointer) {
    unsigned address;
    asm("{\n.reg .u64 p;\ncvta.to.shared.u64 p, %1;\ncvt.u32.u64 %0, p;\n}"
        : "=r"(address)
        : "l"(pointer));
    return address;
}

/* Four 8 x 8 matrices of 16 bits; lane l names row l % 8 of matrix l / 8. */
static __device__ __forceinline__ void load_matrices(unsigned *r, const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}
static __device__ __forceinline__ void load_transposed(unsigned *r, const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row)));
}

#define MMA_16816(name, type)                                                                      \
    static __device__ __forceinline__ void name(float *d, const unsigned *a, const unsigned *b) {  \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 "                \
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"             \
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                              \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
MMA_16816(mma_half, "f16")
MMA_16816(mma_bfloat, "bf16")

static __device__ __forceinline__ void mma_int8(int *d, const unsigned *a, const unsigned *b) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif
