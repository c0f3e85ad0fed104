/* The command waits for its program. Each process that uses CUDA keeps a journal of its launches in
 * a temporary folder. If a process cannot write its results itself, the library makes them from its
 * journal (tyto_deliver).
 *
 * A signal from a terminal reaches the program directly, because it is in the same process group. A
 * signal to the command alone is passed on to the program. If the command dies, the program does
 * too. */
#include "cli/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/engine/executor.h"
#include "cli/program.h"
#include "cli/scratch.h"

typedef struct Supervisor {
    Scratch scratch;          /* for journals */
    sigset_t awaited, before; /* signals to wait for; signals that were blocked before */
    void (*on_child)(int);    /* the earlier handler of SIGCHLD */
    bool *is_started;         /* the program was executed; shared with the child */
    pid_t parent, child;
    bool asks_help; /* of the program, which then need not launch a kernel */
} Supervisor;

/* Signals that are passed on, unless they are ignored. */
static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static void block_signals(Supervisor *supervisor) {
    supervisor->on_child = signal(SIGCHLD, SIG_DFL);
    sigemptyset(&supervisor->awaited);
    sigaddset(&supervisor->awaited, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
        sigaddset(&supervisor->awaited, passed_on[i]);
    sigprocmask(SIG_BLOCK, &supervisor->awaited, &supervisor->before);
}

static void release_signals(const Supervisor *supervisor) {
    signal(SIGCHLD, supervisor->on_child);
    sigprocmask(SIG_SETMASK, &supervisor->before, NULL);
}

/* Runs in the new process. */
static _Noreturn void become(const Supervisor *supervisor, char **words) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor->parent) _exit(EXIT_FAILED);
    release_signals(supervisor);
    *supervisor->is_started = true;
    int status = program_exec(words);
    *supervisor->is_started = false;
    _exit(status);
}

/* Waits for the end of the program; returns its status in the form of wait(). */
static int await_end(const Supervisor *supervisor) {
    int status;
    while (waitpid(supervisor->child, &status, WNOHANG) != supervisor->child) {
        siginfo_t info;
        int number = sigwaitinfo(&supervisor->awaited, &info);
        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
            sigqueue(supervisor->child, number, info.si_value);
    }
    return status;
}

/* ---- The end ---- */

static void describe_end(int status, char *text, size_t size) {
    if (WIFSIGNALED(status))
        snprintf(text, size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else snprintf(text, size, "_exit or exec");
}

/* The exit status of the command if its program exits with 0. */
static int status_of(TytoStatus delivered) {
    const char *unwritten = getenv(EXECUTOR_TELL_UNWRITTEN);
    if (delivered == TYTO_OK) return EXIT_DONE;
    if (delivered == TYTO_CHECKS_FAILED) return EXIT_FOUND;
    return delivered == TYTO_BAD_FILE && unwritten ? atoi(unwritten) : EXIT_FAILED;
}

/* Ends this process by the signal that ended the program, without a second core dump. */
static void die_of(int number) {
    const struct rlimit none = {0, 0};
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static int finish(Supervisor *supervisor, int status) {
    char ending[256];
    TytoStatus delivered = TYTO_OK;
    describe_end(status, ending, sizeof ending);
    if (*supervisor->is_started)
        delivered =
            tyto_deliver(supervisor->scratch.path, supervisor->child, ending,
                         status != 0 || supervisor->asks_help || getenv(EXECUTOR_TELL_UNWRITTEN));
    scratch_close(&supervisor->scratch);
    munmap(supervisor->is_started, sizeof *supervisor->is_started);
    fflush(NULL);
    if (WIFSIGNALED(status)) die_of(WTERMSIG(status));
    release_signals(supervisor);
    int own = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
    return own ? own : status_of(delivered);
}

static bool asks_help(char **words) {
    for (int i = 1; words[i]; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) return true;
    return false;
}

int supervise_run(char **words) {
    Supervisor supervisor = {.parent = getpid(), .asks_help = asks_help(words)};
    block_signals(&supervisor); /* first, because a signal that ends the command later would leave
                                   the folder */
    if (!scratch_open(&supervisor.scratch)) {
        release_signals(&supervisor);
        return EXIT_FAILED;
    }
    supervisor.is_started = mmap(NULL, sizeof *supervisor.is_started, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setenv(TYTO_JOURNAL, supervisor.scratch.path, 1);
    fflush(NULL);
    if (supervisor.is_started != MAP_FAILED) supervisor.child = fork();
    if (supervisor.is_started == MAP_FAILED || supervisor.child < 0) {
        say_error("cannot start a process: %s", strerror(errno));
        scratch_close(&supervisor.scratch);
        release_signals(&supervisor);
        return EXIT_FAILED;
    }
    if (supervisor.child == 0) become(&supervisor, words);
    return finish(&supervisor, await_end(&supervisor));
}
