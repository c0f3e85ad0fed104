/* Includes all of the CUDA samples' host helpers, like their header of this name. */
#include "helper_cuda.h"
#include "helper_image.h"
