/* The export table's other names and missing functions. This file does not include
 * tyto/cuda_runtime_api.h, because only the functions' addresses are needed. */
#include "cudart/api.h"

#include "base/export.h"

int runtime_missing(const char *function, const char *why); /* a cudaError_t, cudart/runtime.h */

#define CAUSE(cause, text) const char cudart_cause_##cause[] = text;
CUDART_CAUSES(CAUSE)
#define MISSING(symbol, cause) EXPORT_MISSING(symbol, runtime_missing, cudart_cause_##cause)
CUDART_ALIASES(EXPORT_ALIAS)
CUDART_MISSING(MISSING)
