/* Arithmetic on the two halves or the four bytes of a word (__vadd4, __vcmpltu2, ...), with PTX's
 * video instructions. Not supported: those of CUDA 12 that combine three operands (__viaddmax,
 * ...). */
#ifndef TYTO_DEVICE_SIMD_H
#define TYTO_DEVICE_SIMD_H

#include "language.h"

typedef unsigned TytoPacked;

/* A function of two words: an instruction with its types and suffixes. Its third operand is added
 * if the suffix asks for that, and otherwise fills lanes that are not written. */
#define TYTO_PACKED(name, instruction)                                                             \
    static __device__ __forceinline__ TytoPacked name(TytoPacked a, TytoPacked b) {                \
        TytoPacked out;                                                                            \
        asm(instruction " %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(0));                  \
        return out;                                                                                \
    }
#define TYTO_PACKED_COMPARISON(comparison, sign, width, lane, type)                                \
    TYTO_PACKED(__vset##comparison##sign##width, "vset" #width "." type "." #comparison)           \
    static __device__ __forceinline__ TytoPacked __vcmp##comparison##sign##width(TytoPacked a,     \
                                                                                 TytoPacked b) {   \
        return __vset##comparison##sign##width(a, b) * lane;                                       \
    }
/* For halves (2) or bytes (4): `lane` has the bits of a lane, `even` all bits except each lane's
 * lowest. */
#define TYTO_PACKED_FUNCTIONS(width, lane, even)                                                   \
    TYTO_PACKED(__vadd##width, "vadd" #width ".u32.u32.u32")                                       \
    TYTO_PACKED(__vaddss##width, "vadd" #width ".s32.s32.s32.sat")                                 \
    TYTO_PACKED(__vaddus##width, "vadd" #width ".u32.u32.u32.sat")                                 \
    TYTO_PACKED(__vsub##width, "vsub" #width ".u32.u32.u32")                                       \
    TYTO_PACKED(__vsubss##width, "vsub" #width ".s32.s32.s32.sat")                                 \
    TYTO_PACKED(__vsubus##width, "vsub" #width ".u32.u32.u32.sat")                                 \
    TYTO_PACKED(__vavgs##width, "vavrg" #width ".s32.s32.s32")                                     \
    TYTO_PACKED(__vavgu##width, "vavrg" #width ".u32.u32.u32")                                     \
    TYTO_PACKED(__vmaxs##width, "vmax" #width ".s32.s32.s32")                                      \
    TYTO_PACKED(__vmaxu##width, "vmax" #width ".u32.u32.u32")                                      \
    TYTO_PACKED(__vmins##width, "vmin" #width ".s32.s32.s32")                                      \
    TYTO_PACKED(__vminu##width, "vmin" #width ".u32.u32.u32")                                      \
    TYTO_PACKED(__vabsdiffs##width, "vabsdiff" #width ".s32.s32.s32")                              \
    TYTO_PACKED(__vabsdiffu##width, "vabsdiff" #width ".u32.u32.u32")                              \
    TYTO_PACKED(__vsads##width, "vabsdiff" #width ".s32.s32.s32.add")                              \
    TYTO_PACKED(__vsadu##width, "vabsdiff" #width ".u32.u32.u32.add")                              \
    TYTO_PACKED(tyto_abs_saturated##width, "vabsdiff" #width ".s32.s32.s32.sat")                   \
    TYTO_PACKED_COMPARISON(eq, , width, lane, "u32.u32")                                           \
    TYTO_PACKED_COMPARISON(ne, , width, lane, "u32.u32")                                           \
    TYTO_PACKED_COMPARISON(lt, s, width, lane, "s32.s32")                                          \
    TYTO_PACKED_COMPARISON(lt, u, width, lane, "u32.u32")                                          \
    TYTO_PACKED_COMPARISON(le, s, width, lane, "s32.s32")                                          \
    TYTO_PACKED_COMPARISON(le, u, width, lane, "u32.u32")                                          \
    TYTO_PACKED_COMPARISON(gt, s, width, lane, "s32.s32")                                          \
    TYTO_PACKED_COMPARISON(gt, u, width, lane, "u32.u32")                                          \
    TYTO_PACKED_COMPARISON(ge, s, width, lane, "s32.s32")                                          \
    TYTO_PACKED_COMPARISON(ge, u, width, lane, "u32.u32")                                          \
    static __device__ __forceinline__ TytoPacked __vabs##width(TytoPacked a) {                     \
        return __vabsdiffs##width(a, 0);                                                           \
    }                                                                                              \
    static __device__ __forceinline__ TytoPacked __vabsss##width(TytoPacked a) {                   \
        return tyto_abs_saturated##width(a, 0);                                                    \
    }                                                                                              \
    static __device__ __forceinline__ TytoPacked __vneg##width(TytoPacked a) {                     \
        return __vsub##width(0, a);                                                                \
    }                                                                                              \
    static __device__ __forceinline__ TytoPacked __vnegss##width(TytoPacked a) {                   \
        return __vsubss##width(0, a);                                                              \
    }                                                                                              \
    static __device__ __forceinline__ TytoPacked __vhaddu##width(TytoPacked a, TytoPacked b) {     \
        return (a & b) + (((a ^ b) & even) >> 1);                                                  \
    }
TYTO_PACKED_FUNCTIONS(2, 0xffffu, 0xfffefffeu)
TYTO_PACKED_FUNCTIONS(4, 0xffu, 0xfefefefeu)
#undef TYTO_PACKED_FUNCTIONS
#undef TYTO_PACKED_COMPARISON
#undef TYTO_PACKED

#endif
