/* Waits for signals instead of handling them, so that no handler and no global variable is needed.
 */
#ifndef TYTO_CLI_ENGINE_SIGNALS_H
#define TYTO_CLI_ENGINE_SIGNALS_H

#include <signal.h>

/* Blocks SIGCHLD and the signals that interrupt a command, for sigtimedwait; `before` receives the
 * earlier mask. */
void signals_take(sigset_t *awaited, sigset_t *before);

/* Ends this process by the signal that interrupted it, so that a shell's loop ends too. */
void signals_obey(int number);

#endif
