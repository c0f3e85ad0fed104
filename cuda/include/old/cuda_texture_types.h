/* A name under which old programs include tyto_old.h. */
#include "tyto_old.h"
