/* The journal of a process's run: each launch as it ends, in a file that outlives the process,
 * however the process ends. The parent makes results of it (deliver.c) when the process could not.
 *
 * The file is mapped, so that a launch costs a copy, and no file stays open that the program could
 * close. A record counts once the length at the head includes it: a process that is killed leaves
 * whole records. The format is that of one build of the library. */
#ifndef TYTO_SIMULATOR_JOURNAL_H
#define TYTO_SIMULATOR_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "simulator/options.h"
#include "stats/run.h"

/* Journals are numbered in the order in which their processes began. */
#define JOURNAL_NAME "%06u"
/* Ends the name of one whose process has reported, where the file has no room to say so. */
#define JOURNAL_DONE ".done"
enum { JOURNAL_MOST = 1000000 };

typedef struct JournalHead {
    char version[32];       /* of the library */
    int64_t process;        /* its number ... */
    uint64_t process_start; /* ... and the time of its start, as /proc has it; 0: unknown */
    uint64_t length;        /* bytes of whole records, the head among them */
    uint64_t waiting;       /* launches that wait in streams */
    uint64_t begun, ended;  /* launches */
    CountersShape shape;    /* of the run */
    LevelPeaks peaks;       /* of its machine */
    uint64_t reported;      /* launches that had begun when the process reported */
    bool is_full;           /* the disk is: records are missing from some launch on */
    bool is_done;           /* the process has reported ... */
    bool has_files;         /* ... and written its files */
    char program[64];       /* its short name, cut */
    char kernel[128];       /* the launch that began last, cut */
} JournalHead;

typedef enum JournalKind {
    JOURNAL_OPTIONS, /* words, each with its NUL; relative paths are made whole */
    JOURNAL_ORIGIN,  /* names and texts in turn, each with its NUL; the last holds */
    JOURNAL_KERNEL,  /* run_add_kernel_bytes */
    JOURNAL_FINDING  /* a number, a JournalFinding, its texts with their NULs */
} JournalKind;

/* Before the payload of a record, which is padded to 8 bytes. */
typedef struct JournalRecord {
    uint64_t kind;
    uint64_t bytes; /* of the payload, without padding */
} JournalRecord;

static inline uint64_t journal_pad(uint64_t bytes) { return (bytes + 7) & ~UINT64_C(7); }

/* The start of a process as /proc has it, which with its number tells it from all others; 0: there
 * is no such process. */
uint64_t journal_process_start(int64_t process);

/* A process that runs and was started with this folder for its journal (TYTO_JOURNAL), this one
 * left out; 0: there is none. */
int64_t journal_find_process(const char *folder);

typedef struct Journal Journal;

/* A journal of this process's run in the folder. Never NULL: without room it holds nothing. */
Journal *journal_new(const char *folder, const RunStats *run, const Options *options);
void journal_free(Journal *journal); /* NULL is allowed, as for all below; the file stays */

/* A launch begins; it has ended, and is the run's last or (is_kept false) none of the run's. */
void journal_begin(Journal *journal, const char *kernel);
void journal_end(Journal *journal, const RunStats *run, bool is_kept);
/* Notes how many launches wait in streams. */
void journal_wait(Journal *journal, uint64_t launches);
/* Whether the last record of the origin is of this code. If not, that of the run is taken. */
bool journal_knows(const Journal *journal, uint64_t code);
void journal_sign(Journal *journal, const RunStats *run, uint64_t code);
/* Whether this process is the only one so far, or has launched something: its files count. */
bool journal_owns_files(const Journal *journal);
/* The process has reported, and (has_files) written its files. */
void journal_finish(Journal *journal, bool has_files);

#endif
