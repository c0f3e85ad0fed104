/* A name under which programs include cuda_runtime.h. */
#include "cuda_runtime.h"
