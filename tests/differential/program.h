/* A random kernel as a list of statements. Any of them can be left out: the rest is still a
 * well-defined kernel, because every register has a value from the start. */
#ifndef TYTO_TESTS_DIFFERENTIAL_PROGRAM_H
#define TYTO_TESTS_DIFFERENTIAL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "conformance/form.h"

enum {
    PROGRAM_BLOCK = 64, /* threads of a CTA; a multiple of the warp size */
    PROGRAM_CTAS = 2,
    PROGRAM_THREADS = PROGRAM_BLOCK * PROGRAM_CTAS,
    PROGRAM_PRIVATE_BYTES = 64, /* memory of each thread, per space */
    PROGRAM_CELLS = 8,          /* cells of 8 bytes that all threads update */
    PROGRAM_TABLE_BYTES = 512,  /* size of constant memory */
    PROGRAM_INPUT_BYTES = 4096, /* size of the input, which every thread may read */
    PROGRAM_BODIES = 3,         /* the kernel and two functions */
    PROGRAM_STATEMENTS = 192,   /* limit for a body */
    PROGRAM_LABELS = 32         /* limit for a body: loops, branches, switches */
};

/* ---- Registers ---- */

/* Registers by content. Bits of floating-point registers are exposed only by a canonical move,
 * because the NaN in them is undefined. */
typedef enum Pool {
    POOL_B16,
    POOL_B32,
    POOL_B64,
    POOL_F16,
    POOL_BF16,
    POOL_F16X2,
    POOL_BF16X2,
    POOL_F32,
    POOL_F64,
    POOL_PRED,
    POOLS
} Pool;
typedef struct PoolInfo {
    const char *prefix; /* prefix of a register's name, "%r" */
    const char *type;   /* type of its values */
    int bits;           /* size of a register */
    int count;          /* number of registers */
} PoolInfo;
extern const PoolInfo POOL_INFO[POOLS];

/* A value is a column of the input and of the output: 8 bytes for each thread. All predicates form
 * one value, one bit each. */
int pool_value(Pool pool, int number);
int pool_value_count(void);
/* The register of a value; stores its number in *number. */
Pool pool_of_value(int value, int *number);
/* The pool for an operand of a form. */
Pool pool_of_operand(const Form *form, int operand);
/* Appends statements that move a register to an integer register of the same size, with all NaNs
 * replaced by the same one. */
void pool_write_canonical(Pool pool, const char *from, const char *to, Text *out);

/* ---- Statements ---- */

typedef enum StatementKind {
    STATEMENT_SIMPLE,
    STATEMENT_OPEN, /* start of a loop, a branch or a switch */
    STATEMENT_ELSE, /* boundary between its parts */
    STATEMENT_CLOSE /* its end */
} StatementKind;

typedef struct Statement {
    StatementKind kind;
    bool is_dropped;
    size_t start, length; /* position in the body's text */
    int line, lines;      /* lines in the module when it was last written; 0: not written */
    const Form *form;     /* the form, or NULL for other statements */
} Statement;

typedef struct Body {
    Text text;
    Statement statements[PROGRAM_STATEMENTS];
    int count;
    bool uses_local, uses_shared;
    uint32_t written[POOLS]; /* registers that a statement may have changed */
} Body;

typedef struct Program {
    uint32_t number;
    bool is_ragged;              /* threads may exit early, so nothing may need a whole warp */
    Body bodies[PROGRAM_BODIES]; /* the kernel, then functions; each may call those after it */
} Program;

void program_free(Program *program);
/* Drops or restores the statements from `first` to `last`. */
void program_drop(Body *body, int first, int last, bool is_dropped);
/* The STATEMENT_CLOSE of a STATEMENT_OPEN. */
int program_find_close(const Body *body, int open);
/* Appends the program to a module whose next line has number *line. */
void program_write(Program *program, Text *ptx, int *line);
/* Appends the header of every module; `seed` is that of the constants. */
void program_write_header(uint64_t seed, Text *ptx, int *line);
/* Appends the remaining statements, for readers. */
void program_print(const Program *program, Text *out);

#endif
