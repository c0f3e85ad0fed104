/* What a timing model knows of an instruction, whatever executes it: class, registers, memory
 * access, and the issue slots that it takes. Static: one row per pc of a program. isa/source.h
 * describes what an execution did. */
#ifndef TYTO_ISA_INFO_H
#define TYTO_ISA_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

enum { ISA_LANES = 32 };

/* WarpStep.pattern: layout of the words that half a warp accesses. The lower lanes' value is in the
 * lower bits, the upper lanes' ISA_HALF_BITS above. */
enum {
    ISA_HALF_RUN = 1, /* consecutive words */
    ISA_HALF_ONE = 2, /* all the same word */
    ISA_HALF_BITS = 2
};

/* Classes of instructions that share latency and initiation interval in a machine file. */
typedef enum IsaClass {
    ISA_CLASS_OTHER, /* mov, cvt, setp, selp, logic, shifts, branches, barriers ... */
    ISA_CLASS_INT_ADD,
    ISA_CLASS_INT_MINMAX,
    ISA_CLASS_INT_MUL,
    ISA_CLASS_INT_MAD,
    ISA_CLASS_INT_DIV,
    ISA_CLASS_INT_REM,
    ISA_CLASS_MUL24,
    ISA_CLASS_MAD24,
    ISA_CLASS_FP16_ADD, /* one or two halves; also bf16 */
    ISA_CLASS_FP16_MINMAX,
    ISA_CLASS_FP16_MUL,
    ISA_CLASS_FP16_MAD,
    ISA_CLASS_FP32_ADD,
    ISA_CLASS_FP32_MINMAX,
    ISA_CLASS_FP32_MUL,
    ISA_CLASS_FP32_MAD,
    ISA_CLASS_FP32_DIV,
    ISA_CLASS_FP64_ADD,
    ISA_CLASS_FP64_MINMAX,
    ISA_CLASS_FP64_MUL,
    ISA_CLASS_FP64_MAD,
    ISA_CLASS_FP64_DIV,
    ISA_CLASS_SFU, /* rcp, sqrt, rsqrt, sin, cos, ex2, lg2, tanh */
    ISA_CLASS_SHUFFLE,
    ISA_CLASS_BITS,   /* popc, clz, brev, bfind */
    ISA_CLASS_MATRIX, /* mma, wmma.mma, wgmma. For the first two, IsaInfo.element_bytes is an
                       * IsaTensor, plus ISA_TENSOR_SPARSE if A is sparse, and IsaInfo.vector is the
                       * binary logarithm of the number of products of a warp */
    ISA_CLASS_MEMORY, /* ld, st, atom, red, tex, prefetch: timed by the load/store unit */
    ISA_CLASS_COUNT
} IsaClass;

/* The type of a matrix product's factors, as far as its rate depends on it. */
typedef enum IsaTensor {
    ISA_TENSOR_FP16, /* also bf16 */
    ISA_TENSOR_TF32,
    ISA_TENSOR_FP64,
    ISA_TENSOR_FP8,
    ISA_TENSOR_INT8,
    ISA_TENSOR_INT4,
    ISA_TENSOR_BIT,
    ISA_TENSORS
} IsaTensor;
enum { ISA_TENSOR_SPARSE = 16 }; /* added to one of the above */

typedef enum IsaMemoryKind {
    ISA_MEMORY_NONE,
    ISA_MEMORY_LOAD,
    ISA_MEMORY_STORE,
    ISA_MEMORY_ATOMIC,
    ISA_MEMORY_PREFETCH,
    ISA_MEMORY_TEXTURE
} IsaMemoryKind;

/* The request of an ISA_MEMORY_PREFETCH instruction to the caches. */
typedef enum IsaAdvice {
    ISA_ADVICE_PREFETCH_L1,
    ISA_ADVICE_PREFETCH_L2,
    ISA_ADVICE_NORMAL, /* applypriority */
    ISA_ADVICE_DISCARD
} IsaAdvice;

/* The effect of an ISA_IS_DEPENDENCY instruction. */
typedef enum IsaDependency {
    ISA_DEPENDENCY_TRIGGER, /* dependent grids may begin, as far as this CTA is concerned */
    ISA_DEPENDENCY_WAIT     /* waits for the end of the grids that this one depends on */
} IsaDependency;

/* The effect of an ISA_IS_WARPGROUP instruction. */
typedef enum IsaWarpgroup {
    ISA_WARPGROUP_PRODUCT,  /* element_bytes: IsaTensor; vector: columns of D / 8; prefetch:
                               ISA_PRODUCT_... */
    ISA_WARPGROUP_COMMIT,   /* the products so far become a group */
    ISA_WARPGROUP_WAIT,     /* element_bytes: how many groups may be pending */
    ISA_WARPGROUP_REGISTERS /* vector: registers per thread / 8; prefetch: 1 if it requests more */
} IsaWarpgroup;
enum {
    ISA_PRODUCT_A_IS_SHARED = 1, /* reads A from shared memory */
    ISA_PRODUCT_ENDS_GROUP = 2,  /* also ends its group: machine code */
    ISA_PRODUCT_IS_NONE = 4,     /* only ends the group, without a product */
    ISA_PRODUCT_IS_SPARSE = 8    /* half of A's elements are stored; K is twice as deep */
};

enum { /* IsaInfo.flags */
       ISA_IS_BRANCH = 1 << 0,
       ISA_IS_BARRIER = 1 << 1,
       ISA_IS_FENCE = 1 << 2,
       ISA_IS_EXIT = 1 << 3,
       ISA_IS_CALL = 1 << 4,
       ISA_IS_RET = 1 << 5,
       ISA_IS_REDUCTION = 1 << 6 /* red: has no result */,
       ISA_IS_VOLATILE = 1 << 7,
       ISA_IS_CTA_FENCE = 1 << 8,  /* a fence that orders for the CTA only */
       ISA_NEEDS_MEMBERS = 1 << 9, /* waits for the lanes of a member mask */
       ISA_IS_BULK = 1 << 10,      /* starts bulk copies (async.h) */
       ISA_IS_COPY = 1 << 11,      /* cp.async: the read writes no register */
       ISA_IS_COPY_COMMIT = 1 << 12,
       ISA_IS_COPY_WAIT = 1 << 13, /* element_bytes: how many groups may be pending */
       ISA_NAMES_ROWS = 1 << 15,   /* ldmatrix, stmatrix: the first 8 lanes for each matrix name an
                                    * address, the others repeat them */
       ISA_IS_CALL_ARGUMENT = 1 << 16, /* accesses a parameter in the local area of a call */
       ISA_IS_PHASE = 1 << 17,         /* mbarrier: may end a phase, or waits for the end of one */
       ISA_LOOKS = 1 << 18,            /* may see stores of other threads */
       ISA_IS_WARPGROUP = 1 << 19,     /* wgmma or setmaxnreg: advice is an IsaWarpgroup */
       ISA_IS_DEPENDENCY = 1 << 20,    /* griddepcontrol: advice is an IsaDependency */
       ISA_IS_STRONG = 1 << 14         /* an access that does not race with others of this kind (PTX
                                        * ISA, memory consistency model): volatile, relaxed,
                                        * acquire, release */
};

/* A register in a timing model. Registers of all files (predicates, uniform registers) are numbered
 * in one sequence. */
typedef struct IsaReg {
    uint32_t number;  /* from 0 in each function; the scoreboard tracks it */
    uint32_t ordinal; /* determines its bank (PtxReg.ordinal) */
} IsaReg;

/* IsaInfo.element_bytes of a wait that also covers copies in no group. */
enum { ISA_WAIT_ALL = 255 };

/* What a timing model needs to know of an instruction. A program has one row per pc. */
typedef struct IsaInfo {
    uint32_t flags;    /* ISA_IS_... */
    uint32_t regs;     /* first register number in IsaProgram.reg_pool: destinations, data sources,
                          address sources, then the guard if there is one */
    uint8_t dst_count; /* destinations */
    uint8_t src_count; /* data sources (registers only; a register named twice counts twice) */
    uint8_t address_count; /* address sources */
    uint8_t guard_count;   /* 1 if guarded */
    uint8_t op_class;      /* IsaClass */
    uint8_t memory;        /* IsaMemoryKind */
    uint8_t space;         /* PtxSpace of the access */
    uint8_t cache_op;      /* PtxCacheOp */
    uint8_t element_bytes; /* bytes per element and lane; for arithmetic, of the type */
    uint8_t vector;        /* elements per lane */
    uint16_t op;           /* PtxOpcode */
    uint8_t evict[2];      /* PtxEvict of memory accesses, for L1 and for L2 */
    uint8_t prefetch;      /* log2 of the bytes that a load asks L2 to fetch; 0: not specified */
    uint8_t advice;        /* IsaAdvice of ISA_MEMORY_PREFETCH; IsaWarpgroup */
    int32_t policy;        /* the source's own identifier of the cache policy
                            * (WarpSource.cache_policy); 0: none */
    uint16_t function;     /* index in IsaProgram.functions */
    uint8_t naming_lanes;  /* ISA_NAMES_ROWS: number of first lanes whose addresses are used */
    uint32_t line;         /* in the PTX text */
    uint32_t loc;          /* place in the source: index in PtxModule.locs plus 1; 0: unknown */
} IsaInfo;

/* Execution units of a sub-core of current GPUs, as far as an instruction's timing depends on
 * them. */
typedef enum IsaUnit {
    ISA_UNIT_ALU,  /* integer logic, comparisons, minimum */
    ISA_UNIT_FMA,  /* 32-bit floating point and integer multiplication */
    ISA_UNIT_HALF, /* pairs of halves */
    ISA_UNIT_DOUBLE,
    ISA_UNIT_TENSOR,
    ISA_UNIT_SFU,     /* reciprocals, roots, conversions, bit counts */
    ISA_UNIT_UNIFORM, /* the uniform data path */
    ISA_UNIT_MEMORY,  /* loads, stores, atomics, shuffles */
    ISA_UNIT_TEXTURE,
    ISA_UNIT_BRANCH, /* control flow, barriers, everything else */
    ISA_UNITS
} IsaUnit;

enum {
    ISA_COUNTERS = 6, /* dependence counters of a warp */
    ISA_NO_COUNTER = 7,
    ISA_PLACES = 3, /* positions of source operands */
    ISA_NO_REGISTER = 255
};

/* Constant banks in the timing model. */
#define ISA_BANK_ADDRESS (UINT64_C(1) << 39) /* our address of bank 0, above all device memory */
enum {
    ISA_BANK_SHIFT = 16,           /* log2 of a bank's bytes */
    ISA_INDEXED_CONSTANT = 1 << 30 /* IsaControl.constant: a uniform register chooses the word */
};
/* The IsaControl.constant of a word at an offset in bank 0. */
static inline uint32_t isa_constant(uint64_t offset) {
    return UINT32_C(1) << 31 | (uint32_t)offset;
}

/* How the code wants an instruction issued. Compilers write this into machine code; older GPUs have
 * a scoreboard instead. */
typedef struct IsaControl {
    uint8_t stall;         /* cycles until the warp's next instruction, 0 to 15 */
    bool yields;           /* the warp does not issue in the next cycle */
    uint8_t write_counter; /* this counter is raised from issue until the result is written;
                            * ISA_NO_COUNTER */
    uint8_t read_counter;  /* this counter is raised until the sources are read; ISA_NO_COUNTER */
    uint8_t wait_mask;     /* counters that must be 0 before issue, one bit each */
    uint8_t waits_for;     /* DEPBAR.LE: waits until this counter ...; ISA_NO_COUNTER */
    uint8_t at_most;       /* ... is at most this */
    uint8_t unit;          /* IsaUnit */
    uint8_t reuse;         /* positions whose register stays in the reuse cache, one bit each */
    uint8_t words;         /* 32-bit registers per operand: 2 for pairs */
    uint8_t operand[ISA_PLACES]; /* first register at each position; ISA_NO_REGISTER */
    uint32_t constant;           /* an operand in a constant bank: bank << 16 | offset | 1 << 31; or
                                  * ISA_INDEXED_CONSTANT; otherwise 0 */
} IsaControl;

/* The issue slots of one instruction of a program. */
typedef struct IsaSlots {
    uint8_t slots;  /* issue slots; 0: another instruction does its work */
    uint8_t taken;  /* a guarded branch that all lanes take: the slots in this case; otherwise as
                     * `slots` */
    uint8_t passed; /* a guarded branch that no lane takes; otherwise as `slots` */
    uint8_t chain;  /* number of slots that wait for one another. For a load without a slot: 1 if it
                     * still accesses memory, through another load that does it for both */
    bool is_forgotten; /* an atomic with an unused result: it returns none */
} IsaSlots;

/* Whether another instruction does its work, including its memory access if it has one. */
static inline bool isa_is_absorbed(IsaSlots slots) { return !slots.slots && !slots.chain; }

enum { ISA_MAX_SLOTS = 255 };

#endif
