/* Handlers: the number of every function that executes instructions, and the tables from number to
 * function, one per variant of the host's instruction set. Also the meaning of IsaInst.sub if it is
 * a set of modifiers.
 *
 * The .def files specify what each handler computes, one line per form. Handlers of handlers.def
 * exist once per variant. Handlers of ISA_COMMON_HANDLERS do not profit from vectors, so they are
 * compiled once and are in every table. */
#ifndef TYTO_ISA_EXEC_HANDLERS_H
#define TYTO_ISA_EXEC_HANDLERS_H

#include <stdint.h>
#include <string.h>

#include "isa/isa.h"

/* Handlers that are compiled once: HANDLER(NAME) is the function isa_exec_NAME. */
#define ISA_COMMON_HANDLERS(HANDLER)                                                               \
    HANDLER(NOP)                                                                                   \
    HANDLER(FENCE)          /* sub: IsaFence */                                                    \
    HANDLER(WARP_SYNC)      /* waits for its members */                                            \
    HANDLER(SREG)           /* operand d; sub: PtxSreg, size: bytes of d, 0: a predicate */        \
    HANDLER(LOCAL_ADDRESS)  /* operand d; imm: offset in the frame's local area; size: bytes */    \
    HANDLER(SHARED_ADDRESS) /* the same, offset past the launch's static shared memory */          \
    HANDLER(CTA_ADDRESS)    /* the same, offset in the CTA's shared memory */                      \
    HANDLER(MAPA)           /* isa/cluster.c */                                                    \
    HANDLER(CTA_RANK)                                                                              \
    HANDLER(COMMIT_GROUP) /* flow/warpgroup.c */                                                   \
    HANDLER(ALLOCA)       /* operands d, size; imm: alignment; size: bytes of d */                 \
    HANDLER(STACKSAVE)    /* operand d; size: bytes */                                             \
    HANDLER(STACKRESTORE) /* operand a; size: bytes */                                             \
    HANDLER(SEQUENCE)     /* target: first of `imm` instructions in program->steps; sub: all */    \
                          /* lanes execute them (uniform) */                                       \
    HANDLER(BUILTIN)      /* a step: target, imm as of ISA_FLOW_CALL_BUILTIN */                    \
    ISA_DIRECTED_HANDLERS(HANDLER)

/* The effect of a fence. */
typedef enum IsaFence {
    ISA_FENCE_DEVICE, /* orders accesses for the whole device */
    ISA_FENCE_CTA,    /* orders accesses for the CTA only */
    ISA_FENCE_PROXY   /* orders accesses of the generic and the asynchronous proxy */
} IsaFence;

/* f64 in a rounding mode other than to nearest (directed.c); sub: modifiers. */
#define ISA_DIRECTED_HANDLERS(HANDLER)                                                             \
    HANDLER(ADD_F64_DIR)                                                                           \
    HANDLER(SUB_F64_DIR)                                                                           \
    HANDLER(MUL_F64_DIR)                                                                           \
    HANDLER(FMA_F64_DIR)                                                                           \
    HANDLER(DIV_F64_DIR)                                                                           \
    HANDLER(RCP_F64_DIR)                                                                           \
    HANDLER(SQRT_F64_DIR)

typedef enum IsaHandler {
    ISA_DO_NONE, /* no function: IsaInst.flow alone defines the effect */
#define HANDLER(name) ISA_DO_##name,
#include "isa/exec/handlers.def"
#define HANDLER(name) ISA_DO_##name,
    ISA_COMMON_HANDLERS(HANDLER)
#undef HANDLER
        ISA_DO_COUNT
} IsaHandler;

#define HANDLER(name) IsaExec isa_exec_##name;
ISA_COMMON_HANDLERS(HANDLER)
#undef HANDLER

/* A build of the execution files for one instruction set of the host. */
typedef struct IsaVariant {
    const char *name;      /* "v4", "v3" (the levels of x86-64), "base" */
    IsaExec *const *table; /* by IsaHandler */
} IsaVariant;

/* The variants of this build, best first; NULL for a variant that this host cannot run. The last
 * one, "base", always runs. */
int isa_variant_count(void);
const IsaVariant *isa_variant(int index);
/* The usable variant of that name, or NULL. A NULL name selects the best one. */
const IsaVariant *isa_find_variant(const char *name);
/* Decodes every function of a linked module. The device addresses of its global and constant
 * variables (PtxVar.address) must be set. Returns NULL, after messages that name the PTX line, if
 * some instruction form is not supported. The caller owns the program (isa_program_free); the
 * module must outlive it. `variant` executes the program: tests choose one, others use the best. */
IsaProgram *isa_decode_variant(const PtxModule *module, const IsaVariant *variant, Diag *diag);

/* The handler of a load or store whose other fields are set: a specialised one for plain accesses.
 * `space`: PTX_SPACE_NONE for generic addresses. */
IsaHandler isa_access_handler(const IsaInst *inst, PtxSpace space, bool is_load);

/* ---- IsaInst.sub ---- */

/* Modifiers of floating-point handlers. */
enum {
    ISA_MOD_ROUND = 3, /* bits 0..1: IsaRound */
    ISA_MOD_FTZ = 1 << 2,
    ISA_MOD_SAT = 1 << 3, /* to [0, 1]; integers: to the destination's range */
    ISA_MOD_RELU = 1 << 4,
    ISA_MOD_NAN = 1 << 5,     /* min, max: a NaN operand gives NaN */
    ISA_MOD_XORSIGN = 1 << 6, /* min, max .xorsign.abs */
    ISA_MOD_ABS = 1 << 7,     /* min, max of three: of the magnitudes */
};
typedef enum IsaRound {
    ISA_ROUND_NEAREST, /* ties to even */
    ISA_ROUND_ZERO,
    ISA_ROUND_DOWN,
    ISA_ROUND_UP,
    ISA_ROUND_TIES_AWAY /* conversions to tf32 only: not in ISA_MOD_ROUND */
} IsaRound;

/* a * b + c of f64 in a rounding mode (directed.c). */
double isa_fma_directed(double a, double b, double c, IsaRound round);

/* cvt, in IsaInst.imm: both sides of the conversion. */
typedef struct IsaConvert {
    uint8_t source, destination;           /* PtxType */
    uint8_t source_bits, destination_bits; /* of the types */
    uint8_t register_bits;                 /* of the destination register, at least as many as the
                                            * type's */
    uint8_t modifiers;                     /* ISA_MOD_FTZ, _SAT, _RELU */
    uint8_t integral;                      /* PtxRound: rounding to an integral value, or none */
    uint8_t round : 3;                     /* IsaRound: rounding to the destination's format */
    uint8_t is_source_signed : 1;
    uint8_t is_destination_signed : 1;
    uint8_t is_satfinite : 1; /* the largest number of the format instead of infinity */
} IsaConvert;
static_assert(sizeof(IsaConvert) == sizeof(int64_t), "travels in IsaInst.imm");

static inline int64_t isa_convert_imm(IsaConvert convert) {
    int64_t imm;
    memcpy(&imm, &convert, sizeof imm);
    return imm;
}
static inline IsaConvert isa_convert_of(int64_t imm) {
    IsaConvert convert;
    memcpy(&convert, &imm, sizeof convert);
    return convert;
}

/* Video instructions, in IsaInst.imm. For packed ones, IsaInst.sub has one bit for each element
 * that is computed; the other elements are taken from c, or are not part of a sum. IsaInst.target
 * selects the elements of {b, a} that become the operands: 4 bits for each, a's lowest first, b's
 * from bit 16 on. */
enum {
    ISA_VIDEO_ADD,
    ISA_VIDEO_SUB,
    ISA_VIDEO_ABSDIFF,
    ISA_VIDEO_MIN,
    ISA_VIDEO_MAX,
    ISA_VIDEO_AVERAGE,
    ISA_VIDEO_SHL,
    ISA_VIDEO_SHR,
    ISA_VIDEO_MAD,
    ISA_VIDEO_SET /* PtxCompare is added: operation - ISA_VIDEO_SET */
};
typedef struct IsaVideo {
    uint8_t operation;                    /* ISA_VIDEO_... */
    uint8_t second;                       /* PtxSub: how the result is combined with c; or none */
    uint8_t select_a, select_b, select_d; /* PtxSelect of the scalar forms */
    uint8_t parts;                        /* 1, 2 or 4 */
    uint8_t shift;                        /* vmad: right shift of the result */
    uint8_t is_saturating : 1;
    uint8_t is_signed : 1; /* the destination */
    uint8_t is_a_signed : 1;
    uint8_t is_b_signed : 1;
    uint8_t wraps : 1;           /* vshl, vshr: the count wraps */
    uint8_t adds_one : 1;        /* vmad */
    uint8_t negates_product : 1; /* vmad */
    uint8_t negates_c : 1;       /* vmad */
} IsaVideo;
static_assert(sizeof(IsaVideo) == sizeof(int64_t), "travels in IsaInst.imm");

static inline int64_t isa_video_imm(IsaVideo video) {
    int64_t imm;
    memcpy(&imm, &video, sizeof imm);
    return imm;
}
static inline IsaVideo isa_video_of(int64_t imm) {
    IsaVideo video;
    memcpy(&video, &imm, sizeof video);
    return video;
}

/* setp, set: changes to the comparison's truth value before it is stored. */
enum {
    ISA_COMPARE_NEGATE = 1,   /* applied first */
    ISA_COMPARE_PAIR = 2,     /* a second predicate q is stored */
    ISA_COMPARE_NEGATE_C = 4, /* predicate c is negated */
    ISA_COMPARE_AND = 8,      /* combined with predicate c by AND, OR or XOR */
    ISA_COMPARE_OR = 16,
    ISA_COMPARE_XOR = 32,
    ISA_COMPARE_FTZ = 64 /* pairs of halves: subnormals count as zero */
};
static inline uint32_t isa_combine(uint32_t sub, uint32_t truth, uint32_t c) {
    if (sub & ISA_COMPARE_NEGATE_C) c = ~c;
    if (sub & ISA_COMPARE_AND) return truth & c;
    if (sub & ISA_COMPARE_OR) return truth | c;
    if (sub & ISA_COMPARE_XOR) return truth ^ c;
    return truth;
}

#endif
