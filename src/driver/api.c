/* The export table. This file does not include tyto/cuda.h, because that header maps the bare names
 * to their current forms. Only the functions' addresses are needed. */
#include "driver/api.h"

#include <stddef.h>
#include <string.h>

/* Functions that are defined elsewhere, with their own signatures. */
#define DECLARE(symbol) ApiFunction symbol;
API_FUNCTIONS(DECLARE)
ApiFunction cuGetProcAddress;

API_ALIASES(EXPORT_ALIAS)

/* Missing functions: whatever their arguments, they report once that they are missing and why, and
 * return an error. */
int driver_missing_because(const char *function, const char *why); /* a CUresult, driver.h */
#define CAUSE(cause, text) static const char cause_of_##cause[] = text;
API_CAUSES(CAUSE)
#define MISSING(symbol, cause) EXPORT_MISSING(symbol, driver_missing_because, cause_of_##cause)
API_MISSING(MISSING)

typedef struct ApiRow {
    const char *name;
    ApiFunction *function;
} ApiRow;

#define FUNCTION_ROW(symbol)     {#symbol, symbol},
#define ALIAS_ROW(alias, symbol) {#alias, alias},
#define MISSING_ROW(symbol, why) {#symbol, (ApiFunction *)symbol},
static const ApiRow rows[] = {API_FUNCTIONS(FUNCTION_ROW) API_ALIASES(ALIAS_ROW)
                                  API_MISSING(MISSING_ROW){"cuGetProcAddress", cuGetProcAddress}};

ApiFunction *api_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) == 0) return rows[i].function;
    }
    return NULL;
}
