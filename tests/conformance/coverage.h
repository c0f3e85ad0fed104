/* Which spellings of instructions ran, and whether these are all that the reader's table of forms
 * (ptx/opcode.h) admits. */
#ifndef TYTO_TESTS_CONFORMANCE_COVERAGE_H
#define TYTO_TESTS_CONFORMANCE_COVERAGE_H

#include <stdbool.h>

struct Map;

/* A set of spellings. Words that only advise caches or order memory are left out of them, and the
 * order of words does not count. */
struct Map *coverage_new(void);
void coverage_free(struct Map *set);
/* True when the spelling is new. */
bool coverage_add(struct Map *set, const char *spelling);

/* Reports every spelling, and every word of an opcode, that the table of forms admits and that is
 * not in the set; their number. */
int coverage_check(struct Map *set);

#endif
