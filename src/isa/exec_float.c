/* f32 and f64 arithmetic. */
#include "isa/maps.h"

#include "isa/exec_float.def"
