/* Checks of what programs must guarantee when they call the public functions: indices that are in
 * range. */
#ifndef TYTO_SIMULATOR_CALLER_H
#define TYTO_SIMULATOR_CALLER_H

/* Ends the process after a line on stderr, unless 0 <= index < count. `what` is what there are
 * `count` of, in the singular. */
#define CALLER_CHECK_INDEX(what, index, count) caller_check_index(__func__, what, index, count)
void caller_check_index(const char *function, const char *what, int index, int count);

#endif
