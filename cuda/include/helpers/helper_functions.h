/* All of the CUDA samples' helpers of the host, as their header of this name includes them. */
#include "helper_cuda.h"
#include "helper_image.h"
