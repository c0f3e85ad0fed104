/* tyto compare: one program under several schedulers, each in a process of its own, side by side.
 * Every run writes its statistics to a file in a temporary folder; the table is made of those, in
 * the order in which the schedulers were named. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/names.h"
#include "cli/program.h"
#include "cli/scratch.h"

enum {
    PATH_BYTES = 4096,
    NAME_BYTES = 512,
    MOST_RUNS = 1024,
    OWN_WORDS = 4 /* of a contestant's own options */
};

/* One of the runs. */
typedef struct Contestant {
    const char *scheduler;     /* as named, with its parameters; NULL: the machine's */
    const char *cta_scheduler; /* likewise */
    char name[NAME_BYTES];     /* of both, for messages */
    char stats[PATH_BYTES];    /* file of its statistics */
    char output[PATH_BYTES];   /* file of what the program printed */
    pid_t process;             /* 0: not running */
    int status;                /* of the process, when it has ended */
} Contestant;

typedef struct Contest {
    const Arguments *arguments;
    Names schedulers, cta_schedulers; /* as named */
    Contestant *list;                 /* every pair of them */
    int count;
    bool has_too_many;   /* more were named than can be */
    int jobs;            /* processes at once */
    Scratch scratch;     /* what the programs write */
    sigset_t signals;    /* that are waited for: of the end of a process, and of interruption */
    sigset_t outer_mask; /* signals blocked when the command started */
    int signal;          /* that interrupted the runs; 0: none did */
} Contest;

/* ---- Reading the command line ---- */

/* Makes the contestants: every warp scheduler with every CTA scheduler. What was not named at all
 * is one contestant's NULL, so that the option is left out. */
static void pair(Contest *contest) {
    const Names *warps = &contest->schedulers, *ctas = &contest->cta_schedulers;
    contest->list = allocate((size_t)warps->count * (size_t)ctas->count + 1, sizeof *contest->list);
    for (int w = 0; w < warps->count; w++)
        for (int c = 0; c < ctas->count; c++) {
            Contestant *contestant = &contest->list[contest->count++];
            const char *scheduler = warps->list[w], *cta_scheduler = ctas->list[c];
            bool is_pair = scheduler && cta_scheduler;
            contestant->scheduler = scheduler;
            contestant->cta_scheduler = cta_scheduler;
            snprintf(contestant->name, sizeof contestant->name, "%s%s%s",
                     scheduler ? scheduler : "", is_pair ? " with " : "",
                     cta_scheduler ? cta_scheduler : "");
        }
}

/* With neither option the warp schedulers are the usual ones; with that of the CTA schedulers
 * alone, the warp scheduler is the machine's. */
static void read_schedulers(Contest *contest) {
    const char *warps = arguments_value(contest->arguments, "--schedulers");
    const char *ctas = arguments_value(contest->arguments, "--cta-schedulers");
    if (!warps && !ctas) warps = "lrr,gto,two-level";
    contest->schedulers = names_read(warps, MOST_RUNS);
    contest->cta_schedulers = names_read(ctas, MOST_RUNS);
    int most = MOST_RUNS / (contest->schedulers.count ? contest->schedulers.count : 1);
    contest->has_too_many = contest->schedulers.is_cut || contest->cta_schedulers.is_cut ||
                            contest->cta_schedulers.count > most;
    if (!contest->has_too_many) pair(contest);
}

/* Options that every run would write over, or that the comparison is about. */
static bool check_options(const Arguments *arguments) {
    for (int i = 0; i < arguments->given_count; i++) {
        const TytoOption *option = arguments->given[i];
        if (!strcmp(option->name, "--cta-scheduler") &&
            arguments_value(arguments, "--cta-schedulers")) {
            say_error("--cta-scheduler and --cta-schedulers cannot both be given");
            return false;
        }
        if (!(option->traits & TYTO_OPTION_ONE_RUN)) continue;
        say_error("%s does not go with tyto compare; give it to tyto run", option->name);
        return false;
    }
    return true;
}

/* Adds the options that are one contestant's own; returns how many words there are then. */
static int add_own_options(const Contestant *contestant, const char **words, int count) {
    if (contestant->scheduler) {
        words[count++] = "--scheduler";
        words[count++] = contestant->scheduler;
    }
    if (contestant->cta_scheduler) {
        words[count++] = "--cta-scheduler";
        words[count++] = contestant->cta_scheduler;
    }
    return count;
}

/* Checks each contestant before anything is started. */
static bool check_contestants(const Contest *contest) {
    const Arguments *arguments = contest->arguments;
    int count = arguments->simulator_count;
    const char **words = allocate((size_t)count + OWN_WORDS, sizeof *words);
    memcpy(words, arguments->simulator, (size_t)count * sizeof *words);
    bool is_right = true;
    for (int i = 0; i < contest->count; i++) {
        char message[2048];
        int all = add_own_options(&contest->list[i], words, count);
        if (tyto_check_options(all, words, message, sizeof message) == TYTO_OK) continue;
        fprintf(stderr, "tyto: %s\n", message);
        is_right = false;
    }
    free(words);
    return is_right;
}

/* Checks the lists, and what is in them. */
static bool check_schedulers(const Contest *contest) {
    const char *empty = !contest->schedulers.count       ? "--schedulers"
                        : !contest->cta_schedulers.count ? "--cta-schedulers"
                                                         : NULL;
    if (empty) say_error("%s is empty", empty);
    else if (contest->has_too_many)
        say_error("%s more than %d runs",
                  contest->cta_schedulers.list[0] ? "--schedulers and --cta-schedulers make"
                                                  : "--schedulers names",
                  MOST_RUNS);
    return !empty && !contest->has_too_many && check_contestants(contest);
}

/* ---- Running ---- */

/* In the new process: becomes the program. */
static void start_program(const Contest *contest, const Contestant *contestant, pid_t parent) {
    const Arguments *arguments = contest->arguments;
    const char *own[OWN_WORDS + 3] = {"--stats", contestant->stats, "--quiet"};
    int own_count = add_own_options(contestant, own, 3);
    int output = open(contestant->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (output < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(EXIT_FAILED);
    close(output);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends when the comparison does, however that ends */
    if (getppid() != parent) _exit(EXIT_FAILED);
    sigprocmask(SIG_SETMASK, &contest->outer_mask, NULL);
    program_export_options(arguments->simulator_count, arguments->simulator);
    program_export_options(own_count, own);
    _exit(program_exec(arguments->operands));
}

static bool start(Contest *contest, Contestant *contestant) {
    pid_t parent = getpid();
    fflush(NULL);
    contestant->process = fork();
    if (contestant->process == 0) start_program(contest, contestant, parent);
    if (contestant->process > 0) return true;
    say_error("cannot start a process: %s", strerror(errno));
    contestant->process = 0;
    contestant->status = -1;
    return false;
}

/* Signals are not handled but waited for, beside the end of a process. */
static void block_signals(Contest *contest) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&contest->signals);
    sigaddset(&contest->signals, SIGCHLD);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        sigaction(numbers[i], NULL, &action);
        if (action.sa_handler != SIG_IGN) sigaddset(&contest->signals, numbers[i]);
    }
    sigprocmask(SIG_BLOCK, &contest->signals, &contest->outer_mask);
}

/* Passes the signal on to every program that runs; the second time, ends them whatever they do with
 * it. */
static void interrupt(Contest *contest, int number) {
    if (contest->signal) number = SIGKILL;
    else contest->signal = number;
    for (int i = 0; i < contest->count; i++) {
        if (contest->list[i].process > 0) kill(contest->list[i].process, number);
    }
}

/* Waits for one of the processes to end. */
static void wait_for_one(Contest *contest) {
    int status, number;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) == 0) {
        sigwait(&contest->signals, &number);
        if (number != SIGCHLD) interrupt(contest, number);
    }
    for (int i = 0; ended > 0 && i < contest->count; i++) {
        if (contest->list[i].process != ended) continue;
        contest->list[i].process = 0;
        contest->list[i].status = status;
    }
}

static bool run_all(Contest *contest) {
    int running = 0;
    bool is_started = true;
    for (int i = 0; i < contest->count && is_started; i++) {
        if (running == contest->jobs) {
            wait_for_one(contest);
            running--;
        }
        if (contest->signal) break;
        is_started = start(contest, &contest->list[i]);
        running += is_started;
    }
    for (; running > 0; running--)
        wait_for_one(contest);
    return is_started && !contest->signal;
}

/* Ends this process as the signal that interrupted it does. */
static void obey_signal(const Contest *contest) {
    if (!contest->signal) return;
    say_error("interrupted: nothing is compared");
    sigprocmask(SIG_SETMASK, &contest->outer_mask, NULL);
    signal(contest->signal, SIG_DFL);
    raise(contest->signal);
}

/* Says which run failed, with what its program had printed. */
static bool check_run(const Contestant *contestant) {
    if (WIFEXITED(contestant->status) && WEXITSTATUS(contestant->status) == 0) return true;
    size_t length;
    char *output = access(contestant->output, R_OK) == 0
                       ? file_read(contestant->output, FILE_DATA_MAX, &length)
                       : NULL;
    if (output) fputs(output, stderr);
    free(output);
    if (WIFSIGNALED(contestant->status))
        say_error("the run under %s was ended by signal %d", contestant->name,
                  WTERMSIG(contestant->status));
    else
        say_error("the run under %s failed with status %d", contestant->name,
                  WEXITSTATUS(contestant->status));
    return false;
}

/* ---- The answer ---- */

/* Writes one form of the comparison, when its option asks for it. */
static bool write_form(const Contest *contest, const char *option,
                       char *(*form)(const TytoComparison *), const TytoComparison *comparison) {
    const char *path = arguments_value(contest->arguments, option);
    if (!path) return true;
    char *text = form(comparison);
    bool is_written = file_write(path, text, strlen(text));
    free(text);
    return is_written;
}

static bool answer(const Contest *contest) {
    TytoComparison *comparison = tyto_comparison_new();
    bool is_right = true;
    for (int i = 0; i < contest->count; i++) {
        char message[1024];
        if (!check_run(&contest->list[i])) {
            is_right = false;
        } else if (tyto_comparison_add(comparison, contest->list[i].stats, message,
                                       sizeof message) != TYTO_OK) {
            say_error("the run under %s left no statistics: did the program launch a kernel?",
                      contest->list[i].name);
            is_right = false;
        }
    }
    if (is_right) {
        char *text = tyto_comparison_text(comparison);
        fputs(text, stdout);
        free(text);
        is_right = write_form(contest, "--json", tyto_comparison_json, comparison) &&
                   write_form(contest, "--csv", tyto_comparison_csv, comparison);
    }
    tyto_comparison_free(comparison);
    return is_right;
}

/* ---- The command ---- */

static bool make_folder(Contest *contest) {
    if (!scratch_open(&contest->scratch)) return false;
    for (int i = 0; i < contest->count; i++) {
        Contestant *contestant = &contest->list[i];
        snprintf(contestant->stats, PATH_BYTES, "%s/%d.stats", contest->scratch.path, i);
        snprintf(contestant->output, PATH_BYTES, "%s/%d.out", contest->scratch.path, i);
    }
    return true;
}

static int run_contest(Contest *contest) {
    if (!check_options(contest->arguments) || !arguments_jobs(contest->arguments, &contest->jobs) ||
        !check_schedulers(contest))
        return EXIT_USAGE;
    if (!program_export_library()) return EXIT_FAILED;
    block_signals(contest);
    if (!make_folder(contest)) return EXIT_FAILED;
    bool is_right = run_all(contest) && answer(contest);
    scratch_close(&contest->scratch);
    obey_signal(contest);
    return is_right ? EXIT_DONE : EXIT_FAILED;
}

static int run_compare(Arguments *arguments) {
    Contest contest = {.arguments = arguments};
    read_schedulers(&contest);
    int status = run_contest(&contest);
    free(contest.list);
    names_free(&contest.schedulers);
    names_free(&contest.cta_schedulers);
    return status;
}

static const TytoOption options[] = {
    {"--schedulers", "NAME,NAME,...", "lrr,gto,two-level",
     "The warp schedulers, the first being what the others are measured by; P=1..8 for each value, "
     "best-swl "
     "for swl:limit=1..32.",
     NULL, 0},
    {"--cta-schedulers", "NAME,NAME,...", NULL,
     "The thread block (CTA) schedulers, each with each of the warp schedulers; alone, with the "
     "machine's own.",
     NULL, 0},
    {"--jobs", "N", NULL, "Runs at once; else as many as the host has processors.", NULL, 0},
    {"--json", "FILE", NULL, "Write all runs as JSON, - being standard output.", NULL,
     TYTO_OPTION_FILE},
    {"--csv", "FILE", NULL, "Write every counter of every run as CSV.", NULL, TYTO_OPTION_FILE},
};

const Command command_compare = {
    .name = "compare",
    .operands = "WORKLOAD|PROGRAM [arguments]",
    .summary = "Run a program under several schedulers, and say which is best and why",
    .text =
        "  tyto compare --machine ccws --schedulers lrr,gto,ccws:k_throttle=16 spmv --size 20000\n"
        "  tyto compare --machine md --cta-schedulers round-robin,md,limit:ctas=1..8 spmv\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .ends_at_operand = true,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_compare,
};
