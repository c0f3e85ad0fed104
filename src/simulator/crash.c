/* Reports when a policy crashes the process.
 *
 * A signal handler has no argument that could identify a simulator, so it is stored in the only
 * variable of this file. The handler only writes text that is prepared. */
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/line.h"
#include "base/thread_pool.h"
#include "simulator/simulator.h"

enum {
    CALL_BYTES = 600,             /* bytes of the text that names the policy's function */
    STACK_BYTES = UINT16_MAX + 1, /* stack of the handler: a thread's may be used up */
};

static _Atomic(const TytoSimulator *) simulator_named;

/* The handler is removed when it is entered, so that the signal, raised again, ends the process. */
static void on_crash(int number) {
    char call[CALL_BYTES], bytes[CALL_BYTES + 60];
    const TytoSimulator *simulator = atomic_load(&simulator_named);
    if (simulator && gpu_policy_call(simulator->gpu, true, call, sizeof call)) {
        Line line = line_begin(bytes, sizeof bytes);
        line_add(&line, "tyto: error: ");
        line_add(&line, call);
        line_add(&line, " was under way when signal ");
        line_add_number(&line, (uint64_t)number);
        line_add(&line, " ended the process\n");
        if (write(STDERR_FILENO, line.bytes, line.length) < 0) { /* stderr is gone */
        }
    }
    raise(number);
}

/* If a policy calls exit in the middle of a launch, the run cannot be reported. The launch belongs
 * to this thread if the thread can take the lock, which is recursive, or if it is a pool thread
 * that the lock's owner waits for. */
static void on_exit_called(void) {
    TytoSimulator *simulator = (TytoSimulator *)(uintptr_t)atomic_load(&simulator_named);
    char call[CALL_BYTES];
    const bool helps = thread_pool_is_other();
    if (!simulator || (!helps && pthread_mutex_trylock(&simulator->lock) != 0)) return;
    bool is_policy = gpu_policy_call(simulator->gpu, true, call, sizeof call);
    if (!helps) pthread_mutex_unlock(&simulator->lock);
    if (!is_policy) return;
    fprintf(stderr, "tyto: error: %s was under way when exit was called\n", call);
    fflush(NULL);
    _exit(1);
}

void tyto_name_crashes(const TytoSimulator *simulator) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[STACK_BYTES];
    stack_t before, own = {.ss_sp = stack, .ss_size = sizeof stack};
    static atomic_flag is_exit_heard = ATOMIC_FLAG_INIT;
    atomic_store(&simulator_named, simulator);
    if (!simulator) return;
    if (!atomic_flag_test_and_set(&is_exit_heard)) atexit(on_exit_called);
    if (sigaltstack(NULL, &before) == 0 && before.ss_flags & SS_DISABLE) sigaltstack(&own, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        sigaction(numbers[i], NULL, &action);
        if (action.sa_flags & SA_SIGINFO || action.sa_handler != SIG_DFL) continue;
        action =
            (struct sigaction){.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK};
        sigaction(numbers[i], &action, NULL);
    }
}

void crash_forget(const TytoSimulator *simulator) {
    const TytoSimulator *named = simulator;
    atomic_compare_exchange_strong(&simulator_named, &named, NULL);
}
