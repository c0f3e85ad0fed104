/* From this line clang reads the version of the CUDA toolkit, which determines the PTX version to
 * write. */
#define CUDA_VERSION 12000
#include "tyto/cuda.h"
