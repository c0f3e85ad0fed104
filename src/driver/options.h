/* Options of a simulator: one table from which the command line, TYTO_OPTIONS, help, the manual
 * page and the messages about mistakes all derive. */
#ifndef TYTO_DRIVER_OPTIONS_H
#define TYTO_DRIVER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "tyto/tyto.h"

/* The options' values; a field each row of the table in options.c. */
typedef struct Options {
    Arena *arena;               /* of the strings */
    const char *machine;        /* --machine */
    const char *scheduler;      /* --scheduler, NULL: the machine's own */
    const char *cta_scheduler;  /* --cta-scheduler, NULL: the machine's own */
    const char **sets;          /* --set, each "key=value", in order */
    int set_count;              /* of sets */
    bool is_functional;         /* --functional: no timing */
    const char *kernels;        /* --kernels: those that are timed, NULL: all */
    uint64_t skip;              /* --skip, launches of them that are not */
    uint64_t memory_bytes;      /* --memory */
    uint64_t stack_bytes;       /* --stack, per thread */
    uint64_t heap_bytes;        /* --heap, of device malloc */
    uint64_t registers;         /* --registers, per thread; 0: our estimate */
    bool check_uninitialised;   /* --check-uninitialised */
    bool check_barriers;        /* --check-barriers */
    uint64_t instruction_limit; /* --limit-insts, warp instructions of one launch; 0: none */
    uint32_t dump_line;         /* --dump-registers: PTX line, 0: none, ... */
    uint32_t dump_cta;          /* ... linear index of the thread block ... */
    uint32_t dump_warp;         /* ... and warp in it */
    const char *json_path;      /* --json, NULL: none */
    const char *csv_path;       /* --csv, NULL: none */
    const char *ctas_path;      /* --ctas, NULL: none */
    const char *stats_path;     /* --stats, NULL: none */
    const char *timeline_path;  /* --timeline, NULL: none */
    const char *policies_path;  /* --policies, NULL: none */
    const char *l1d_path;       /* --record-l1d, NULL: none */
    uint64_t sample_cycles;     /* --sample, 0: none */
    bool is_quiet;              /* --quiet */
    bool is_verbose;            /* --verbose */
} Options;

/* Options at their defaults. */
Options *options_new(void);
void options_free(Options *options);

/* Sets options from `words` (names and values in turn, also name=value). Later ones win. Every
 * mistake goes to `diag`; `origin` says where the words come from ("TYTO_OPTIONS"), or is NULL. */
bool options_parse(Options *options, const char *origin, int count, const char *const *words,
                   Diag *diag);
/* The same from one string as a shell would split it: blanks separate; '...', "..." and \ quote. */
bool options_parse_string(Options *options, const char *origin, const char *string, Diag *diag);

#endif
