/* A name under which programs include the types of CUDA libraries. */
#include "tyto/cuda_library_types.h"
