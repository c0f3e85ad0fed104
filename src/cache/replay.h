/* An L1D trace replayed under another replacement policy and geometry, without time: the study of
 * the CCWS paper (section 4, SAGCS; figures 8, 10, 11 and 12).
 *
 * Every SM has a cache of its own. A line is there from the lookup that takes it; so a lookup that
 * met its line on its way in the run is a hit here, as it was no miss there. LRU spares a line
 * until it has arrived where the run fetched it too, as the L1D must; Belady's policy is the bound
 * that knows no such limits. Sectors are left out: their misses are hits on their lines here. */
#ifndef TYTO_CACHE_REPLAY_H
#define TYTO_CACHE_REPLAY_H

#include "cache/l1d_reader.h"

typedef enum ReplayPolicy {
    REPLAY_LRU,    /* the line not used for longest goes, among those that have arrived */
    REPLAY_BELADY, /* the line wanted again last goes: as few lines brought in as can be */
    REPLAY_POLICIES
} ReplayPolicy;
extern const char *const replay_policy_names[REPLAY_POLICIES];

typedef struct ReplayConfig {
    ReplayPolicy policy;
    uint64_t size_bytes; /* of one SM's cache; 0: as the machine had it, here and below */
    uint32_t ways;
    uint32_t line_bytes;
    bool is_unbounded; /* no line is ever replaced: size, ways and policy mean nothing */
} ReplayConfig;

/* Counts over all SMs. */
typedef struct ReplayResult {
    uint64_t accesses;        /* loads and stores */
    uint64_t misses;          /* the line is not there; stores that take no line among them */
    uint64_t load_accesses;   /* loads among the accesses */
    uint64_t load_misses;     /* loads among the misses */
    uint64_t fills;           /* lines taken: misses of loads and of stores that take their line */
    uint64_t evictions;       /* lines replaced */
    uint64_t inter_warp_hits; /* the line was brought in by another warp */
    uint64_t intra_warp_hits; /* by the same warp, intra-thread hits among them */
    uint64_t intra_thread_hits; /* by the same warp, every thread that asks now having asked then */
} ReplayResult;

/* Fills in the zeros of `config` from the trace, and checks it: false, with an error in `diag`,
 * when there is no such cache or the trace cannot be replayed on it. */
bool replay_resolve(const L1dReader *reader, ReplayConfig *config, Diag *diag);

/* Replays the whole trace on a resolved `config`. False, with one error in `diag`, when the trace
 * is damaged or the temporary file of Belady's policy cannot be written. */
bool replay_run(L1dReader *reader, const ReplayConfig *config, ReplayResult *result, Diag *diag);

#endif
