/* tyto compare: one program under several warp schedulers, each in a process of its own, side by
 * side. Every run writes its statistics to a file in a temporary folder; the table is made of
 * those, in the order in which the schedulers were named. */
#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/program.h"

enum { PATH_BYTES = 4096, MOST_RUNS = 1024 };

/* All limits, as the CCWS paper finds its best one (section 5.1). */
static const char BEST_SWL[] = "swl:limit=1..32";

/* One of the runs. */
typedef struct Contestant {
    char *scheduler;         /* as named, with its parameters */
    char stats[PATH_BYTES];  /* file of its statistics */
    char output[PATH_BYTES]; /* file of what the program printed */
    pid_t process;           /* 0: not running */
    int status;              /* of the process, when it has ended */
} Contestant;

typedef struct Contest {
    const Arguments *arguments;
    Contestant *list;
    int count;
    bool has_too_many;       /* more were named than can be */
    int jobs;                /* processes at once */
    char folder[PATH_BYTES]; /* temporary */
    sigset_t signals;        /* that are waited for: of the end of a process, and of interruption */
    sigset_t outer_mask;     /* signals blocked when the command started */
    int signal;              /* that interrupted the runs; 0: none did */
} Contest;

/* ---- Reading the command line ---- */

/* The "1..32" of "swl:limit=1..32". */
typedef struct Range {
    const char *text, *end; /* where it begins, and what follows it */
    long first, last;       /* values */
} Range;

static bool find_range(const char *scheduler, Range *range) {
    for (const char *at = strchr(scheduler, '='); at; at = strchr(at + 1, '=')) {
        char *end;
        range->text = at + 1;
        range->first = strtol(at + 1, &end, 10);
        if (end == at + 1 || strncmp(end, "..", 2)) continue;
        range->last = strtol(end + 2, &end, 10);
        range->end = end;
        return range->first <= range->last && range->last - range->first < MOST_RUNS;
    }
    return false;
}

/* Adds a scheduler; one with a range once for each value in it, so that two ranges make every pair.
 */
static void add_scheduler(Contest *contest, const char *scheduler) {
    Range range;
    if (!find_range(scheduler, &range)) {
        contest->has_too_many |= contest->count == MOST_RUNS;
        if (contest->count < MOST_RUNS)
            contest->list[contest->count++].scheduler = strdup(scheduler);
        return;
    }
    for (long i = range.first; i <= range.last && !contest->has_too_many; i++) {
        size_t size = strlen(scheduler) + 24;
        char *one = allocate(size, 1);
        snprintf(one, size, "%.*s%ld%s", (int)(range.text - scheduler), scheduler, i, range.end);
        add_scheduler(contest, one);
        free(one);
    }
}

/* Cuts "lrr,ccws:a=1,b=2,gto" into schedulers: what has a '=' but no ':' goes on with the one
 * before it. */
static void read_schedulers(Contest *contest, const char *text) {
    contest->list = allocate(MOST_RUNS, sizeof *contest->list);
    while (*text) {
        size_t length = strcspn(text, ",");
        for (const char *next = text + length; *next; next = text + length) {
            size_t more = strcspn(next + 1, ",");
            if (!memchr(next + 1, '=', more) || memchr(next + 1, ':', more)) break;
            length += 1 + more;
        }
        char *scheduler = strndup(text, length);
        if (length) add_scheduler(contest, strcmp(scheduler, "best-swl") ? scheduler : BEST_SWL);
        free(scheduler);
        text += length + (text[length] == ',');
    }
}

/* Options that every run would write over, or that the comparison is about. */
static bool check_options(const Arguments *arguments) {
    for (int i = 0; i < arguments->given_count; i++) {
        const TytoOption *option = arguments->given[i];
        if (!(option->traits & TYTO_OPTION_ONE_RUN)) continue;
        say_error("%s does not go with tyto compare; give it to tyto run", option->name);
        return false;
    }
    return true;
}

/* Checks each scheduler before anything is started. */
static bool check_schedulers(const Contest *contest) {
    const Arguments *arguments = contest->arguments;
    int count = arguments->simulator_count;
    const char **words = allocate((size_t)count + 2, sizeof *words);
    memcpy(words, arguments->simulator, (size_t)count * sizeof *words);
    bool is_right = contest->count > 0;
    if (!is_right) say_error("--schedulers is empty");
    if (contest->has_too_many) {
        say_error("--schedulers names more than %d runs", MOST_RUNS);
        is_right = false;
    }
    for (int i = 0; i < contest->count; i++) {
        char message[2048];
        words[count] = "--scheduler";
        words[count + 1] = contest->list[i].scheduler;
        if (tyto_check_options(count + 2, words, message, sizeof message) == TYTO_OK) continue;
        fprintf(stderr, "tyto: %s\n", message);
        is_right = false;
    }
    free(words);
    return is_right;
}

/* ---- Running ---- */

/* In the new process: becomes the program. */
static void start_program(const Contest *contest, const Contestant *contestant) {
    const Arguments *arguments = contest->arguments;
    const char *own[] = {"--scheduler", contestant->scheduler, "--stats", contestant->stats,
                         "--quiet"};
    int output = open(contestant->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (output < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(EXIT_FAILED);
    close(output);
    sigprocmask(SIG_SETMASK, &contest->outer_mask, NULL);
    program_export_options(arguments->simulator_count, arguments->simulator);
    program_export_options(sizeof own / sizeof own[0], own);
    _exit(program_exec(arguments->operands));
}

static bool start(Contest *contest, Contestant *contestant) {
    fflush(NULL);
    contestant->process = fork();
    if (contestant->process == 0) start_program(contest, contestant);
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

/* Passes the signal on to every program that runs. */
static void interrupt(Contest *contest, int number) {
    contest->signal = number;
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
    char *output =
        access(contestant->output, R_OK) == 0 ? file_read(contestant->output, &length) : NULL;
    if (output) fputs(output, stderr);
    free(output);
    if (WIFSIGNALED(contestant->status))
        say_error("the run under %s was ended by signal %d", contestant->scheduler,
                  WTERMSIG(contestant->status));
    else
        say_error("the run under %s failed with status %d", contestant->scheduler,
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
                      contest->list[i].scheduler);
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
    const char *place = getenv("TMPDIR");
    snprintf(contest->folder, sizeof contest->folder, "%s/tyto-compare-XXXXXX",
             place && *place ? place : "/tmp");
    if (!mkdtemp(contest->folder)) {
        say_error("cannot make the folder %s: %s", contest->folder, strerror(errno));
        return false;
    }
    for (int i = 0; i < contest->count; i++) {
        Contestant *contestant = &contest->list[i];
        snprintf(contestant->stats, PATH_BYTES, "%.4000s/%d.stats", contest->folder, i);
        snprintf(contestant->output, PATH_BYTES, "%.4000s/%d.out", contest->folder, i);
    }
    return true;
}

/* All that is in it too: a program that was killed as it wrote leaves files of other names. */
static void remove_folder(const Contest *contest) {
    DIR *folder = opendir(contest->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) closedir(folder);
    rmdir(contest->folder);
}

static int run_contest(Contest *contest) {
    if (!check_options(contest->arguments) || !arguments_jobs(contest->arguments, &contest->jobs) ||
        !check_schedulers(contest))
        return EXIT_USAGE;
    if (!program_export_library()) return EXIT_FAILED;
    block_signals(contest);
    if (!make_folder(contest)) return EXIT_FAILED;
    bool is_right = run_all(contest) && answer(contest);
    remove_folder(contest);
    obey_signal(contest);
    return is_right ? EXIT_DONE : EXIT_FAILED;
}

static int run_compare(Arguments *arguments) {
    Contest contest = {.arguments = arguments};
    const char *schedulers = arguments_value(arguments, "--schedulers");
    read_schedulers(&contest, schedulers ? schedulers : "lrr,gto,two-level");
    int status = run_contest(&contest);
    for (int i = 0; i < contest.count; i++)
        free(contest.list[i].scheduler);
    free(contest.list);
    return status;
}

static const TytoOption options[] = {
    {"--schedulers", "NAME,NAME,...", "lrr,gto,two-level",
     "The warp schedulers, the first being what the others are measured by; P=1..8 for each value, "
     "best-swl "
     "for swl:limit=1..32.",
     NULL, 0},
    {"--jobs", "N", NULL, "Runs at once; else as many as the host has processors.", NULL, 0},
    {"--json", "FILE", NULL, "Write all runs as JSON, - being standard output.", NULL,
     TYTO_OPTION_FILE},
    {"--csv", "FILE", NULL, "Write every counter of every run as CSV.", NULL, TYTO_OPTION_FILE},
};

const Command command_compare = {
    .name = "compare",
    .operands = "WORKLOAD|PROGRAM [arguments]",
    .summary = "Run a program under several warp schedulers, and say which is best and why",
    .text =
        "  tyto compare --machine ccws --schedulers lrr,gto,ccws:k_throttle=16 spmv --size 20000\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .has_simulator = true,
    .ends_at_operand = true,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_compare,
};
