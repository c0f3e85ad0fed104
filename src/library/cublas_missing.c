/* Functions that Tyto's cuBLAS exports but does not support. Each reports this once, and returns
 * the library's own status. */
#include "library/device.h"

enum {
    NOT_SUPPORTED = 15
}; /* CUBLAS_STATUS_NOT_SUPPORTED; the header is not included because it has macros for names used
      here */

#define ROW(name)                                                                                  \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) {                                                                               \
        device_say_missing(#name);                                                                 \
        return NOT_SUPPORTED;                                                                      \
    }
#include "library/cublas_missing.def"
