/* Replays an L1D trace with another replacement policy and geometry, without time: the study of the
 * CCWS paper (section 4, SAGCS; figures 8, 10, 11 and 12).
 *
 * Every SM has its own cache. A line is present from the lookup that allocates it. So a lookup
 * whose line was pending in the run is a hit here; in the run it was not a miss either. LRU does
 * not replace a line that the run requested until it has arrived, as the L1D must. Belady's policy
 * is the bound without such limits. Sectors are left out: a sector miss is a hit on its line here.
 */
#ifndef TYTO_CACHE_REPLAY_H
#define TYTO_CACHE_REPLAY_H

#include "cache/l1d_reader.h"

typedef enum ReplayPolicy {
    REPLAY_LRU,    /* replaces the least recently used line among those that have arrived */
    REPLAY_BELADY, /* replaces the line that is needed again last, for the fewest fills */
    REPLAY_POLICIES
} ReplayPolicy;
extern const char *const replay_policy_names[REPLAY_POLICIES];

typedef struct ReplayConfig {
    ReplayPolicy policy;
    uint64_t size_bytes; /* size of one SM's cache; 0, also in the next two: as in the machine */
    uint32_t ways;
    uint32_t line_bytes;
    bool is_unbounded; /* no line is ever replaced; size, ways and policy are ignored */
} ReplayConfig;

/* Counts over all SMs. */
typedef struct ReplayResult {
    uint64_t accesses;          /* loads and stores */
    uint64_t misses;            /* the line is not present; includes stores that allocate no line */
    uint64_t load_accesses;     /* loads among the accesses */
    uint64_t load_misses;       /* loads among the misses */
    uint64_t fills;             /* allocated lines: misses of loads and of stores that allocate */
    uint64_t evictions;         /* lines replaced */
    uint64_t inter_warp_hits;   /* another warp brought in the line */
    uint64_t intra_warp_hits;   /* the same warp brought in the line; includes intra-thread hits */
    uint64_t intra_thread_hits; /* the same warp, and every lane that asks now also asked then */
} ReplayResult;

/* Replaces the zeros in `config` by the trace's values, and checks the result. Returns false, with
 * an error in `diag`, if such a cache is not possible or the trace cannot be replayed on it. */
bool replay_resolve(const L1dReader *reader, ReplayConfig *config, Diag *diag);

/* Replays the whole trace on a resolved `config`. Returns false, with one error in `diag`, if the
 * trace is damaged or the temporary file of Belady's policy cannot be written. */
bool replay_run(L1dReader *reader, const ReplayConfig *config, ReplayResult *result, Diag *diag);

#endif
