/* What the files share that derive values from others. */
#ifndef TYTO_MACHINE_DERIVE_INTERNAL_H
#define TYTO_MACHINE_DERIVE_INTERNAL_H

#include "machine/machine_internal.h"

/* Whether `key` was given later than `other`: by --set and not in the file, in the file and not in
 * its base. */
bool derive_is_newer(const Machine *machine, const char *key, const char *other);
/* Sets a value that follows from that of `from`. */
void derive_text(Machine *machine, const char *key, const char *value, const char *from);
void derive_number(Machine *machine, const char *key, uint64_t value, const char *unit,
                   const char *from);
/* An irreducible polynomial over GF(2), its bits the coefficients; 0: none of this degree here. */
unsigned derive_polynomial(int degree);

/* derive_map.c */
void derive_map(Machine *machine);
void derive_dram(Machine *machine);

#endif
