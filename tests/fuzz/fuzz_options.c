/* The reader of TYTO_OPTIONS: any text is accepted, or refused with messages. */
#include "simulator/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = strndup((const char *)bytes, size);
    Diag *diag = diag_new();
    Options *options = options_new();
    bool is_right = options_parse_string(options, "fuzz", text, diag);
    if (is_right != (diag_error_count(diag) == 0)) abort(); /* a refusal must have a reason */
    if (options->memory_bytes && options->memory_bytes < 1 << 20) abort(); /* bounds hold */
    if (options->stack_bytes > UINT32_MAX) abort();
    options_free(options);
    diag_free(diag);
    free(text);
    return 0;
}
