/* Makes a small cubin by hand, so that the reader is also tested where ptxas is not installed:
 * kernel `scale` followed by a function, one variable in each memory, relocations of code and data,
 * and lines with an inlined call. */
#ifndef TYTO_TESTS_CUBIN_MAKER_H
#define TYTO_TESTS_CUBIN_MAKER_H

#include "base/text.h"

typedef struct CubinMade {
    unsigned architecture; /* 80 for sm_80 */
    bool is_old;           /* from CUDA 11: another layout of e_flags, registers in .text only */
    bool is_relocatable;
} CubinMade;

void cubin_make(const CubinMade *what, Text *out);

/* The cubin in a fat binary with a PTX text for compute_90, and that fat binary in a host ELF file,
 * in sections .nv_fatbin and __nv_relfatbin. */
void cubin_make_fatbin(const Text *cubin, unsigned architecture, Text *out);
void cubin_make_program(const Text *fatbin, Text *out);

#endif
