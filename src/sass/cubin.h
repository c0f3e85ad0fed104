/* Cubins: the ELF files that hold machine code of NVIDIA GPUs, as ptxas and nvlink write them.
 *
 * The format is not documented. This description was found by assembling known PTX with ptxas 13.0
 * for sm_75 to sm_120 and linking it with nvlink, and was compared with CuAssembler's description
 * (cloudcores/CuAssembler, UserGuide.md and CuAsm/CuNVInfo.py) and its cubin of CUDA 11.1. Names of
 * attributes (EIATTR_...) and relocations (R_CUDA_...) are those that NVIDIA's tools print.
 *
 * Files are not trusted: every size and offset is checked, no two sections may share bytes, and all
 * work is at most linear in the file's size. */
#ifndef TYTO_SASS_CUBIN_H
#define TYTO_SASS_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

enum {
    CUBIN_BANKS = 32,       /* constant banks that an instruction can name */
    CUBIN_NONE = UINT16_MAX /* instead of a section index: no section */
};

/* What a symbol is, by its ELF type. */
typedef enum CubinSymbolKind {
    CUBIN_SYMBOL_OTHER,
    CUBIN_SYMBOL_SECTION,
    CUBIN_SYMBOL_FUNCTION,
    CUBIN_SYMBOL_OBJECT, /* a variable */
    CUBIN_SYMBOL_TEXTURE,
    CUBIN_SYMBOL_SAMPLER,
    CUBIN_SYMBOL_SURFACE
} CubinSymbolKind;

/* Memory space of a section or a symbol. */
typedef enum CubinSpace {
    CUBIN_SPACE_NONE,
    CUBIN_SPACE_CODE,
    CUBIN_SPACE_GLOBAL,
    CUBIN_SPACE_CONSTANT,
    CUBIN_SPACE_SHARED,
    CUBIN_SPACE_LOCAL
} CubinSpace;

typedef struct CubinSymbol {
    const char *name;
    uint64_t offset;  /* bytes from the start of its section */
    uint64_t size;    /* bytes; inside the section if the section has bytes in the file */
    uint16_t section; /* CUBIN_NONE: defined elsewhere */
    uint8_t kind;     /* CubinSymbolKind */
    uint8_t space;    /* CubinSpace */
    bool is_global;   /* visible to other modules; also for weak symbols */
    bool is_weak;
    bool is_kernel; /* of functions: a grid can start with it */
} CubinSymbol;

/* A place in a section whose content depends on an address. */
typedef struct CubinRelocation {
    uint64_t offset; /* bytes from the start of the section */
    uint32_t kind;   /* R_CUDA_..., see cubin_relocation_name */
    uint32_t symbol; /* index */
    int64_t addend;  /* 0 in sections without addends, for which ptxas leaves the places 0 */
} CubinRelocation;

typedef struct CubinSection {
    const char *name;
    const unsigned char *bytes; /* NULL if all 0 and not in the file (.nv.global, .nv.shared) */
    uint64_t size;              /* bytes */
    uint64_t alignment;         /* bytes, a power of two, at least 1 */
    uint64_t flags;             /* SHF_... */
    uint32_t type;              /* SHT_... */
    uint32_t link, info;        /* as in ELF */
    uint8_t space;              /* CubinSpace */
    int8_t bank;                /* CUBIN_SPACE_CONSTANT: 0 to 31; else -1 */
    uint16_t code;              /* section of its function; CUBIN_NONE: of all functions */
    const CubinRelocation *relocations; /* by increasing offset */
    uint32_t relocation_count;
} CubinSection;

/* One attribute of .nv.info, as in the file. */
typedef struct CubinAttribute {
    uint8_t number;             /* EIATTR_..., see cubin_attribute_name */
    uint16_t value;             /* of attributes that are one number of at most 16 bits */
    const unsigned char *bytes; /* of the others; otherwise NULL */
    uint16_t size;              /* bytes */
} CubinAttribute;

/* A parameter of a kernel, in bytes; the offset is relative to the first parameter. */
typedef struct CubinParameter {
    uint16_t ordinal, offset;
    uint32_t size;
} CubinParameter;

/* 32-bit numbers in the file, not aligned; read with cubin_word. */
typedef struct CubinWords {
    const unsigned char *bytes;
    uint32_t count;
} CubinWords;

/* A branch to an address in a register, and its possible targets, as byte offsets in the
 * section. */
typedef struct CubinBranch {
    uint32_t offset;
    CubinWords targets;
} CubinBranch;

/* A function. Numbers of a kernel are for its whole call tree. A number that the file does not give
 * is 0. */
typedef struct CubinFunction {
    const char *name;
    const unsigned char *code; /* of `size` bytes, not aligned */
    uint64_t offset;           /* bytes from the start of the section `code_section` */
    uint64_t size;             /* bytes; of a kernel including the local functions after it */
    uint32_t symbol;           /* index */
    uint16_t code_section;
    bool is_kernel, is_global;

    uint32_t registers;        /* per thread, 32 bits each */
    uint32_t max_registers;    /* that the user allowed; 255: no limit */
    uint32_t barriers;         /* named barriers: the highest number used, plus 1 */
    uint32_t local_bytes;      /* local memory of a thread in code without an ABI: .nv.local.NAME */
    uint32_t frame_bytes;      /* local memory of a thread: for this function only */
    uint32_t stack_bytes;      /* local memory of a thread: for the call tree; 0: unknown */
    bool has_open_stack;       /* the call graph has a cycle: no size is enough */
    uint32_t call_stack_bytes; /* EIATTR_CRS_STACK_SIZE */
    uint32_t shared_bytes;     /* static shared memory of a CTA */
    uint32_t system_shared_bytes; /* the system's shared memory before it, from sm_90 on; 0 without
                                   * shared memory */
    uint32_t shared_alignment;    /* bytes; dynamic shared memory follows the static, so aligned */
    uint32_t parameter_offset;    /* bytes, in constant bank 0 */
    uint32_t parameter_bytes;     /* all of them */
    uint32_t max_threads[3];      /* .maxntid */
    uint32_t required_threads[3]; /* .reqntid */
    uint32_t cluster[3];          /* CTAs, .reqnctapercluster */
    uint32_t max_cluster;         /* CTAs, .maxclusterrank */
    uint32_t api_version;         /* 130 for CUDA 13.0 */
    bool has_cluster;             /* .explicitcluster */
    bool counts_clusters;         /* .blocksareclusters */
    bool uses_cta_z;              /* reads %ctaid.z */

    const CubinParameter *parameters; /* by ordinal */
    uint32_t parameter_count;
    const CubinBranch *branches;
    uint32_t branch_count;
    CubinWords exits;       /* byte offsets of EXIT instructions */
    CubinWords externs;     /* symbols of called functions that are defined elsewhere */
    CubinWords syscalls;    /* byte offsets of calls of system functions */
    CubinWords warp_wide;   /* byte offsets: EIATTR_INT_WARP_WIDE_INSTR_OFFSETS */
    CubinWords coop_groups; /* byte offsets: EIATTR_COOP_GROUP_INSTR_OFFSETS */

    uint16_t constants[CUBIN_BANKS];  /* sections by bank: its own, otherwise the shared ones */
    const CubinAttribute *attributes; /* all attributes of its section .nv.info.NAME */
    uint32_t attribute_count;
} CubinFunction;

/* Lists of .nv.callgraph, by the marker before each list. */
typedef enum CubinCallKind {
    CUBIN_CALL_DIRECT = 1,   /* caller calls callee */
    CUBIN_CALL_TARGET = 2,   /* the caller's address is taken: indirect calls may reach it */
    CUBIN_CALL_INDIRECT = 3, /* the caller makes indirect calls */
    CUBIN_CALL_ADDRESS = 4   /* the caller takes the callee's address */
} CubinCallKind;

typedef struct CubinCall {
    uint32_t caller, callee; /* symbols; callee is 0 in lists with one symbol per row */
    uint8_t kind;            /* CubinCallKind */
} CubinCall;

typedef struct Cubin {
    unsigned architecture; /* 75 for sm_75 */
    bool is_relocatable;   /* made by ptxas -c or nvcc -rdc=true: calls and variables need
                            * linking */
    uint8_t abi;           /* ELF ABI version: 7 up to CUDA 12, 8 from CUDA 13 on */
    uint32_t flags;        /* e_flags */
    uint32_t toolkit;      /* 130 for CUDA 13.0; 0: not given */
    const char *producer;  /* "ptxas, Cuda compilation tools, release 13.0, V13.0.88"; or NULL */
    const char *options;   /* options of the producer; or NULL */

    const CubinSection *sections;     /* including index 0, which is empty */
    const CubinSymbol *symbols;       /* including index 0, which is empty */
    const CubinFunction *functions;   /* by section, then by offset */
    const CubinAttribute *attributes; /* of .nv.info, for all functions */
    const CubinCall *calls;
    uint32_t section_count, symbol_count, function_count, attribute_count, call_count;
    uint16_t constants[CUBIN_BANKS]; /* sections of the shared banks; otherwise CUBIN_NONE */
    const char *name;                /* name of the file, for messages */
} Cubin;

/* Whether `bytes` starts like a cubin: a 64-bit ELF file for NVIDIA's GPUs. */
bool cubin_is(const void *bytes, size_t size);

/* The architecture of such a file: 75 for sm_75. */
unsigned cubin_architecture(const void *bytes);

/* Reads the cubin of `size` bytes. The result is allocated in `arena` and points into `bytes`,
 * which must outlive it; `name` is for messages and must outlive it too. Returns NULL after a
 * message if the file is damaged or of an unknown form. */
const Cubin *cubin_open(const void *bytes, size_t size, const char *name, Arena *arena, Diag *diag);

/* The function of this name, or NULL. */
const CubinFunction *cubin_find(const Cubin *cubin, const char *name);

/* The section of this name, or CUBIN_NONE. */
uint16_t cubin_find_section(const Cubin *cubin, const char *name);

/* Word i of a list. */
uint32_t cubin_word(CubinWords words, uint32_t i);

/* "REGCOUNT" for EIATTR_REGCOUNT; NULL if unknown. */
const char *cubin_attribute_name(uint8_t number);

/* ---- Relocations ---- */

/* The value of a symbol that a relocation needs. */
typedef enum CubinReference {
    CUBIN_REFER_NOTHING,    /* none: the place keeps its content */
    CUBIN_REFER_ADDRESS,    /* address in the symbol's own memory: 64-bit for code and global data,
                             * the offset for shared memory */
    CUBIN_REFER_GENERIC,    /* generic address */
    CUBIN_REFER_DESCRIPTOR, /* content of a pointer to the function, if not its address */
    CUBIN_REFER_UNIFIED,    /* its address in the table of all functions (sm_90 on) */
    CUBIN_REFER_CONSTANT,   /* byte offset in its constant bank */
    CUBIN_REFER_BINDLESS,   /* byte offset in bank 0 of a texture, sampler or surface handle */
    CUBIN_REFER_TEXTURE,    /* handle of the texture; in constant bank 0 */
    CUBIN_REFER_SAMPLER,
    CUBIN_REFER_SURFACE
} CubinReference;

/* Resolves a symbol: `value` gets the value that `what` selects, without the addend. Returns false
 * after a message if it is not known. */
typedef bool (*CubinResolve)(void *context, const CubinSymbol *symbol, CubinReference what,
                             uint64_t *value);

/* "R_CUDA_ABS32_LO_32"; NULL if unknown. */
const char *cubin_relocation_name(uint32_t kind);
/* The value that a relocation of this kind needs. */
CubinReference cubin_relocation_reference(uint32_t kind);

/* Applies the relocations of a section to `bytes`, a copy of the section's bytes. Returns false
 * after a message for an unknown kind, a symbol that `resolve` does not know, a value that does not
 * fit, or a place outside the section. */
bool cubin_relocate(const Cubin *cubin, uint16_t section, unsigned char *bytes,
                    CubinResolve resolve, void *context, Diag *diag);

/* ---- Source lines ---- */

/* The source line of the code from `offset` up to the offset of the next row. */
typedef struct CubinLine {
    uint64_t offset;      /* bytes in the section of the function */
    const char *folder;   /* of the file; may be "" */
    const char *file;     /* "": not given */
    const char *function; /* linker name of the function that was inlined here; or NULL */
    uint32_t line;        /* starts at 1 */
    uint32_t caller;      /* index + 1 of the row of the call that was inlined; 0: none */
} CubinLine;

/* Rows for one piece of code. The row of a call comes before the rows that were inlined there. */
typedef struct CubinLines {
    const CubinLine *rows; /* in the order of the file: offsets do not decrease, several rows may
                            * have the same one */
    uint32_t count;
    uint16_t section; /* section of the code */
    uint64_t end;     /* byte offset where the last row ends */
} CubinLines;

typedef struct CubinLineTable {
    const CubinLines *pieces;
    uint32_t count;
} CubinLineTable;

/* Reads the lines of the source (.debug_line), or of the PTX text that it was assembled from
 * (.nv_debug_line_sass). Returns false after a message if they are damaged. The table is empty if
 * there are none, or if they are of an unknown form. */
bool cubin_read_lines(const Cubin *cubin, bool of_ptx, Arena *arena, CubinLineTable *table,
                      Diag *diag);

/* The lines of the PTX text that the cubin was assembled from (-lineinfo), with their number in
 * *count; element 0 is line 1. They point into the file; the list is allocated in `arena`. NULL if
 * there is no text. */
const char *const *cubin_read_ptx(const Cubin *cubin, Arena *arena, uint32_t *count);

/* The last row at `offset` of a section, or NULL. *piece gets its piece, which also contains its
 * callers. */
const CubinLine *cubin_find_line(const CubinLineTable *table, uint16_t section, uint64_t offset,
                                 const CubinLines **piece);

#endif
