/* A name under which old programs include cuBLAS, without handles. */
#include "tyto/cublas_old.h"
