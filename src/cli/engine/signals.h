/* Signals that are not handled but waited for, so that there is neither a handler nor a global. */
#ifndef TYTO_CLI_ENGINE_SIGNALS_H
#define TYTO_CLI_ENGINE_SIGNALS_H

#include <signal.h>

/* Blocks the end of a process and what interrupts a command, for sigtimedwait; `before` is what was
 * blocked until then. */
void signals_take(sigset_t *awaited, sigset_t *before);

/* Ends this process as the signal does that has interrupted it, so that a shell's loop ends too. */
void signals_obey(int number);

#endif
