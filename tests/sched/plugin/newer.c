/* The same, which has one of the new functions. */
#define USES_LATER
#include "larger.c"
