/* A name under which programs include cuda_runtime.h, which has half precision. */
#include "cuda_runtime.h"
