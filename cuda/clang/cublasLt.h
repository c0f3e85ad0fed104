/* A name under which programs include cuBLASLt. */
#include "tyto/cublasLt.h"
