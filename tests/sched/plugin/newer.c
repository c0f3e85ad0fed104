/* The same policy, but with one of the new functions defined. */
#define USES_LATER
#include "larger.c"
