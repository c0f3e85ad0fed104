/* A name under which programs include cuSPARSE. */
#include <cuComplex.h>

#include "tyto/cusparse.h"
