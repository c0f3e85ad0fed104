/* The kernel of one form. Thread i reads source s from in0[s * n + i] and executes the form in each
 * of its ways. It writes destination d of the w-th way to in1[(w * destinations + d) * n + i];
 * slots have 8 bytes. in2 holds two words per warp: the lanes that exist, and those of them that
 * execute the masked ways. */
#ifndef TYTO_TESTS_CONFORMANCE_KERNEL_H
#define TYTO_TESTS_CONFORMANCE_KERNEL_H

#include "base/text.h"

#include "form.h"

typedef enum Way {
    WAY_PLAIN,
    WAY_GUARD,    /* guarded by a predicate that is true in some lanes */
    WAY_BRANCH,   /* in a divergent branch that some lanes take */
    WAY_ALIAS,    /* a source register is also the destination */
    WAY_CONSTANT, /* a source is a constant */
    WAY_GROUPS,   /* groups of lanes; each lane passes the mask of its group */
    WAY_COUNT
} Way;

static inline bool way_is_masked(Way way) { return way == WAY_GUARD || way == WAY_BRANCH; }

typedef struct Job {
    Form form;
    int unit;           /* number in the harness's share */
    int number;         /* number of the kernel in its module; its name is "k" and this number */
    unsigned ways;      /* set of Way */
    int alias;          /* WAY_ALIAS: the source that is the destination */
    int constant;       /* WAY_CONSTANT: the source that is a constant, and ... */
    uint64_t immediate; /* ... its bits */
} Job;

/* Whether a source can be a constant instead of a register. */
bool kernel_takes_constant(const Form *form, int source);
void kernel_write_immediate(const Type *type, uint64_t bits, Text *ptx);

/* Chooses the ways in which the form can be executed. */
void kernel_plan(Job *job, int number);

/* The lanes of the group that a lane belongs to, for WAY_GROUPS. */
uint32_t kernel_group(const Job *job, int lane);

/* Appends the kernel to a module. */
void kernel_write(const Job *job, Text *ptx);
/* Value of a destination in lanes that did not execute the instruction. */
uint64_t kernel_untouched(const Form *form, int destination);

#endif
