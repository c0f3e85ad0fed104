/* A name under which old programs include helper_cuda.h. */
#include "helper_cuda.h"
