/* Coalescing (see the header). */
#include "sm/coalesce.h"

#include <string.h>

#include "base/bits.h"
#include "cache/cache_config.h"
#include "partition/request.h"

/* Arguments of a scattered access, passed once per lane. */
#define ALWAYS __attribute__((always_inline)) static inline

enum { MASKED_BYTES = 128 };   /* bytes that SmAccess.written has bits for */
enum { LOWER_LANES = 0xFFFF }; /* half a warp */
enum { CONSTANT_WORD = 4 };    /* bytes */

#define LOCAL_PHYSICAL_BASE                                                                        \
    UINT64_C(0x20000000) /* base address of local memory as caches and DRAM see it */
#define PARAM_PHYSICAL_BASE UINT64_C(0x10000000) /* base address of kernel parameters */
/* Address distance between two grids that run at the same time. Our choice: 16 grids stay within 32
 * bits, which every machine's address map can tell apart. */
#define LOCAL_STRIDE UINT64_C(0x08000000)
#define PARAM_STRIDE UINT64_C(0x00010000)

enum { WORD_BYTES = 4 }; /* of shared memory, as in PTX: 32 bits */

/* Whether shared memory has 32 banks of one word, and all 32 lanes access it at once. */
static bool has_word_banks(const SmSharedConfig *config) {
    return config->conflict_lanes >= ISA_LANES && config->banks == 32 &&
           config->bank_bytes == WORD_BYTES && !config->lone_broadcasts && !config->one_broadcast;
}

static uint32_t least_bytes(const SmLsuConfig *lsu, uint32_t l2_sector_bytes) {
    uint32_t least = lsu->least_segment_bytes;
    return least && least < l2_sector_bytes ? least : l2_sector_bytes;
}

void coalescer_init(SmCoalescer *coalescer, const SmConfig *config, uint32_t l2_sector_bytes,
                    uint32_t sm, uint32_t sms) {
    *coalescer = (SmCoalescer){.lsu = &config->lsu,
                               .shared = &config->shared,
                               .l2_sector_bytes = l2_sector_bytes,
                               .least_bytes = least_bytes(&config->lsu, l2_sector_bytes),
                               .l1d_bytes = cache_config_fill_bytes(&config->l1d),
                               .l1c_bytes = cache_config_fill_bytes(&config->l1c),
                               .l1t_bytes = cache_config_fill_bytes(&config->l1t),
                               .sm = sm,
                               .sms = sms,
                               .has_word_banks = has_word_banks(&config->shared),
                               .l1_takes_hints = config->l1d_own.takes_hints};
}

SmLayout coalesce_layout(const SmCoalescer *coalescer, uint32_t cta_warps, uint32_t cta_limit,
                         uint32_t number) {
    const uint32_t cta_threads = cta_warps * ISA_LANES;
    return (SmLayout){.local_base = LOCAL_PHYSICAL_BASE + number * LOCAL_STRIDE,
                      .parameter_base = PARAM_PHYSICAL_BASE + number * PARAM_STRIDE,
                      .cta_threads = cta_threads,
                      .local_threads = (uint64_t)cta_threads * cta_limit * coalescer->sms};
}

/* The path of a prefetch or another advice, and which advice the request carries. SM_PATH_NONE if
 * the cache concerned takes no hints. */
static SmPath path_of_advice(const SmCoalescer *c, const SmOperation *op, PtxSpace space,
                             uint8_t *advice) {
    static const uint8_t advices[] = {[ISA_ADVICE_PREFETCH_L1] = MEM_ADVICE_PREFETCH,
                                      [ISA_ADVICE_PREFETCH_L2] = MEM_ADVICE_PREFETCH,
                                      [ISA_ADVICE_NORMAL] = MEM_ADVICE_RANK,
                                      [ISA_ADVICE_DISCARD] = MEM_ADVICE_DISCARD};
    *advice = advices[op->info->advice];
    if (!op->lanes || space != PTX_SPACE_GLOBAL) return SM_PATH_NONE;
    if (op->info->advice == ISA_ADVICE_PREFETCH_L1)
        return c->l1_takes_hints && c->lsu->caches_global ? SM_PATH_L1D : SM_PATH_NONE;
    return c->l2_takes_hints ? SM_PATH_BYPASS : SM_PATH_NONE;
}

/* Where the accesses of a memory instruction go. */
static SmPath path_of(const SmLsuConfig *lsu, const SmOperation *op, PtxSpace space) {
    const IsaInfo *info = op->info;
    if (!op->lanes || info->memory == ISA_MEMORY_NONE) return SM_PATH_NONE;
    /* Arguments of device-function calls: a compiler's calling convention passes them in
     * registers. */
    if (info->flags & ISA_IS_CALL_ARGUMENT) return SM_PATH_NONE;
    if (info->memory == ISA_MEMORY_TEXTURE) return SM_PATH_TEXTURE;
    switch (space) {
    case PTX_SPACE_SHARED: return SM_PATH_SHARED;
    case PTX_SPACE_CLUSTER: return info->flags & ISA_IS_PHASE ? SM_PATH_SHARED : SM_PATH_REMOTE;
    case PTX_SPACE_CONST:
    case PTX_SPACE_PARAM: return SM_PATH_CONST;
    case PTX_SPACE_LOCAL: return lsu->caches_local ? SM_PATH_L1D : SM_PATH_BYPASS;
    default: break;
    }
    if (info->memory == ISA_MEMORY_ATOMIC) return SM_PATH_BYPASS;
    bool is_bypassing = info->cache_op == PTX_CACHE_CG || info->cache_op == PTX_CACHE_CV ||
                        (info->flags & ISA_IS_VOLATILE && info->memory == ISA_MEMORY_LOAD);
    return lsu->caches_global && !is_bypassing ? SM_PATH_L1D : SM_PATH_BYPASS;
}

/* Address in the memory system of a word in a thread's local memory. */
static uint64_t local_address(const SmCoalescer *c, const SmOperation *op, int lane,
                              uint64_t offset) {
    uint64_t thread = (uint64_t)op->warp * ISA_LANES + (uint64_t)lane;
    const SmLayout *layout = op->layout;
    uint64_t place = (c->sm + (uint64_t)c->sms * op->cta_slot) * layout->cta_threads + thread;
    return layout->local_base + (offset / 4 * layout->local_threads + place) * 4 + offset % 4;
}

/* ---- Building the list ---- */

/* The segments found so far, sorted by address. Addresses usually rise with the lane, and lanes
 * that touch the same segment are usually adjacent, so the search for a segment starts at the
 * end. */
typedef struct Builder {
    uint64_t segment_mask;             /* bytes of a segment - 1 */
    uint32_t l2_sector_shift;          /* log2 of the bytes of a sector or least_segment */
    uint32_t all_sectors;              /* sectors of each access; 0: those that lanes touch */
    bool halves;                       /* a segment is within a sector and shrinks to halves */
    bool notes_bytes;                  /* stores: records which bytes are written */
    uint32_t count;                    /* segments found */
    uint64_t segment[SM_MAX_ACCESSES]; /* their addresses, ascending */
    uint8_t place[SM_MAX_ACCESSES];    /* index of each segment in `access` */
    SmAccess access[SM_MAX_ACCESSES];  /* in the order in which segments were found */
} Builder;

static void builder_init(Builder *builder, uint32_t segment_bytes, uint32_t l2_sector_bytes) {
    builder->halves = false;
    builder->segment_mask = segment_bytes - 1;
    builder->l2_sector_shift = (uint32_t)bits_lowest32(l2_sector_bytes);
    builder->all_sectors = 0;
    builder->count = 0;
}

/* Every sector of a segment; at least one, because a sector can be larger than a segment. */
static uint32_t sectors_of_segment(const Builder *builder) {
    uint32_t bytes = (uint32_t)builder->segment_mask + (1u << builder->l2_sector_shift);
    return (uint32_t)bits_low_mask((int)(bytes >> builder->l2_sector_shift));
}

/* The access of a segment; adds one if the segment has none. */
ALWAYS SmAccess *access_of(Builder *builder, uint64_t segment) {
    uint32_t at = builder->count;
    while (at && builder->segment[at - 1] > segment)
        at--;
    if (at && builder->segment[at - 1] == segment) return &builder->access[builder->place[at - 1]];
    assert(builder->count < SM_MAX_ACCESSES);
    uint32_t index = builder->count++;
    for (uint32_t i = index; i > at; i--) {
        builder->segment[i] = builder->segment[i - 1];
        builder->place[i] = builder->place[i - 1];
    }
    builder->segment[at] = segment;
    builder->place[at] = (uint8_t)index;
    builder->access[index] = (SmAccess){.address = segment};
    return &builder->access[index];
}

/* Adds bytes within one segment that lanes touch. */
ALWAYS void add_bytes(Builder *builder, uint32_t lanes, uint64_t address, uint32_t bytes) {
    uint32_t start = (uint32_t)(address & builder->segment_mask);
    SmAccess *access = access_of(builder, address - start);
    uint32_t first = start >> builder->l2_sector_shift;
    uint32_t last = (start + bytes - 1) >> builder->l2_sector_shift;
    access->lanes |= lanes;
    access->sectors |= (2u << last) - (1u << first);
    if (builder->notes_bytes && bytes < 64)
        access->written |= (SmBytes)bits_low_mask((int)bytes) << start;
    else if (builder->notes_bytes)
        access->written |= ~(SmBytes)0 >> (MASKED_BYTES - bytes) << start;
}

/* Adds `count` lanes from `lane` on, each with `bytes` bytes; their data are contiguous from
 * `address` on and span several segments. */
__attribute__((noinline)) static void add_long_run(Builder *builder, int lane, uint32_t count,
                                                   uint64_t address, uint32_t bytes) {
    while (count) {
        uint64_t left = builder->segment_mask + 1 - (address & builder->segment_mask);
        uint32_t fit = (uint32_t)left / bytes;
        if (fit == 0) fit = 1;
        if (fit > count) fit = count;
        add_bytes(builder, (uint32_t)bits_low_mask((int)fit) << lane, address, fit * bytes);
        address += (uint64_t)fit * bytes;
        lane += (int)fit;
        count -= fit;
    }
}

/* Adds `count` lanes from `lane` on, each with `bytes` bytes; their data are contiguous from
 * `address` on, or all lanes have the same address. */
ALWAYS void add_run(Builder *builder, int lane, uint32_t count, uint64_t address, uint32_t bytes,
                    bool is_same) {
    uint32_t length = is_same ? bytes : count * bytes;
    if (!is_same && (address & builder->segment_mask) + length > builder->segment_mask + 1)
        add_long_run(builder, lane, count, address, bytes);
    else add_bytes(builder, (uint32_t)bits_low_mask((int)count) << lane, address, length);
}

/* Shrinks an access within one sector to the half of its segment that it touches, and then to half
 * of that, if it touches only one half. */
static void halve(const Builder *builder, SmAccess *access) {
    uint32_t pieces = (uint32_t)(builder->segment_mask + 1) >> builder->l2_sector_shift, first = 0;
    while (pieces > 1) {
        uint32_t low = access->sectors >> first & (uint32_t)bits_low_mask((int)(pieces / 2));
        uint32_t high = access->sectors >> (first + pieces / 2);
        if (low && high) break;
        pieces /= 2;
        if (high) first += pieces;
    }
    uint32_t start = first << builder->l2_sector_shift;
    access->address += start;
    if (builder->notes_bytes) access->written >>= start;
    access->bytes = (uint16_t)(pieces << builder->l2_sector_shift);
    access->sectors = 1;
}

/* Moves an access's start to its first requested sector, so that it covers no more than is
 * requested. */
static void trim(const Builder *builder, SmAccess *access) {
    if (builder->all_sectors) access->sectors = builder->all_sectors;
    if (builder->halves) {
        halve(builder, access);
        return;
    }
    int first = bits_lowest32(access->sectors), last = bits_highest32(access->sectors);
    access->address += (uint64_t)first << builder->l2_sector_shift;
    access->sectors >>= first;
    if (builder->notes_bytes) access->written >>= (uint32_t)first << builder->l2_sector_shift;
    access->bytes = (uint16_t)((uint32_t)(last - first + 1) << builder->l2_sector_shift);
}

/* Appends the accesses found to those of `memory`, in the order in which they are sent. */
static void finish(const Builder *builder, SmMemory *memory, bool descends) {
    uint32_t count = builder->count;
    for (uint32_t i = 0; i < count; i++) {
        SmAccess *access = &memory->access[memory->count++];
        *access = builder->access[builder->place[descends ? count - 1 - i : i]];
        trim(builder, access);
    }
}

static uint32_t segment_bytes(const SmCoalescer *c, const IsaInfo *info, SmPath path) {
    uint32_t bytes = c->l1d_bytes;
    if (path == SM_PATH_BYPASS && info->space != PTX_SPACE_LOCAL)
        bytes = c->lsu->bypass_segment_bytes;
    if (path == SM_PATH_CONST) return c->lsu->constant_words ? CONSTANT_WORD : c->l1c_bytes;
    if (path == SM_PATH_TEXTURE) return c->l1t_bytes;
    if (c->lsu->narrows_small_elements && info->element_bytes * info->vector <= 2)
        bytes = info->element_bytes == 1 ? bytes / 4 : bytes / 2;
    return bytes > c->least_bytes ? bytes : c->least_bytes;
}

/* ---- Atomics ---- */

/* One access per segment and repetition: the n-th lane that touches a word goes into the n-th
 * access of the word's segment. */
static void coalesce_atomics(const SmOperation *op, const Builder *builder, SmMemory *memory) {
    const uint64_t *address = op->address;
    uint32_t left = op->lanes;
    while (left) {
        uint64_t segment = address[bits_lowest32(left)] & ~builder->segment_mask, words[ISA_LANES];
        uint32_t count = 0, taken = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            int lane = bits_lowest32(rest);
            if ((address[lane] & ~builder->segment_mask) != segment) continue;
            uint32_t i = 0;
            while (i < count && words[i] != address[lane])
                i++;
            if (i < count) continue;
            words[count++] = address[lane];
            taken |= 1u << lane;
        }
        memory->access[memory->count++] = (SmAccess){
            .address = segment, .sectors = 1, .bytes = (uint16_t)(1u << builder->l2_sector_shift)};
        left &= ~taken;
    }
}

/* ---- Shared memory ---- */

/* What a group of lanes reads or writes in one or more passes, by bank. */
typedef struct BankWords {
    uint64_t word[64][ISA_LANES]; /* different words of a bank, in lane order; */
    uint32_t shared[64];          /* words that several lanes access, one bit each */
    uint8_t count[64];
} BankWords;

static void add_word(BankWords *words, uint32_t bank, uint64_t word) {
    uint32_t i = 0;
    while (i < words->count[bank] && words->word[bank][i] != word)
        i++;
    if (i < words->count[bank]) words->shared[bank] |= 1u << i;
    else if (i < ISA_LANES) words->word[bank][words->count[bank]++] = word;
}

/* Passes that the banks need for a group of lanes: the largest number of different words in one
 * bank. Lanes with the same word share a pass. With `lone_broadcasts`, each word that several lanes
 * share takes a pass of its own. */
static uint32_t passes_of(const BankWords *words, uint32_t banks, bool lone_broadcasts) {
    uint32_t most = 0, places = 0, broadcasts = 0;
    for (uint32_t bank = 0; bank < banks; bank++) {
        if (words->count[bank] > most) most = words->count[bank];
        places |= (uint32_t)bits_low_mask(words->count[bank]) & ~words->shared[bank];
        broadcasts += (uint32_t)bits_count64(words->shared[bank]);
    }
    return lone_broadcasts ? (uint32_t)bits_count64(places) + broadcasts : most;
}

/* Passes that the banks need for a group of lanes if only one word can be broadcast. This is the
 * lowest word that several lanes access, in the first bank that has such a word. All other accesses
 * of a bank take one pass per lane. */
static uint32_t passes_with_one_broadcast(const SmSharedConfig *config, const uint64_t *address,
                                          uint32_t group) {
    uint32_t lanes_of[64] = {0}, first_bank = UINT32_MAX, sharing = 0, most = 0;
    uint64_t shared_word = 0;
    for (uint32_t rest = group; rest; rest &= rest - 1) {
        uint64_t word = address[bits_lowest32(rest)] / config->bank_bytes;
        uint32_t bank = (uint32_t)(word % config->banks), same = 0;
        for (uint32_t others = group; others; others &= others - 1)
            same += address[bits_lowest32(others)] / config->bank_bytes == word;
        lanes_of[bank]++;
        if (same < 2 || bank > first_bank || (bank == first_bank && word > shared_word)) continue;
        first_bank = bank;
        shared_word = word;
        sharing = same;
    }
    if (sharing) lanes_of[first_bank] -= sharing - 1;
    for (uint32_t bank = 0; bank < config->banks; bank++)
        if (lanes_of[bank] > most) most = lanes_of[bank];
    return most;
}

/* Whether the lanes of a group access at most one element of `bytes` bytes, a power of two, in each
 * of the sets of banks that an aligned element covers. */
static bool are_elements_apart(const uint64_t *address, uint32_t group, uint32_t bytes) {
    const uint32_t sets = ISA_LANES * WORD_BYTES / bytes;
    uint64_t element_in[ISA_LANES];
    for (uint32_t used = 0; group; group &= group - 1) {
        const uint64_t element = address[bits_lowest32(group)];
        const uint32_t set = (uint32_t)(element / bytes) & (sets - 1);
        if (element & (bytes - 1)) return false;
        if (used >> set & 1 && element_in[set] != element) return false;
        used |= 1u << set;
        element_in[set] = element;
    }
    return true;
}

/* bank_passes for the common case of wide accesses: banks of one word, aligned elements of two or
 * four words, and no conflict within a group. 0: another case. */
static uint32_t wide_passes(const SmSharedConfig *config, const SmOperation *op) {
    const uint32_t bytes = (uint32_t)op->info->element_bytes * op->info->vector;
    const uint32_t words = bytes / WORD_BYTES, lanes = words ? ISA_LANES / words : 0;
    if (!has_word_banks(config) || config->conflict_lanes != ISA_LANES) return 0;
    if (bytes != 2 * WORD_BYTES && bytes != 4 * WORD_BYTES) return 0;
    uint32_t passes = 0;
    for (uint32_t first = 0; first < ISA_LANES; first += lanes) {
        const uint32_t group = op->lanes & (uint32_t)(bits_low_mask((int)lanes) << first);
        if (!are_elements_apart(op->address, group, bytes)) return 0;
        passes += group != 0;
    }
    return passes;
}

/* Passes over the banks for all groups of lanes, one group after another. */
static uint32_t bank_passes(const SmSharedConfig *config, const SmOperation *op) {
    const IsaInfo *info = op->info;
    const uint32_t wide = wide_passes(config, op);
    if (wide) return wide;
    uint32_t words_per_lane =
        (info->element_bytes * info->vector + config->bank_bytes - 1u) / config->bank_bytes;
    /* If shared words take passes of their own, an element is identified by its address alone. */
    bool by_address = config->lone_broadcasts;
    if (by_address || config->one_broadcast || words_per_lane == 0) words_per_lane = 1;
    /* A wide access takes as many passes as an element has words, with proportionally fewer lanes
     * in each pass. */
    uint32_t lanes = config->conflict_lanes / words_per_lane;
    if (lanes == 0) lanes = 1;
    uint32_t passes = 0;
    for (uint32_t first = 0; first < ISA_LANES; first += lanes) {
        uint32_t group = op->lanes & (uint32_t)(bits_low_mask((int)lanes) << first);
        if (config->one_broadcast) {
            passes += passes_with_one_broadcast(config, op->address, group);
            continue;
        }
        BankWords words;
        memset(words.count, 0, config->banks);
        memset(words.shared, 0, config->banks * sizeof *words.shared);
        for (; group; group &= group - 1) {
            uint64_t address = op->address[bits_lowest32(group)];
            for (uint32_t part = 0; part < words_per_lane; part++) {
                uint64_t word = address / config->bank_bytes + part;
                add_word(&words, (uint32_t)(word % config->banks), by_address ? address : word);
            }
        }
        passes += passes_of(&words, config->banks, by_address);
    }
    return passes ? passes : 1;
}

/* Passes that the width of the data needs without any bank conflict. */
static uint32_t least_passes(const SmSharedConfig *config, const SmOperation *op) {
    const uint32_t bytes = (uint32_t)op->info->element_bytes * op->info->vector;
    const uint32_t words = bytes > config->bank_bytes ? bytes / config->bank_bytes : 1;
    return words * (ISA_LANES / config->conflict_lanes);
}

/* Counts the cycles of shared memory, and how many of them remain without bank conflicts. */
static void count_bank_cycles(const SmSharedConfig *config, const SmOperation *op,
                              SmMemory *memory) {
    const uint32_t passes = bank_passes(config, op), least = least_passes(config, op);
    const uint32_t conflicts = passes > least ? passes - least : 0, each = config->passes_per_cycle;
    memory->cycles =
        (uint16_t)((passes + each - 1) / each + conflicts * (config->conflict_cycles - 1));
    memory->least = (uint16_t)((passes - conflicts + each - 1) / each);
}

/* Whether all lanes are active and each half of the warp accesses one word or consecutive words. */
static bool has_pattern(const SmOperation *op) {
    return coalesce_knows(op->pattern) && op->lanes == UINT32_MAX;
}

/* Whether all lanes access one row of 32 words; each word of a row is in another bank. */
static bool is_in_one_row(const uint64_t *address) {
    uint64_t differs = 0;
    for (int lane = 0; lane < ISA_LANES; lane++)
        differs |= address[lane] ^ address[0];
    return differs < 128;
}

/* Whether no bank must serve two different words. Handles only the common case: word-wide banks and
 * all lanes at once. False otherwise. */
static bool is_conflict_free(const SmSharedConfig *config, const SmOperation *op) {
    const IsaInfo *info = op->info;
    const uint64_t *address = op->address;
    if (!has_word_banks(config) || info->element_bytes * info->vector > 4) return false;
    if (has_pattern(op)) return coalesce_halves_fit(op->pattern, address);
    if (op->lanes == UINT32_MAX && is_in_one_row(address)) return true;
    uint32_t word_of[32], used = 0;
    for (uint32_t rest = op->lanes; rest; rest &= rest - 1) {
        uint32_t word = (uint32_t)(address[bits_lowest32(rest)] >> 2), bank = word & 31;
        if (!(used >> bank & 1)) {
            used |= 1u << bank;
            word_of[bank] = word;
        } else if (word_of[bank] != word) {
            return false;
        }
    }
    return true;
}

/* ---- All of it ---- */

/* The state space that a generic access is timed as. If its lanes are in several spaces, the first
 * lane's space counts, except that shared memory of other SMs takes precedence over the SM's
 * own. */
static PtxSpace common_space(const SmOperation *op) {
    if (op->info->space != PTX_SPACE_NONE || !op->lanes) return (PtxSpace)op->info->space;
    const PtxSpace first = (PtxSpace)op->space[bits_lowest32(op->lanes)];
    if (first != PTX_SPACE_SHARED) return first;
    for (uint32_t rest = op->lanes; rest; rest &= rest - 1)
        if (op->space[bits_lowest32(rest)] == PTX_SPACE_CLUSTER) return PTX_SPACE_CLUSTER;
    return first;
}

/* The lanes whose address is in this space. */
static uint32_t lanes_in(const SmOperation *op, PtxSpace space) {
    if (op->info->space != PTX_SPACE_NONE) return op->lanes;
    uint32_t lanes = 0;
    for (int lane = 0; lane < ISA_LANES; lane++)
        lanes |= (uint32_t)(op->space[lane] == space) << lane;
    return lanes & op->lanes;
}

static void coalesce_local(const SmCoalescer *c, const SmOperation *op, uint32_t lanes,
                           Builder *builder) {
    uint32_t bytes = (uint32_t)op->info->element_bytes * op->info->vector;
    for (; lanes; lanes &= lanes - 1) {
        int lane = bits_lowest32(lanes);
        for (uint32_t at = 0; at < bytes; at += 4)
            add_bytes(builder, 1u << lane, local_address(c, op, lane, op->address[lane] + at),
                      bytes < 4 ? bytes : 4);
    }
}

/* Adds the accesses that the lanes would make if their data were contiguous; at most `made`. */
static void add_least(const SmOperation *op, uint32_t lanes, uint32_t segment, uint32_t made,
                      SmMemory *memory) {
    const uint32_t element = (uint32_t)op->info->element_bytes * op->info->vector;
    const uint32_t bytes = (uint32_t)bits_count64(lanes) * (element ? element : 4);
    const uint32_t least = (bytes + segment - 1) >> bits_lowest32(segment); /* a power of two */
    memory->least = (uint16_t)(memory->least + (least < made ? least : made));
}

/* The number of lanes from `lane` on that are active and whose addresses are `bytes` apart, or all
 * equal (then *is_same is set). */
ALWAYS uint32_t run_of(const uint64_t *address, uint32_t lanes, int lane, uint32_t bytes,
                       bool *is_same) {
    int end = lane + 1;
    *is_same = false;
    if (end == ISA_LANES || !(lanes >> end & 1)) return 1;
    const uint64_t step = address[end] - address[lane];
    *is_same = step == 0;
    if (step != 0 && step != bytes) return 1;
    do
        end++;
    while (end < ISA_LANES && lanes >> end & 1 && address[end] - address[end - 1] == step);
    return (uint32_t)(end - lane);
}

/* The same for half a warp whose pattern is known. */
static void coalesce_half(const SmOperation *op, int lane, uint64_t base, Builder *builder) {
    uint32_t pattern = op->pattern >> (lane ? ISA_HALF_BITS : 0);
    add_run(builder, lane, ISA_LANES / 2, base + op->address[lane], 4, !(pattern & ISA_HALF_RUN));
}

/* Handles lanes in runs, because most warps access one word or consecutive words. */
static void coalesce_lanes(const SmOperation *op, uint32_t lanes, uint64_t base, Builder *builder) {
    const uint64_t *address = op->address;
    uint32_t bytes = (uint32_t)op->info->element_bytes * op->info->vector;
    if (!bytes) bytes = 4;
    if (has_pattern(op)) {
        if (lanes & LOWER_LANES) coalesce_half(op, 0, base, builder);
        if (lanes >> ISA_LANES / 2) coalesce_half(op, ISA_LANES / 2, base, builder);
        return;
    }
    while (lanes) {
        bool is_same;
        int lane = bits_lowest32(lanes);
        uint32_t count = run_of(address, lanes, lane, bytes, &is_same);
        add_run(builder, lane, count, base + address[lane], bytes, is_same);
        lanes &= ~((uint32_t)bits_low_mask((int)count) << lane);
    }
}

__attribute__((noinline)) void coalesce(const SmCoalescer *c, const SmOperation *op,
                                        SmMemory *memory) {
    const IsaInfo *info = op->info;
    PtxSpace space = common_space(op);
    bool is_advice = info->memory == ISA_MEMORY_PREFETCH;
    memory->advice = MEM_ADVICE_NONE;
    SmPath path =
        is_advice ? path_of_advice(c, op, space, &memory->advice) : path_of(c->lsu, op, space);
    memory->count = memory->done = 0;
    memory->cycles = memory->least = 1;
    memory->path = (uint8_t)path;
    memory->is_store = info->memory == ISA_MEMORY_STORE || is_advice;
    const bool leaves = path == SM_PATH_BYPASS || path == SM_PATH_REMOTE;
    memory->is_atomic = info->memory == ISA_MEMORY_ATOMIC && leaves;
    memory->is_local = space == PTX_SPACE_LOCAL;
    memory->is_parameter = space == PTX_SPACE_PARAM;
    if (path == SM_PATH_NONE) return;
    if (path == SM_PATH_SHARED) {
        memory->count = 1;
        if (!is_conflict_free(c->shared, op)) count_bank_cycles(c->shared, op, memory);
        return;
    }
    Builder builder;
    uint32_t segment = memory->is_atomic ? c->l2_sector_bytes : segment_bytes(c, info, path);
    bool is_read_only = path == SM_PATH_CONST || path == SM_PATH_TEXTURE;
    bool halves = !memory->is_atomic && !is_read_only && c->least_bytes < c->l2_sector_bytes &&
                  segment <= c->l2_sector_bytes;
    builder_init(&builder, segment, halves ? c->least_bytes : c->l2_sector_bytes);
    builder.halves = halves;
    if (!c->lsu->shrinks_segments) builder.all_sectors = sectors_of_segment(&builder);
    builder.notes_bytes = memory->is_store && !is_advice && builder.segment_mask < MASKED_BYTES;
    uint32_t lanes = lanes_in(op, space);
    memory->least = 0;
    if (memory->is_atomic) {
        coalesce_atomics(op, &builder, memory);
        add_least(op, op->lanes, segment, memory->count, memory);
        return;
    }
    uint32_t group = is_read_only ? ISA_LANES : c->lsu->coalesced_lanes;
    uint64_t base = space == PTX_SPACE_PARAM ? op->layout->parameter_base : 0;
    uint32_t last = c->lsu->descends ? ISA_LANES - group : 0; /* group of lanes that goes first */
    for (uint32_t lane = 0; lane < ISA_LANES; lane += group) {
        uint32_t together = lanes & (uint32_t)bits_low_mask((int)group) << (lane ^ last);
        if (!together) continue;
        builder.count = 0;
        if (space == PTX_SPACE_LOCAL) coalesce_local(c, op, together, &builder);
        else coalesce_lanes(op, together, base, &builder);
        add_least(op, together, segment, builder.count, memory);
        finish(&builder, memory, c->lsu->descends);
    }
}
