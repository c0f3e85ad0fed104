/* C = A B of halves, summed in floats; see common/gemm.c for the method and kernel.cu for the
 * instructions. */
#include "common/gemm.h"

static const WorkloadInfo INFO = {
    .name = "wgemm",
    .summary = "Multiplies matrices of halves on tensor cores by wmma, tiles staged in registers.",
    .parameters = GEMM_PARAMETERS,
};

enum { SHARED_BYTES = 2 * (128 + 256) * 80 }; /* two tiles of rows of 80 bytes */

int main(int argc, char **argv) { return gemm_main(&INFO, SHARED_BYTES, argc, argv); }
