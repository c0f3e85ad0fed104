/* PTX: the checked form of a PTX module, which the reader (ptx_read) passes to the decoder in isa/.
 *
 * Everything here is allocated in the module's arena and does not change after ptx_read, except
 * that ptx_link joins several modules into one. Names and rules: PTX ISA (NVIDIA), versions 1.4 to
 * 9.x. Left out: scheduling hints (.pragma, .loc beyond the line), debug sections, and everything
 * that ptx_read reports as unsupported with its line. */
#ifndef TYTO_PTX_PTX_H
#define TYTO_PTX_PTX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "ptx/opcode.h"
#include "ptx/warpgroup_shapes.h"

/* ---- Types and spaces ---- */

typedef enum PtxType {
    PTX_TYPE_NONE,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_F16,
    PTX_BF16,
    PTX_F32,
    PTX_F64,
    PTX_TF32,
    PTX_F16X2,
    PTX_BF16X2,
    PTX_U16X2,
    PTX_S16X2,
    PTX_F32X2,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_E4M3, /* this and the next four are only elements of matrices */
    PTX_E5M2,
    PTX_U4,
    PTX_S4,
    PTX_B1,
    PTX_PRED,
    PTX_TYPE_COUNT
} PtxType;

int ptx_type_bits(PtxType type);         /* 1..128; 1 for pred; 0 for none */
const char *ptx_type_name(PtxType type); /* ".u32" */
bool ptx_type_is_float(PtxType type);    /* f16, bf16, f32, f64, tf32 and pairs of floats */
bool ptx_type_is_signed(PtxType type);   /* s8..s64, s16x2 */
bool ptx_type_is_bits(PtxType type);     /* b8..b128 */

typedef enum PtxSpace {
    PTX_SPACE_NONE, /* no space written: generic addresses for memory instructions */
    PTX_SPACE_CONST,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_SHARED,
    PTX_SPACE_TEX,
    PTX_SPACE_CLUSTER /* shared memory of any CTA in the cluster */
} PtxSpace;

const char *ptx_space_name(PtxSpace space); /* ".global" */

/* ---- Modifiers of an instruction. 0 always means "not written". ---- */

typedef enum PtxRound {
    PTX_ROUND_NONE,
    PTX_RN,
    PTX_RZ,
    PTX_RM,
    PTX_RP,
    PTX_RNA,
    PTX_RS, /* floating point */
    PTX_RNI,
    PTX_RZI,
    PTX_RMI,
    PTX_RPI /* to an integral value */
} PtxRound;

typedef enum PtxCompare {
    PTX_CMP_NONE,
    PTX_EQ,
    PTX_NE,
    PTX_LT,
    PTX_LE,
    PTX_GT,
    PTX_GE,
    PTX_LO,
    PTX_LS,
    PTX_HI,
    PTX_HS,
    PTX_EQU,
    PTX_NEU,
    PTX_LTU,
    PTX_LEU,
    PTX_GTU,
    PTX_GEU,
    PTX_NUM,
    PTX_NAN
} PtxCompare;

/* The operation of atom, red, redux, bar.red, vote, shfl, testp, prmt, ..., as far as the opcode
 * has one. */
typedef enum PtxSub {
    PTX_SUB_NONE,
    PTX_SUB_ADD,
    PTX_SUB_INC,
    PTX_SUB_DEC,
    PTX_SUB_MIN,
    PTX_SUB_MAX,
    PTX_SUB_AND,
    PTX_SUB_OR,
    PTX_SUB_XOR,
    PTX_SUB_EXCH,
    PTX_SUB_CAS,
    PTX_SUB_POPC,
    PTX_SUB_VOTE_ALL,
    PTX_SUB_VOTE_ANY,
    PTX_SUB_VOTE_UNI,
    PTX_SUB_VOTE_BALLOT,
    PTX_SUB_SHFL_UP,
    PTX_SUB_SHFL_DOWN,
    PTX_SUB_SHFL_BFLY,
    PTX_SUB_SHFL_IDX,
    PTX_SUB_MATCH_ANY,
    PTX_SUB_MATCH_ALL,
    PTX_SUB_TESTP_FINITE,
    PTX_SUB_TESTP_INFINITE,
    PTX_SUB_TESTP_NUMBER,
    PTX_SUB_TESTP_NOTANUMBER,
    PTX_SUB_TESTP_NORMAL,
    PTX_SUB_TESTP_SUBNORMAL,
    PTX_SUB_PRMT_F4E,
    PTX_SUB_PRMT_B4E,
    PTX_SUB_PRMT_RC8,
    PTX_SUB_PRMT_ECL,
    PTX_SUB_PRMT_ECR,
    PTX_SUB_PRMT_RC16,
    PTX_SUB_BAR_SYNC,
    PTX_SUB_BAR_ARRIVE,
    PTX_SUB_PROXY_ASYNC,     /* fence.proxy.async */
    PTX_SUB_DEPENDENCY_WAIT, /* griddepcontrol.wait */
    PTX_SUB_BAR_RED,         /* operation of the reduction in `sub2` */
    PTX_SUB_LEFT,
    PTX_SUB_RIGHT, /* shf */
    PTX_SUB_TEX_1D,
    PTX_SUB_TEX_2D,
    PTX_SUB_TEX_3D,
    PTX_SUB_TEX_A1D,
    PTX_SUB_TEX_A2D,
    PTX_SUB_TEX_CUBE,
    PTX_SUB_TEX_ACUBE,
    PTX_SUB_TEX_BASE, /* tex: how the level is chosen */
    PTX_SUB_TEX_LEVEL,
    PTX_SUB_TEX_GRAD,
    PTX_SUB_TLD4_R,
    PTX_SUB_TLD4_G,
    PTX_SUB_TLD4_B,
    PTX_SUB_TLD4_A,
    PTX_SUB_TXQ_WIDTH,
    PTX_SUB_TXQ_HEIGHT,
    PTX_SUB_TXQ_DEPTH,
    PTX_SUB_TXQ_CHANNEL_TYPE,
    PTX_SUB_TXQ_CHANNEL_ORDER,
    PTX_SUB_TXQ_NORMALISED,
    PTX_SUB_TXQ_LAYERS,
    PTX_SUB_TXQ_LEVELS,
    PTX_SUB_TXQ_SAMPLES,
    PTX_SUB_TXQ_FILTER,
    PTX_SUB_TXQ_MODE_0,
    PTX_SUB_TXQ_MODE_1,
    PTX_SUB_TXQ_MODE_2,
    PTX_SUB_TXQ_LAYOUT,
    PTX_SUB_IS_TEXTURE, /* istypep */
    PTX_SUB_IS_SAMPLER,
    PTX_SUB_IS_SURFACE,
    PTX_SUB_WMMA_MMA,
    PTX_SUB_WMMA_LOAD,
    PTX_SUB_WMMA_STORE,
    PTX_SUB_MATRIX_A, /* wmma.load: selects the matrix */
    PTX_SUB_MATRIX_B,
    PTX_SUB_MATRIX_C,
    PTX_SUB_WGMMA_MMA,
    PTX_SUB_WGMMA_FENCE,
    PTX_SUB_WGMMA_COMMIT,
    PTX_SUB_WGMMA_WAIT,
    PTX_SUB_CP_COPY,
    PTX_SUB_CP_COMMIT,
    PTX_SUB_CP_WAIT_GROUP,
    PTX_SUB_CP_WAIT_ALL,
    PTX_SUB_CP_ARRIVE,
    PTX_SUB_BULK_LOAD,  /* cp.async.bulk from global to shared memory */
    PTX_SUB_BULK_STORE, /* from shared to global memory */
    PTX_SUB_BULK_LOCAL, /* inside the shared memory of a cluster */
    PTX_SUB_BULK_REDUCE,
    PTX_SUB_BULK_PREFETCH,
    PTX_SUB_MULTICAST,   /* loads: to the CTAs in the last operand, or the last before a policy */
    PTX_SUB_TENSOR_LOAD, /* cp.async.bulk.tensor, as above */
    PTX_SUB_TENSOR_STORE,
    PTX_SUB_TENSOR_REDUCE,
    PTX_SUB_TENSOR_PREFETCH,
    PTX_SUB_MAP_COPY, /* tensormap.cp_fenceproxy; the following are the fields of .replace: */
    PTX_SUB_MAP_ADDRESS,
    PTX_SUB_MAP_RANK,
    PTX_SUB_MAP_BOX,
    PTX_SUB_MAP_DIMENSION,
    PTX_SUB_MAP_STRIDE,
    PTX_SUB_MAP_STEP,
    PTX_SUB_MAP_TYPE,
    PTX_SUB_MAP_INTERLEAVE,
    PTX_SUB_MAP_SWIZZLE,
    PTX_SUB_MAP_FILL,
    PTX_SUB_MBARRIER_INIT,
    PTX_SUB_MBARRIER_INVAL,
    PTX_SUB_MBARRIER_ARRIVE,
    PTX_SUB_MBARRIER_ARRIVE_DROP,
    PTX_SUB_MBARRIER_WAIT,
    PTX_SUB_MBARRIER_TRY, /* waits for a limited time */
    PTX_SUB_MBARRIER_PENDING,
    PTX_SUB_MBARRIER_EXPECT, /* transactions */
    PTX_SUB_MBARRIER_COMPLETE,
    PTX_SUB_SHR7, /* vmad */
    PTX_SUB_SHR15,
    PTX_SUB_PACK_U16, /* cvt.pack: type to which a and b are converted */
    PTX_SUB_PACK_S16,
    PTX_SUB_PACK_U8,
    PTX_SUB_PACK_S8,
    PTX_SUB_PACK_U4,
    PTX_SUB_PACK_S4,
    PTX_SUB_PACK_U2,
    PTX_SUB_PACK_S2,
    PTX_SUB_POLICY_FRACTION,
    PTX_SUB_POLICY_RANGE,
    PTX_SUB_POLICY_CONVERT
} PtxSub;

typedef enum PtxMulMode { PTX_MUL_NONE, PTX_MUL_LO, PTX_MUL_HI, PTX_MUL_WIDE } PtxMulMode;

typedef enum PtxCacheOp {
    PTX_CACHE_NONE,
    PTX_CACHE_CA,
    PTX_CACHE_CG,
    PTX_CACHE_CS,
    PTX_CACHE_LU,
    PTX_CACHE_CV,
    PTX_CACHE_WB,
    PTX_CACHE_WT
} PtxCacheOp;

/* Shape of a matrix instruction: D (m x n) = A (m x k) * B (k x n) + C. For ldmatrix and similar
 * instructions, the shape of the matrix (m x n). MATRIX_SHAPE(m, n, k). */
// clang-format off
#define PTX_MATRIX_SHAPES(SHAPE)                                                                 \
    SHAPE(8, 8, 4) SHAPE(8, 8, 16) SHAPE(8, 8, 32) SHAPE(8, 8, 128)                              \
    SHAPE(16, 8, 4) SHAPE(16, 8, 8) SHAPE(16, 8, 16) SHAPE(16, 8, 32) SHAPE(16, 8, 64)           \
    SHAPE(16, 8, 128) SHAPE(16, 8, 256)                                                          \
    SHAPE(16, 16, 8) SHAPE(16, 16, 16) SHAPE(8, 32, 16) SHAPE(32, 8, 16)                         \
    PTX_WARPGROUP_SHAPES(SHAPE, 8) PTX_WARPGROUP_SHAPES(SHAPE, 16)                               \
    PTX_WARPGROUP_SHAPES(SHAPE, 32) PTX_WARPGROUP_SHAPES(SHAPE, 64)                              \
    PTX_WARPGROUP_SHAPES(SHAPE, 256)
// clang-format on

typedef enum PtxMatrixShape {
    PTX_SHAPE_NONE,
    PTX_SHAPE_M8N8,
#define SHAPE_ENUM(m, n, k) PTX_SHAPE_M##m##N##n##K##k,
    PTX_MATRIX_SHAPES(SHAPE_ENUM)
#undef SHAPE_ENUM
} PtxMatrixShape;

/* The effect of a surface instruction outside of its surface. */
typedef enum PtxBoundary {
    PTX_BOUNDARY_NONE,
    PTX_BOUNDARY_TRAP,
    PTX_BOUNDARY_CLAMP,
    PTX_BOUNDARY_ZERO
} PtxBoundary;

typedef enum PtxScope { PTX_SCOPE_NONE, PTX_CTA, PTX_CLUSTER, PTX_GPU, PTX_SYS } PtxScope;

/* Modifiers that are present or not. */
enum {
    PTX_FLAG_FTZ = 1 << 0,
    PTX_FLAG_SAT = 1 << 1,
    PTX_FLAG_APPROX = 1 << 2,
    PTX_FLAG_FULL = 1 << 3,
    PTX_FLAG_CC = 1 << 4,
    PTX_FLAG_VOLATILE = 1 << 5,
    PTX_FLAG_NC = 1 << 6,
    PTX_FLAG_UNI = 1 << 7,
    PTX_FLAG_SYNC = 1 << 8,
    PTX_FLAG_ALIGNED = 1 << 9,
    PTX_FLAG_WRAP = 1 << 10,
    PTX_FLAG_CLAMP = 1 << 11,
    PTX_FLAG_TO = 1 << 12 /* cvta.to */,
    PTX_FLAG_NAN_RESULT = 1 << 13 /* min.NaN */,
    PTX_FLAG_XORSIGN = 1 << 14,
    PTX_FLAG_RELU = 1 << 15,
    PTX_FLAG_SHIFTAMT = 1 << 16,
    PTX_FLAG_NOFTZ = 1 << 17,
    PTX_FLAG_SATFINITE = 1 << 18,
    PTX_FLAG_ABS = 1 << 19,
    PTX_FLAG_WARP = 1 << 20 /* bar.warp.sync */,
    PTX_FLAG_OOB = 1 << 21,
    PTX_FLAG_STRONG = 1 << 22, /* .relaxed, .acquire, .release, .acq_rel */
    PTX_FLAG_A_COL = 1 << 23,  /* mma, wmma: A, or the matrix in memory, is stored by columns */
    PTX_FLAG_B_COL = 1 << 24,
    PTX_FLAG_TRANS = 1 << 25,
    PTX_FLAG_IM2COL = 1 << 25, /* cp.async.bulk.tensor, without a transposition */
    PTX_FLAG_SPARSE = 1 << 26, /* mma.sp */
    PTX_FLAG_NOINC = 1 << 27,
    PTX_FLAG_NO_COMPLETE = 1 << 28,
    PTX_FLAG_PARITY = 1 << 29,
    PTX_FLAG_PLUS_ONE = 1 << 30 /* vmad.po */
};

/* ---- Operands ---- */

typedef enum PtxOperandKind {
    PTX_OPERAND_NONE,
    PTX_OPERAND_REG,     /* reg */
    PTX_OPERAND_IMM,     /* imm: two's complement integer, or bits of a float of the operand's
                          * type */
    PTX_OPERAND_SREG,    /* sreg */
    PTX_OPERAND_ADDRESS, /* the address of a variable (symbol + imm) used as a value */
    PTX_OPERAND_MEM,     /* [reg + imm], [symbol + imm] or [imm] */
    PTX_OPERAND_LABEL,   /* target: instruction index in the function */
    PTX_OPERAND_FUNC,    /* function */
    PTX_OPERAND_VECTOR,  /* {a, b, ...}: items, count */
    PTX_OPERAND_PAIR,    /* p|q of setp, shfl, match: items[0], items[1] */
    PTX_OPERAND_PROTO,   /* a .callprototype label, prototype */
    PTX_OPERAND_TARGETS, /* a .branchtargets / .calltargets label: items are labels or functions */
    PTX_OPERAND_SINK     /* _ */
} PtxOperandKind;

typedef struct PtxVar PtxVar;
typedef struct PtxFunction PtxFunction;
typedef struct PtxPrototype PtxPrototype;

/* Byte or half selector of a scalar video instruction's operand. */
typedef enum PtxSelect {
    PTX_SELECT_NONE,
    PTX_SELECT_B0,
    PTX_SELECT_B1,
    PTX_SELECT_B2,
    PTX_SELECT_B3,
    PTX_SELECT_H0,
    PTX_SELECT_H1
} PtxSelect;

/* The elements of registers that a packed video instruction selects. For the destination, the
 * elements that it computes. For a source, where each element comes from: among a's, followed by
 * b's. */
typedef struct PtxPick {
    uint8_t count; /* entries of `at`; 0: nothing was written */
    uint8_t bits;  /* per element: 8 (.b) or 16 (.h) */
    uint8_t at[4]; /* lowest first; the last digit written is the lowest */
} PtxPick;

typedef struct PtxOperand {
    PtxOperandKind kind;
    bool negate;             /* !p of a predicate source */
    bool is_minus;           /* -a, if the syntax has it */
    bool is_open;            /* while it is being read: a list follows inside the brackets of a
                              * MEM */
    bool is_float;           /* an IMM that was written as a floating-point constant */
    PtxSelect select;        /* selected part of a register, in a video instruction */
    PtxPick pick;            /* selected elements, in a packed video instruction */
    uint16_t count;          /* items of a VECTOR, PAIR or TARGETS */
    int32_t reg;             /* REG and MEM base: index in PtxFunction.regs; -1: none */
    PtxSreg sreg;            /* SREG, including its component (PTX_SREG_TID_X) */
    bool is_whole;           /* SREG: all four elements; sreg is the first of them */
    int64_t imm;             /* IMM value, byte offset of ADDRESS and MEM, number of an ENVREG */
    PtxVar *var;             /* ADDRESS and MEM: the variable; NULL: none */
    PtxFunction *function;   /* FUNC */
    PtxPrototype *prototype; /* PROTO */
    int32_t target; /* LABEL: index of the target instruction (may equal inst_count: the end) */
    struct PtxOperand *items; /* VECTOR, PAIR, TARGETS */
    int column;               /* for messages */
} PtxOperand;

enum { PTX_MAX_OPERANDS = 10 }; /* per instruction; a call has its arguments in separate lists */
enum { PTX_LAST_MAJOR = 9 };    /* PTX versions that can be read */

/* Order of the operands of a texture or surface instruction. */
typedef enum PtxTextureOperand {
    PTX_TEXTURE_DATA,   /* data read (a VECTOR, REG, or a PAIR of one and a predicate) or stored */
    PTX_TEXTURE_HANDLE, /* REG, or ADDRESS of the texture or surface */
    PTX_TEXTURE_COORDINATES, /* VECTOR, as written */
    PTX_TEXTURE_SAMPLER,     /* REG or ADDRESS */
    PTX_TEXTURE_LEVEL,       /* the level, or the gradient along x, a VECTOR */
    PTX_TEXTURE_GRADIENT_Y,  /* VECTOR */
    PTX_TEXTURE_OFFSET,      /* VECTOR */
    PTX_TEXTURE_OPERANDS
} PtxTextureOperand;

/* Eviction priorities: .evict_first ... */
typedef enum PtxEvict {
    PTX_EVICT_NONE, /* not specified */
    PTX_EVICT_NORMAL,
    PTX_EVICT_FIRST,
    PTX_EVICT_LAST,
    PTX_EVICT_UNCHANGED,
    PTX_EVICT_NO_ALLOCATE
} PtxEvict;

/* One instruction. Operands stand in source order: destinations first, as written. Some shapes:
 *   setp, shfl, match, lop3 with d|p    operands[0] is a PAIR
 *   ld, st .v2/.v4, tex, mov packs      a VECTOR; its items are REG, IMM (st) or SINK (ld)
 *   bra L                               LABEL
 *   brx.idx r, T                        REG, TARGETS (of labels)
 *   call f / call r, P / call r, T      FUNC / REG, PROTO / REG, TARGETS (of functions); arguments
 *                                       in call_returns and call_arguments
 *   tex, tld4, txq, suld ... eight operands, NONE if absent (PtxTextureOperand) A register declared
 * as a vector (.reg .v4 .f32 v) is four registers v.x ... v.w; naming v itself gives a VECTOR.
 * WARP_SZ is an IMM. Memory orders (.relaxed, .acquire ...) are accepted and dropped: execution is
 * in order. A cache policy is the last operand. */
typedef struct PtxInst {
    PtxOpcode op;
    PtxType type;  /* the (first) type; for cvt, set, mul.wide: the type of the destination ... */
    PtxType type2; /* ... and of the source: cvt.d.s, set.d.s, tex.v4.d.s, dp4a.a.b; otherwise
                    * NONE */
    PtxType type3; /* scalar and vector video instructions: vadd.d.a.b; mma.d.a.b.c */
    PtxType type4; /* mma */
    PtxRound round;
    PtxCompare compare;
    PtxSub sub;  /* operation of atom, vote, shfl, bar, txq ... */
    PtxSub sub2; /* setp.cmp.and / .or / .xor, bar.red's operation, geometry of tex, suld ... */
    PtxMulMode mul_mode;
    PtxSpace space; /* ld, st, atom, cvta, isspacep ... */
    PtxCacheOp cache_op;
    PtxEvict evict_l1;   /* .L1::evict_... */
    PtxEvict evict_l2;   /* .L2::evict_...; createpolicy: priority of the primary accesses ... */
    PtxEvict evict_rest; /* ... and of the others */
    uint8_t level;       /* prefetch: 1 or 2 */
    uint8_t prefetch;    /* log2 of the bytes of .L2::64B ...; 0: not specified */
    bool has_policy;     /* .L2::cache_hint */
    PtxScope scope;
    PtxMatrixShape shape; /* mma, wmma, ldmatrix ... */
    PtxBoundary boundary; /* suld, sust, sured */
    bool is_formatted;    /* sust.p, sured.p: coordinates in texels instead of bytes */
    uint32_t flags;       /* PTX_FLAG_FTZ ... */
    uint8_t vector;       /* 1, 2 or 4 elements of ld, st, tex */
    uint8_t operand_count;
    bool has_destination;     /* operands[0] is written (a call writes to call_returns). If it is
                               * also read (wgmma), the last operand repeats it */
    int32_t guard;            /* predicate register of @p; -1: none */
    bool guard_negated;       /* @!p */
    PtxOperand *operands;     /* operand_count of them */
    PtxOperand *call_returns; /* call: return operands (REG, or ADDRESS of a .param variable) */
    PtxOperand
        *call_arguments; /* call: argument operands (REG, IMM, or ADDRESS of a .param variable) */
    uint16_t call_return_count;
    uint16_t call_argument_count;
    int32_t reconverge; /* branches: index of the immediate post-dominator instruction, ignoring
                         * threads that end early (post_dominator.c); -1: none (exit) */
    int line, column;   /* in the PTX text, starting at 1 */
    int32_t loc;        /* last .loc: index in PtxModule.locs plus 1; 0: none */
} PtxInst;

/* A source location. */
typedef struct PtxLoc {
    int32_t file;         /* index of the .file directive */
    int32_t line, column; /* in the file */
    int32_t inlined_at; /* location of the inlined call: index in PtxModule.locs plus 1; 0: none */
} PtxLoc;

/* ---- Registers, variables, functions ---- */

typedef struct PtxReg {
    const char *name;    /* "%r12" */
    PtxType type;        /* as declared */
    int32_t ordinal;     /* its position among all registers that the function declares */
    int32_t first, last; /* first and last instruction between which its slot holds only its value;
                          * first is -1 if it is never used */
    int32_t slot; /* place at run time (ptx_allocate): a row of 32 x 32 bits (64-bit types also take
                   * the next one), or a predicate word; -1 if it is never used */
    int32_t module_reg; /* the module's register that this is the function's copy of, numbered from
                         * 1; 0: the function's own register */
    int line;           /* line of its declaration */
} PtxReg;

/* Types of variables that hold handles for texture instructions. */
typedef enum PtxOpaque {
    PTX_OPAQUE_NONE,
    PTX_OPAQUE_TEXTURE,
    PTX_OPAQUE_SAMPLER,
    PTX_OPAQUE_SURFACE
} PtxOpaque;

/* The properties of a sampler in the text. */
typedef struct PtxSampler {
    bool is_linear;
    bool is_unnormalised; /* overrides the texture's setting */
    uint8_t mode[3];      /* x, y, z: 0 wrap, 1 mirror, 2 clamp_ogl, 3 clamp_to_edge,
                             4 clamp_to_border */
} PtxSampler;

/* One part of an initialiser: a run of bytes, or an address. */
typedef struct PtxInit {
    uint64_t offset;       /* byte offset from the start of the variable */
    uint64_t size;         /* bytes written; for an address 1, 2, 4 or 8 */
    const uint8_t *bytes;  /* the run; NULL for an address */
    uint64_t addend;       /* bytes that are added to the address */
    PtxVar *var;           /* address of this variable */
    PtxFunction *function; /* address of this function */
    bool is_generic;       /* generic(symbol) */
    uint8_t byte; /* of mask() initialisers (0xFF(sym)): the byte of the address; 255: all */
} PtxInit;

typedef enum PtxLinkage { PTX_LINK_NONE, PTX_VISIBLE, PTX_EXTERN, PTX_WEAK, PTX_COMMON } PtxLinkage;

struct PtxVar {
    const char *name;
    PtxSpace space; /* const, global, local, param, shared, tex */
    PtxType type;   /* of one element */
    PtxLinkage linkage;
    uint32_t align;     /* bytes, a power of two */
    uint64_t size;      /* bytes in all; 0 for an incomplete array (.extern .shared x[]) */
    bool is_incomplete; /* size not known: the launch (shared), a call (parameters) or another
                         * module sets it */
    bool is_managed;    /* .attribute(.managed) */
    PtxOpaque opaque;   /* for space tex: a texture reference, a sampler, a surface reference */
    PtxSampler sampler; /* PTX_OPAQUE_SAMPLER */
    bool is_pointer;    /* parameters: declared with .ptr */
    bool is_parameter;  /* one of its owner's parameters or returns; other .param variables hold the
                         * arguments of calls that the owner makes */
    PtxInit *inits;     /* in order of offset; bytes between them are zero */
    uint32_t init_count;
    int32_t reg;    /* parameters of a .func declared .reg: the register, or the first of `vector`
                     * registers for a vector; otherwise -1 */
    uint8_t vector; /* number of elements of a parameter declared .reg .v2 or .v4; otherwise 1 */
    /* Address or offset. Shared: byte offset in the CTA's shared memory (ptx_link). Local,
     * parameter and call-site .param variables: byte offset in the function's local frame,
     * parameter area or call-site .param area (ptx_read). Global and const: device address, set
     * when the program is loaded. Local variables at module level: byte offset in a thread's local
     * memory (ptx_link). Not set for incomplete shared arrays: they start at the end of the
     * launched kernel's static shared memory (PtxFunction.shared_bytes) */
    uint64_t address;
    PtxFunction *owner; /* function that declares it; NULL at module level */
    PtxVar *alias;      /* while linking: the variable to which this declaration resolves */
    int line, column;
};

/* Whether the last parameter is an array without a size. It has the size of the argument that a
 * call passes for it, which may be omitted. */
static inline bool ptx_has_rest(const PtxVar *parameters, int count) {
    return count > 0 && parameters[count - 1].is_incomplete;
}

struct PtxPrototype {
    const char *name;
    PtxVar *returns; /* as declared; names may be "_" */
    PtxVar *parameters;
    uint16_t return_count, parameter_count;
};

/* Basic block of the control flow graph. */
typedef struct PtxBlock {
    int32_t first, last; /* instruction indices, inclusive */
    int32_t *successors; /* block indices; the virtual exit is block_count */
    uint16_t successor_count;
    int32_t post_dominator; /* immediate; block_count: the virtual exit */
} PtxBlock;

struct PtxFunction {
    const char *name;
    bool is_kernel;  /* .entry */
    bool is_defined; /* has a body (false: only .extern or a forward declaration) */
    PtxLinkage linkage;
    bool is_noreturn;
    const char *refusal; /* why it cannot run: the place, and what is not supported; NULL: it can */
    int32_t index;       /* index in PtxModule.functions (ptx_link) */
    PtxFunction *alias;  /* while reading and linking: the function to which this one resolves */
    PtxVar *returns;     /* of a .func */
    PtxVar *parameters;  /* in order. var.address: byte offset in the parameter area. A .func's area
                          * begins with its parameters and ends with its returns */
    uint16_t return_count, parameter_count;
    uint32_t parameter_bytes; /* size of the parameter area (kernels: what cuLaunchKernel copies) */
    PtxVar **locals; /* .local, .shared and call-site .param variables declared inside, with
                      * .address set. .param variables of all scopes share one area */
    uint32_t local_count;
    uint32_t param_area_bytes; /* kernels and functions: call-site .param variables, bytes per
                                * thread */
    /* kernels (ptx_link): static shared memory of a CTA, that is all shared variables that it or a
     * function it may call names. A multiple of the alignment of the dynamic array that it names,
     * which starts there */
    uint32_t shared_bytes;
    uint32_t local_bytes; /* local memory per thread and call */
    PtxReg *regs; /* in order of first use: unused registers of a range %r<100> cost nothing */
    int32_t reg_count;
    PtxInst *insts;
    int32_t inst_count;
    PtxBlock *blocks;
    int32_t block_count;
    int32_t row_count;  /* 32-bit rows per call (ptx_allocate) */
    int32_t pred_count; /* predicate words per call. Words 0 (none) and 1 (all lanes) are constants
                         * of the machine, so the slots start at 2 */
    int32_t registers;  /* 32-bit registers per thread that determine occupancy: maximum by liveness
                         * over the function and all functions it calls, limited by .maxnreg */
    uint32_t max_threads[3];      /* .maxntid; 0: not given */
    uint32_t required_threads[3]; /* .reqntid */
    uint32_t cluster[3];          /* in CTAs, .reqnctapercluster; 0: not given */
    uint32_t max_cluster;         /* in CTAs, .maxclusterrank; 0: not given */
    bool needs_cluster;           /* .explicitcluster: a launch must specify the cluster size */
    bool counts_clusters;         /* .blocksareclusters: a launch gives the grid in clusters */
    uint32_t min_ctas_per_sm;     /* .minnctapersm; 0: not given */
    uint32_t max_registers;       /* .maxnreg; 0: not given */
    uint32_t set_registers;       /* the largest count of its setmaxnreg; 0: it has none, or they
                                   * have no effect */
    bool uses_barrier;            /* contains bar/barrier */
    int line, column;
};

typedef struct PtxModule {
    Arena *arena;
    const char *file; /* name for messages */
    int version_major, version_minor;
    int target;       /* 75 of sm_75 */
    int address_bits; /* 32 or 64; while a text without .address_size is being read, 0 until the
                       * first address */
    PtxVar **vars;    /* module-level variables: global, const, shared, local, tex */
    int var_count;
    uint32_t local_bytes;    /* bytes of the local ones, which are at the start of a thread's local
                              * memory (ptx_link) */
    PtxFunction **functions; /* kernels and functions, definitions and unresolved externs */
    int function_count;
    const char **source_files; /* from .file directives, by index; NULL entries allowed */
    int source_file_count;
    PtxLoc *locs; /* of .loc directives */
    int32_t loc_count;
    const struct Cubin *cubin;  /* machine code (isa/sass/code.h) instead of text; NULL: PTX */
    unsigned char **cubin_data; /* machine code: by section, copies of the initial values */
} PtxModule;

/* Reads `length` bytes of PTX text. `name` is used in messages. Every error is reported to `diag`
 * with its line and column; then NULL is returned. Unsupported instructions and directives are
 * named. The module owns copies of everything it needs. `text` need not be NUL-terminated. */
PtxModule *ptx_read(const char *name, const char *text, size_t length, Diag *diag);

/* The same, but reorders the instructions of each block as a compiler for a machine might do:
 * instructions that long waits depend on come first. */
PtxModule *ptx_read_compiled(const char *name, const char *text, size_t length, Diag *diag);

/* Joins modules into the first one: binds .extern variables and functions to the other modules'
 * definitions, merges .weak and .common, then assigns shared memory and sets PtxFunction.registers.
 * The other modules must live as long as the first. Call it for a single module, too. Returns
 * false, after messages, if symbols are duplicate or missing. Functions that the simulator provides
 * (ptx_is_builtin) are never missing. */
bool ptx_link(PtxModule **modules, int count, Diag *diag);

/* Functions that the simulator itself provides. */
typedef enum PtxBuiltin {
#define BUILTIN(constant, name) PTX_BUILTIN_##constant,
#include "ptx/builtins.def"
#undef BUILTIN
    PTX_BUILTIN_COUNT /* not a builtin */
} PtxBuiltin;

PtxBuiltin ptx_find_builtin(const char *function_name);
/* Whether a name is that of a builtin; whether it is that of a function of the device runtime. */
bool ptx_is_builtin(const char *function_name);
bool ptx_is_device_runtime(const char *function_name);

void ptx_module_free(PtxModule *module);

PtxVar *ptx_find_var(const PtxModule *module, const char *name);

/* Control flow as Graphviz DOT, one cluster per function (`function` NULL: all of them). */
struct Text;
void ptx_write_dot(const PtxModule *module, const PtxFunction *function, struct Text *out);

#endif
