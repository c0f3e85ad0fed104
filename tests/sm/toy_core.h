/* The smallest core of an SM: it issues one instruction per cycle, of the next warp in turn that
 * can issue. Arithmetic has its result at once; a warp waits for its own memory instruction. The
 * core fetches nothing and asks no policy. */
#ifndef TYTO_TESTS_SM_TOY_CORE_H
#define TYTO_TESTS_SM_TOY_CORE_H

#include "sm/core.h"

extern const SmCore toy_core;

#endif
