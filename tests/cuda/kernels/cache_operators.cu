/* Loads, stores and prefetches with cache operators. None of them changes a value. */
#include "kernel.h"

extern "C" __global__ void cache_operators(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned a, b, c, d, e;
    const unsigned *address = in + i;
    asm volatile("prefetch.global.L2 [%0]; prefetchu.L1 [%0];" : : "l"(address));
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(address));
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(b) : "l"(address));
    asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(c) : "l"(address));
    asm volatile("ld.global.lu.u32 %0, [%1];" : "=r"(d) : "l"(address));
    asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(e) : "l"(address));
    unsigned *row = out + 4 * i;
    asm volatile("st.global.wb.u32 [%0], %1;" : : "l"(row), "r"(a + b) : "memory");
    asm volatile("st.global.cg.u32 [%0+4], %1;" : : "l"(row), "r"(b + c) : "memory");
    asm volatile("st.global.cs.u32 [%0+8], %1;" : : "l"(row), "r"(c + d) : "memory");
    asm volatile("st.global.wt.u32 [%0+12], %1;" : : "l"(row), "r"(d + e) : "memory");
}
