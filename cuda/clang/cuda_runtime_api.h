/* A name under which programs include tyto/cuda_runtime_api.h. */
#include "tyto/cuda_runtime_api.h"
