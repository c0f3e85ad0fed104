/* A name under which programs include cuRAND. */
#include "tyto/curand.h"
