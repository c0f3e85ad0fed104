/* Waits for signals (see the header). */
#include "cli/engine/signals.h"

#include <stddef.h>

static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};

void signals_take(sigset_t *awaited, sigset_t *before) {
    sigemptyset(awaited);
    sigaddset(awaited, SIGCHLD);
    for (size_t i = 0; i < sizeof interrupts / sizeof interrupts[0]; i++) {
        struct sigaction action;
        sigaction(interrupts[i], NULL, &action); /* ignored signals (nohup) stay ignored */
        if (action.sa_handler != SIG_IGN) sigaddset(awaited, interrupts[i]);
    }
    sigprocmask(SIG_BLOCK, awaited, before);
}

void signals_obey(int number) {
    signal(number, SIG_DFL);
    raise(number);
}
