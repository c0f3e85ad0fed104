/* The journal of a process's run: each launch when it ends, in a file that outlives the process,
 * however the process ends. If the process could not write its results, the parent makes them from
 * the journal (deliver.c).
 *
 * The file is mapped, so a launch only costs a copy, and there is no open file that the program
 * could close. A record counts once the length in the head includes it, so a process that is killed
 * leaves only whole records. The format may differ between builds of the library. */
#ifndef TYTO_SIMULATOR_JOURNAL_H
#define TYTO_SIMULATOR_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "simulator/options.h"
#include "stats/run.h"

/* Journals are numbered in the order in which their processes began. */
#define JOURNAL_NAME "%06u"
/* Suffix of the name of a journal whose process has reported, if the file has no room to record
 * that. */
#define JOURNAL_DONE ".done"
enum { JOURNAL_MOST = 1000000 };

typedef struct JournalHead {
    char version[32];       /* version of the library */
    int64_t process;        /* process ID ... */
    uint64_t process_start; /* ... and start time, as in /proc; 0: unknown */
    uint64_t length;        /* bytes of whole records, including the head */
    uint64_t waiting;       /* launches that wait in streams */
    uint64_t begun, ended;  /* launches that have begun and ended */
    CountersShape shape;    /* shape of the run's counters */
    LevelPeaks peaks;       /* peaks of the run's machine */
    uint64_t reported;      /* launches that had begun when the process reported */
    bool is_full;           /* the disk is full: records are missing from some launch on */
    bool is_done;           /* the process has reported ... */
    bool has_files;         /* ... and written its files */
    char program[64];       /* short name of the program, truncated */
    char kernel[128];       /* kernel of the launch that began last, truncated */
} JournalHead;

typedef enum JournalKind {
    JOURNAL_OPTIONS, /* words, each ending with NUL; relative paths are made absolute */
    JOURNAL_ORIGIN,  /* names and texts in turn, each ending with NUL; the last record counts */
    JOURNAL_KERNEL,  /* run_add_kernel_bytes */
    JOURNAL_FINDING  /* a number, a JournalFinding, its texts, each ending with NUL */
} JournalKind;

/* Precedes the payload of a record. The payload is padded to 8 bytes. */
typedef struct JournalRecord {
    uint64_t kind;
    uint64_t bytes; /* bytes of the payload, without padding */
} JournalRecord;

static inline uint64_t journal_pad(uint64_t bytes) { return (bytes + 7) & ~UINT64_C(7); }

/* The start time of a process as in /proc, which together with its ID identifies it; 0: there is no
 * such process. */
uint64_t journal_process_start(int64_t process);

/* Another running process that was started with this folder for its journal (TYTO_JOURNAL); 0:
 * there is none. */
int64_t journal_find_process(const char *folder);

typedef struct Journal Journal;

/* Creates a journal of this process's run in the folder. Never returns NULL: if there is no room,
 * the journal stays empty. */
Journal *journal_new(const char *folder, const RunStats *run, const Options *options);
void journal_free(Journal *journal); /* NULL is allowed here and below; keeps the file */

/* Called when a launch begins, and when it has ended. Then it is the last launch of the run, or
 * (is_kept false) not part of it. */
void journal_begin(Journal *journal, const char *kernel);
void journal_end(Journal *journal, const RunStats *run, bool is_kept);
/* Records how many launches wait in streams. */
void journal_wait(Journal *journal, uint64_t launches);
/* Whether the last recorded origin is for this code. If not, journal_sign must record that of the
 * run. */
bool journal_knows(const Journal *journal, uint64_t code);
void journal_sign(Journal *journal, const RunStats *run, uint64_t code);
/* Whether the files of this process count: it is the only process so far, or has launched
 * something. */
bool journal_owns_files(const Journal *journal);
/* Called when the process has reported, and (has_files) has written its files. */
void journal_finish(Journal *journal, bool has_files);

#endif
