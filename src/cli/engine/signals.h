/* Signals that are not handled but waited for, so that there is neither a handler nor a global. */
#ifndef TYTO_CLI_ENGINE_SIGNALS_H
#define TYTO_CLI_ENGINE_SIGNALS_H

#include <signal.h>

/* Blocks the end of a process and what interrupts a command, for sigtimedwait; `before` is what was
 * blocked until then. */
void signals_take(sigset_t *awaited, sigset_t *before);

#endif
