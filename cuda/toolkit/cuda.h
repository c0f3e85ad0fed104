/* By this line clang tells how recent a CUDA toolkit is, and with it the PTX version to write. */
#define CUDA_VERSION 12000
#include "tyto/cuda.h"
