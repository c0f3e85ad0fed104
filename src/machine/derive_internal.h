/* Internals shared by the files that derive values from others. */
#ifndef TYTO_MACHINE_DERIVE_INTERNAL_H
#define TYTO_MACHINE_DERIVE_INTERNAL_H

#include "machine/machine_internal.h"

/* Whether `key` was given later than `other`: by --set rather than in the file, or in the file
 * rather than in its base. */
bool derive_is_newer(const Machine *machine, const char *key, const char *other);
/* Sets a value that is derived from that of `from`. */
void derive_text(Machine *machine, const char *key, const char *value, const char *from);
void derive_number(Machine *machine, const char *key, uint64_t value, const char *unit,
                   const char *from);
/* An irreducible polynomial over GF(2), with the coefficients as bits; 0: none of this degree is
 * known. */
unsigned derive_polynomial(int degree);

/* derive_map.c */
void derive_map(Machine *machine);
void derive_dram(Machine *machine);

#endif
