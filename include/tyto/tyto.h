/* Tyto's own interface. A program creates simulators, loads PTX, allocates device memory, launches
 * kernels and reads results. The `tyto` command uses only this interface. The CUDA driver API
 * (tyto/cuda.h) is a second interface; it uses one simulator that belongs to the process.
 *
 * Simulators are independent of each other. Any thread may call functions on a simulator. The calls
 * run one after another, except tyto_interrupt and tyto_progress, which never wait.
 *
 * An index out of range is an error in the calling program. In every build, the function then
 * prints its name and the index to stderr and calls abort().
 *
 * A function that can fail returns a TytoStatus. tyto_message then describes the error, with file,
 * line and column if they are known. The caller must free() texts returned as `char *`. Texts
 * returned as `const char *` belong to Tyto. A parameter `message` with `size_bytes` is a buffer of
 * the caller's: an error is written to it, NUL-terminated and truncated to size_bytes. */
#ifndef TYTO_TYTO_H
#define TYTO_TYTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The machine that is simulated if no option names one: a current GPU. */
#define TYTO_DEFAULT_MACHINE "h100"

const char *tyto_version(void); /* "0.1.0" */

typedef enum TytoStatus {
    TYTO_OK,
    TYTO_BAD_OPTION,    /* an unknown option, or a value out of bounds */
    TYTO_BAD_PTX,       /* the PTX text has errors, or uses a feature that is not supported */
    TYTO_BAD_ADDRESS,   /* the address range is not inside one live allocation */
    TYTO_OUT_OF_MEMORY, /* device memory is exhausted */
    TYTO_BAD_LAUNCH,    /* the device cannot run the launch: dimensions, memory, arguments */
    TYTO_KERNEL_FAILED, /* the kernel failed: a bad access, a trap, a limit ... */
    TYTO_INTERRUPTED,   /* tyto_interrupt ended the kernel */
    TYTO_BAD_FILE,      /* a file cannot be written or read */
    TYTO_CHECKS_FAILED, /* the run is complete, but the checks (--check, --on-fault) found errors */
    TYTO_STOPPED        /* the kernel ended at the limit of --stop-after */
} TytoStatus;

/* The word among the `count` words that is spelt most like `word`; NULL if none is close. For "did
 * you mean" messages. */
const char *tyto_nearest(const char *word, const char *const *words, int count);
/* The number of columns that a UTF-8 text takes on a terminal, used to align tables. A character
 * takes one column, a wide character (East Asian letters, emoji) two, a combining character
 * none. */
int tyto_columns(const char *text);

/* ---- Options ---- */

/* Traits of an option: bits of TytoOption.traits. */
enum {
    TYTO_OPTION_FILE = 1,      /* its value names a file that Tyto writes; "-" is standard output */
    TYTO_OPTION_TIMED = 2,     /* it concerns timing: refused together with --functional */
    TYTO_OPTION_ONE_RUN = 4,   /* it applies to one run: refused by commands that make several */
    TYTO_OPTION_NO_RESULT = 8, /* it does not affect what is computed */
    TYTO_OPTION_UNTOLD = 16,   /* nor what is written: no file records that it was given */
    TYTO_OPTION_LAUNCHES = 32  /* what it adds or writes depends on each finished launch alone */
};

/* One option of the command line and of the environment variable TYTO_OPTIONS. */
typedef struct TytoOption {
    const char *name;     /* "--memory" */
    const char *argument; /* "SIZE", NULL for a flag */
    const char *initial;  /* default as text, NULL if there is none */
    const char *help;     /* one sentence */
    const char *group;    /* heading under which the help lists it */
    uint32_t traits;      /* TYTO_OPTION_... */
} TytoOption;

/* The options that every simulator accepts, sorted by group: option i with 0 <= i <
 * tyto_option_count(). */
int tyto_option_count(void);
const TytoOption *tyto_option(int i);

/* Checks `count` words of options: names and values in turn, as on a command line. Returns
 * TYTO_BAD_OPTION after an error, with the reason in `message`. */
TytoStatus tyto_check_options(int count, const char *const *options, char *message,
                              size_t size_bytes);
/* Whether a file can be written at `path` (always true for "-"). If not, errno has the reason. Call
 * it before a long run. */
bool tyto_can_write(const char *path);
/* Whether two results, written to `a` and `b`, would overwrite each other: returns the name of the
 * common place for messages, else NULL. The common place is a file, even if the two paths differ,
 * or standard output. A device or a pipe can receive both. */
const char *tyto_common_output(const char *a, const char *b);
/* For commands that start programs: the environment variable that names an empty folder. Each
 * process that uses CUDA keeps a journal of its launches there. */
#define TYTO_JOURNAL "TYTO_JOURNAL"
/* For such commands, after the process `program` (its process ID) has ended: writes the results
 * that the programs could not write themselves, from the journals in `folder`. `ending` describes
 * how the process ended ("signal 9 (Killed)"). Results that cannot be delivered are reported on
 * standard error. Then it returns TYTO_INTERRUPTED, or TYTO_BAD_FILE if a file could not be
 * written. TYTO_CHECKS_FAILED: all results are delivered, but the checks found errors. If no
 * process used CUDA, that is reported unless `may_be_none`. */
TytoStatus tyto_deliver(const char *folder, int64_t program, const char *ending, bool may_be_none);
/* For commands, which own their process: from now on the file name "-" means the original standard
 * output, and everything else that is printed to standard output goes to standard error. So
 * standard output has only the result. Returns false with errno set after an error. */
bool tyto_claim_output(void);
/* Reads a size in the form of options: "4096", "32KiB", "4GiB". Returns false if `text` is not a
 * size. */
bool tyto_read_size(const char *text, uint64_t *bytes);

/* A text with everything that affects what a simulator with these options computes, one item per
 * line: every option except files, the values of the machine, the policies with their parameters, a
 * hash of the content of policies that are shared objects, and, if machine code is preferred, the
 * version of the ptxas on the PATH. NULL after an error, with the reasons in `message`, one per
 * line. */
char *tyto_identity(int count, const char *const *options, char *message, size_t size_bytes);
/* Continues the hash `hash` over `length` more bytes and returns the new hash. Start with 0. */
uint64_t tyto_hash(uint64_t hash, const void *bytes, size_t length);
/* Whether a scheduler option (`gto`, `./mine.so:depth=2`) names a shared object, whose code will be
 * executed. */
bool tyto_is_plugin(const char *scheduler);
/* Whether a machine option (`gtx480`, `./mine.yaml`) names a file. */
bool tyto_is_machine_file(const char *machine);

/* ---- Simulators ---- */

typedef struct TytoSimulator TytoSimulator;

/* Creates a simulator with one GPU. `options` has `count` words, as in tyto_check_options. Returns
 * NULL after an error in them, with the reason in `message`. Free it with tyto_free. */
TytoSimulator *tyto_new(int count, const char *const *options, char *message, size_t size_bytes);
/* Frees the simulator with its modules and its memory. NULL is allowed. */
void tyto_free(TytoSimulator *simulator);
/* Why the last call that failed did so: one or more lines, without a final newline. Never NULL.
 * Valid until the next call on this simulator. */
const char *tyto_message(const TytoSimulator *simulator);
/* Ends the running launch, if any, with TYTO_INTERRUPTED. Async-signal-safe. */
void tyto_interrupt(TytoSimulator *simulator);

/* Writes to `text` which function of a scheduling policy is being executed, for example "warp
 * scheduler ./mine.so: cycle 7, SM 0: pick" (NUL-terminated, truncated to size_bytes). Returns
 * false if none is. Async-signal-safe; any thread may call it. */
bool tyto_policy_call(const TytoSimulator *simulator, char *text, size_t size_bytes);
/* For commands, which own their process: from now on a crash inside a policy's function is reported
 * on standard error before it ends the process. A crash is SIGSEGV, SIGABRT or a similar signal
 * that the program does not handle itself. This works for one simulator per process; NULL turns it
 * off. */
void tyto_name_crashes(const TytoSimulator *simulator);

/* ---- Programs ---- */

typedef struct TytoModule TytoModule;

/* Loads `length` bytes of PTX text as a module, which belongs to the simulator. `name` is used in
 * messages. If the text has errors, returns TYTO_BAD_PTX, and tyto_message has one line for each,
 * up to twenty. The text is not needed afterwards. */
TytoStatus tyto_load(TytoSimulator *simulator, const char *name, const char *text, size_t length,
                     TytoModule **module);
void tyto_unload(TytoModule *module); /* also frees the module's variables; NULL is allowed */

/* A parameter of a kernel. */
typedef struct TytoParameter {
    const char *name;
    const char *type; /* type of one element: ".u64" */
    uint64_t size_bytes;
    uint64_t offset_bytes; /* from the start of the kernel's parameter area */
} TytoParameter;

/* A kernel. The strings are valid as long as its module. */
typedef struct TytoKernel {
    const char *name;
    const TytoParameter *parameters;
    int parameter_count;
    uint32_t parameter_bytes;
    uint32_t registers;    /* 32-bit registers per thread */
    uint32_t shared_bytes; /* static shared memory of a thread block */
    uint32_t local_bytes;  /* local memory of a thread, without that of the functions it calls */
    uint32_t instructions; /* instructions in the kernel's PTX text */
    uint32_t max_threads;  /* most threads per thread block, by its launch bounds and the device */
    int line;              /* line of its .entry in the PTX text */
    const char *refusal;   /* why it cannot run, with file:line:column; NULL if it can */
    const char *source_name; /* C++ name, "space::kernel<float>(int*)"; or the same as `name` */
} TytoKernel;

int tyto_kernel_count(const TytoModule *module);
const TytoKernel *tyto_kernel(const TytoModule *module, int i); /* in the order of the text */
/* The index of the kernel with this name in the PTX. Otherwise the index of the only kernel whose
 * name matches: `name` may be its name in the source ("kernel", "space::kernel", without template
 * arguments) and contain the wildcards * and ?. -1 if no kernel matches, or several. */
int tyto_find_kernel(const TytoModule *module, const char *name);
/* The module's kernels and their properties as a JSON object (docs/command.md). `name` as in
 * tyto_load. */
char *tyto_module_json(const TytoModule *module, const char *name);
/* The control flow of kernel i as Graphviz DOT; of all functions if i is -1. */
char *tyto_control_flow(const TytoModule *module, int i);

/* ---- Device memory ---- */

/* tyto_alloc allocates `size` bytes of device memory, zeroed and aligned to 256 bytes, and
 * tyto_release frees them. tyto_write and tyto_read copy `size` bytes to and from device memory. A
 * range must be inside one live allocation, or the call returns TYTO_BAD_ADDRESS. */
TytoStatus tyto_alloc(TytoSimulator *simulator, uint64_t size, uint64_t *address);
TytoStatus tyto_release(TytoSimulator *simulator, uint64_t address);
TytoStatus tyto_write(TytoSimulator *simulator, uint64_t address, const void *bytes, uint64_t size);
TytoStatus tyto_read(TytoSimulator *simulator, uint64_t address, void *bytes, uint64_t size);

/* ---- Launches and results ---- */

typedef struct TytoLaunch {
    TytoModule *module;
    int kernel;                   /* index in the module, as of tyto_kernel */
    uint32_t grid[3];             /* thread blocks */
    uint32_t block[3];            /* threads per thread block */
    uint32_t shared_bytes;        /* dynamic shared memory of a thread block */
    const void *const *arguments; /* a pointer to each argument, which has the parameter's size */
    int argument_count;
    bool is_cooperative; /* all thread blocks must be resident at once */
} TytoLaunch;

/* What a launch did. Numbers that are unknown in the mode (for example, cycles with --functional)
 * are 0. */
typedef struct TytoResult {
    const char *kernel; /* valid as long as the simulator */
    TytoStatus status;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t registers;    /* per thread */
    uint32_t shared_bytes; /* static and dynamic, of a thread block */
    uint64_t warp_instructions;
    uint64_t thread_instructions;
    uint64_t cycles;     /* cycles of the SM clock */
    uint64_t time_ps;    /* simulated time in picoseconds */
    double wall_seconds; /* time that the host took */
    double cpu_seconds;  /* CPU time of the process in that time */
    bool is_timed;   /* false with --functional, or if --kernels or --skip excludes the launch */
    uint32_t stream; /* number of the CUDA program's stream, from 1; 0: the legacy default stream,
                        or none */
    bool has_overlapped; /* it overlapped with another kernel: both include the counts of shared
                            units */
} TytoResult;

/* Runs a kernel and returns when it has ended. */
TytoStatus tyto_launch(TytoSimulator *simulator, const TytoLaunch *launch);

/* Results of all launches so far, in order, including failed ones. */
int tyto_result_count(TytoSimulator *simulator);
TytoResult tyto_result(TytoSimulator *simulator, int i);

/* ---- Counters by name ---- */

typedef enum TytoCounterKind {
    TYTO_SUM,  /* added up over SMs, partitions and launches */
    TYTO_MAX,  /* the largest value of them */
    TYTO_RATIO /* a ratio of sums */
} TytoCounterKind;

/* A counter or a ratio (docs/metrics.md). */
typedef struct TytoCounter {
    const char *name;    /* "l1d_misses" */
    const char *unit;    /* "accesses" */
    const char *meaning; /* a few words */
    TytoCounterKind kind;
} TytoCounter;

/* All counters, then all ratios: row i with 0 <= i < tyto_counter_count(). Row numbers may change
 * between versions; names are meant to stay. */
int tyto_counter_count(void);
const TytoCounter *tyto_counter(int i);
/* The row of a counter, by its present or a former name; -1 if there is none. */
int tyto_find_counter(const char *name);
/* Writes a value of row i to `text` as reports do: "1,234,567", "12.3%" or "1.23"; "-" for NaN.
 * Truncated to size_bytes. */
void tyto_format_value(int i, double value, char *text, size_t size_bytes);
/* A description of row i in several lines: what it counts and where, or the terms of a ratio. */
char *tyto_counter_text(int i);

/* The name of rule i of the advice (docs/advice.md); NULL after the last. */
const char *tyto_rule_name(int i);
/* A description of rule i in several lines: when it applies, and what its weight is. */
char *tyto_rule_text(int i);

/* What a counter counted. */
typedef struct TytoValue {
    bool is_known;  /* false: the launch was not timed, or the ratio's denominator is 0 */
    uint64_t count; /* the exact count; 0 for a ratio or an unknown value */
    double value;   /* the count, or the ratio, as a number; NaN if it is unknown */
} TytoValue;

#define TYTO_TOTAL (-1) /* in place of a launch: the totals, as in `total` of the JSON object */

/* The value of row `counter` for a launch (0 <= launch < tyto_result_count) or for TYTO_TOTAL.
 * Without timing, only warp_instructions and thread_instructions are known. */
TytoValue tyto_value(TytoSimulator *simulator, int launch, int counter);

/* ---- The profile (--profile, docs/profile.md) ---- */

/* The columns of the profile, which has a row for each instruction: first the causes for which
 * warps waited at the instruction, in warp cycles, then counts. Column i with 0 <= i <
 * tyto_profile_column_count(). */
typedef struct TytoProfileColumn {
    const char *name; /* "cycles_memory", "l1d_hits" */
    const char *unit;
    const char *meaning;
    bool is_cause;
} TytoProfileColumn;
int tyto_profile_column_count(void);
TytoProfileColumn tyto_profile_column(int i);

/* All launches so far of one kernel. The texts are valid as long as the simulator. */
typedef struct TytoProfileKernel {
    const char *kernel;
    const char *module; /* file of its PTX */
    uint64_t launches;
    int lines; /* number of its instructions with values other than 0 */
} TytoProfileKernel;
int tyto_profile_count(TytoSimulator *simulator); /* number of kernels; 0 without --profile */
TytoProfileKernel tyto_profile_kernel(TytoSimulator *simulator, int i);

/* An instruction; i counts instructions in the order of the program. All pointers are valid until
 * the next launch. */
typedef struct TytoProfileLine {
    uint32_t line;        /* line in the PTX text */
    const char *text;     /* text of that line, or the opcode if the text is unknown */
    const char *function; /* function that contains the instruction */
    const char *source;   /* source file; NULL: unknown */
    uint32_t source_line;
    const uint64_t *values; /* one value for each column */
} TytoProfileLine;
TytoProfileLine tyto_profile_line(TytoSimulator *simulator, int kernel, int i);

/* The progress of the running launch, or of the last one if none runs. */
typedef struct TytoProgress {
    uint64_t done_blocks;       /* thread blocks that have ended */
    uint64_t blocks;            /* thread blocks of the grid */
    uint64_t warp_instructions; /* warp instructions executed so far */
} TytoProgress;
TytoProgress tyto_progress(const TytoSimulator *simulator); /* lock-free */

/* The keys that describe the origin of results, that is, everything that determines a run:
 * "command", "machine_hash", ... Key i, in order; NULL after the last. */
const char *tyto_origin(int i);
/* The JSON object of a run (docs/command.md). `program` is the name of what was run. */
char *tyto_report_json(TytoSimulator *simulator, const char *program);
/* The same for a single launch, 0 <= launch < tyto_result_count. The call's cost does not grow with
 * the number of earlier launches. Data that is kept for all launches together (errors, samples, the
 * profile) covers all launches. */
char *tyto_launch_json(TytoSimulator *simulator, const char *program, int launch);
/* Sets what the results contain as `command` and `arguments`: `command` ("tyto launch"), then the
 * simulator's options and the program's name, then `count` arguments. Without this call, results
 * contain the command line of this process. */
void tyto_name_command(TytoSimulator *simulator, const char *command, int count,
                       const char *const *arguments);
/* Ends a run: prints the summary and writes the files, as the options request. */
TytoStatus tyto_finish(TytoSimulator *simulator, const char *program);

/* Writes `length` bytes to `path`, in the way that --json and similar options do: to a temporary
 * file, which is flushed and then replaces the old file in one step. "-" is standard output.
 * After an error it returns TYTO_BAD_FILE, with the reason in `message`, and the old file is
 * unchanged. */
TytoStatus tyto_write_file(const char *path, const void *bytes, size_t length, char *message,
                           size_t size_bytes);

/* ---- Machines and schedulers ---- */

/* The machines that are part of Tyto: machine i with 0 <= i < tyto_machine_count(). */
int tyto_machine_count(void);
const char *tyto_machine_name(int i);
char *tyto_machine_title(int i); /* one line */
/* A table of these machines with their sizes: SMs, clock, warps and L1D of an SM, L2, DRAM. */
char *tyto_machines_text(void);
/* The machine file that is in effect after `sets` ("key=value") are applied: every value, its
 * meaning and its source. NULL after an error, with the reasons in `message`, one per line. */
char *tyto_machine_text(const char *name, int set_count, const char *const *sets, char *message,
                        size_t size_bytes);
/* A text that lists the warp and thread block schedulers with their parameters. */
char *tyto_schedulers_text(void);
/* The storage that a warp scheduler adds to a machine after `sets` ("key=value") are applied, by
 * the formula of its paper. NULL after an error, with the reasons in `message`, one per line. */
char *tyto_cost_text(const char *scheduler, const char *machine, int set_count,
                     const char *const *sets, char *message, size_t size_bytes);

/* ---- Machine code ---- */

/* What tyto_disassemble prints, and in which form. All 0: everything, as text. */
typedef struct TytoDisassembly {
    const char *function;  /* print only this function; its name in the code or the source */
    uint32_t architecture; /* 90: print only the code for sm_90 */
    bool as_json;          /* one JSON document (docs/machine-code.md) */
    bool with_words;       /* print the bits of each instruction, too */
    uint64_t instructions; /* out: instructions printed */
    uint64_t unknown;      /* out: printed instructions whose operation is unknown */
} TytoDisassembly;

/* Prints the machine code in the `size` bytes of a file: a cubin, a fat binary, or an executable,
 * shared object, object file or archive that contains fat binaries. `write` receives the text piece
 * by piece, with `context`. `name` is used in messages. `message` receives the errors, one per
 * line. TYTO_BAD_FILE: the file is damaged, of another kind, or without machine code.
 * TYTO_BAD_OPTION: the file lacks the function, or code for the architecture. */
TytoStatus tyto_disassemble(const char *name, const void *bytes, size_t size,
                            TytoDisassembly *disassembly,
                            void (*write)(void *context, const char *text, size_t length),
                            void *context, char *message, size_t size_bytes);

/* ---- Runs side by side ---- */

typedef struct TytoComparison TytoComparison;

TytoComparison *tyto_comparison_new(void);
void tyto_comparison_free(TytoComparison *comparison); /* NULL is allowed */
/* Adds a run, given as the JSON object that --json writes. TYTO_BAD_FILE: `json` is not such an
 * object, or the run was not timed. */
TytoStatus tyto_comparison_add(TytoComparison *comparison, const char *json);
/* The comparison as text: a table, its legend, and why the fastest run is fastest; as a JSON object
 * {"runs": [...]}; as CSV with a line per kernel. */
char *tyto_comparison_text(const TytoComparison *comparison);
char *tyto_comparison_json(const TytoComparison *comparison);
char *tyto_comparison_csv(const TytoComparison *comparison);

/* ---- Recorded L1D streams, replayed ---- */

/* The caches, one for each SM, on which the accesses of a run are replayed. */
typedef struct TytoCache {
    const char *policy;  /* "lru" or "belady" (as few lines brought in as possible); NULL: "lru" */
    uint64_t size_bytes; /* size of one cache; here and below, 0 means the machine's value */
    uint32_t ways;
    uint32_t line_bytes;
    bool is_unbounded; /* no line is ever replaced; size, ways and policy are ignored */
} TytoCache;

typedef struct TytoReplay TytoReplay;

/* Replays the recording that the option --record-l1d wrote to `path`. TYTO_BAD_OPTION: `cache` is
 * not a possible cache. TYTO_BAD_FILE: the file cannot be read, is not a recording or is damaged.
 * `message` has the reason. Free *replay with tyto_replay_free. */
TytoStatus tyto_replay(const char *path, const TytoCache *cache, TytoReplay **replay, char *message,
                       size_t size_bytes);
void tyto_replay_free(TytoReplay *replay); /* NULL is allowed */
/* The results: as a table; as a JSON object; as CSV, a header and a line. */
char *tyto_replay_text(const TytoReplay *replay);
char *tyto_replay_json(const TytoReplay *replay);
char *tyto_replay_csv(const TytoReplay *replay);
/* The name of number i in these results, in order; NULL after the last. */
const char *tyto_replay_number(int i);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
