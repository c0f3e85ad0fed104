/* Names and texts of error codes. Codes that the driver API also has have the driver's texts. */
#include "cudart/runtime.h"

typedef struct ErrorRow {
    enum cudaError code;
    const char *name;
    const char *text; /* NULL: the driver's text */
} ErrorRow;

#define ROW(code, text) {code, #code, text},
static const ErrorRow rows[] = {
#include "driver/runtime_error.def"
};
#undef ROW

static const ErrorRow *find(cudaError_t error) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code == error) return &rows[i];
    }
    return NULL;
}

const char *CUDARTAPI cudaGetErrorName(cudaError_t error) {
    const ErrorRow *row = find(error);
    return row ? row->name : "unrecognized error code";
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error) {
    const ErrorRow *row = find(error);
    const char *text = "unrecognized error code";
    if (row && row->text) text = row->text;
    else if (row) cuGetErrorString((CUresult)error, &text);
    return text;
}
