/* Coalescing: from the addresses of a warp's lanes to the fewest accesses that cover them.
 *
 * An access lies within one segment: the L1D's fill unit (narrower for 1- and 2-byte elements where
 * the machine says so), or the bypass segment for what goes past the L1D. It asks for the atoms
 * that lanes touch. Atomic operations on one word are accesses of their own, one after the other.
 *
 * Local memory is laid out so that the words of one offset lie next to each other for all threads.
 */
#include "sm/sm_internal.h"

enum { MASKED_BYTES = 128 }; /* bytes that SmAccess.written has a bit for */

#define LOCAL_PHYSICAL_BASE                                                                        \
    UINT64_C(0x20000000) /* where local memory lies as seen by caches and DRAM */
#define PARAM_PHYSICAL_BASE UINT64_C(0x10000000) /* and kernel parameters */

/* Where the accesses of a memory instruction go. */
static SmPath path_of(const Sm *sm, const SmInst *inst, const IsaInfo *info, PtxSpace space) {
    const SmLsuConfig *lsu = &sm->config->lsu;
    if (!inst->lanes || info->memory == ISA_MEMORY_NONE || info->memory == ISA_MEMORY_PREFETCH)
        return SM_PATH_NONE;
    /* Arguments of calls: a compiler's calling convention passes them in registers. */
    if (space == PTX_SPACE_PARAM && sm->insts[inst->pc].space == PTX_SPACE_LOCAL)
        return SM_PATH_NONE;
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
static uint64_t local_address(const Sm *sm, const SmInst *inst, int lane, uint64_t offset) {
    const SmWarp *w = &sm->warps[inst->warp];
    uint64_t threads = sm->cta_threads;
    uint64_t thread = w->isa->index * ISA_LANES + (uint64_t)lane;
    uint64_t residents = threads * sm->cta_limit * sm->env.sms;
    uint64_t place = (sm->env.index + (uint64_t)sm->env.sms * w->cta_slot) * threads + thread;
    return LOCAL_PHYSICAL_BASE + (offset / 4 * residents + place) * 4 + offset % 4;
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
    access->written >>= (uint32_t)first << builder->atom_shift;
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

static uint32_t segment_bytes(const Sm *sm, const IsaInfo *info, SmPath path) {
    const SmLsuConfig *lsu = &sm->config->lsu;
    uint32_t bytes = sm->l1d_fill_bytes;
    if (path == SM_PATH_BYPASS && info->space != PTX_SPACE_LOCAL) bytes = lsu->bypass_segment_bytes;
    if (path == SM_PATH_CONST) return sm->l1c.fill_bytes;
    if (path == SM_PATH_TEXTURE) return sm->l1t.fill_bytes;
    if (lsu->narrows_small_elements && info->element_bytes * info->vector <= 2)
        bytes = info->element_bytes == 1 ? bytes / 4 : bytes / 2;
    return bytes > sm->env.atom_bytes ? bytes : sm->env.atom_bytes;
}

/* ---- Atomics ---- */

/* One access per segment and repetition: the n-th lanes that touch a word go into the n-th access
 * of its segment. */
static void coalesce_atomics(const Sm *sm, const SmInst *inst, const Builder *builder) {
    SmMemory *memory = builder->memory;
    const uint64_t *address = sm->context.address;
    uint32_t left = inst->lanes;
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
            (SmAccess){.address = segment, .atoms = 1, .bytes = sm->env.atom_bytes};
        left &= ~taken;
    }
}

/* ---- Shared memory ---- */

/* Cycles that the banks need: the most different words that one bank holds, group of lanes after
 * group of lanes. Lanes that read the same word share it. */
static uint32_t bank_cycles(const Sm *sm, const SmInst *inst, const IsaInfo *info) {
    const SmSharedConfig *config = &sm->config->shared;
    uint32_t words_per_lane =
        (info->element_bytes * info->vector + config->bank_bytes - 1u) / config->bank_bytes;
    /* Wide accesses go in as many passes as an element has words, with as many lanes fewer each. */
    uint32_t lanes = config->conflict_lanes / (words_per_lane ? words_per_lane : 1);
    if (lanes == 0) lanes = 1;
    uint32_t cycles = 0;
    for (uint32_t first = 0; first < ISA_LANES; first += lanes) {
        uint32_t group = inst->lanes & (uint32_t)(bits_low_mask((int)lanes) << first);
        uint64_t word_of[64][ISA_LANES];
        uint8_t words_in[64] = {0};
        uint32_t worst = 0;
        for (; group; group &= group - 1) {
            int lane = bits_lowest32(group);
            for (uint32_t part = 0; part < (words_per_lane ? words_per_lane : 1); part++) {
                uint64_t word = sm->context.address[lane] / config->bank_bytes + part;
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
static bool is_conflict_free(const Sm *sm, const SmInst *inst, const IsaInfo *info) {
    const SmSharedConfig *config = &sm->config->shared;
    const uint64_t *address = sm->context.address;
    if (config->conflict_lanes < ISA_LANES || config->banks != 32 || config->bank_bytes != 4 ||
        info->element_bytes * info->vector > 4)
        return false;
    uint32_t word_of[32], used = 0;
    for (uint32_t rest = inst->lanes; rest; rest &= rest - 1) {
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

static PtxSpace space_of(const Sm *sm, const SmInst *inst, const IsaInfo *info) {
    if (info->space != PTX_SPACE_NONE || !inst->lanes) return (PtxSpace)info->space;
    return (PtxSpace)sm->context.space[bits_lowest32(inst->lanes)];
}

static void coalesce_lanes(const Sm *sm, const SmInst *inst, const IsaInfo *info, PtxSpace space,
                           const Builder *builder) {
    uint32_t bytes = (uint32_t)info->element_bytes * info->vector;
    for (uint32_t rest = inst->lanes; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        uint64_t address = sm->context.address[lane];
        /* A generic access whose lanes fall in several spaces is timed as its first lane's. */
        if (info->space == PTX_SPACE_NONE && sm->context.space[lane] != space) continue;
        if (space == PTX_SPACE_PARAM) address += PARAM_PHYSICAL_BASE;
        if (space != PTX_SPACE_LOCAL) {
            add_bytes(builder, lane, address, bytes ? bytes : 4);
            continue;
        }
        for (uint32_t at = 0; at < bytes; at += 4)
            add_bytes(builder, lane, local_address(sm, inst, lane, address + at),
                      bytes < 4 ? bytes : 4);
    }
}

void coalesce(const Sm *sm, const SmInst *inst, const IsaInfo *info, SmMemory *memory) {
    PtxSpace space = space_of(sm, inst, info);
    SmPath path = path_of(sm, inst, info, space);
    memory->count = memory->done = 0;
    memory->cycles = 1;
    memory->path = (uint8_t)path;
    memory->is_store = info->memory == ISA_MEMORY_STORE;
    memory->is_atomic = info->memory == ISA_MEMORY_ATOMIC && path == SM_PATH_BYPASS;
    memory->is_local = space == PTX_SPACE_LOCAL;
    if (path == SM_PATH_NONE) return;
    if (path == SM_PATH_SHARED) {
        memory->count = 1;
        if (!is_conflict_free(sm, inst, info))
            memory->cycles = (uint16_t)bank_cycles(sm, inst, info);
        return;
    }
    Builder builder = {.memory = memory,
                       .segment_mask = segment_bytes(sm, info, path) - 1,
                       .atom_shift = (uint32_t)bits_lowest32(sm->env.atom_bytes)};
    builder.asks_for_all = !sm->config->lsu.shrinks_segments;
    builder.notes_bytes = memory->is_store && builder.segment_mask < MASKED_BYTES;
    if (memory->is_atomic) {
        coalesce_atomics(sm, inst, &builder);
        return;
    }
    coalesce_lanes(sm, inst, info, space, &builder);
    for (uint32_t i = 0; i < memory->count; i++)
        trim(&builder, &memory->access[i]);
    if (memory->count > 1) sort_accesses(memory, sm->config->lsu.descends);
}
