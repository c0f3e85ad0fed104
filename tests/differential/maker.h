/* What the parts of the generator share: the body that is being written, and the place of the next
 * statement in it. */
#ifndef TYTO_TESTS_DIFFERENTIAL_MAKER_H
#define TYTO_TESTS_DIFFERENTIAL_MAKER_H

#include "program.h"

typedef struct FormList FormList;

typedef struct Maker {
    const FormList *forms;
    Program *program;
    Body *body;
    int index;         /* of the body: 0 is the kernel */
    uint64_t state;    /* of the pseudo-random numbers */
    int depth;         /* of loops and branches around the statement */
    int labels;        /* used so far */
    int loop;          /* label of the divergent loop around the statement; -1: none */
    bool is_converged; /* all threads of the CTA get here together */
} Maker;

/* A pseudo-random number below `count`. */
int maker_choose(Maker *maker, int count);
/* True once in `count` times. */
static inline bool maker_chance(Maker *maker, int count) { return maker_choose(maker, count) == 0; }
/* Begins a statement; what is appended to the body's text until maker_end is its own. */
Text *maker_begin(Maker *maker, StatementKind kind);
void maker_end(Maker *maker);
/* Whether the body has room for `count` more statements. */
bool maker_has_room(const Maker *maker, int count);
/* The name of a random register of the pool. */
typedef struct Name {
    char text[8];
} Name;
Name maker_register(Maker *maker, Pool pool);
/* The same for a result; never the register `taken` (-1: any), in *number its number. */
Name maker_result(Maker *maker, Pool pool, int taken, int *number);

/* ---- Statements, each by the file of its name ---- */

/* forms.c: one instruction of the tables of the conformance suite. */
FormList *forms_new(bool has_approximate);
void forms_free(FormList *forms);
void forms_write(Maker *maker);
/* A chain of additions or subtractions with carry. */
void forms_write_chain(Maker *maker);

/* accesses.c: memory that only the thread uses, memory that is only read, and atomics whose order
 * does not matter. */
void accesses_write_private(Maker *maker);
void accesses_write_constant(Maker *maker);
void accesses_write_atomic(Maker *maker);
/* Values that threads exchange through shared memory, or reduce at a barrier: where converged. */
void accesses_write_exchange(Maker *maker);

/* generate.c */
void generate(Program *program, const FormList *forms, uint64_t seed, uint32_t number);

#endif
