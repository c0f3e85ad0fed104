/* Coalescing (see the header). */
#include "sm/coalesce.h"

#include "base/bits.h"
#include "cache/cache_config.h"

enum { MASKED_BYTES = 128 }; /* bytes that SmAccess.written has a bit for */

#define LOCAL_PHYSICAL_BASE                                                                        \
    UINT64_C(0x20000000) /* where local memory lies as seen by caches and DRAM */
#define PARAM_PHYSICAL_BASE UINT64_C(0x10000000) /* and kernel parameters */

void coalescer_init(SmCoalescer *coalescer, const SmConfig *config, uint32_t atom_bytes,
                    uint32_t sm, uint32_t sms) {
    *coalescer = (SmCoalescer){.lsu = &config->lsu,
                               .shared = &config->shared,
                               .atom_bytes = atom_bytes,
                               .l1d_bytes = cache_config_fill_bytes(&config->l1d),
                               .l1c_bytes = cache_config_fill_bytes(&config->l1c),
                               .l1t_bytes = cache_config_fill_bytes(&config->l1t),
                               .sm = sm,
                               .sms = sms};
}

void coalescer_start_kernel(SmCoalescer *coalescer, uint32_t cta_warps, uint32_t cta_limit) {
    coalescer->cta_threads = cta_warps * ISA_LANES;
    coalescer->local_threads = (uint64_t)coalescer->cta_threads * cta_limit * coalescer->sms;
}

/* Where the accesses of a memory instruction go. */
static SmPath path_of(const SmLsuConfig *lsu, const SmOperation *op, PtxSpace space) {
    const IsaInfo *info = op->info;
    if (!op->lanes || info->memory == ISA_MEMORY_NONE || info->memory == ISA_MEMORY_PREFETCH)
        return SM_PATH_NONE;
    /* Arguments of calls: a compiler's calling convention passes them in registers. */
    if (space == PTX_SPACE_PARAM && op->is_call_argument) return SM_PATH_NONE;
    if (info->memory == ISA_MEMORY_TEXTURE) return SM_PATH_TEXTURE;
    switch (space) {
    case PTX_SPACE_SHARED: return SM_PATH_SHARED;
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

/* Address in the memory system of a word of a thread's local memory. */
static uint64_t local_address(const SmCoalescer *c, const SmOperation *op, int lane,
                              uint64_t offset) {
    uint64_t thread = (uint64_t)op->warp * ISA_LANES + (uint64_t)lane;
    uint64_t place = (c->sm + (uint64_t)c->sms * op->cta_slot) * c->cta_threads + thread;
    return LOCAL_PHYSICAL_BASE + (offset / 4 * c->local_threads + place) * 4 + offset % 4;
}

/* ---- Building the list ---- */

typedef struct Builder {
    SmMemory *memory;
    uint64_t segment_mask; /* bytes of a segment - 1 */
    uint32_t atom_shift;   /* log2 of the bytes of an atom */
    bool asks_for_all;     /* every atom of a segment, touched or not */
    bool notes_bytes;      /* stores: which bytes are written */
} Builder;

static SmAccess *find_access(SmMemory *memory, uint64_t segment) {
    /* Neighbouring lanes mostly share a segment: look at the latest first. */
    for (uint32_t i = memory->count; i-- > 0;)
        if (memory->access[i].address == segment) return &memory->access[i];
    return NULL;
}

static void add_bytes(const Builder *builder, int lane, uint64_t address, uint32_t bytes) {
    SmMemory *memory = builder->memory;
    uint64_t segment = address & ~builder->segment_mask;
    SmAccess *access = find_access(memory, segment);
    if (!access) {
        assert(memory->count < SM_MAX_ACCESSES);
        access = &memory->access[memory->count++];
        *access = (SmAccess){.address = segment};
    }
    uint32_t first = (uint32_t)(address - segment) >> builder->atom_shift;
    uint32_t last = (uint32_t)(address + bytes - 1 - segment) >> builder->atom_shift;
    access->lanes |= 1u << lane;
    access->atoms |=
        (uint32_t)bits_low_mask((int)(last + 1)) & ~(uint32_t)bits_low_mask((int)first);
    if (builder->notes_bytes)
        access->written |= (SmBytes)bits_low_mask((int)bytes) << (address - segment);
}

/* Moves an access's start to its first atom, so that it names no more than is asked for. */
static void trim(const Builder *builder, SmAccess *access) {
    if (builder->asks_for_all)
        access->atoms =
            (uint32_t)bits_low_mask((int)((builder->segment_mask + 1) >> builder->atom_shift));
    int first = bits_lowest32(access->atoms), last = bits_highest32(access->atoms);
    access->address += (uint64_t)first << builder->atom_shift;
    access->atoms >>= first;
    if (builder->notes_bytes) access->written >>= (uint32_t)first << builder->atom_shift;
    access->bytes = (uint32_t)(last - first + 1) << builder->atom_shift;
}

static void sort_accesses(SmMemory *memory, bool descends) {
    for (uint32_t i = 1; i < memory->count; i++) {
        SmAccess access = memory->access[i];
        uint32_t at = i;
        while (at > 0 && (memory->access[at - 1].address < access.address) == descends) {
            memory->access[at] = memory->access[at - 1];
            at--;
        }
        memory->access[at] = access;
    }
}

static uint32_t segment_bytes(const SmCoalescer *c, const IsaInfo *info, SmPath path) {
    uint32_t bytes = c->l1d_bytes;
    if (path == SM_PATH_BYPASS && info->space != PTX_SPACE_LOCAL)
        bytes = c->lsu->bypass_segment_bytes;
    if (path == SM_PATH_CONST) return c->l1c_bytes;
    if (path == SM_PATH_TEXTURE) return c->l1t_bytes;
    if (c->lsu->narrows_small_elements && info->element_bytes * info->vector <= 2)
        bytes = info->element_bytes == 1 ? bytes / 4 : bytes / 2;
    return bytes > c->atom_bytes ? bytes : c->atom_bytes;
}

/* ---- Atomics ---- */

/* One access per segment and repetition: the n-th lanes that touch a word go into the n-th access
 * of its segment. */
static void coalesce_atomics(const SmOperation *op, const Builder *builder) {
    SmMemory *memory = builder->memory;
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
        memory->access[memory->count++] =
            (SmAccess){.address = segment, .atoms = 1, .bytes = 1u << builder->atom_shift};
        left &= ~taken;
    }
}

/* ---- Shared memory ---- */

/* Cycles that the banks need: the most different words that one bank holds, group of lanes after
 * group of lanes. Lanes that read the same word share it. */
static uint32_t bank_cycles(const SmSharedConfig *config, const SmOperation *op) {
    const IsaInfo *info = op->info;
    uint32_t words_per_lane =
        (info->element_bytes * info->vector + config->bank_bytes - 1u) / config->bank_bytes;
    /* Wide accesses go in as many passes as an element has words, with as many lanes fewer each. */
    uint32_t lanes = config->conflict_lanes / (words_per_lane ? words_per_lane : 1);
    if (lanes == 0) lanes = 1;
    uint32_t cycles = 0;
    for (uint32_t first = 0; first < ISA_LANES; first += lanes) {
        uint32_t group = op->lanes & (uint32_t)(bits_low_mask((int)lanes) << first);
        uint64_t word_of[64][ISA_LANES];
        uint8_t words_in[64] = {0};
        uint32_t worst = 0;
        for (; group; group &= group - 1) {
            int lane = bits_lowest32(group);
            for (uint32_t part = 0; part < (words_per_lane ? words_per_lane : 1); part++) {
                uint64_t word = op->address[lane] / config->bank_bytes + part;
                uint32_t bank = (uint32_t)(word % config->banks), i = 0;
                while (i < words_in[bank] && word_of[bank][i] != word)
                    i++;
                if (i < words_in[bank] || i == ISA_LANES) continue;
                word_of[bank][i] = word;
                if (++words_in[bank] > worst) worst = words_in[bank];
            }
        }
        cycles += worst;
    }
    return cycles ? cycles : 1;
}

/* Whether no bank is asked for two different words, in the common case of words as wide as the
 * banks and lanes that all go together. */
static bool is_conflict_free(const SmSharedConfig *config, const SmOperation *op) {
    const IsaInfo *info = op->info;
    const uint64_t *address = op->address;
    if (config->conflict_lanes < ISA_LANES || config->banks != 32 || config->bank_bytes != 4 ||
        info->element_bytes * info->vector > 4)
        return false;
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

static PtxSpace common_space(const SmOperation *op) {
    if (op->info->space != PTX_SPACE_NONE || !op->lanes) return (PtxSpace)op->info->space;
    return (PtxSpace)op->space[bits_lowest32(op->lanes)];
}

static void coalesce_lanes(const SmCoalescer *c, const SmOperation *op, PtxSpace space,
                           const Builder *builder) {
    const uint64_t *address_of = op->address;
    const uint8_t *space_of = op->info->space == PTX_SPACE_NONE ? op->space : NULL;
    uint32_t bytes = (uint32_t)op->info->element_bytes * op->info->vector;
    uint64_t base = space == PTX_SPACE_PARAM ? PARAM_PHYSICAL_BASE : 0;
    for (uint32_t rest = op->lanes; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        uint64_t address = address_of[lane];
        /* A generic access whose lanes fall in several spaces is timed as its first lane's. */
        if (space_of && space_of[lane] != space) continue;
        if (space != PTX_SPACE_LOCAL) {
            add_bytes(builder, lane, base + address, bytes ? bytes : 4);
            continue;
        }
        for (uint32_t at = 0; at < bytes; at += 4)
            add_bytes(builder, lane, local_address(c, op, lane, address + at),
                      bytes < 4 ? bytes : 4);
    }
}

__attribute__((noinline)) void coalesce(const SmCoalescer *c, const SmOperation *op,
                                        SmMemory *memory) {
    const IsaInfo *info = op->info;
    PtxSpace space = common_space(op);
    SmPath path = path_of(c->lsu, op, space);
    memory->count = memory->done = 0;
    memory->cycles = 1;
    memory->path = (uint8_t)path;
    memory->is_store = info->memory == ISA_MEMORY_STORE;
    memory->is_atomic = info->memory == ISA_MEMORY_ATOMIC && path == SM_PATH_BYPASS;
    memory->is_local = space == PTX_SPACE_LOCAL;
    if (path == SM_PATH_NONE) return;
    if (path == SM_PATH_SHARED) {
        memory->count = 1;
        if (!is_conflict_free(c->shared, op)) memory->cycles = (uint16_t)bank_cycles(c->shared, op);
        return;
    }
    Builder builder = {.memory = memory,
                       .segment_mask = segment_bytes(c, info, path) - 1,
                       .atom_shift = (uint32_t)bits_lowest32(c->atom_bytes)};
    builder.asks_for_all = !c->lsu->shrinks_segments;
    builder.notes_bytes = memory->is_store && builder.segment_mask < MASKED_BYTES;
    if (memory->is_atomic) {
        coalesce_atomics(op, &builder);
        return;
    }
    coalesce_lanes(c, op, space, &builder);
    for (uint32_t i = 0; i < memory->count; i++)
        trim(&builder, &memory->access[i]);
    if (memory->count > 1) sort_accesses(memory, c->lsu->descends);
}
