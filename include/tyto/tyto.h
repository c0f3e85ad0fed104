/* Tyto's own interface: a program makes simulators, gives them PTX and memory, launches kernels and
 * reads results. The `tyto` command uses nothing else. The CUDA driver API (tyto/cuda.h) is a
 * second interface; it uses one simulator that belongs to the process.
 *
 * Simulators are independent of each other. Calls on one simulator may come from any thread; they
 * run one after another, except tyto_interrupt and tyto_progress, which never wait.
 *
 * An index that is out of range is a mistake in the calling program: the call names itself and the
 * index on stderr, and ends the process with abort(), in every build.
 *
 * A function that can fail returns a TytoStatus. tyto_message then says in words what went wrong,
 * with file, line and column where they are known. The caller frees texts returned as `char *` with
 * free(). */
#ifndef TYTO_TYTO_H
#define TYTO_TYTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The machine of a simulation that names none: a GPU of today. */
#define TYTO_DEFAULT_MACHINE "h100"

const char *tyto_version(void); /* "0.1.0" */

typedef enum TytoStatus {
    TYTO_OK,
    TYTO_BAD_OPTION,    /* an option that does not exist, or a value out of its bounds */
    TYTO_BAD_PTX,       /* the PTX text has mistakes, or uses what is not supported */
    TYTO_BAD_ADDRESS,   /* not inside one live allocation */
    TYTO_OUT_OF_MEMORY, /* no room left in device memory */
    TYTO_BAD_LAUNCH,    /* a launch that the device cannot run: dimensions, memory, arguments */
    TYTO_KERNEL_FAILED, /* the kernel stopped: a bad access, a trap, a limit ... */
    TYTO_INTERRUPTED,   /* tyto_interrupt ended the kernel */
    TYTO_BAD_FILE,      /* a file that cannot be written, or not be read */
    TYTO_CHECKS_FAILED, /* the run is done, and the checks (--check, --on-fault) found errors */
    TYTO_STOPPED        /* the kernel ended where --stop-after has it */
} TytoStatus;

/* The word among `words` that `word` was probably meant to be, NULL when none is near. */
const char *tyto_nearest(const char *word, const char *const *words, int count);
/* The columns that a text of UTF-8 takes on a terminal, by which tables are aligned: a character
 * takes one, a wide one (East Asian letters, emoji) two, one that combines none. */
int tyto_columns(const char *text);

/* ---- Options ---- */

/* Traits of an option, in addition to its value. */
enum {
    TYTO_OPTION_FILE = 1,    /* its value names a file that is written, "-" being standard output */
    TYTO_OPTION_TIMED = 2,   /* it is about the timing of kernels: refused together with
                                --functional */
    TYTO_OPTION_ONE_RUN = 4, /* it is of one run: refused where several are made (tyto compare) */
    TYTO_OPTION_NO_RESULT = 8, /* it decides nothing of what is computed */
    TYTO_OPTION_UNTOLD = 16,   /* nor of what is written: no file says that it was given */
    TYTO_OPTION_LAUNCHES =
        32 /* what it adds or writes is of launches that have ended, each alone */
};

/* One option, as the command line and the environment variable TYTO_OPTIONS take it. */
typedef struct TytoOption {
    const char *name;     /* "--memory" */
    const char *argument; /* "SIZE", NULL for a flag */
    const char *initial;  /* default as text, NULL where there is none */
    const char *help;     /* one sentence */
    const char *group;    /* heading under which help lists it */
    uint32_t traits;      /* TYTO_OPTION_... */
} TytoOption;

/* The options that every simulator understands: row 0 <= i < tyto_option_count(), by groups. */
int tyto_option_count(void);
const TytoOption *tyto_option(int i);

/* Whether `options` (names and values in turn, as on a command line) are all right; else the reason
 * goes to `message` (NUL-terminated, cut at size_bytes). */
TytoStatus tyto_check_options(int count, const char *const *options, char *message,
                              size_t size_bytes);
/* Whether a file can be written at `path` (always true for "-"); else errno has the reason. Callers
 * check this before a long run. */
bool tyto_can_write(const char *path);
/* The place to which two results would both be written, as messages call it, although it can hold
 * only one: a file, however its path is spelt, or standard output. NULL: none; a device or a pipe
 * takes both. */
const char *tyto_common_output(const char *a, const char *b);
/* For commands that start programs: this environment variable names an empty folder. Each process
 * that uses CUDA keeps a journal of its launches there. */
#define TYTO_JOURNAL "TYTO_JOURNAL"
/* For such commands, after the process `program` has ended as `ending` says ("signal 9 (Killed)"):
 * makes the results that the programs could not write themselves, from the journals in `folder`.
 * Reports what is not delivered on standard error and returns TYTO_INTERRUPTED, or TYTO_BAD_FILE
 * for a file that could not be written. TYTO_CHECKS_FAILED: everything is delivered, with errors
 * that the checks found. Reports that no process used CUDA unless `may_be_none`. */
TytoStatus tyto_deliver(const char *folder, int64_t program, const char *ending, bool may_be_none);
/* For commands, which own their process: from now on "-" as a file is the old standard output,
 * and standard output goes to standard error, so that the result is alone there. False with
 * errno set. */
bool tyto_claim_output(void);
/* Reads a size as options take it: "4096", "32KiB", "4GiB". */
bool tyto_read_size(const char *text, uint64_t *bytes);

/* Everything that affects what a simulator with these options computes, as text, a line each: every
 * option except files, the values of the machine, the policies with their parameters, a hash of the
 * content of those that are shared objects, and the version of the ptxas on the PATH where machine
 * code is preferred. NULL after a mistake, with the reasons in
 * `message`, a line each. */
char *tyto_identity(int count, const char *const *options, char *message, size_t size_bytes);
/* The hash `hash` (0: of nothing) continued over `length` more bytes. */
uint64_t tyto_hash(uint64_t hash, const void *bytes, size_t length);
/* Whether a scheduler (`gto`, `./mine.so:depth=2`) is a shared object, whose code is run. */
bool tyto_is_plugin(const char *scheduler);

/* ---- Simulators ---- */

typedef struct TytoSimulator TytoSimulator;

/* A simulator with one GPU; NULL after a mistake in `options`, with the reason in `message`. */
TytoSimulator *tyto_new(int count, const char *const *options, char *message, size_t size_bytes);
/* Frees the simulator with its modules and its memory. NULL is allowed. */
void tyto_free(TytoSimulator *simulator);
/* Why the last failed call failed: one or several lines, without a final newline. Never NULL;
 * valid until the next call on this simulator. */
const char *tyto_message(const TytoSimulator *simulator);
/* Async-signal-safe: ends the running launch, if any, with TYTO_INTERRUPTED. */
void tyto_interrupt(TytoSimulator *simulator);

/* Async-signal-safe, from any thread: which function of a scheduling policy is under way, as "warp
 * scheduler ./mine.so: cycle 7, SM 0: pick" (NUL-terminated, cut at size_bytes). False when none
 * is. */
bool tyto_policy_call(const TytoSimulator *simulator, char *text, size_t size_bytes);
/* For commands, which own their process: from now on a crash inside a policy's function is reported
 * on standard error before it ends the process. A crash is SIGSEGV, SIGABRT and the like, unless
 * the program handles them. This works for one simulator of a process; NULL: none. */
void tyto_name_crashes(const TytoSimulator *simulator);

/* ---- Programs ---- */

typedef struct TytoModule TytoModule;

/* Loads PTX text (`length` bytes; `name` is for messages). Mistakes: TYTO_BAD_PTX, and the message
 * has one line for each, up to twenty. The text is not needed afterwards. */
TytoStatus tyto_load(TytoSimulator *simulator, const char *name, const char *text, size_t length,
                     TytoModule **module);
void tyto_unload(TytoModule *module); /* gives back its variables too; NULL is allowed */

/* A parameter of a kernel. */
typedef struct TytoParameter {
    const char *name;
    const char *type; /* of one element: ".u64" */
    uint64_t size_bytes;
    uint64_t offset_bytes; /* in the kernel's parameter area */
} TytoParameter;

/* A kernel; the strings live as long as its module. */
typedef struct TytoKernel {
    const char *name;
    const TytoParameter *parameters;
    int parameter_count;
    uint32_t parameter_bytes;
    uint32_t registers;    /* 32-bit registers per thread */
    uint32_t shared_bytes; /* static shared memory of a thread block */
    uint32_t local_bytes;  /* local memory of a thread, outside the functions it calls */
    uint32_t instructions; /* in its text */
    uint32_t max_threads;  /* per thread block, by its launch bounds and the device */
    int line;              /* of its .entry in the PTX text */
    const char *refusal;   /* why it cannot run: file:line:column: what is not supported; or NULL */
    const char *source_name; /* "space::kernel<float>(int*)", as C++ has it; else like `name` */
} TytoKernel;

int tyto_kernel_count(const TytoModule *module);
const TytoKernel *tyto_kernel(const TytoModule *module, int i); /* in the order of the text */
/* Finds a kernel by its name in the PTX, else by its name in the source, if that is unique
 * ("kernel", "space::kernel", without a template's arguments). * and ? stand for any letters. -1:
 * none. */
int tyto_find_kernel(const TytoModule *module, const char *name);
/* The module's kernels and their facts as one JSON object (docs/command.md). `name` as in
 * tyto_load. */
char *tyto_module_json(const TytoModule *module, const char *name);
/* Control flow of kernel i, of all functions when i is -1, as Graphviz DOT. */
char *tyto_control_flow(const TytoModule *module, int i);

/* ---- Device memory ---- */

/* `size` bytes, zeroed, aligned to 256. */
TytoStatus tyto_alloc(TytoSimulator *simulator, uint64_t size, uint64_t *address);
TytoStatus tyto_release(TytoSimulator *simulator, uint64_t address);
TytoStatus tyto_write(TytoSimulator *simulator, uint64_t address, const void *bytes, uint64_t size);
TytoStatus tyto_read(TytoSimulator *simulator, uint64_t address, void *bytes, uint64_t size);

/* ---- Launches and results ---- */

typedef struct TytoLaunch {
    TytoModule *module;
    int kernel;                   /* index of tyto_kernel */
    uint32_t grid[3];             /* thread blocks */
    uint32_t block[3];            /* threads */
    uint32_t shared_bytes;        /* dynamic shared memory */
    const void *const *arguments; /* a pointer to each argument, of the parameter's size */
    int argument_count;
    bool is_cooperative; /* all thread blocks must be resident at once */
} TytoLaunch;

/* What a launch did. Numbers that the mode does not know are 0. */
typedef struct TytoResult {
    const char *kernel; /* lives as long as the simulator */
    TytoStatus status;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t registers;    /* per thread */
    uint32_t shared_bytes; /* static and dynamic, of a thread block */
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    uint64_t cycles;     /* of the SM clock */
    uint64_t time_ps;    /* simulated */
    double wall_seconds; /* of the host */
    double cpu_seconds;  /* that the process had the processor in that time */
    bool is_timed;       /* not with --functional, nor when --kernels or --skip leaves it out */
    uint32_t stream;     /* of a CUDA program, from 1; 0: the legacy default stream, or none */
    bool has_overlapped; /* with another kernel: counts of what they shared are in both */
} TytoResult;

/* Runs a kernel to its end. */
TytoStatus tyto_launch(TytoSimulator *simulator, const TytoLaunch *launch);

/* Results of all launches so far, failed ones too, in order. */
int tyto_result_count(TytoSimulator *simulator);
TytoResult tyto_result(TytoSimulator *simulator, int i);

/* ---- Counters by name ---- */

typedef enum TytoCounterKind {
    TYTO_SUM,  /* added up over SMs, partitions and launches */
    TYTO_MAX,  /* the largest of them */
    TYTO_RATIO /* of sums */
} TytoCounterKind;

/* A counter or a ratio (docs/metrics.md). */
typedef struct TytoCounter {
    const char *name;    /* "l1d_misses" */
    const char *unit;    /* "accesses" */
    const char *meaning; /* a few words */
    TytoCounterKind kind;
} TytoCounter;

/* All counters, then all ratios: row 0 <= i < tyto_counter_count(). The rows may change from
 * version to version, their names are meant to stay. */
int tyto_counter_count(void);
const TytoCounter *tyto_counter(int i);
/* The row of a counter, by its name or by one that it had before; -1 when there is none. */
int tyto_find_counter(const char *name);
/* A value of row i as a report has it, "1,234,567", "12.3%" or "1.23"; "-" for NaN. Cut off where
 * it has no room. */
void tyto_format_value(int i, double value, char *text, size_t size_bytes);
/* What row i counts and where, or the terms of a ratio: some lines for people. */
char *tyto_counter_text(int i);

/* The name of a rule of advice (docs/advice.md), rule i of them; NULL behind the last. */
const char *tyto_rule_name(int i);
/* When the rule applies, and what its weight is: some lines for people. */
char *tyto_rule_text(int i);

/* What a counter counted. */
typedef struct TytoValue {
    bool is_known;  /* false: the launch was not timed, or the ratio's denominator is 0 */
    uint64_t count; /* exact; 0 of a ratio, and where nothing is known */
    double value;   /* the same as a number; of a ratio; NaN where nothing is known */
} TytoValue;

#define TYTO_TOTAL                                                                                 \
    (-1) /* in the place of a launch: all that the `total` of the JSON object holds */

/* Row `counter` of launch 0 <= launch < tyto_result_count, or of TYTO_TOTAL. Without timing only
 * warp_instructions and thread_instructions are known. */
TytoValue tyto_value(TytoSimulator *simulator, int launch, int counter);

/* ---- The profile (--profile, docs/profile.md) ---- */

/* What is counted of each instruction: first the causes for which warps waited there, in warp
 * cycles, then counts. Row 0 <= i < tyto_profile_column_count(). */
typedef struct TytoProfileColumn {
    const char *name; /* "cycles_memory", "l1d_hits" */
    const char *unit;
    const char *meaning;
    bool is_cause;
} TytoProfileColumn;
int tyto_profile_column_count(void);
TytoProfileColumn tyto_profile_column(int i);

/* All launches so far of one kernel; the texts live as long as the simulator. */
typedef struct TytoProfileKernel {
    const char *kernel;
    const char *module; /* file of its PTX */
    uint64_t launches;
    int lines; /* instructions that did anything */
} TytoProfileKernel;
int tyto_profile_count(TytoSimulator *simulator); /* kernels; 0 without --profile */
TytoProfileKernel tyto_profile_kernel(TytoSimulator *simulator, int i);

/* An instruction, in the order of the program. All is valid until the next launch. */
typedef struct TytoProfileLine {
    uint32_t line;        /* in the PTX text */
    const char *text;     /* of that line; its opcode where the text is not known */
    const char *function; /* that contains the instruction */
    const char *source;   /* file of the source, NULL: unknown */
    uint32_t source_line;
    const uint64_t *values; /* by column */
} TytoProfileLine;
TytoProfileLine tyto_profile_line(TytoSimulator *simulator, int kernel, int i);

/* How far the running launch is; of the last one when none runs. */
typedef struct TytoProgress {
    uint64_t done_blocks;       /* thread blocks that have ended */
    uint64_t blocks;            /* of the grid */
    uint64_t warp_instructions; /* executed so far */
} TytoProgress;
TytoProgress tyto_progress(const TytoSimulator *simulator); /* lock-free */

/* The origin of results: the keys of everything that decides a run ("command",
 * "machine_hash", ...), in order; NULL after the last. */
const char *tyto_origin(int i);
/* The JSON object of a run (docs/command.md). `program` names what was run. */
char *tyto_report_json(TytoSimulator *simulator, const char *program);
/* The same of launch 0 <= launch < tyto_result_count alone, in a time that earlier launches do not
 * lengthen. What is kept for all launches together (errors, samples, the profile) is of all. */
char *tyto_launch_json(TytoSimulator *simulator, const char *program, int launch);
/* Names the command that runs the program, for the results' `command` and `arguments`: the
 * simulator's options and the program's name come after `command` ("tyto launch"), `arguments`
 * after that. Without it, they are this process's own command line. */
void tyto_name_command(TytoSimulator *simulator, const char *command, int count,
                       const char *const *arguments);
/* Ends a run as its options say: prints the summary and writes the files they name. */
TytoStatus tyto_finish(TytoSimulator *simulator, const char *program);

/* Writes `length` bytes to `path` as the options --json and the like do: to a temporary file, which
 * is flushed and replaces the old file in one step; "-" is standard output. TYTO_BAD_FILE, with the
 * reason in `message`, leaves the old file as it was. */
TytoStatus tyto_write_file(const char *path, const void *bytes, size_t length, char *message,
                           size_t size_bytes);

/* ---- What there is to choose from ---- */

/* The machines that come with Tyto: 0 <= i < tyto_machine_count(). */
int tyto_machine_count(void);
const char *tyto_machine_name(int i);
char *tyto_machine_title(int i); /* one line */
/* A machine's effective file, with `sets` ("key=value") applied: every value, its meaning and where
 * it comes from. NULL after a mistake, with the reasons in `message`, a line each. */
char *tyto_machine_text(const char *name, int set_count, const char *const *sets, char *message,
                        size_t size_bytes);
/* The warp and thread block schedulers with their parameters. */
char *tyto_schedulers_text(void);
/* The storage that a warp scheduler adds to a machine ("key=value" of `sets` applied), by its
 * paper's own formula. NULL after a mistake, with the reasons in `message`, a line each. */
char *tyto_cost_text(const char *scheduler, const char *machine, int set_count,
                     const char *const *sets, char *message, size_t size_bytes);

/* ---- Machine code ---- */

/* What tyto_disassemble prints, and how. All 0: everything, as text. */
typedef struct TytoDisassembly {
    const char *function;  /* this one only, by its name in the machine code or in the source */
    uint32_t architecture; /* 90: the code for sm_90 only */
    bool as_json;          /* one JSON document (docs/machine-code.md) */
    bool with_words;       /* with the bits of each instruction */
    uint64_t instructions; /* printed */
    uint64_t unknown;      /* of them, whose operation is not known */
} TytoDisassembly;

/* Prints the machine code in a file's `size` bytes: a cubin, a fat binary, or an executable, shared
 * object, object file or archive that contains fat binaries. `write` gets the text piece by piece;
 * `name` is for messages. `message` gets the mistakes, a line each. TYTO_BAD_FILE: the file is
 * damaged, of another kind, or without machine code. TYTO_BAD_OPTION: the file lacks such a
 * function, or code for this architecture. */
TytoStatus tyto_disassemble(const char *name, const void *bytes, size_t size,
                            TytoDisassembly *disassembly,
                            void (*write)(void *context, const char *text, size_t length),
                            void *context, char *message, size_t size_bytes);

/* ---- Runs side by side ---- */

typedef struct TytoComparison TytoComparison;

TytoComparison *tyto_comparison_new(void);
void tyto_comparison_free(TytoComparison *comparison); /* NULL is allowed */
/* Adds a run by its JSON object, as the option --json writes it. TYTO_BAD_FILE: it is none, or of a
 * run without timing. */
TytoStatus tyto_comparison_add(TytoComparison *comparison, const char *json);
/* The table, its legend, and why the fastest is; the object {"runs": [...]}; a line per kernel. */
char *tyto_comparison_text(const TytoComparison *comparison);
char *tyto_comparison_json(const TytoComparison *comparison);
char *tyto_comparison_csv(const TytoComparison *comparison);

/* ---- Recorded L1D streams, replayed ---- */

/* The caches that the accesses of a run go to again, one for each SM. */
typedef struct TytoCache {
    const char *policy; /* "lru" or "belady", which brings in as few lines as can be; NULL: "lru" */
    uint64_t size_bytes; /* of one; 0: as the machine had it, here and below */
    uint32_t ways;
    uint32_t line_bytes;
    bool is_unbounded; /* no line is ever replaced; size, ways and policy mean nothing */
} TytoCache;

typedef struct TytoReplay TytoReplay;

/* Replays what the option --record-l1d wrote to `path`. TYTO_BAD_OPTION: there is no such cache;
 * TYTO_BAD_FILE: the file cannot be read, is no recording or damaged; the reason is in `message`.
 */
TytoStatus tyto_replay(const char *path, const TytoCache *cache, TytoReplay **replay, char *message,
                       size_t size_bytes);
void tyto_replay_free(TytoReplay *replay); /* NULL is allowed */
/* What came of it: a table; a JSON object; a heading and a line of CSV. */
char *tyto_replay_text(const TytoReplay *replay);
char *tyto_replay_json(const TytoReplay *replay);
char *tyto_replay_csv(const TytoReplay *replay);
/* The names of its numbers in these, in order; NULL after the last. */
const char *tyto_replay_number(int i);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
