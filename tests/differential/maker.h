/* Shared by the parts of the generator: the body that is being written, and the position of the
 * next statement in it. */
#ifndef TYTO_TESTS_DIFFERENTIAL_MAKER_H
#define TYTO_TESTS_DIFFERENTIAL_MAKER_H

#include "program.h"

typedef struct FormList FormList;

typedef struct Maker {
    const FormList *forms;
    Program *program;
    Body *body;
    int index;         /* index of the body; 0 is the kernel */
    uint64_t state;    /* state of the pseudo-random numbers */
    int depth;         /* number of loops and branches around the statement */
    int labels;        /* number of labels used so far */
    int loop;          /* label of the enclosing divergent loop; -1: none */
    int loops;         /* number of loops around the statement */
    int implications;  /* number of conditions of two predicates that it depends on */
    int implied_loops; /* number of loops around it that depend on such a condition */
    bool has_exit;     /* threads may have left the kernel before this point */
    bool is_converged; /* all threads of the CTA reach this point together */
} Maker;

/* A pseudo-random number below `count`. */
int maker_choose(Maker *maker, int count);
/* True with a probability of one in `count`. */
static inline bool maker_chance(Maker *maker, int count) { return maker_choose(maker, count) == 0; }
/* Begins a statement; everything that is appended to the body's text until maker_end belongs to
 * it. */
Text *maker_begin(Maker *maker, StatementKind kind);
void maker_end(Maker *maker);
/* Whether the body has room for `count` more statements. */
bool maker_has_room(const Maker *maker, int count);
/* The name of a random register of the pool. */
typedef struct Name {
    char text[8];
} Name;
Name maker_register(Maker *maker, Pool pool);
/* The same for a result. Never returns the register `taken` (-1: any is allowed). Stores its number
 * in *number. */
Name maker_result(Maker *maker, Pool pool, int taken, int *number);

/* ---- Statements, by file ---- */

/* forms.c: one instruction from the tables of the conformance suite. */
FormList *forms_new(bool has_approximate);
void forms_free(FormList *forms);
void forms_write(Maker *maker);
/* A chain of additions or subtractions with carry. */
void forms_write_chain(Maker *maker);

/* accesses.c: memory of the thread, read-only memory, and atomics whose order does not matter. */
void accesses_write_private(Maker *maker);
void accesses_write_constant(Maker *maker);
void accesses_write_atomic(Maker *maker);
/* Values that threads exchange through shared memory, or reduce at a barrier. Only where threads
 * are converged. */
void accesses_write_exchange(Maker *maker);

/* generate.c */
void generate(Program *program, const FormList *forms, uint64_t seed, uint32_t number);

#endif
