/* What our cuBLAS exports without having it: each says so once, and returns the library's own
 * status. */
#include "library/device.h"

enum {
    NOT_SUPPORTED = 15
}; /* CUBLAS_STATUS_NOT_SUPPORTED; its header has macros for names that stand here */

#define ROW(name)                                                                                  \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) {                                                                               \
        device_say_missing(#name);                                                                 \
        return NOT_SUPPORTED;                                                                      \
    }
#include "library/cublas_missing.def"
