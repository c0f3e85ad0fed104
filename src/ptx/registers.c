/* How many registers per thread a kernel has on the hardware. */
#include "ptx/analysis.h"

int32_t ptx_estimate_registers(const PtxFunction *function, int32_t pressure) {
    (void)function;
    return pressure;
}
