/* Where the program under test is, for messages about what it asked for. */
#ifndef TYTO_BASE_BACKTRACE_H
#define TYTO_BASE_BACKTRACE_H

#include "base/text.h"

/* Adds a line "\n    host: FUNCTION+0xOFFSET in FILE" for each of the innermost frames that are the
 * program's, not ours or the C library's. Offsets, not addresses: the same in every run. Functions
 * have names where the program exports them (-rdynamic); the offset in the file is what addr2line
 * takes. */
void backtrace_add(Text *out);

#endif
