/* PTX opcodes and special registers, and what the reader knows of them: one row per opcode. */
#ifndef TYTO_PTX_OPCODE_H
#define TYTO_PTX_OPCODE_H

#include <stdint.h>

/* OPCODE(enum suffix, text). The table of forms in opcode.c has the modifiers and operands of
 * each. */
// clang-format off
#define PTX_OPCODES(OPCODE)                                                                      \
    OPCODE(ABS, "abs") OPCODE(ACTIVEMASK, "activemask") OPCODE(ADD, "add") OPCODE(ADDC, "addc")  \
    OPCODE(ALLOCA, "alloca") OPCODE(AND, "and") OPCODE(ATOM, "atom") OPCODE(BAR, "bar")          \
    OPCODE(BFE, "bfe") OPCODE(BFI, "bfi") OPCODE(BFIND, "bfind") OPCODE(BMSK, "bmsk")            \
    OPCODE(BRA, "bra") OPCODE(BREV, "brev") OPCODE(BRKPT, "brkpt") OPCODE(BRX, "brx")            \
    OPCODE(CALL, "call") OPCODE(CLZ, "clz") OPCODE(CNOT, "cnot") OPCODE(COPYSIGN, "copysign")    \
    OPCODE(APPLYPRIORITY, "applypriority") OPCODE(CP, "cp") OPCODE(CREATEPOLICY, "createpolicy")  \
    OPCODE(MBARRIER, "mbarrier") OPCODE(CLUSTER_BARRIER, "barrier.cluster")                      \
    OPCODE(ASYNC_STORE, "st.async") OPCODE(ASYNC_RED, "red.async") OPCODE(GETCTARANK, "getctarank") OPCODE(GRIDDEPCONTROL, "griddepcontrol") OPCODE(MAPA, "mapa") \
    OPCODE(COS, "cos") OPCODE(CVT, "cvt") OPCODE(CVTA, "cvta") OPCODE(DISCARD, "discard")        \
    OPCODE(DIV, "div") OPCODE(DP2A, "dp2a") OPCODE(DP4A, "dp4a") OPCODE(ELECT, "elect")          \
    OPCODE(EX2, "ex2") OPCODE(EXIT, "exit") OPCODE(FENCE, "fence") OPCODE(FMA, "fma")            \
    OPCODE(FNS, "fns") OPCODE(ISSPACEP, "isspacep") OPCODE(ISTYPEP, "istypep") OPCODE(LD, "ld") OPCODE(LDU, "ldu")          \
    OPCODE(LDMATRIX, "ldmatrix") OPCODE(MMA, "mma") OPCODE(MOVMATRIX, "movmatrix")               \
    OPCODE(STMATRIX, "stmatrix") OPCODE(WMMA, "wmma") OPCODE(WGMMA, "wgmma")                     \
    OPCODE(SETMAXNREG, "setmaxnreg")                                                             \
    OPCODE(LG2, "lg2") OPCODE(LOP3, "lop3") OPCODE(MAD, "mad") OPCODE(MAD24, "mad24")            \
    OPCODE(MADC, "madc") OPCODE(MATCH, "match") OPCODE(MAX, "max") OPCODE(MEMBAR, "membar")      \
    OPCODE(MIN, "min") OPCODE(MOV, "mov") OPCODE(MUL, "mul") OPCODE(MUL24, "mul24")              \
    OPCODE(NANOSLEEP, "nanosleep") OPCODE(NEG, "neg") OPCODE(NOT, "not") OPCODE(OR, "or")        \
    OPCODE(PMEVENT, "pmevent") OPCODE(POPC, "popc") OPCODE(PREFETCH, "prefetch")                 \
    OPCODE(PREFETCHU, "prefetchu") OPCODE(PRMT, "prmt") OPCODE(RCP, "rcp") OPCODE(RED, "red")    \
    OPCODE(REDUX, "redux") OPCODE(REM, "rem") OPCODE(RET, "ret") OPCODE(RSQRT, "rsqrt")          \
    OPCODE(SAD, "sad") OPCODE(SELP, "selp") OPCODE(SET, "set") OPCODE(SETP, "setp")              \
    OPCODE(SHF, "shf") OPCODE(SHFL, "shfl") OPCODE(SHL, "shl") OPCODE(SHR, "shr")                \
    OPCODE(SIN, "sin") OPCODE(SLCT, "slct") OPCODE(SQRT, "sqrt") OPCODE(ST, "st")                \
    OPCODE(STACKRESTORE, "stackrestore") OPCODE(STACKSAVE, "stacksave") OPCODE(SUB, "sub")       \
    OPCODE(SUBC, "subc") OPCODE(SULD, "suld") OPCODE(SUQ, "suq") OPCODE(SURED, "sured")            \
    OPCODE(SUST, "sust") OPCODE(SZEXT, "szext") OPCODE(TANH, "tanh") OPCODE(TESTP, "testp")      \
    OPCODE(TENSORMAP, "tensormap") \
    OPCODE(TEX, "tex") OPCODE(TLD4, "tld4") OPCODE(TRAP, "trap") OPCODE(TXQ, "txq")              \
    OPCODE(VABSDIFF, "vabsdiff") OPCODE(VADD, "vadd") OPCODE(VMAX, "vmax") OPCODE(VMIN, "vmin")  \
    OPCODE(VMAD, "vmad") OPCODE(VSET, "vset") OPCODE(VSHL, "vshl") OPCODE(VSHR, "vshr")          \
    OPCODE(VSET2, "vset2") OPCODE(VSET4, "vset4") OPCODE(VOTE, "vote") OPCODE(VSUB, "vsub") OPCODE(XOR, "xor") OPCODE(VABSDIFF4, "vabsdiff4")  \
    OPCODE(VADD4, "vadd4") OPCODE(VSUB4, "vsub4") OPCODE(VMIN4, "vmin4") OPCODE(VMAX4, "vmax4")  \
    OPCODE(VAVRG4, "vavrg4") OPCODE(VABSDIFF2, "vabsdiff2") OPCODE(VADD2, "vadd2")               \
    OPCODE(VSUB2, "vsub2") OPCODE(VMIN2, "vmin2") OPCODE(VMAX2, "vmax2")                         \
    OPCODE(VAVRG2, "vavrg2")
// clang-format on

typedef enum PtxOpcode {
#define OPCODE_ENUM(name, text) PTX_OP_##name,
    PTX_OPCODES(OPCODE_ENUM)
#undef OPCODE_ENUM
        PTX_OP_COUNT
} PtxOpcode;

const char *ptx_opcode_name(PtxOpcode op); /* "add" */

/* One way to write an instruction. The forms of an opcode have everything that the reader knows of
 * it: its modifiers, its operands, and the type that each operand must have.
 *
 * `modifiers` in the notation of the PTX ISA manual: ".rn" is required, "(.u32,.s32)" requires one
 * of them, "{.rn,.rz}" allows one of them. They may be written in any order, except that several
 * types must be in the listed order (as in ptxas). "#" starts a note that distinguishes words with
 * several meanings; it is not part of the syntax.
 *
 * `operands`: names separated by commas, optional ones in braces. d, p and q are written, others
 * are read; "d|p" may be a pair; "[a]" is an address. A letter after the name and ":" says what the
 * operand must be. Without a letter, it has the instruction's (first) type:
 *   u, v  the second, third type          w  the first type at twice its width
 *   i     any 32-bit integer              k  a cache policy, present with .L2::cache_hint
 *   g     an integer as wide as an address, or 32 bits
 *   p     a predicate                     n  a constant
 *   x, z  first, second type or wider     m  sources of mov: addresses, special registers, packs
 *   t     all elements of a special register of four
 *   E, e, f  first, second, third type, with a byte or half selector
 *   1, 2, 3  first, second, third type, with selected elements of a packed register
 *   S, G  of an address: always in shared, global memory
 *   s     of an address: in shared memory if its register is too short for other spaces and the
 *         instruction names no space
 *   A     of an address: a generic one
 *   D     one 32-bit integer per element of the instruction's vector, in the brackets of an address
 *   O     16-bit integers, two fewer than elements of the instruction's vector
 *   h     an .f32                         V  one per element of the instruction's vector
 *   y     any 32-bit integer, or a predicate
 *   F     a fragment of a matrix, selected by the operand's name (fragment.h)
 *   R     the same, which is read and written
 *   M     the same, or a matrix in shared memory: a 64-bit descriptor
 *   l     any 64-bit integer
 *   L     a label                         T  a list of labels
 *   X     texture operands                C  the operands of a call */
typedef struct PtxForm {
    const char *name; /* the opcode as written: bar and barrier have the same PtxOpcode */
    PtxOpcode op;
    const char *modifiers;
    const char *operands;
} PtxForm;

const PtxForm *ptx_forms(int *count);

/* The field of PtxInst that a modifier sets. */
typedef enum PtxField {
    PTX_FIELD_IGNORED,
    PTX_FIELD_FLAG,
    PTX_FIELD_ROUND,
    PTX_FIELD_COMPARE,
    PTX_FIELD_SUB,
    PTX_FIELD_SUB2,
    PTX_FIELD_MUL,
    PTX_FIELD_SPACE,
    PTX_FIELD_CACHE,
    PTX_FIELD_SCOPE,
    PTX_FIELD_VECTOR,
    PTX_FIELD_SHAPE,
    PTX_FIELD_BOUNDARY,
    PTX_FIELD_FORMATTED,
    PTX_FIELD_LEVEL,
    PTX_FIELD_EVICT_L1,
    PTX_FIELD_EVICT_L2,
    PTX_FIELD_CACHE_HINT,
    PTX_FIELD_PREFETCH,
    PTX_FIELD_TYPE
} PtxField;

typedef struct PtxModifier {
    const char *word; /* ".rn", including its note */
    PtxField field;
    uint32_t value;
} PtxModifier;

const PtxModifier *ptx_modifiers(int *count);

/* PTX opcodes that this reader recognises but does not support. */
typedef struct PtxUnsupported {
    const char *name;
    const char *what; /* a short description */
} PtxUnsupported;

const PtxUnsupported *ptx_unsupported(int *count);
/* The same for modifiers. An instruction that has no form with them is unsupported. A row has one
 * modifier, ".bulk", or several together with an opcode, "redux.f32". The first row that fits
 * gives the reason. */
const PtxUnsupported *ptx_unsupported_words(int *count);

/* Special registers. Those of four elements have one entry per element, .x to .w in this order. */
// clang-format off
#define PTX_SREGS(SREG)                                                                          \
    SREG(TID_X, "%tid.x") SREG(TID_Y, "%tid.y") SREG(TID_Z, "%tid.z") SREG(TID_W, "%tid.w")      \
    SREG(NTID_X, "%ntid.x") SREG(NTID_Y, "%ntid.y") SREG(NTID_Z, "%ntid.z")                      \
    SREG(NTID_W, "%ntid.w") SREG(CTAID_X, "%ctaid.x") SREG(CTAID_Y, "%ctaid.y")                  \
    SREG(CTAID_Z, "%ctaid.z") SREG(CTAID_W, "%ctaid.w") SREG(NCTAID_X, "%nctaid.x")              \
    SREG(NCTAID_Y, "%nctaid.y") SREG(NCTAID_Z, "%nctaid.z") SREG(NCTAID_W, "%nctaid.w")          \
    SREG(LANEID, "%laneid") SREG(WARPID, "%warpid") SREG(NWARPID, "%nwarpid")                    \
    SREG(SMID, "%smid") SREG(NSMID, "%nsmid") SREG(GRIDID, "%gridid")                            \
    SREG(LANEMASK_EQ, "%lanemask_eq") SREG(LANEMASK_LE, "%lanemask_le")                          \
    SREG(LANEMASK_LT, "%lanemask_lt") SREG(LANEMASK_GE, "%lanemask_ge")                          \
    SREG(LANEMASK_GT, "%lanemask_gt") SREG(CLOCK, "%clock") SREG(CLOCK_HI, "%clock_hi")          \
    SREG(CLOCK64, "%clock64") SREG(GLOBALTIMER, "%globaltimer")                                  \
    SREG(GLOBALTIMER_LO, "%globaltimer_lo") SREG(GLOBALTIMER_HI, "%globaltimer_hi")              \
    SREG(TOTAL_SMEM_SIZE, "%total_smem_size") SREG(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size")      \
    SREG(AGGR_SMEM_SIZE, "%aggr_smem_size") SREG(CLUSTERID_X, "%clusterid.x")                    \
    SREG(CLUSTERID_Y, "%clusterid.y") SREG(CLUSTERID_Z, "%clusterid.z")                          \
    SREG(CLUSTERID_W, "%clusterid.w") SREG(NCLUSTERID_X, "%nclusterid.x")                        \
    SREG(NCLUSTERID_Y, "%nclusterid.y") SREG(NCLUSTERID_Z, "%nclusterid.z")                      \
    SREG(NCLUSTERID_W, "%nclusterid.w") SREG(CLUSTER_CTAID_X, "%cluster_ctaid.x")                \
    SREG(CLUSTER_CTAID_Y, "%cluster_ctaid.y") SREG(CLUSTER_CTAID_Z, "%cluster_ctaid.z")          \
    SREG(CLUSTER_CTAID_W, "%cluster_ctaid.w") SREG(CLUSTER_NCTAID_X, "%cluster_nctaid.x")        \
    SREG(CLUSTER_NCTAID_Y, "%cluster_nctaid.y") SREG(CLUSTER_NCTAID_Z, "%cluster_nctaid.z")      \
    SREG(CLUSTER_NCTAID_W, "%cluster_nctaid.w") SREG(CLUSTER_CTARANK, "%cluster_ctarank")        \
    SREG(CLUSTER_NCTARANK, "%cluster_nctarank") SREG(ENVREG, "%envreg")                          \
    SREG(WARP_SZ, "WARP_SZ") SREG(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster")                   \
    SREG(CURRENT_GRAPH_EXEC, "%current_graph_exec")
// clang-format on

typedef enum PtxSreg {
#define SREG_ENUM(name, text) PTX_SREG_##name,
    PTX_SREGS(SREG_ENUM)
#undef SREG_ENUM
        PTX_SREG_COUNT
} PtxSreg;

const char *ptx_sreg_name(PtxSreg sreg);

#endif
