/* ISA: decoded instructions and what they do to a warp of 32 lanes.
 *
 * A PtxModule is decoded once into an IsaProgram. It has an array of fixed-size instructions
 * (IsaInst, what execution needs) and a parallel array of what the timing model needs (IsaInfo). A
 * warp executes all lanes of an instruction at once. The complete functional effect happens inside
 * isa_step.
 *
 * Registers. A warp's registers are rows: one row is 32 lanes x 32 bits, 128 bytes, contiguous. A
 * 64-bit register is two consecutive rows seen as uint64_t[32]. A register of 8 or 16 bits takes
 * one row and is kept zero-extended to 32 bits. Immediates are in rows of the program's constant
 * pool, broadcast to all lanes, so handlers do not distinguish them from registers. Predicates are
 * words, one bit per lane; word 0 is always 0 and word 1 is always ~0 (the guard of an instruction
 * without guard).
 *
 * Divergence. One place (pc, lanes) of a warp runs. A reconvergence stack or independent threads
 * (converge.h) determine how the others wait. Lanes reconverge at the immediate post-dominator. */
#ifndef TYTO_ISA_ISA_H
#define TYTO_ISA_ISA_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "isa/fault.h"
#include "isa/info.h"
#include "isa/source.h"
#include "ptx/ptx.h"

enum {
    ISA_ROW_BYTES = 128,
    ISA_MAX_WARPS_PER_CTA = 32, /* 1024 threads, CUDA's limit */
    ISA_BARRIERS = 16,          /* named barriers per CTA, PTX ISA bar */
    ISA_PRED_FALSE = 0,         /* predicate word that is always 0 */
    ISA_PRED_TRUE = 1           /* predicate word that is always ~0 */
};
#define ISA_NO_PC UINT32_MAX
enum { ISA_MACHINE_REGISTERS = 528 }; /* number of register numbers in machine code */
enum { ISA_POLICY_BIAS = 2 };         /* IsaInfo.policy is the row of the cache policy plus this */

typedef struct IsaInst IsaInst;
typedef struct IsaWarp IsaWarp;
typedef struct IsaContext IsaContext;
typedef struct IsaCta IsaCta;
typedef struct IsaProgram IsaProgram;
typedef struct IsaPaths IsaPaths;
struct DeviceMemory;

/* Executes one instruction for the lanes in `mask` (never 0). Handlers of straight-line
 * instructions only read and write rows and predicate words. They must not change other lanes'
 * values. */
typedef void IsaExec(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask);

/* A register or immediate operand: byte offset of its row. Bit 0 selects the base (0: the warp's
 * frame, 1: the program's constants). */
typedef int32_t IsaOperand;

/* Where the warp continues after an instruction. */
typedef enum IsaFlow {
    ISA_FLOW_NEXT,         /* the next instruction */
    ISA_FLOW_STORE,        /* the next one; other warps of the CTA may see a store first */
    ISA_FLOW_BRANCH,       /* lanes in the mask go to target */
    ISA_FLOW_BRANCH_INDEX, /* brx.idx: operand[0] the index, targets in the program's target pool */
    ISA_FLOW_CALL,         /* function `target` */
    ISA_FLOW_CALL_INDIRECT, /* operand[0] holds function handles */
    ISA_FLOW_CALL_BUILTIN,  /* a function of the simulator: vprintf, malloc, free, __assertfail */
    ISA_FLOW_RET,
    ISA_FLOW_EXIT,
    ISA_FLOW_BARRIER, /* bar, barrier */
    ISA_FLOW_CLUSTER, /* barrier.cluster: sub is PTX_SUB_BAR_ARRIVE, or _SYNC for a wait. Operands 0
                       * and 1 as for a barrier of the CTA, because the wait is one if there are no
                       * clusters */
    ISA_FLOW_WARPGROUP, /* wgmma.wait_group: imm groups may be pending (flow/warpgroup.h) */
    ISA_FLOW_JUMP,    /* machine code: lanes for which two more predicates are true go to target */
    ISA_FLOW_EXIT_IF, /* machine code: lanes for which two more predicates are true end */
    ISA_FLOW_SPLIT, /* machine code: the lanes of each value of row `target` continue separately */
    ISA_FLOW_JUMP_LANES, /* machine code: each lane goes to address operand[0] + imm */
    ISA_FLOW_TRAP
} IsaFlow;

enum { ISA_MAX_OPERANDS = 8 };

/* One decoded instruction; it has the size of a cache line. */
struct IsaInst {
    IsaExec *exec;                        /* NULL if `flow` alone defines the effect */
    IsaOperand operand[ISA_MAX_OPERANDS]; /* rows: destinations first, then sources, in PTX order; a
                                             predicate operand is the index of its word */
    uint16_t guard;                       /* predicate word */
    uint8_t flags;                        /* ISA_GUARD_NEGATED, ISA_FRAME_RELATIVE, ... */
    uint8_t flow;                         /* IsaFlow */
    uint8_t size;                         /* memory: bytes of one element */
    uint8_t vector;                       /* memory: elements per lane, 1, 2 or 4 */
    uint8_t space;                        /* memory: PtxSpace, PTX_SPACE_NONE is generic */
    uint8_t sub;         /* the handler's own selector (lop3's table, rounding, ...) */
    int64_t imm;         /* memory: byte offset; otherwise defined by the handler */
    uint32_t target;     /* branch: pc; call: function index; indexed branch: first entry */
    uint32_t reconverge; /* branch: pc of the immediate post-dominator, or ISA_NO_PC */
};
static_assert(sizeof(IsaInst) == 64, "an instruction is one cache line");

/* Operand conventions of the instructions that are not straight-line arithmetic. The decode files
 * write them; exec_memory.c, exec_texture.c and control.c read them.
 *
 *   ld, ldu    operand[0..vector-1] destination rows (ISA_SINK where the element is discarded),
 *              operand[vector] base register or ISA_SINK, imm byte offset added to the base
 *   st         operand[0..vector-1] data rows (register or constant), operand[vector] base
 *   atom       operand[0] destination row, operand[1] base, operand[2] b, operand[3] c (cas only);
 *              sub is the PtxSub operation. red: the same with operand[0] = ISA_SINK
 *   prefetch   operand[0] base
 *   createpolicy  operand[0] destination, then operand[1] the fraction, or base, primary and total
 *              size; sub: the two PtxEvict, the second from bit 4 on
 *   tex, tld4, txq, suld, sust, sured, suq  see texture_inst.h
 *   istypep    operand[0] predicate, operand[1] handles; sub: PtxSub
 *   cvta       operand[0] destination, operand[1] source; imm is added (a window of memory.h,
 *              negative for cvta.to)
 *   isspacep   operand[0] predicate, operand[1] address, sub the PtxSpace
 *   mma, wmma.mma  operand[0..3] number of registers of D, A, B and C, reconverge the first in
 *              program->wide (D, A, B, C, metadata of mma.sp), imm an IsaMatrix (matrix.h)
 *   wgmma.mma_async  operand[0] registers of D, operand[1] those of A or 0, reconverge the first
 *              of both in program->wide, operand[2] and [3] row pairs of A's and B's
 *              descriptors, operand[4] word of the predicate that adds D, operand[5] a sparse
 *              A's metadata, imm an IsaMatrix; sub: ISA_WGMMA_...
 *   wmma.load, wmma.store  one instruction per access: operand[0] base, operand[1] row of the
 *              stride or ISA_SINK, reconverge in program->wide: an IsaWmma, then all registers;
 *              sub: this access loads the registers
 *   cp.async   two instructions, a load and a store; operand[0] base of the destination, target
 *              its offset, operand[1] base of the source, imm its offset, operand[2] row of the
 *              size or predicate; sub: ISA_COPY_... (async.h)
 *   cp.async.bulk  operand[0] base of the shared address and `target` its offset, operand[1]
 *              that of the global address and imm, operand[2] row of the size, operand[3] base
 *              of the mbarrier or ISA_SINK and `reconverge` its offset; sub: ISA_BULK_...
 *              (async.h). Reductions: size of an element, vector its PtxSub, flags as those of
 *              atom
 *   cp.async.bulk.tensor  the same except: operand[1] the tensor map, operand[2..6]
 *              coordinates, operand[7] the mbarrier, imm's upper half the first additional row in
 *              program->wide (async.h); vector: dimensions, size: PtxSub of a reduction
 *   tensormap.replace  operand[0] base of the map and imm, operand[1] row of the value; sub:
 *              TensorField (tensor_map.h), vector: ordinal, size: of the value
 *   tensormap.cp_fenceproxy  operand[0] base of the copy and imm, operand[1] base of the map and
 *              `target` its offset; sub: ISA_BULK_SHARED_IS_32
 *   mbarrier   operand[0] destination (row, or predicate of a wait) or ISA_SINK, operand[1]
 *              base, operand[2] row of the count, state or parity, operand[3] of a try's limit
 *              in ns; sub: ISA_MBARRIER_...
 *   ldmatrix, stmatrix  operand[0..vector-1] rows of data, operand[4] base; sub: 1 for .trans
 *   bar        operand[0] row of the barrier's number, operand[1] row of the thread count or
 *              ISA_SINK; sub is PTX_SUB_BAR_SYNC, _ARRIVE or _RED; bar.red: operand[2]
 *              destination (row for popc, predicate index for and/or), operand[3] source
 *              predicate index, imm bit 0: source is negated, imm >> 8: PtxSub of the reduction.
 *              bar.warp.sync is straight-line (no effect)
 *   .sync      (ISA_NEEDS_MEMBERS) target: row of the member mask
 *   bra        target, reconverge; sub: an IsaLoop if it is a backward branch
 *   brx.idx    operand[0] index row, target = index in program->targets of the list's length,
 *              followed by its pcs; reconverge
 *   call       target = function index, imm = index in program->calls. Indirect: operand[0] row
 *              pair that holds function handles. Builtin: target = IsaBuiltin
 *
 * Memory instructions: IsaInst describes size, vector and space; `flags` are below. A kernel's own
 * parameters are PTX_SPACE_PARAM with imm the offset in the parameter area; a .func's own
 * parameters and call-site .param variables are in the local area (space PTX_SPACE_LOCAL,
 * ISA_FRAME_RELATIVE: the frame's local_base is added to imm). */
#define ISA_SINK (-1)

/* ISA_FLOW_JUMP, ISA_FLOW_JUMP_LANES, ISA_FLOW_EXIT_IF: operand[1] and operand[2] are predicate
 * words that are combined with the mask by AND; bits 0 and 1 of sub negate them. Addresses of
 * machine code are in bytes, 16 per pc. */
enum {
    ISA_JUMP_NEGATED = 1,
    ISA_JUMP_NEGATED_2 = 2,
    ISA_JUMP_LOOKS = 4,
    ISA_JUMP_APART = 8,     /* all active lanes jump, if row operand[3] names others than those that
                             * execute the jump and take it */
    ISA_JUMP_INVERTED = 16, /* row operand[3] is inverted */
    ISA_JUMP_TOGETHER = 32, /* jumps only if that row names no other live lane */
    ISA_JUMP_ANY = 64,      /* all active lanes jump if one does */
    ISA_JUMP_MAY_LOOK = 128 /* like ISA_JUMP_LOOKS, but its loads may not poll */
};
/* IsaInst.sub of instructions that wait for members. IS_HERE: only members at the same instruction
 * count. */
enum { ISA_SYNC_IS_HERE = 1, ISA_SYNC_IS_MEETING = 2 /* a BSYNC, whose wait can be given up */ };

/* Whether a loop may see what other threads store (it has atomics, volatile, relaxed or acquiring
 * loads), or a function that it calls may do so. */
typedef enum IsaLoop { ISA_LOOP_IS_ALONE, ISA_LOOP_MAY_LOOK, ISA_LOOP_LOOKS } IsaLoop;

/* IsaInst.flags */
enum {
    ISA_FRAME_RELATIVE = 1 << 0,   /* memory: imm is relative to the frame's local area */
    ISA_NAMES_NO_MEMBERS = 1 << 0, /* elect: all executing lanes are members */
    ISA_BASE_IS_32 = 1 << 1,       /* memory: the base register has 32 bits (zero-extended) */
    ISA_SIGNED = 1 << 2,           /* ld: sign-extend into the destination; atom: signed min/max */
    ISA_FLOAT = 1 << 3,            /* atom: floating-point operation (size distinguishes
                                    * f16x2/f32/f64) */
    ISA_DST_IS_64 = 1 << 4,        /* ld: destinations are row pairs; st: data rows are pairs */
    ISA_BFLOAT = 1 << 5,           /* atom: packed or single bf16 instead of f16 */
    ISA_DST_IS_16 = 1 << 6,        /* ld: sign-extended values are truncated to a 16-bit register */
    ISA_HALF_PAIR = 1 << 6, /* atom: a pair of 16-bit floats (size 4); a single one has size 2 */
    ISA_MEETS = 1 << 6, /* instructions that access no memory: waits for lanes of its warp or of its
                         * CTA. For loads and atomics the bit has the meanings above, and costs one
                         * test */
    ISA_GUARD_NEGATED = 1 << 7 /* any instruction: executes where the guard's bit is 0 */
};

/* Address at which machine code calls functions of the simulator (PtxBuiltin), 16 bytes each. */
enum { ISA_BUILTIN_ADDRESS = 0x70000000 };

/* A function's handle: mov of a function name gives it, and indirect calls take it. */
#define ISA_CODE_WINDOW UINT64_C(0x08000000)
static inline uint64_t isa_function_handle(uint32_t function_index) {
    return ISA_CODE_WINDOW + (uint64_t)function_index * 16;
}

/* One value that a call passes or returns. Both sides have the same number of bytes. */
typedef struct IsaCallValue {
    bool is_register;  /* caller's side is a register or immediate row, otherwise bytes of its local
                        * area */
    bool is_predicate; /* a predicate, or the word for a discarded one */
    IsaOperand operand; /* is_register: row (64-bit: row pair); is_predicate: its word */
    uint32_t offset;    /* otherwise: byte offset in the caller's frame-relative local area */
    uint32_t size;      /* bytes */
} IsaCallValue;

/* The argument and return lists of one call instruction. The callee's side is the same for every
 * caller: its IsaFunction has the places of its parameters and returns. */
typedef struct IsaCall {
    IsaCallValue *arguments, *returns;
    uint16_t argument_count, return_count;
} IsaCall;

/* The place of a parameter or return value of a .func. */
typedef struct IsaFormal {
    bool is_register;   /* old .reg parameters */
    bool is_predicate;  /* old .reg parameters of predicates */
    IsaOperand operand; /* is_register: row in the callee's frame; is_predicate: its word there */
    uint32_t offset;    /* otherwise: byte offset in the callee's frame-relative local area */
    uint32_t size;      /* bytes */
    bool is_rest;       /* an array without a size, the last parameter. It has the size of the
                         * call's argument, 0 without one, and is at the end of the local area */
} IsaFormal;

typedef struct IsaFunction {
    const PtxFunction *ptx;
    uint32_t entry;  /* pc of the first instruction */
    uint32_t end;    /* pc after the last; it holds an implicit exit (kernel) or ret (function) */
    uint32_t *pc_of; /* first pc of each PTX instruction; inst_count + 1 entries */
    uint32_t frame_bytes; /* rows and predicate words of one call */
    uint32_t pred_offset; /* byte offset of predicate word 0 in a frame, a multiple of 64 */
    /* per thread and call: .local variables, own parameters and returns (.func), call-site .param
     * variables */
    uint32_t local_bytes;
    IsaFormal *parameters; /* .func: places of its parameters, in order */
    IsaFormal *returns;    /* .func: places of its return values */
    uint16_t parameter_count, return_count;
    const char *refusal;          /* why it, or a function that it calls, cannot run; NULL: it
                                   * can */
    uint32_t registers;           /* per thread; determines occupancy */
    uint32_t shared_bytes;        /* static shared memory of a launch */
    uint32_t system_shared_bytes; /* bytes of shared addresses before it: machine code, sm_90 on */
} IsaFunction;

/* A row of constants with a word of a constant bank. */
typedef struct IsaBankRow {
    uint32_t row;    /* byte offset in the constants */
    uint32_t offset; /* byte offset of the word in the bank */
    uint8_t bank;
} IsaBankRow;

struct IsaProgram {
    Arena *arena;
    const PtxModule *module;
    IsaInst *insts; /* all functions, one after another */
    IsaInfo *infos;
    IsaControl *controls; /* machine code only; NULL: PTX */
    uint32_t inst_count;
    IsaFunction *functions; /* same order as module->functions */
    uint32_t function_count;
    IsaReg *reg_pool;   /* target of IsaInfo.regs; not NULL, even if no instruction has any */
    uint8_t *constants; /* rows of immediates, 64-byte aligned */
    uint32_t constant_bytes;
    uint32_t *targets; /* of brx.idx: lists of pcs; the first entry of each list is its length */
    IsaInst *steps;    /* the steps of machine instructions that become several of ours
                        * (ISA_DO_SEQUENCE) */
    IsaBankRow
        *bank_rows; /* machine code: constants that each launch fills in (isa/sass/banks.h) */
    uint32_t bank_row_count;
    const IsaInst
        *builtins; /* machine code: by PtxBuiltin, an instruction that calls it; exec NULL: none */
    bool has_clusters;     /* PTX: it can access other CTAs of a cluster */
    struct SassCode *code; /* machine code only (isa/sass/code.h); NULL: PTX */
    IsaOperand *wide;      /* operands of instructions with more than ISA_MAX_OPERANDS */
    IsaCall *calls;        /* argument lists of call instructions (IsaInst.imm is the index) */
    uint32_t call_count;
};

/* ---- Warps and CTAs ---- */

typedef struct IsaStackEntry {
    uint32_t pc;
    /* pc at which the entry is popped; ISA_NO_PC: popped only when it has no lanes left */
    uint32_t reconverge;
    uint32_t lanes;
    uint32_t frame; /* index of the call frame it runs in */
} IsaStackEntry;

struct IsaWarp {
    union {
        SourceWarp at; /* the same two fields, for the SM */
        struct {
            uint32_t pc;     /* of the top stack entry */
            uint32_t active; /* lanes of the top stack entry */
        };
    };
    uint8_t *base[2];        /* [0] rows of the current frame, [1] the program's constants */
    uint32_t *preds;         /* predicate words of the current frame */
    uint32_t reconverge;     /* of the top stack entry */
    uint32_t frame;          /* of the top stack entry */
    uint32_t alive;          /* lanes that have not exited */
    uint32_t depth;          /* stack entries below the top; with paths: paths and joins besides the
                              * running path */
    uint32_t stack_capacity; /* of stack */
    IsaStackEntry *stack;    /* entries below the top, [0] the bottom */
    IsaPaths *paths;         /* of independent threads; NULL: the stack */
    bool is_apart;           /* independent threads: lanes other than the active ones are alive */
    struct IsaFrame *frames; /* call frames, [0] the kernel's */
    uint32_t frame_count;    /* frames in use; some before the last may have no lanes left */
    uint32_t frame_capacity;
    uint32_t carry;        /* CC.CF, one bit per lane; after a subtraction 1: no borrow */
    uint8_t *registers;    /* rows of all frames; grows with call depth */
    size_t register_bytes; /* capacity of registers */
    uint32_t *local;       /* local memory: word w of lane l at [w * 32 + l] */
    uint32_t local_bytes;  /* per thread, capacity */
    IsaCta *cta;
    uint32_t index;        /* in its CTA */
    uint32_t slot;         /* hardware warp id on its SM, %warpid */
    uint64_t instructions; /* warp instructions executed since launch */
    uint32_t mbarrier; /* shared memory offset, plus 1, of the mbarrier whose phase its last wait
                        * found incomplete; 0: none */
    uint32_t groups, awaited_groups; /* wgmma groups: committed by the warp; that its wait waits for
                                      * (flow/warpgroup.h) */
    /* Rounds of polling loops since the context's last change, and how often the state has come
     * back in that time (flow/deadlock.c): */
    uint32_t polls, returns;
    bool may_poll;        /* the last loop may not poll: only a state that comes back is proof */
    uint64_t polls_since; /* IsaContext.changes at that time */
    uint64_t poll_state;  /* hash of its state at an earlier poll */
};

/* The operand's row; a 64-bit operand's two rows. */
static inline uint32_t *isa_row32(const IsaWarp *warp, IsaOperand operand) {
    return (uint32_t *)(void *)(warp->base[operand & 1] + (operand & ~1));
}
static inline uint64_t *isa_row64(const IsaWarp *warp, IsaOperand operand) {
    return (uint64_t *)(void *)(warp->base[operand & 1] + (operand & ~1));
}

/* The allocation that an instruction accessed last. */
typedef struct IsaHint {
    uint32_t pc;         /* of this instruction */
    uint64_t start, end; /* device addresses; never a device-malloc block, which has holes */
} IsaHint;
enum { ISA_HINTS = 64 }; /* indexed by pc modulo ISA_HINTS */

/* State of one execution thread (one SM, or the functional loop). */
struct IsaContext {
    struct DeviceMemory *memory;
    const IsaProgram *program;
    const struct IsaLaunch *launch;
    /* did.address is not needed: a functional run without checks */
    bool drops_addresses;
    /* Layout of the texels of a 2D or 3D array for timing: blocks of this many bytes, a power of
     * two; 0: rows, as in memory. */
    uint32_t texel_block_bytes;
    uint64_t cycle; /* value of %clock */
    /* Number of instructions that may have changed what other threads see: stores, atomic
     * operations that changed a value, calls of the device's functions, ends of threads. */
    uint64_t changes;
    bool proves_polls; /* polling warps compare their states (flow/deadlock.c) */
    uint32_t sm;       /* value of %smid */
    IsaFault fault;
    IsaHint hints[ISA_HINTS];
    WarpStep did; /* what the last instruction did; only isa_step sets its pattern */
    /* The bulk copies that the last bulk instruction started. With a list, isa_bulk_done ends them
     * later: a timed run decides when. */
    IsaBulk *bulk; /* ISA_LANES entries, owned by the context's owner; NULL: copies end at once */
    uint32_t bulk_count;
    uint8_t dropped[32]; /* accessed in place of dropped accesses */
    void (*print)(void *user, const char *text, size_t length); /* device printf */
    void *user;
};

/* ---- Decoding (decode.c) ---- */

void isa_program_free(IsaProgram *program);
/* Index of a function of the linked module in program->functions. */
uint32_t isa_function_index(const IsaProgram *program, const PtxFunction *function);

#endif
