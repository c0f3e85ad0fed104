/* Replay of L1D traces (see the header). */
#include "cache/replay.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bits.h"
#include "cache/line_table.h"
#include "cache/next_use.h"
#include "cache/set_index.h"

const char *const replay_policy_names[REPLAY_POLICIES] = {
    [REPLAY_LRU] = "lru",
    [REPLAY_BELADY] = "belady",
};

#define NO_LINE   UINT64_MAX
#define MAX_LINES (UINT64_C(1) << 27) /* of all SMs together: 4 GiB of host memory */
#define MAX_BYTES (UINT64_C(1) << 31) /* per cache */
enum { MIN_LINE = 16, MAX_LINE = 4096, MAX_WAYS = 65536, MAX_SETS_LOG2 = 24 };

/* A place for a line in a cache. */
typedef struct Line {
    uint64_t line;   /* address without the bits inside a line; NO_LINE: free */
    uint64_t rank;   /* the line with the highest rank is replaced */
    uint64_t filler; /* the access that brought it in: warp in the upper half, lanes in the lower */
    bool is_coming;  /* LRU: in the run, the line was still pending at this point */
} Line;

/* The cache of one SM. */
typedef struct Cache {
    Line *places;    /* by set, then way; NULL before the first use */
    LineTable lines; /* if unbounded: from line to filler */
    uint64_t clock;  /* number of uses so far */
} Cache;

typedef struct Replay {
    const ReplayConfig *config;
    ReplayResult *result;
    SetIndex index;  /* address to set */
    uint64_t places; /* places per cache */
    int line_shift;  /* log2 of the line size */
    Cache *caches;   /* by SM */
} Replay;

/* ---- Geometry ---- */

static bool check_line(const L1dTraceHeader *header, const ReplayConfig *config, Diag *diag) {
    uint32_t bytes = config->line_bytes;
    if (!bits_is_power_of_two(bytes) || bytes < MIN_LINE || bytes > MAX_LINE) {
        diag_error(diag, NULL, 0, 0, "lines of %u bytes: must be a power of two from %d to %d",
                   bytes, MIN_LINE, MAX_LINE);
        return false;
    }
    if (bytes < header->unit_bytes) {
        diag_error(diag, NULL, 0, 0,
                   "lines of %u bytes: the accesses were recorded in lines of %u, and "
                   "smaller ones cannot be told apart",
                   bytes, header->unit_bytes);
        return false;
    }
    return true;
}

static bool check_size(const L1dTraceHeader *header, const ReplayConfig *config, Diag *diag) {
    uint64_t set_bytes = (uint64_t)config->line_bytes * config->ways;
    uint64_t sets = config->size_bytes / set_bytes, lines = sets * config->ways;
    if (config->ways > MAX_WAYS) {
        diag_error(diag, NULL, 0, 0, "%u ways: must be 1 to %d", config->ways, MAX_WAYS);
        return false;
    }
    if (config->size_bytes % set_bytes || !bits_is_power_of_two(sets) ||
        sets > 1u << MAX_SETS_LOG2) {
        diag_error(diag, NULL, 0, 0,
                   "a cache of %llu bytes in %u ways of %u-byte lines does not have a "
                   "power of two of sets (up to 2^%d)",
                   (unsigned long long)config->size_bytes, config->ways, config->line_bytes,
                   MAX_SETS_LOG2);
        return false;
    }
    if (config->size_bytes > MAX_BYTES || lines > MAX_LINES / header->sms) {
        diag_error(diag, NULL, 0, 0,
                   "%u caches of %llu bytes are too much for the host; --unbounded "
                   "needs only the lines that are used",
                   header->sms, (unsigned long long)config->size_bytes);
        return false;
    }
    return true;
}

/* Makes the machine's set function, with as many bits as the sets need. A function that the machine
 * file spells out (l1d.set_hash) has a fixed number of bits. */
static bool init_index(SetIndex *index, const L1dReader *reader, const ReplayConfig *config,
                       Diag *diag) {
    const char *hash = l1d_reader_origin(reader, L1D_TRACE_SET_HASH);
    char listed[CACHE_INDEX_BYTES];
    CacheConfig cache = {.size_bytes = (uint32_t)config->size_bytes,
                         .line_bytes = config->line_bytes,
                         .ways = config->ways,
                         .index = l1d_reader_header(reader)->index};
    uint32_t sets = cache_config_sets(&cache);
    cache_config_set_index(&cache, 0, listed);
    return set_index_init(index,
                          sets == 1 ? NULL
                          : hash    ? hash
                                    : listed,
                          sets, config->line_bytes, diag);
}

bool replay_resolve(const L1dReader *reader, ReplayConfig *config, Diag *diag) {
    const L1dTraceHeader *header = l1d_reader_header(reader);
    if (!config->line_bytes) config->line_bytes = header->line_bytes;
    if (!config->ways) config->ways = header->ways;
    if (!config->size_bytes) config->size_bytes = header->size_bytes;
    if (!check_line(header, config, diag)) return false;
    SetIndex index;
    return config->is_unbounded ||
           (check_size(header, config, diag) && init_index(&index, reader, config, diag));
}

static void start(Replay *replay, const L1dReader *reader) {
    const ReplayConfig *config = replay->config;
    replay->line_shift = bits_lowest32(config->line_bytes);
    replay->caches = base_calloc(l1d_reader_header(reader)->sms, sizeof *replay->caches);
    if (config->is_unbounded) return;
    Diag *diag = diag_new(); /* stays empty, because the geometry has been checked */
    init_index(&replay->index, reader, config, diag);
    diag_free(diag);
    replay->places = config->size_bytes / config->line_bytes;
}

static void end(Replay *replay, const L1dTraceHeader *header) {
    for (uint32_t sm = 0; sm < header->sms; sm++) {
        free(replay->caches[sm].places);
        line_table_free(&replay->caches[sm].lines);
    }
    free(replay->caches);
}

/* ---- One SM's cache ---- */

static void empty(const Replay *replay, Cache *cache) {
    line_table_clear(&cache->lines);
    for (uint64_t i = 0; cache->places && i < replay->places; i++)
        cache->places[i].line = NO_LINE;
}

/* The places of a line's set. */
static Line *set_of(Replay *replay, Cache *cache, uint64_t line) {
    if (!cache->places) {
        cache->places = base_malloc(replay->places * sizeof *cache->places);
        empty(replay, cache);
    }
    uint64_t set = set_index_of(&replay->index, line << replay->line_shift);
    return &cache->places[set * replay->config->ways];
}

static Line *find(Replay *replay, Cache *cache, uint64_t line) {
    Line *set = set_of(replay, cache, line);
    for (uint32_t way = 0; way < replay->config->ways; way++)
        if (set[way].line == line) return &set[way];
    return NULL;
}

/* Whether line `a` is replaced rather than `b`. */
static bool goes_before(const Line *a, const Line *b) {
    return a->is_coming != b->is_coming ? b->is_coming : a->rank > b->rank;
}

/* A free place, or the place of the line to replace (the first of several). */
static Line *choose(Replay *replay, Cache *cache, uint64_t line) {
    Line *set = set_of(replay, cache, line), *victim = set;
    for (uint32_t way = 0; way < replay->config->ways; way++) {
        if (set[way].line == NO_LINE) return &set[way];
        if (goes_before(&set[way], victim)) victim = &set[way];
    }
    replay->result->evictions++;
    return victim;
}

/* ---- Lookups ---- */

static uint64_t filler_of(const L1dRecord *record) {
    return (uint64_t)record->warp << 32 | record->lanes;
}

static void count_hit(ReplayResult *result, const L1dRecord *record, uint64_t filler) {
    if (filler >> 32 != record->warp) {
        result->inter_warp_hits++;
        return;
    }
    result->intra_warp_hits++;
    result->intra_thread_hits += !(record->lanes & ~(uint32_t)filler);
}

/* Counts a lookup. `filler`: of its line; 0: the line is not present. */
static void count(ReplayResult *result, const L1dRecord *record, uint64_t filler) {
    bool is_load = record->kind == L1D_LOAD;
    result->accesses++;
    result->load_accesses += is_load;
    if (filler) {
        count_hit(result, record, filler);
        return;
    }
    result->misses++;
    result->load_misses += is_load;
    result->fills += l1d_kind_takes_line((L1dKind)record->kind);
}

static void look_up_unbounded(Replay *replay, Cache *cache, const L1dRecord *record) {
    uint64_t *filler = line_table_at(&cache->lines, record->address >> replay->line_shift);
    count(replay->result, record, *filler);
    if (record->kind == L1D_STORE_EVICT) *filler = 0;
    else if (!*filler && l1d_kind_takes_line((L1dKind)record->kind)) *filler = filler_of(record);
}

static void fill(Replay *replay, Cache *cache, const L1dRecord *record) {
    Line *line = find(replay, cache, record->address >> replay->line_shift);
    if (line) line->is_coming = false;
}

/* Looks up a record's line. `next`: the number of the record that needs the line next (Belady). */
static void look_up(Replay *replay, Cache *cache, const L1dRecord *record, uint64_t next) {
    L1dKind kind = (L1dKind)record->kind;
    uint64_t address = record->address >> replay->line_shift;
    Line *line = find(replay, cache, address);
    count(replay->result, record, line ? line->filler : 0);
    if (!line && l1d_kind_takes_line(kind)) {
        line = choose(replay, cache, address);
        *line = (Line){.line = address,
                       .filler = filler_of(record),
                       .is_coming = record->is_request && replay->config->policy == REPLAY_LRU};
    }
    if (!line || kind == L1D_STORE_PASS) return;
    if (kind == L1D_STORE_EVICT) line->line = NO_LINE;
    if (replay->config->policy == REPLAY_LRU) line->rank = UINT64_MAX - ++cache->clock;
    else if (l1d_kind_takes_line(kind)) line->rank = next;
}

static void replay_block(Replay *replay, const L1dRecord *records, uint32_t count,
                         const uint64_t *next) {
    for (uint32_t i = 0; i < count; i++) {
        Cache *cache = &replay->caches[records[i].sm];
        bool is_lookup = l1d_kind_is_lookup((L1dKind)records[i].kind);
        if (records[i].kind == L1D_FLUSH) empty(replay, cache);
        else if (replay->config->is_unbounded && is_lookup)
            look_up_unbounded(replay, cache, &records[i]);
        else if (replay->config->is_unbounded) continue;
        else if (records[i].kind == L1D_FILL) fill(replay, cache, &records[i]);
        else if (is_lookup) look_up(replay, cache, &records[i], next ? next[i] : 0);
    }
}

bool replay_run(L1dReader *reader, const ReplayConfig *config, ReplayResult *result, Diag *diag) {
    Replay replay = {.config = config, .result = result};
    NextUse *future = NULL;
    *result = (ReplayResult){0};
    start(&replay, reader);
    bool needs_future = config->policy == REPLAY_BELADY && !config->is_unbounded;
    bool is_right = !needs_future || (future = next_use_new(reader, replay.line_shift, diag));
    for (uint64_t block = 0; is_right && block < l1d_reader_blocks(reader); block++) {
        uint32_t count;
        const L1dRecord *records = l1d_reader_block(reader, block, &count, diag);
        const uint64_t *next = records && future ? next_use_block(future, block, diag) : NULL;
        is_right = records && (!future || next);
        if (is_right) replay_block(&replay, records, count, next);
    }
    next_use_free(future);
    end(&replay, l1d_reader_header(reader));
    return is_right;
}
