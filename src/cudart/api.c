/* The export table's other names and missing functions. This file does not include
 * tyto/cuda_runtime_api.h: it needs only the functions' addresses. */
#include "cudart/api.h"

#include "base/export.h"

int runtime_missing(const char *function); /* a cudaError_t, see cudart/runtime.h */

#define MISSING(symbol) EXPORT_MISSING(symbol, runtime_missing)
CUDART_ALIASES(EXPORT_ALIAS)
CUDART_MISSING(MISSING)
