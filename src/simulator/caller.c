/* Reports misuse of the public functions and ends the process, as described in tyto/tyto.h. */
#include "simulator/caller.h"

#include <stdio.h>
#include <stdlib.h>

void caller_check_index(const char *function, const char *what, int index, int count) {
    if (index >= 0 && index < count) return;
    fprintf(stderr, "tyto: %s: there is no %s %d, ", function, what, index);
    if (count) fprintf(stderr, "only 0 to %d\n", count - 1);
    else fprintf(stderr, "because there are none\n");
    abort();
}
