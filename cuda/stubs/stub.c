/* The library to link with for a program that runs both on Tyto and on a GPU: it has the names of
 * the driver API and needs libcuda.so.1 at run time. Its functions do nothing. */
#include "driver/api.h"

#define STUB_LIBRARY 34 /* CUDA_ERROR_STUB_LIBRARY */

#define STUB(symbol)                                                                               \
    int symbol(void);                                                                              \
    int symbol(void) { return STUB_LIBRARY; }
#define ALIAS_STUB(alias, symbol) STUB(alias)
API_FUNCTIONS(STUB)
API_ALIASES(ALIAS_STUB)
API_MISSING(ALIAS_STUB)
STUB(cuGetProcAddress)
