/* The host code from which the program under test made a request, for messages about it. */
#ifndef TYTO_BASE_BACKTRACE_H
#define TYTO_BASE_BACKTRACE_H

#include "base/text.h"

/* Adds a line "\n    host: FUNCTION+0xOFFSET in FILE" for each of the innermost frames of the
 * program, without those of Tyto and of the C library. It prints offsets instead of addresses, so
 * that every run prints the same. Function names appear if the program exports them (-rdynamic);
 * addr2line takes the offset in the file. */
void backtrace_add(Text *out);

#endif
