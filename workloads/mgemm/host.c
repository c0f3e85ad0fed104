/* C = A B of halves, summed in floats; see common/gemm.c for the method and kernel.cu for the
 * instructions. */
#include "common/gemm.h"

static const WorkloadInfo INFO = {
    .name = "mgemm",
    .summary =
        "Multiplies matrices of halves on tensor cores by mma, ldmatrix and asynchronous copies.",
    .parameters = GEMM_PARAMETERS,
};

enum { SHARED_BYTES = 3 * (128 + 256) * 128 }; /* three tiles of 64 columns of halves */

int main(int argc, char **argv) { return gemm_main(&INFO, SHARED_BYTES, argc, argv); }
