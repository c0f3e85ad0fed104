/* ISA: decoded instructions and what they do to a warp of 32 lanes.
 *
 * A PtxModule is decoded once into an IsaProgram. It has an array of fixed-size instructions
 * (IsaInst, what execution needs) and a parallel array of what the timing model needs (IsaInfo). A
 * warp executes all lanes of an instruction at once; the functional effect happens wholly inside
 * isa_step.
 *
 * Registers. A warp's registers are rows: one row is 32 lanes x 32 bits, 128 bytes, contiguous. A
 * 64-bit register is two consecutive rows seen as uint64_t[32]. A register of 8 or 16 bits takes
 * one row and is kept zero-extended to 32 bits. Immediates live in rows of the program's constant
 * pool, broadcast to all lanes, so that a handler does not know which of the two it reads.
 * Predicates are words, one bit per lane; word 0 is always 0 and word 1 is always ~0 (an
 * instruction without guard is guarded by word 1).
 *
 * Divergence. One place (pc, lanes) of a warp runs; how the others wait is a stack's or independent
 * threads' (converge.h), with reconvergence at the immediate post-dominator. */
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
    ISA_MAX_WARPS_PER_CTA = 32, /* 1024 threads, the CUDA limit */
    ISA_BARRIERS = 16,          /* named barriers of a CTA, PTX ISA bar */
    ISA_PRED_FALSE = 0,         /* predicate word that is always 0 */
    ISA_PRED_TRUE = 1           /* predicate word that is always ~0 */
};
#define ISA_NO_PC UINT32_MAX
enum { ISA_MACHINE_REGISTERS = 336 }; /* numbers of registers that machine code has */
enum { ISA_POLICY_BIAS = 2 };         /* IsaInfo.policy is the row of the cache policy, plus this */

typedef struct IsaInst IsaInst;
typedef struct IsaWarp IsaWarp;
typedef struct IsaContext IsaContext;
typedef struct IsaCta IsaCta;
typedef struct IsaProgram IsaProgram;
typedef struct IsaPaths IsaPaths;
struct DeviceMemory;

/* Executes one instruction for the lanes in `mask` (never 0). Handlers of straight-line
 * instructions only read and write rows and predicate words; they must leave other lanes' values
 * untouched. */
typedef void IsaExec(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask);

/* A register or immediate operand: byte offset of its row, bit 0 chooses the base (0: the warp's
 * frame, 1: the program's constants). */
typedef int32_t IsaOperand;

/* How the warp goes on after an instruction. */
typedef enum IsaFlow {
    ISA_FLOW_NEXT,         /* the next instruction */
    ISA_FLOW_STORE,        /* the next one, after others of the CTA may see a store */
    ISA_FLOW_BRANCH,       /* lanes in the mask go to target */
    ISA_FLOW_BRANCH_INDEX, /* brx.idx: operand[0] the index, targets in the program's target pool */
    ISA_FLOW_CALL,         /* function `target` */
    ISA_FLOW_CALL_INDIRECT, /* operand[0] holds function handles */
    ISA_FLOW_CALL_BUILTIN,  /* vprintf, malloc, free, __assertfail */
    ISA_FLOW_RET,
    ISA_FLOW_EXIT,
    ISA_FLOW_BARRIER, /* bar, barrier */
    ISA_FLOW_CLUSTER, /* barrier.cluster: sub is PTX_SUB_BAR_ARRIVE or _SYNC, a wait; operands 0 and
                         1 as those of a barrier of the CTA, which the wait is without clusters */
    ISA_FLOW_WARPGROUP, /* wgmma.wait_group: imm groups may be under way (flow/warpgroup.h) */
    ISA_FLOW_JUMP,  /* machine code: lanes of the mask and of two more predicates go to target */
    ISA_FLOW_SPLIT, /* machine code: the lanes of each value of row `target` go on by themselves */
    ISA_FLOW_JUMP_LANES, /* machine code: each lane goes to the address in row operand[0] + imm */
    ISA_FLOW_TRAP
} IsaFlow;

enum { ISA_MAX_OPERANDS = 8 };

/* One decoded instruction: a cache line. */
struct IsaInst {
    IsaExec *exec;                        /* NULL when flow alone says what happens */
    IsaOperand operand[ISA_MAX_OPERANDS]; /* rows: destinations first, then sources, in PTX order; a
                                             predicate operand is the index of its word */
    uint16_t guard;                       /* predicate word */
    uint8_t flags;                        /* ISA_GUARD_NEGATED, ISA_FRAME_RELATIVE, ... */
    uint8_t flow;                         /* IsaFlow */
    uint8_t size;                         /* memory: bytes of one element */
    uint8_t vector;                       /* memory: elements per lane, 1, 2 or 4 */
    uint8_t space;                        /* memory: PtxSpace, PTX_SPACE_NONE is generic */
    uint8_t sub;         /* a handler's own selector (lop3's table, rounding, ...) */
    int64_t imm;         /* memory: byte offset; otherwise a handler's own */
    uint32_t target;     /* branch: pc; call: function index; indexed branch: first entry */
    uint32_t reconverge; /* branch: pc of the immediate post-dominator, or ISA_NO_PC */
};
static_assert(sizeof(IsaInst) == 64, "an instruction is one cache line");

/* Operand conventions of the instructions that are not straight-line arithmetic (the decode files
 * fill them, exec_memory.c, exec_texture.c and control.c read them):
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
 *   cvta       operand[0] destination, operand[1] source; imm what is added (a window of memory.h,
 *              negative for cvta.to)
 *   isspacep   operand[0] predicate, operand[1] address, sub the PtxSpace
 *   mma, wmma.mma  operand[0..3] how many registers D, A, B and C have, reconverge their first in
 *              program->wide (D, A, B, C, metadata of mma.sp), imm an IsaMatrix (matrix.h)
 *   wgmma.mma_async  operand[0] registers of D, operand[1] those of A or 0, reconverge the first
 *              of both in program->wide, operand[2] and [3] row pairs of A's and B's
 *              descriptors, operand[4] word of the predicate that adds D, operand[5] a sparse
 *              A's metadata, imm an IsaMatrix; sub: ISA_WGMMA_...
 *   wmma.load, wmma.store  one instruction per access: operand[0] base, operand[1] row of the
 *              stride or ISA_SINK, reconverge in program->wide: an IsaWmma, then all registers;
 *              sub: loads them
 *   cp.async   two instructions, a load and a store; operand[0] base of the destination, target
 *              its offset, operand[1] base of the source, imm its offset, operand[2] row of the
 *              size or predicate; sub: ISA_COPY_... (async.h)
 *   cp.async.bulk  operand[0] base of the shared address and `target` its offset, operand[1]
 *              that of the global address and imm, operand[2] row of the size, operand[3] base
 *              of the mbarrier or ISA_SINK and `reconverge` its offset; sub: ISA_BULK_...
 *              (async.h). Reductions: size of an element, vector its PtxSub, flags as those of
 *              atom
 *   cp.async.bulk.tensor  the same but for: operand[1] the tensor map, operand[2..6]
 *              coordinates, operand[7] the mbarrier, imm's upper half the first of more rows in
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
 *   bra        target, reconverge; sub: an IsaLoop when it goes round one
 *   brx.idx    operand[0] index row, target = index in program->targets of the list's length,
 *              followed by its pcs; reconverge
 *   call       target = function index, imm = index in program->calls. Indirect: operand[0] row
 *              pair that holds function handles. Builtin: target = IsaBuiltin
 *
 * Memory instructions: size, vector and space as commented in IsaInst, and `flags` below. A
 * kernel's own parameters are PTX_SPACE_PARAM with imm the offset in the parameter area; a .func's
 * own parameters and call-site .param variables live in the local area (space PTX_SPACE_LOCAL,
 * ISA_FRAME_RELATIVE: the frame's local_base is added to imm). */
#define ISA_SINK (-1)

/* ISA_FLOW_JUMP, ISA_FLOW_JUMP_LANES: operand[1] and operand[2] are words that the mask is cut by;
 * bits 0 and 1 of sub negate them. Addresses of machine code count bytes, 16 for each pc. */
enum {
    ISA_JUMP_NEGATED = 1,
    ISA_JUMP_NEGATED_2 = 2,
    ISA_JUMP_LOOKS = 4,
    ISA_JUMP_APART = 8,     /* all lanes that are here, if row operand[3] names others than those
                               that execute it and jump */
    ISA_JUMP_INVERTED = 16, /* that row is inverted */
    ISA_JUMP_TOGETHER = 32, /* only if that row names no live lane but those */
    ISA_JUMP_ANY = 64,      /* all lanes that are here, if one jumps */
    ISA_JUMP_MAY_LOOK = 128 /* like ISA_JUMP_LOOKS, but its loads may have no such purpose */
};
/* IsaInst.sub of what waits for members: only for those that stand at the same instruction. */
enum { ISA_SYNC_IS_HERE = 1, ISA_SYNC_IS_MEETING = 2 /* at a BSYNC: can be given up */ };

/* Whether a loop looks for what another thread may store (atomics, volatile, relaxed and acquiring
 * loads), or a function that it calls may do so. */
typedef enum IsaLoop { ISA_LOOP_IS_ALONE, ISA_LOOP_MAY_LOOK, ISA_LOOP_LOOKS } IsaLoop;

/* IsaInst.flags */
enum {
    ISA_FRAME_RELATIVE = 1 << 0,   /* memory: imm is relative to the frame's local area */
    ISA_NAMES_NO_MEMBERS = 1 << 0, /* elect: whichever lanes execute are the members */
    ISA_BASE_IS_32 = 1 << 1,       /* memory: the base register has 32 bits (zero-extended) */
    ISA_SIGNED = 1 << 2,           /* ld: sign-extend into the destination; atom: signed min/max */
    ISA_FLOAT = 1 << 3,            /* atom: floating-point operation (size tells f16x2/f32/f64) */
    ISA_DST_IS_64 = 1 << 4,        /* ld: destinations are row pairs; st: data rows are pairs */
    ISA_BFLOAT = 1 << 5,           /* atom: packed or single bf16 instead of f16 */
    ISA_DST_IS_16 = 1 << 6,        /* ld: sign-extended values are cut to a 16-bit register */
    ISA_HALF_PAIR = 1 << 6, /* atom: a pair of 16-bit floats (size 4); size 2 is a single one */
    ISA_MEETS = 1 << 6, /* what accesses no memory: waits for lanes of its warp, or of its CTA. Of
                           loads and atomics the bit says the above, and costs a look */
    ISA_GUARD_NEGATED = 1 << 7 /* any instruction: executes where the guard's bit is 0 */
};

/* Where machine code finds the functions of the simulator (PtxBuiltin), 16 bytes each. */
enum { ISA_BUILTIN_ADDRESS = 0x70000000 };

/* The value of a function's address: what mov of a function name gives and indirect calls take. */
#define ISA_CODE_WINDOW UINT64_C(0x08000000)
static inline uint64_t isa_function_handle(uint32_t function_index) {
    return ISA_CODE_WINDOW + (uint64_t)function_index * 16;
}

/* One value that a call passes or brings back. Both ends are the same number of bytes. */
typedef struct IsaCallValue {
    bool is_register;  /* caller's side is a register or immediate row, else bytes of its local area
                        */
    bool is_predicate; /* a predicate, or where a discarded one goes */
    IsaOperand operand; /* is_register: row (64-bit: row pair); is_predicate: its word */
    uint32_t offset;    /* else: byte offset in the caller's frame-relative local area */
    uint32_t size;      /* bytes */
} IsaCallValue;

/* The argument and return lists of one call instruction. The callee's side is the same for every
 * caller: its IsaFunction says where its own parameters and returns live. */
typedef struct IsaCall {
    IsaCallValue *arguments, *returns;
    uint16_t argument_count, return_count;
} IsaCall;

/* Where a .func keeps one of its own parameters or returns. */
typedef struct IsaFormal {
    bool is_register;   /* old .reg parameters */
    bool is_predicate;  /* likewise */
    IsaOperand operand; /* is_register: row in the callee's frame; is_predicate: its word there */
    uint32_t offset;    /* else: byte offset in the callee's frame-relative local area */
    uint32_t size;      /* bytes */
    bool is_rest;       /* an array without a size, the last: has the bytes of the call's argument,
                         * none when there is none, at the end of the local area */
} IsaFormal;

typedef struct IsaFunction {
    const PtxFunction *ptx;
    uint32_t entry;  /* pc of the first instruction */
    uint32_t end;    /* pc after the last; it holds an implicit exit (kernel) or ret (function) */
    uint32_t *pc_of; /* of each PTX instruction: the first pc; inst_count + 1 entries */
    uint32_t frame_bytes; /* rows and predicate words of one activation */
    uint32_t pred_offset; /* byte offset of predicate word 0 in a frame, a multiple of 64 */
    /* per thread, of one activation: .local variables, own parameters and returns (.func),
     * call-site .param variables */
    uint32_t local_bytes;
    IsaFormal *parameters; /* .func: where its own parameters live, in order */
    IsaFormal *returns;    /* .func: and its return values */
    uint16_t parameter_count, return_count;
    const char *refusal;          /* why it cannot run, itself or what it calls; NULL: it can */
    uint32_t registers;           /* per thread, decides occupancy */
    uint32_t shared_bytes;        /* static shared memory when launched */
    uint32_t system_shared_bytes; /* of addresses before it: machine code from sm_90 on */
} IsaFunction;

/* A row of constants that holds a word of a constant bank. */
typedef struct IsaBankRow {
    uint32_t row;    /* byte offset in the constants */
    uint32_t offset; /* of the word in the bank, bytes */
    uint8_t bank;
} IsaBankRow;

struct IsaProgram {
    Arena *arena;
    const PtxModule *module;
    IsaInst *insts; /* all functions back to back */
    IsaInfo *infos;
    IsaControl *controls; /* of machine code; NULL: PTX */
    uint32_t inst_count;
    IsaFunction *functions; /* same order as module->functions */
    uint32_t function_count;
    IsaReg
        *reg_pool; /* what IsaInfo.regs points into; not NULL, even when no instruction has any */
    uint8_t *constants; /* rows of immediates, 64-byte aligned */
    uint32_t constant_bytes;
    uint32_t *targets; /* of brx.idx: pcs; first entry of each list is its length */
    IsaInst *steps;    /* of machine instructions that are several of ours (ISA_DO_SEQUENCE) */
    IsaBankRow
        *bank_rows; /* machine code: constants that each launch fills in (isa/sass/banks.h) */
    uint32_t bank_row_count;
    const IsaInst
        *builtins; /* machine code: by PtxBuiltin, an instruction that calls it; exec NULL: none */
    bool has_clusters;     /* PTX: it can reach other CTAs of a cluster */
    struct SassCode *code; /* of machine code (isa/sass/code.h); NULL: PTX */
    IsaOperand *wide;      /* operands of instructions that have more than ISA_MAX_OPERANDS */
    IsaCall *calls;        /* argument lists of call instructions (IsaInst.imm is the index) */
    uint32_t call_count;
};

/* ---- Warps and CTAs ---- */

typedef struct IsaStackEntry {
    uint32_t pc;
    /* pc at which the entry is popped, ISA_NO_PC: only when its lanes are gone */
    uint32_t reconverge;
    uint32_t lanes;
    uint32_t frame; /* index of the call frame it runs in */
} IsaStackEntry;

struct IsaWarp {
    union {
        SourceWarp at; /* the same two, for the SM */
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
    uint32_t depth;          /* stack entries below the top; paths and joins besides what runs */
    uint32_t stack_capacity; /* of stack */
    IsaStackEntry *stack;    /* entries below the top, [0] the bottom */
    IsaPaths *paths;         /* of independent threads; NULL: the stack */
    bool is_apart;           /* independent threads: others than the active ones are alive */
    struct IsaFrame *frames; /* call frames, [0] the kernel's */
    uint32_t frame_count;    /* frames in use; some before the last may have lost their lanes */
    uint32_t frame_capacity;
    uint32_t carry;     /* CC.CF of every lane, one bit each; behind a subtraction 1: no borrow */
    uint8_t *registers; /* frames' rows, grows with call depth */
    size_t register_bytes; /* capacity of registers */
    uint32_t *local;       /* local memory: word w of lane l at [w * 32 + l] */
    uint32_t local_bytes;  /* per thread, capacity */
    IsaCta *cta;
    uint32_t index;        /* in its CTA */
    uint32_t slot;         /* hardware warp id on its SM, %warpid */
    uint64_t instructions; /* warp instructions executed since launch */
    uint32_t mbarrier; /* offset in shared memory, and 1, of the one at which its last wait found
                          the phase incomplete; 0: none did */
    uint32_t groups, awaited_groups; /* of wgmma: committed; what its wait waits for
                                        (flow/warpgroup.h) */
    /* Rounds of loops that look for another thread's store, since the context's last change, and
     * how often its state has come back meanwhile (flow/deadlock.c): */
    uint32_t polls, returns;
    bool may_poll;        /* the last loop may have been no poll: only states that return tell */
    uint64_t polls_since; /* IsaContext.changes then */
    uint64_t poll_state;  /* a hash of its state at a look before */
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
    uint32_t pc;         /* whose hint this is */
    uint64_t start, end; /* device addresses; never a device-malloc block, which has holes */
} IsaHint;
enum { ISA_HINTS = 64 }; /* by pc modulo this */

/* What one execution thread (one SM, or the functional loop) carries along. */
struct IsaContext {
    struct DeviceMemory *memory;
    const IsaProgram *program;
    const struct IsaLaunch *launch;
    /* the addresses below are not needed: a functional run without checks */
    bool drops_addresses;
    /* Layout of the texels of a 2D or 3D array for timing: in blocks of this many bytes, a power of
     * two; 0: in rows, as in memory. */
    uint32_t texel_block_bytes;
    uint64_t cycle; /* value of %clock */
    /* Instructions that may have changed what other threads see: stores, atomic operations that
     * found another value than they left, calls of the device's functions, ends of threads. */
    uint64_t changes;
    bool proves_polls; /* warps that look for stores compare their states (flow/deadlock.c) */
    uint32_t sm;       /* value of %smid */
    IsaFault fault;
    IsaHint hints[ISA_HINTS];
    WarpStep did; /* what the last instruction did; isa_step alone keeps its pattern */
    /* Bulk copies that the last instruction that begins some began, and whether their ends are left
     * to isa_bulk_done: a timed run knows later when they come. */
    IsaBulk *bulk; /* ISA_LANES of them, of the context's owner; NULL: they end at once */
    uint32_t bulk_count;
    uint8_t dropped[32]; /* what a lane accesses whose own access was left out */
    void (*print)(void *user, const char *text, size_t length); /* device printf */
    void *user;
};

/* ---- Decoding (decode.c) ---- */

void isa_program_free(IsaProgram *program);
/* Index of a function of the linked module in program->functions. */
uint32_t isa_function_index(const IsaProgram *program, const PtxFunction *function);

#endif
