/* Functions that Tyto's cuSPARSE exports but does not support. Each reports this once, and returns
 * the library's own status. */
#include "library/device.h"

enum { NOT_SUPPORTED = 10 }; /* CUSPARSE_STATUS_NOT_SUPPORTED */

#define ROW(name)                                                                                  \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void) {                                                                               \
        device_say_missing(#name);                                                                 \
        return NOT_SUPPORTED;                                                                      \
    }
#include "library/cusparse_missing.def"
