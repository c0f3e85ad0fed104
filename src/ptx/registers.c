/* How many registers per thread a kernel has on the hardware. */
#include "ptx/analysis.h"

#include <stdlib.h>

int32_t ptx_estimate_registers(const PtxModule *module, const PtxFunction *function,
                               int32_t pressure) {
    (void)module; (void)function;
    return pressure;
}
