/* A name under which old programs include cutil.h. */
#include "cutil.h"
