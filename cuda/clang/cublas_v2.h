/* A name under which programs include cuBLAS. */
#include "tyto/cublas.h"
