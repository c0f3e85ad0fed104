/* Functions that Tyto's cuRAND exports but does not support. Each reports this once, and returns
 * the library's own status. */
#include "library/device.h"

enum { NOT_SUPPORTED = 204 }; /* CURAND_STATUS_ARCH_MISMATCH: a feature is missing */

#define ROW(name)                                                                                  \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) {                                                                               \
        device_say_missing(#name);                                                                 \
        return NOT_SUPPORTED;                                                                      \
    }
#include "library/curand_missing.def"
