/* The decoder's internals: shared by decode.c (functions, operands) and the files that each decode
 * one kind of instruction. */
#ifndef TYTO_ISA_DECODE_DECODE_H
#define TYTO_ISA_DECODE_DECODE_H

#include "isa/exec/handlers.h"
#include "isa/isa.h"

typedef struct Decoder Decoder;

/* Decodes decoder->ptx into decoder->draft. Returns false after a message. */
typedef bool DecodeOp(Decoder *decoder);

enum { DECODE_MAX_REGS = 40 }; /* wmma.mma of f16 needs 32 */

/* Register numbers of the instruction being decoded. */
typedef struct RegList {
    uint32_t reg[DECODE_MAX_REGS];
    uint8_t count;
} RegList;

/* The instruction being decoded. */
typedef struct Draft {
    IsaInst inst;
    IsaInfo info;
    RegList destinations, sources, addresses;
} Draft;

struct Decoder {
    IsaProgram *program;
    Diag *diag;
    IsaExec *const *table; /* functions of the chosen variant */
    /* The function being decoded. */
    const PtxFunction *function;
    uint32_t function_index;
    uint32_t *pc_of;       /* by index of the PTX instruction, inst_count + 1 entries */
    uint32_t local_base;   /* byte offset in its local area of its own .local variables ... */
    uint32_t formal_base;  /* ... its own parameters and returns ... */
    uint32_t param_base;   /* ... its call-site .param variables ... */
    uint32_t rest_base;    /* ... and its parameter without a size, which is last */
    uint32_t scratch_row;  /* first scratch row, for discarded elements and hidden moves */
    uint32_t scratch_rows; /* how many scratch rows are needed */
    uint32_t scratch_pred; /* predicate word for discarded predicates */
    /* The instruction being decoded. */
    const PtxInst *ptx;
    Draft draft;
    uint32_t negated;     /* negated predicate sources, one bit per operand index */
    uint32_t hidden_rows; /* scratch rows used by hidden moves of this instruction */
    /* Growing arrays that become the program's. */
    uint32_t inst_capacity, reg_count, reg_capacity, target_count, target_capacity, call_capacity;
    uint32_t wide_count, wide_capacity;
    const char *refusal; /* the first unsupported thing in the function; NULL: none */
    struct ConstantPool *constants;
};

/* ---- Messages ---- */

/* Reports the unsupported instruction with its line; its function cannot run. Returns false. */
bool decode_unsupported(Decoder *decoder, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Operands (decode_operand.c) ---- */

/* The constant row of a 32-bit or (is_wide) 64-bit value. */
IsaOperand decode_constant(Decoder *decoder, uint64_t value, bool is_wide);
/* A source value of `type`: a register, immediate, fixed address or special register (read by a
 * hidden mov). */
bool decode_source(Decoder *decoder, const PtxOperand *operand, PtxType type, IsaOperand *out);
/* A destination register, or the scratch row for `_`. */
bool decode_destination(Decoder *decoder, const PtxOperand *operand, IsaOperand *out);
/* A predicate source (operand index `at` of the instruction) or destination, as the index of its
 * word. */
bool decode_pred_source(Decoder *decoder, const PtxOperand *operand, int at);
bool decode_pred_destination(Decoder *decoder, const PtxOperand *operand, int at);
/* The address of a variable in its space, or the handle of a function. */
typedef struct Address {
    uint64_t value;      /* relative to whatever `relative` names */
    IsaHandler relative; /* ISA_DO_NONE, or the handler that computes the full address:
                          * ISA_DO_LOCAL_ADDRESS, ISA_DO_SHARED_ADDRESS, ISA_DO_CTA_ADDRESS */
} Address;
uint32_t decode_function_index(const Decoder *decoder, const PtxFunction *function);
Address decode_address(const Decoder *decoder, const PtxOperand *operand);
/* Inserts an instruction with one destination before the current one. Returns the destination, a
 * pair of scratch rows. */
IsaOperand decode_hidden(Decoder *decoder, IsaHandler handler, IsaInst inst);
/* The space that accesses to the variable really use: parameters of a .func and call-site
 * parameters are in the local area. */
PtxSpace decode_var_space(const Decoder *decoder, const PtxVar *var);
/* Width in bits of the register that an operand names; 0 if it is not a register. */
int decode_reg_bits(const Decoder *decoder, const PtxOperand *operand);

/* decode_policy: the cache policy of an access. decode_fill_access: what all accesses to memory
 * share (kind, space, element size). In decode_memory.c. */
bool decode_policy(Decoder *decoder);
void decode_fill_access(Decoder *decoder, IsaMemoryKind kind, int vector);
/* The base of an address becomes operand `at`, its offset becomes imm. */
bool decode_base(Decoder *decoder, const PtxOperand *memory, int at);

/* Ends an instruction: appends the draft to the program. */
void decode_emit(Decoder *decoder);
/* The same, and starts a new draft for the rest of a PTX instruction that becomes several. */
void decode_split(Decoder *decoder);
/* Appends to the program's targets or calls; returns the index. */
uint32_t decode_add_target(Decoder *decoder, uint32_t target);
/* Appends to the program's wide operands; returns the index. */
uint32_t decode_add_wide(Decoder *decoder, IsaOperand operand);
uint32_t decode_add_call(Decoder *decoder, const IsaCall *call);
/* The number of values in a list of parameters or results: each element of a vector counts. */
uint16_t decode_value_count(const PtxVar *vars, uint16_t count);
void decode_set_handler(Decoder *decoder, IsaHandler handler);

/* The IsaInst.flags of an atomic operation or a reduction on that type. */
uint8_t decode_operation_flags(PtxType type);

/* ---- Kinds of instructions ---- */

DecodeOp decode_form;     /* decode_forms.c: one table row per form */
DecodeOp decode_compare;  /* decode_compare.c: setp, set */
DecodeOp decode_video;    /* decode_video.c: encodes the modifiers after the operands are decoded */
DecodeOp decode_mov;      /* decode_mov.c */
DecodeOp decode_cvt;      /* decode_cvt.c */
DecodeOp decode_load;     /* decode_memory.c: ld, ldu */
DecodeOp decode_store;    /* st */
DecodeOp decode_atom;     /* atom, red */
DecodeOp decode_prefetch; /* prefetch, prefetchu, applypriority, discard */
DecodeOp decode_cvta;
DecodeOp decode_isspacep;
DecodeOp decode_texture; /* decode_texture.c: tex, tld4, txq, suld, sust, sured, suq */
DecodeOp decode_istypep;
DecodeOp decode_branch; /* decode_flow.c: bra */
DecodeOp decode_branch_index;
DecodeOp decode_call;
DecodeOp decode_barrier;
/* The instruction waits for the lanes that the row `members` names. */
void decode_set_members(Decoder *decoder, IsaOperand members);
DecodeOp decode_mma; /* decode_matrix.c */
/* The number of selectors of a sparse A: lanes, or pairs of lanes, that may hold a row's
 * metadata. */
int decode_selectors(const PtxInst *ptx, PtxType element);
DecodeOp decode_wmma;
DecodeOp decode_wgmma; /* decode_wgmma.c */
DecodeOp decode_setmaxnreg;
DecodeOp decode_movmatrix;
DecodeOp decode_ldmatrix;
DecodeOp decode_stmatrix;
DecodeOp decode_cp; /* decode_async.c */
DecodeOp decode_mbarrier;
DecodeOp decode_cluster_barrier;
DecodeOp decode_mapa;
DecodeOp decode_async_store;
DecodeOp decode_tensormap; /* decode_tensor_map.c */
/* Base and offset of a shared address. Sets `is_32` in IsaInst.sub if the base has 32 bits. */
bool decode_shared_base(Decoder *decoder, const PtxOperand *operand, int at, uint8_t is_32,
                        int64_t *offset);
DecodeOp decode_cta_rank;
DecodeOp decode_nop;
DecodeOp decode_dependency;
DecodeOp decode_createpolicy;
DecodeOp decode_end; /* exit, ret, trap, brkpt */

/* Sets the targets of the current function's branch instructions to pcs, once all pcs are known. */
void decode_resolve_targets(Decoder *decoder, uint32_t first_target);

#endif
