/* Records which spellings of instructions ran, and checks that these are all that the reader's
 * table of forms (ptx/opcode.h) contains. */
#ifndef TYTO_TESTS_CONFORMANCE_COVERAGE_H
#define TYTO_TESTS_CONFORMANCE_COVERAGE_H

#include <stdbool.h>

struct Map;

/* A set of spellings. It ignores words that only advise caches or order memory, and the order of
 * words. */
struct Map *coverage_new(void);
void coverage_free(struct Map *set);
/* Returns true if the spelling is new. */
bool coverage_add(struct Map *set, const char *spelling);

/* Reports every spelling of the table of forms, and every word of an opcode, that is not in the
 * set. Returns their number. */
int coverage_check(struct Map *set);

#endif
