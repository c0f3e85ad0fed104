/* The export table. This file does not include tyto/cuda.h: it needs the bare names, which that
 * header maps to their current forms, and only the functions' addresses. */
#include "driver/api.h"

#include <stddef.h>
#include <string.h>

/* Functions: defined elsewhere, with their own signatures. */
#define DECLARE(symbol) ApiFunction symbol;
API_FUNCTIONS(DECLARE)
ApiFunction cuGetProcAddress;

API_ALIASES(EXPORT_ALIAS)

/* Missing functions: whatever their arguments, they say so once and return their error. */
int driver_missing(const char *function); /* a CUresult, see driver/driver.h */
#define MISSING(symbol) EXPORT_MISSING(symbol, driver_missing)
API_MISSING(MISSING)

typedef struct ApiRow {
    const char *name;
    ApiFunction *function;
} ApiRow;

#define FUNCTION_ROW(symbol)     {#symbol, symbol},
#define ALIAS_ROW(alias, symbol) {#alias, alias},
#define MISSING_ROW(symbol)      {#symbol, (ApiFunction *)symbol},
static const ApiRow rows[] = {API_FUNCTIONS(FUNCTION_ROW) API_ALIASES(ALIAS_ROW)
                                  API_MISSING(MISSING_ROW){"cuGetProcAddress", cuGetProcAddress}};

ApiFunction *api_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) return rows[i].function;
    }
    return NULL;
}
