/* A name under which programs include the driver API. */
#include "tyto/cuda.h"
