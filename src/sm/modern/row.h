/* What the modern core needs to know about an instruction: one row for each pc of a program. */
#ifndef TYTO_SM_MODERN_ROW_H
#define TYTO_SM_MODERN_ROW_H

#include "isa/source.h"
#include "sm/sm_config.h"

/* The pipe that an instruction issues to. */
typedef enum ModernPipe {
    PIPE_ALU,
    PIPE_FMA, /* also FP16 */
    PIPE_DOUBLE,
    PIPE_TENSOR,
    PIPE_SFU,
    PIPE_UNIFORM,
    PIPE_SHUFFLE, /* instructions of the memory pipeline that access no memory */
    PIPE_CONTROL, /* branches, barriers */
    PIPE_MEMORY,
    PIPES
} ModernPipe;

/* How an instruction leaves its sub-core, classified as by NVIDIA's profiler. */
typedef enum ModernRoute {
    ROUTE_PIPE, /* to a pipe of the sub-core */
    ROUTE_MIO,  /* to units that sub-cores share: shared memory, constants, shuffles, special
                   functions */
    ROUTE_LG,   /* to global or local memory */
    ROUTE_TEXTURE,
    ROUTES
} ModernRoute;

enum { REGISTER_BANKS = 2 }; /* per sub-core (Huerta): even registers, odd registers */

typedef struct ModernRow {
    uint16_t latency;  /* cycles from issue until its write counter is released; memory instructions
                          report that themselves */
    uint16_t busy;     /* cycles in which its pipe accepts no other instruction */
    uint8_t pipe;      /* ModernPipe */
    uint8_t stall;     /* minimum cycles to the warp's next instruction */
    uint8_t wait_mask; /* IsaControl; also the next five */
    uint8_t waits_for, at_most;
    uint8_t write_counter, read_counter;
    bool is_fixed : 1;             /* its latency is fixed, so it passes the Allocate stage */
    uint8_t route : 2;             /* ModernRoute */
    uint8_t slots;                 /* issue slots; 0: another instruction does its work */
    uint8_t reads[REGISTER_BANKS]; /* registers that it reads from each bank */
    uint8_t reuse, words;          /* IsaControl; also the next two */
    uint8_t operand[ISA_PLACES];
    uint32_t constant;
} ModernRow;
_Static_assert(sizeof(ModernRow) == 24, "rows share the host's first cache with the SMs");

/* The caller frees the table. */
void *modern_rows_new(const SmConfig *config, const WarpProgram *program);

#endif
