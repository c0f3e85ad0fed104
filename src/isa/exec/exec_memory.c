/* Loads, stores, atomics and address conversions: the functional side of every access to memory.
 *
 * Each lane's access is checked; the check is vectorised for the case without errors. The address
 * must be aligned. The bytes must be in one live allocation (global, const), in the CTA's shared
 * memory, the thread's local memory or the kernel's parameters. A generic access is split by the
 * spaces of its lanes' addresses. The last allocation that each instruction accessed is remembered,
 * so the usual check is one comparison.
 *
 * Sources: PTX ISA, sections on ld, st, atom, red, cvta, isspacep. */
#include "isa/exec/exec_access.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "isa/check/check.h"
#include "isa/cluster.h"
#include "isa/exec/half.h"
#include "isa/exec/sass.h"
#include "isa/launch.h"
#include "memory/heap.h"

enum { WIDE_BYTES = 32 }; /* bytes of a .v8, which is executed as two instructions */

/* The memory of one space. */
typedef struct Window {
    uint8_t *bias;       /* host address of address 0 of the space (not local) */
    uint64_t start, end; /* valid addresses */
} Window;

/* ---- Addresses ---- */

/* Stores each lane's address in context->did.address; the addresses of inactive lanes are
 * undefined. */
static void lane_addresses(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                           IsaOperand base) {
    uint64_t *restrict address = context->did.address;
    uint64_t offset = (uint64_t)inst->imm;
    if (inst->flags & ISA_FRAME_RELATIVE) offset += warp->frames[warp->frame].local_base;
    if (base == ISA_SINK) {
        for (int i = 0; i < ISA_LANES; i++)
            address[i] = offset;
    } else if (inst->flags & ISA_BASE_IS_32) {
        const uint32_t *row = isa_row32(warp, base);
        for (int i = 0; i < ISA_LANES; i++)
            address[i] = (uint32_t)(row[i] + (uint32_t)offset);
    } else {
        const uint64_t *row = isa_row64(warp, base);
        for (int i = 0; i < ISA_LANES; i++)
            address[i] = row[i] + offset;
    }
}

/* Lanes of `mask` whose `bytes` bytes are not inside the window, or are misaligned. `bytes` is a
 * power of two and the required alignment. A window has less than 2^63 bytes. */
static uint32_t bad_lanes(const uint64_t *address, const Window *window, uint32_t bytes,
                          uint32_t mask) {
    if (window->end - window->start < bytes) return mask;
    const uint64_t start = window->start, limit = window->end - window->start - bytes;
    const uint64_t align = bytes - 1;
    alignas(64) uint64_t is_bad[ISA_LANES]; /* in the highest bit */
    FOR_LANES {
        const uint64_t at = address[lane] - start;
        is_bad[lane] = at | (limit - at) | (0 - (address[lane] & align));
    }
    return pack_highest(is_bad) & mask;
}

/* ---- Faults ---- */

static const char *access_name(const IsaContext *context, const IsaWarp *warp) {
    if (context->program->infos[warp->pc].flags & ISA_IS_BULK) return "access";
    switch ((IsaMemoryKind)context->program->infos[warp->pc].memory) {
    case ISA_MEMORY_STORE: return "write";
    case ISA_MEMORY_ATOMIC: return "atomic access";
    default: return "read";
    }
}

/* Returns true if the lane continues without its access (isa_bad_access). So do the functions
 * below. */
static bool fault_global(IsaContext *context, const IsaWarp *warp, int lane, PtxSpace space,
                         uint64_t address, uint32_t bytes) {
    Text where = {0};
    const struct MemHeap *heap = context->launch->heap;
    bool is_heap = mem_heap_has(heap, address);
    if (is_heap) mem_heap_describe(heap, address, &where);
    else mem_describe(context->memory, address, &where);
    const MemBlock *block = is_heap ? NULL : mem_find(context->memory, address);
    bool is_there = block ? bytes <= block->end - address : mem_heap_is_valid(heap, address, bytes);
    const char *verb = access_name(context, warp);
    const char *name = ptx_space_name(space) + 1;
    bool goes_on;
    if (address % bytes)
        goes_on = isa_bad_access(context, warp, lane, ISA_FAULT_MISALIGNED, address,
                                 "misaligned %s of %u byte%s at %s address 0x%" PRIx64 ": %s", verb,
                                 bytes, text_plural(bytes), name, address, text_string(&where));
    else if (is_there && block && block->is_read_only && block->kind != MEM_KIND_CONST)
        goes_on = isa_bad_access(
            context, warp, lane, ISA_FAULT_ADDRESS, address,
            "invalid %s of %u byte%s at %s address 0x%" PRIx64 ", which kernels may only read: %s",
            verb, bytes, text_plural(bytes), name, address, text_string(&where));
    else if (is_there)
        goes_on =
            isa_bad_access(context, warp, lane, ISA_FAULT_SPACE, address,
                           "wrong space: %s of %u byte%s at %s address 0x%" PRIx64 ", which is %s",
                           verb, bytes, text_plural(bytes), name, address, text_string(&where));
    else
        goes_on = isa_bad_access(context, warp, lane, ISA_FAULT_ADDRESS, address,
                                 "invalid %s of %u byte%s at %s address 0x%" PRIx64 ": %s", verb,
                                 bytes, text_plural(bytes), name, address, text_string(&where));
    text_free(&where);
    return goes_on;
}

static bool fault_window(IsaContext *context, const IsaWarp *warp, int lane, PtxSpace space,
                         uint64_t address, uint32_t bytes, uint64_t size) {
    const char *name = ptx_space_name(space) + 1;
    if (address % bytes)
        return isa_bad_access(context, warp, lane, ISA_FAULT_MISALIGNED, address,
                              "misaligned %s of %u byte%s at %s address 0x%" PRIx64,
                              access_name(context, warp), bytes, text_plural(bytes), name, address);
    const char *memory = space == PTX_SPACE_CLUSTER ? "shared" : name;
    return isa_bad_access(context, warp, lane, ISA_FAULT_ADDRESS, address,
                          "invalid %s of %u byte%s at %s address 0x%" PRIx64 ": there are %" PRIu64
                          " bytes of %s memory%s",
                          access_name(context, warp), bytes, text_plural(bytes), name, address,
                          size, memory,
                          space == PTX_SPACE_SHARED    ? " in this CTA"
                          : space == PTX_SPACE_CLUSTER ? " in that CTA"
                          : space == PTX_SPACE_LOCAL   ? " in this thread"
                                                       : "");
}

/* The CTA whose shared memory a lane accesses does not exist. */
static bool fault_cluster(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address,
                          uint32_t bytes) {
    Text why = {0};
    isa_cluster_say_missing(warp->cta, address >> ISA_RANK_SHIFT, &why);
    const bool goes_on = isa_bad_access(
        context, warp, lane, ISA_FAULT_ADDRESS, address,
        "invalid %s of %u byte%s at shared::cluster address 0x%" PRIx64 ": %s",
        access_name(context, warp), bytes, text_plural(bytes), address, text_string(&why));
    text_free(&why);
    return goes_on;
}

/* ---- Checks, one space at a time ----
 * They return the lanes of `mask` that may access `bytes` bytes each. The other lanes have been
 * reported, or a fault is set. */

/* The remembered allocation of the current instruction. */
static IsaHint *hint_of(IsaContext *context, const IsaWarp *warp) {
    return &context->hints[warp->pc % ISA_HINTS];
}

static bool is_allowed(const MemBlock *block, PtxSpace space, bool is_write) {
    if (is_write && block->is_read_only) return false;
    return block->kind == MEM_KIND_CONST || space != PTX_SPACE_CONST;
}

/* Checks lane by lane; remembers the last allocation seen. */
static uint32_t check_global_slowly(IsaContext *context, const IsaWarp *warp, PtxSpace space,
                                    uint32_t bytes, uint32_t mask, bool is_write) {
    uint32_t good = mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        uint64_t address = context->did.address[lane];
        const MemBlock *block = mem_find(context->memory, address);
        bool is_good = block && bytes <= block->end - address && address % bytes == 0 &&
                       is_allowed(block, space, is_write);
        if (is_good && block->kind == MEM_KIND_HEAP)
            is_good = mem_heap_is_valid(context->launch->heap, address, bytes);
        if (!is_good) {
            good &= ~(1u << lane);
            if (!fault_global(context, warp, lane, space, address, bytes)) return 0;
        } else if (block->kind != MEM_KIND_HEAP) {
            *hint_of(context, warp) = (IsaHint){warp->pc, block->start, block->end};
        }
    }
    return good;
}

static uint32_t check_global(IsaContext *context, const IsaWarp *warp, PtxSpace space,
                             uint32_t bytes, uint32_t mask, bool is_write) {
    const IsaHint *hint = hint_of(context, warp);
    if (__builtin_expect(hint->pc == warp->pc, 1)) {
        Window window = {NULL, hint->start, hint->end};
        if (!bad_lanes(context->did.address, &window, bytes, mask)) return mask;
    }
    return check_global_slowly(context, warp, space, bytes, mask, is_write);
}

/* `first`: the first address of the space. */
static uint32_t check_window_at(IsaContext *context, const IsaWarp *warp, PtxSpace space,
                                uint64_t first, uint64_t size, uint32_t bytes, uint32_t mask) {
    Window window = {NULL, first, first + size};
    uint32_t bad = bad_lanes(context->did.address, &window, bytes, mask);
    if (__builtin_expect(!bad, 1)) return mask;
    for (uint32_t rest = bad; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        if (!fault_window(context, warp, lane, space, context->did.address[lane], bytes, size))
            return 0;
    }
    return mask & ~bad;
}

static uint32_t check_window(IsaContext *context, const IsaWarp *warp, PtxSpace space,
                             uint64_t size, uint32_t bytes, uint32_t mask) {
    return check_window_at(context, warp, space, 0, size, bytes, mask);
}

/* Removes the rank from shared addresses of the warp's own CTA. */
static void drop_own_tag(IsaContext *context, const IsaWarp *warp) {
    FOR_LANES context->did.address[lane] = isa_cluster_own(warp->cta, context->did.address[lane]);
}

/* The shared memory of another CTA. The addresses of all lanes have the same rank. */
static uint8_t *open_cluster(IsaContext *context, const IsaWarp *warp, uint32_t bytes,
                             uint32_t *mask) {
    const int lane = bits_lowest32(*mask);
    const uint64_t rank = context->did.address[lane] >> ISA_RANK_SHIFT;
    const uint64_t first = rank << ISA_RANK_SHIFT;
    const IsaCta *cta = isa_cluster_cta(warp->cta, rank);
    if (!cta) {
        fault_cluster(context, warp, lane, context->did.address[lane], bytes);
        *mask = 0;
        return NULL;
    }
    *mask = check_window_at(context, warp, PTX_SPACE_CLUSTER, first, context->launch->shared_extent,
                            bytes, *mask);
    return (uint8_t *)((uintptr_t)cta->shared - first);
}

static uint64_t local_size(const IsaWarp *warp) { return warp->frames[warp->frame].local_end; }

/* Checks the addresses, removes lanes that may not access from *mask, and returns the host address
 * of address 0 of the space. Not for local memory. */
static uint8_t *open_space(IsaContext *context, const IsaWarp *warp, PtxSpace space, uint32_t bytes,
                           uint32_t *mask, bool is_write) {
    switch (space) {
    case PTX_SPACE_SHARED:
        if (warp->cta->tag) drop_own_tag(context, warp);
        *mask = check_window(context, warp, space, context->launch->shared_extent, bytes, *mask);
        return warp->cta->shared;
    case PTX_SPACE_CLUSTER: return open_cluster(context, warp, bytes, mask);
    case PTX_SPACE_PARAM: {
        int lane = bits_lowest32(*mask);
        if (is_write) {
            isa_bad_access(context, warp, lane, ISA_FAULT_SPACE, context->did.address[lane],
                           "wrong space: kernel parameters cannot be written");
            *mask = 0;
        } else {
            *mask =
                check_window(context, warp, space, context->launch->parameter_bytes, bytes, *mask);
        }
        return (uint8_t *)(uintptr_t)context->launch->parameters;
    }
    default:
        *mask = check_global(context, warp, space, bytes, *mask, is_write);
        return (uint8_t *)mem_host_bias(context->memory);
    }
}

/* Whether the launch has checks that observe accesses. */
static inline bool is_checked(const IsaContext *context) {
    return __builtin_expect(context->launch->check != NULL, 0);
}

/* Sets the results of lanes whose load was dropped to zero. */
static void load_zero(const IsaWarp *warp, const IsaInst *inst, int count, uint32_t lanes) {
    for (int e = 0; e < count; e++) {
        if (inst->operand[e] == ISA_SINK) continue;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            int lane = bits_lowest32(rest);
            if (inst->flags & ISA_DST_IS_64) isa_row64(warp, inst->operand[e])[lane] = 0;
            else isa_row32(warp, inst->operand[e])[lane] = 0;
        }
    }
}

/* ---- Moving bytes ---- */

/* For each lane of mask: to[lane] = convert(bytes at bias + address + offset). */
#define DEFINE_LOAD(name, Memory, Register)                                                        \
    static void name(const uint8_t *bias, const uint64_t *address, uint64_t offset, void *row,     \
                     uint32_t mask) {                                                              \
        Register *to = row;                                                                        \
        bias += offset;                                                                            \
        if (mask == UINT32_MAX) {                                                                  \
            for (int i = 0; i < ISA_LANES; i++) {                                                  \
                Memory value;                                                                      \
                memcpy(&value, isa_byte(bias, address[i]), sizeof value);                          \
                to[i] = (Register)value;                                                           \
            }                                                                                      \
            return;                                                                                \
        }                                                                                          \
        for (; mask; mask &= mask - 1) {                                                           \
            int i = bits_lowest32(mask);                                                           \
            Memory value;                                                                          \
            memcpy(&value, isa_byte(bias, address[i]), sizeof value);                              \
            to[i] = (Register)value;                                                               \
        }                                                                                          \
    }

DEFINE_LOAD(load_u8_32, uint8_t, uint32_t)
DEFINE_LOAD(load_s8_32, int8_t, int32_t)
DEFINE_LOAD(load_u16_32, uint16_t, uint32_t)
DEFINE_LOAD(load_s16_32, int16_t, int32_t)
DEFINE_LOAD(load_u32_32, uint32_t, uint32_t)
DEFINE_LOAD(load_u8_64, uint8_t, uint64_t)
DEFINE_LOAD(load_s8_64, int8_t, int64_t)
DEFINE_LOAD(load_u16_64, uint16_t, uint64_t)
DEFINE_LOAD(load_s16_64, int16_t, int64_t)
DEFINE_LOAD(load_u32_64, uint32_t, uint64_t)
DEFINE_LOAD(load_s32_64, int32_t, int64_t)
DEFINE_LOAD(load_u64_64, uint64_t, uint64_t)

#define DEFINE_STORE(name, Memory, Register)                                                       \
    static void name(uint8_t *bias, const uint64_t *address, uint64_t offset, const void *row,     \
                     uint32_t mask) {                                                              \
        const Register *from = row;                                                                \
        bias += offset;                                                                            \
        for (; mask; mask &= mask - 1) { /* rising lanes: if several write, the last one wins */   \
            int i = bits_lowest32(mask);                                                           \
            Memory value = (Memory)from[i];                                                        \
            memcpy(isa_byte(bias, address[i]), &value, sizeof value);                              \
        }                                                                                          \
    }

DEFINE_STORE(store_8, uint8_t, uint32_t)
DEFINE_STORE(store_16, uint16_t, uint32_t)
DEFINE_STORE(store_32, uint32_t, uint32_t)
DEFINE_STORE(store_8_64, uint8_t, uint64_t)
DEFINE_STORE(store_16_64, uint16_t, uint64_t)
DEFINE_STORE(store_32_64, uint32_t, uint64_t)
DEFINE_STORE(store_64, uint64_t, uint64_t)

typedef void LoadFunction(const uint8_t *, const uint64_t *, uint64_t, void *, uint32_t);
typedef void StoreFunction(uint8_t *, const uint64_t *, uint64_t, const void *, uint32_t);

/* Indexed by log2 of the element's bytes, 64-bit destination, sign extension. */
static LoadFunction *const load_functions[4][2][2] = {
    {{load_u8_32, load_s8_32}, {load_u8_64, load_s8_64}},
    {{load_u16_32, load_s16_32}, {load_u16_64, load_s16_64}},
    {{load_u32_32, load_u32_32}, {load_u32_64, load_s32_64}},
    {{NULL, NULL}, {load_u64_64, load_u64_64}}};
static StoreFunction *const store_functions[4][2] = {
    {store_8, store_8_64}, {store_16, store_16_64}, {store_32, store_32_64}, {NULL, store_64}};

static LoadFunction *load_function(const IsaInst *inst) {
    return load_functions[bits_lowest32(inst->size)][(inst->flags & ISA_DST_IS_64) != 0]
                         [(inst->flags & ISA_SIGNED) != 0];
}

static StoreFunction *store_function(const IsaInst *inst) {
    return store_functions[bits_lowest32(inst->size)][(inst->flags & ISA_DST_IS_64) != 0];
}

/* 16-bit registers are kept zero-extended in their row. */
static void trim_to_16(uint32_t *row, uint32_t mask) {
    for (int i = 0; i < ISA_LANES; i++)
        if (mask >> i & 1) row[i] &= 0xffff;
}

/* Whether the lanes' words are consecutive, from lane 0 on. */
static bool is_consecutive(const uint64_t *address, uint32_t size) {
    uint64_t first = address[0], differs = 0;
    for (int i = 0; i < ISA_LANES; i++)
        differs |= address[i] ^ (first + (uint64_t)i * size);
    return !differs;
}

static void load_from(const IsaWarp *warp, const IsaInst *inst, const uint8_t *bias,
                      const uint64_t *address, uint32_t mask) {
    if (inst->vector == 1 && inst->size == 4 && mask == UINT32_MAX &&
        !(inst->flags & ISA_DST_IS_64) && is_consecutive(address, 4)) {
        if (inst->operand[0] != ISA_SINK)
            memcpy(isa_row32(warp, inst->operand[0]), isa_byte(bias, address[0]), ISA_ROW_BYTES);
        return;
    }
    LoadFunction *load = load_function(inst);
    for (int e = 0; e < inst->vector; e++)
        if (inst->operand[e] != ISA_SINK)
            load(bias, address, (uint64_t)e * inst->size, isa_row32(warp, inst->operand[e]), mask);
}

static void store_to(const IsaWarp *warp, const IsaInst *inst, uint8_t *bias,
                     const uint64_t *address, uint32_t mask) {
    if (inst->vector == 1 && inst->size == 4 && mask == UINT32_MAX &&
        !(inst->flags & ISA_DST_IS_64) && is_consecutive(address, 4)) {
        memcpy(isa_byte(bias, address[0]), isa_row32(warp, inst->operand[0]), ISA_ROW_BYTES);
        return;
    }
    StoreFunction *store = store_function(inst);
    for (int e = 0; e < inst->vector; e++)
        store(bias, address, (uint64_t)e * inst->size, isa_row32(warp, inst->operand[e]), mask);
}

/* ---- Local memory: words interleaved over lanes ---- */

/* Host offset of each lane's word, plus the offset of the address inside the word. */
static void local_offsets(const uint64_t *address, uint64_t add, uint64_t *restrict offset) {
    for (int i = 0; i < ISA_LANES; i++) {
        uint64_t a = address[i] + add;
        offset[i] = (a / 4 * ISA_LANES + (uint64_t)i) * 4 + a % 4;
    }
}

/* Elements of 8 bytes are two words, one row apart; smaller elements are inside a word. */
static void local_load(const IsaWarp *warp, const IsaInst *inst, const uint64_t *address,
                       uint32_t mask) {
    const uint8_t *bias = (const uint8_t *)warp->local;
    uint64_t offset[ISA_LANES];
    for (int e = 0; e < inst->vector; e++) {
        if (inst->operand[e] == ISA_SINK) continue;
        local_offsets(address, (uint64_t)e * inst->size, offset);
        if (inst->size < 8) {
            load_function(inst)(bias, offset, 0, isa_row32(warp, inst->operand[e]), mask);
            continue;
        }
        uint64_t *to = isa_row64(warp, inst->operand[e]);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int i = bits_lowest32(rest);
            uint32_t low, high;
            memcpy(&low, bias + offset[i], 4);
            memcpy(&high, bias + offset[i] + ISA_ROW_BYTES, 4);
            to[i] = (uint64_t)high << 32 | low;
        }
    }
}

static void local_store(const IsaWarp *warp, const IsaInst *inst, const uint64_t *address,
                        uint32_t mask) {
    uint8_t *bias = (uint8_t *)warp->local;
    uint64_t offset[ISA_LANES];
    for (int e = 0; e < inst->vector; e++) {
        local_offsets(address, (uint64_t)e * inst->size, offset);
        if (inst->size < 8) {
            store_function(inst)(bias, offset, 0, isa_row32(warp, inst->operand[e]), mask);
            continue;
        }
        const uint64_t *from = isa_row64(warp, inst->operand[e]);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int i = bits_lowest32(rest);
            uint32_t low = (uint32_t)from[i], high = (uint32_t)(from[i] >> 32);
            memcpy(bias + offset[i], &low, 4);
            memcpy(bias + offset[i] + ISA_ROW_BYTES, &high, 4);
        }
    }
}

/* ---- Generic addresses ---- */

static PtxSpace space_of(uint64_t address) {
    if (address >= MEM_WINDOWS_END || address < MEM_WINDOWS_START) return PTX_SPACE_GLOBAL;
    if (address >= MEM_SHARED_WINDOW) return PTX_SPACE_SHARED;
    if (address < MEM_LOCAL_END) return PTX_SPACE_LOCAL;
    if (address < MEM_PARAM_END) return PTX_SPACE_PARAM;
    return PTX_SPACE_GLOBAL;
}

static uint64_t window_of(PtxSpace space) {
    switch (space) {
    case PTX_SPACE_SHARED: return MEM_SHARED_WINDOW;
    case PTX_SPACE_LOCAL: return MEM_LOCAL_WINDOW;
    case PTX_SPACE_PARAM: return MEM_PARAM_WINDOW;
    default: return 0; /* global and const addresses are generic addresses */
    }
}

/* resolve_generic replaces generic addresses by addresses of the space they belong to, and stores
 * that space in context->did.space. The masks hold the lanes of each space. */
typedef struct SpaceMasks {
    uint32_t global, shared, local, param;
    uint32_t cluster; /* shared memory of other CTAs */
} SpaceMasks;

/* The space of a shared address. An address of the warp's own CTA becomes an offset in its shared
 * memory; others belong to the cluster. */
static PtxSpace own_or_cluster(const IsaWarp *warp, uint64_t *address) {
    const uint64_t tag = warp->cta->tag;
    if (*address >> ISA_RANK_SHIFT != tag >> ISA_RANK_SHIFT) return PTX_SPACE_CLUSTER;
    *address -= tag;
    return PTX_SPACE_SHARED;
}

static SpaceMasks resolve_generic(IsaContext *context, const IsaWarp *warp, uint32_t mask) {
    SpaceMasks masks = {0};
    for (; mask; mask &= mask - 1) {
        int lane = bits_lowest32(mask);
        PtxSpace space = space_of(context->did.address[lane]);
        context->did.address[lane] -= window_of(space);
        if (space == PTX_SPACE_SHARED) space = own_or_cluster(warp, &context->did.address[lane]);
        context->did.space[lane] = (uint8_t)space;
        uint32_t bit = 1u << lane;
        switch (space) {
        case PTX_SPACE_SHARED: masks.shared |= bit; break;
        case PTX_SPACE_CLUSTER: masks.cluster |= bit; break;
        case PTX_SPACE_LOCAL: masks.local |= bit; break;
        case PTX_SPACE_PARAM: masks.param |= bit; break;
        default: masks.global |= bit; break;
        }
    }
    return masks;
}

/* ---- Access for other files ---- */

/* An mbarrier operation other than initialisation is atomic, and so are the arrivals of copies on
 * it, and the reductions of bulk copies. */
static IsaAccess opened_for(const IsaContext *context, const IsaWarp *warp, bool is_write) {
    enum { BULK_REDUCTION = ISA_IS_BULK | ISA_IS_REDUCTION };
    const IsaInfo *info = &context->program->infos[warp->pc];
    const bool is_reduction = (info->flags & BULK_REDUCTION) == BULK_REDUCTION;
    if (is_write) return is_reduction ? ISA_ACCESS_ATOMIC : ISA_ACCESS_WRITE;
    bool is_barrier = info->memory == ISA_MEMORY_ATOMIC;
    return is_barrier ? ISA_ACCESS_ATOMIC : ISA_ACCESS_READ;
}

/* Lanes of `mask` whose shared addresses have the same rank as the first lane's. */
static uint32_t lanes_of_rank(const IsaContext *context, uint32_t mask) {
    const uint64_t rank = context->did.address[bits_lowest32(mask)] >> ISA_RANK_SHIFT;
    uint32_t lanes = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        if (context->did.address[lane] >> ISA_RANK_SHIFT == rank) lanes |= lane_bit[lane];
    }
    return lanes;
}

/* Resolves shared addresses with ranks. */
static SpaceMasks resolve_ranks(IsaContext *context, const IsaWarp *warp, uint32_t mask) {
    SpaceMasks masks = {0};
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const PtxSpace space = own_or_cluster(warp, &context->did.address[lane]);
        context->did.space[lane] = (uint8_t)space;
        if (space == PTX_SPACE_SHARED) masks.shared |= lane_bit[lane];
        else masks.cluster |= lane_bit[lane];
    }
    return masks;
}

/* Sets host[] for the lanes of `mask`. Returns false after a fault. */
static bool open_part(IsaContext *context, IsaWarp *warp, PtxSpace space, uint32_t bytes,
                      uint32_t mask, bool is_write, uint8_t **host) {
    uint32_t good = mask;
    uint8_t *bias = open_space(context, warp, space, bytes, &good, is_write);
    if (context->fault.is_set) return false;
    if (is_checked(context))
        isa_check_access(context, warp, NULL, space, bytes, good,
                         opened_for(context, warp, is_write));
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        host[lane] =
            good >> lane & 1 ? isa_byte(bias, context->did.address[lane]) : context->dropped;
    }
    return true;
}

bool ISA_ACCESS(open_lanes)(IsaContext *context, IsaWarp *warp, PtxSpace space, uint32_t bytes,
                            uint32_t mask, bool is_write, uint8_t **host) {
    SpaceMasks masks = {0};
    if (is_checked(context)) memset(context->dropped, 0, sizeof context->dropped);
    if (space == PTX_SPACE_NONE) masks = resolve_generic(context, warp, mask);
    else if (space == PTX_SPACE_CLUSTER) masks = resolve_ranks(context, warp, mask);
    else if (space == PTX_SPACE_SHARED) masks.shared = mask;
    else masks.global = mask;
    if (masks.local | masks.param) {
        isa_fault(context, warp, bits_lowest32(masks.local | masks.param), ISA_FAULT_SPACE,
                  "wrong space: %s takes global or shared addresses only",
                  context->program->code
                      ? "the instruction"
                      : ptx_opcode_name((PtxOpcode)context->program->infos[warp->pc].op));
        return false;
    }
    if (masks.global &&
        !open_part(context, warp, PTX_SPACE_GLOBAL, bytes, masks.global, is_write, host))
        return false;
    if (masks.shared &&
        !open_part(context, warp, PTX_SPACE_SHARED, bytes, masks.shared, is_write, host))
        return false;
    while (masks.cluster) {
        const uint32_t together = lanes_of_rank(context, masks.cluster);
        masks.cluster &= ~together;
        if (!open_part(context, warp, PTX_SPACE_CLUSTER, bytes, together, is_write, host))
            return false;
    }
    return true;
}

void ISA_ACCESS(lane_addresses)(IsaContext *context, const IsaWarp *warp, const IsaInst *inst,
                                IsaOperand base) {
    lane_addresses(context, warp, inst, base);
}

/* ---- ld and st ---- */

static void load_space(IsaContext *context, IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                       uint32_t mask) {
    uint32_t bytes = (uint32_t)inst->size * inst->vector, good = mask;
    const uint8_t *bias = NULL;
    if (space == PTX_SPACE_LOCAL)
        good = check_window(context, warp, space, local_size(warp), bytes, mask);
    else bias = open_space(context, warp, space, bytes, &good, false);
    if (context->fault.is_set) return;
    if (is_checked(context)) {
        load_zero(warp, inst, inst->vector, mask & ~good);
        isa_check_access(context, warp, inst, space, bytes, good, ISA_ACCESS_READ);
        if (!good) return;
    }
    if (space == PTX_SPACE_LOCAL) local_load(warp, inst, context->did.address, good);
    else load_from(warp, inst, bias, context->did.address, good);
    if (inst->size < 4 &&
        (inst->flags & (ISA_SIGNED | ISA_DST_IS_16)) == (ISA_SIGNED | ISA_DST_IS_16))
        for (int e = 0; e < inst->vector; e++)
            if (inst->operand[e] != ISA_SINK) trim_to_16(isa_row32(warp, inst->operand[e]), mask);
}

static void store_space(IsaContext *context, IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                        uint32_t mask) {
    uint32_t bytes = (uint32_t)inst->size * inst->vector;
    uint8_t *bias = NULL;
    if (space == PTX_SPACE_LOCAL)
        mask = check_window(context, warp, space, local_size(warp), bytes, mask);
    else bias = open_space(context, warp, space, bytes, &mask, true);
    if (context->fault.is_set) return;
    if (is_checked(context)) {
        isa_check_access(context, warp, inst, space, bytes, mask, ISA_ACCESS_WRITE);
        if (!mask) return;
    }
    if (space == PTX_SPACE_LOCAL) local_store(warp, inst, context->did.address, mask);
    else store_to(warp, inst, bias, context->did.address, mask);
}

/* Lanes whose address is aligned to a whole vector. The others have been reported, or a fault is
 * set. */
static uint32_t aligned_lanes(IsaContext *context, const IsaWarp *warp, uint32_t bytes,
                              uint32_t mask) {
    uint32_t good = mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        const uint64_t address = context->did.address[lane];
        if (address % bytes == 0) continue;
        good &= ~(1u << lane);
        if (!isa_bad_access(context, warp, lane, ISA_FAULT_MISALIGNED, address,
                            "misaligned %s of %u byte%s at address 0x%" PRIx64,
                            access_name(context, warp), bytes, text_plural(bytes), address))
            return 0;
    }
    return good;
}

typedef void SpaceAccess(IsaContext *, IsaWarp *, const IsaInst *, PtxSpace, uint32_t);

/* In a timed run, an access to another CTA's shared memory names that CTA's SM in the address. */
static void name_sms(IsaContext *context, const IsaWarp *warp, uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        uint64_t *address = &context->did.address[bits_lowest32(mask)];
        const IsaCta *cta = isa_cluster_cta(warp->cta, *address >> ISA_RANK_SHIFT);
        const uint64_t sm = cta ? cta->sm : 0;
        *address = (*address & ISA_RANK_OFFSETS) | sm << ISA_RANK_SHIFT;
    }
}

/* Runs `access` once for each CTA whose shared memory the lanes access. */
static void access_cluster(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                           SpaceAccess *access) {
    for (uint32_t rest = mask; rest && !context->fault.is_set;) {
        const uint32_t together = lanes_of_rank(context, rest);
        rest &= ~together;
        access(context, warp, inst, PTX_SPACE_CLUSTER, together);
    }
    name_sms(context, warp, mask);
}

/* Runs `access` once for each space that the lanes' generic addresses belong to. */
static void access_generic(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                           SpaceAccess *access) {
    SpaceMasks masks = resolve_generic(context, warp, mask);
    if (masks.cluster) access_cluster(context, warp, inst, masks.cluster, access);
    if (masks.global && !context->fault.is_set)
        access(context, warp, inst, PTX_SPACE_GLOBAL, masks.global);
    if (masks.shared && !context->fault.is_set)
        access(context, warp, inst, PTX_SPACE_SHARED, masks.shared);
    if (masks.local && !context->fault.is_set)
        access(context, warp, inst, PTX_SPACE_LOCAL, masks.local);
    if (masks.param && !context->fault.is_set)
        access(context, warp, inst, PTX_SPACE_PARAM, masks.param);
}

EXEC(LD) {
    lane_addresses(context, warp, inst, inst->operand[inst->vector]);
    if (inst->sub) mask = aligned_lanes(context, warp, WIDE_BYTES, mask);
    if (mask) load_space(context, warp, inst, (PtxSpace)inst->space, mask);
}

EXEC(LD_GENERIC) {
    lane_addresses(context, warp, inst, inst->operand[inst->vector]);
    if (inst->sub) mask = aligned_lanes(context, warp, WIDE_BYTES, mask);
    if (mask) access_generic(context, warp, inst, mask, load_space);
}

EXEC(ST) {
    lane_addresses(context, warp, inst, inst->operand[inst->vector]);
    if (inst->sub) mask = aligned_lanes(context, warp, WIDE_BYTES, mask);
    if (mask) store_space(context, warp, inst, (PtxSpace)inst->space, mask);
}

EXEC(ST_GENERIC) {
    lane_addresses(context, warp, inst, inst->operand[inst->vector]);
    if (inst->sub) mask = aligned_lanes(context, warp, WIDE_BYTES, mask);
    if (mask) access_generic(context, warp, inst, mask, store_space);
}

/* A prefetch does not access its address, so a bad address is not a fault. */
EXEC(PREFETCH) {
    lane_addresses(context, warp, inst, inst->operand[0]);
    if (inst->space == PTX_SPACE_NONE) resolve_generic(context, warp, mask);
}

EXEC(POLICY_FRACTION) {
    const uint32_t *row = isa_row32(warp, inst->operand[1]);
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        float fraction;
        memcpy(&fraction, &row[lane], sizeof fraction);
        isa_row64(warp, inst->operand[0])[lane] =
            policy_of_fraction((PtxEvict)(inst->sub & 15), (PtxEvict)(inst->sub >> 4), fraction);
    }
}

EXEC(POLICY_RANGE) {
    lane_addresses(context, warp, inst, inst->operand[1]);
    const uint32_t *primary = isa_row32(warp, inst->operand[2]);
    const uint32_t *total = isa_row32(warp, inst->operand[3]);
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        isa_row64(warp, inst->operand[0])[lane] =
            policy_of_range((PtxEvict)(inst->sub & 15), (PtxEvict)(inst->sub >> 4),
                            context->did.address[lane], primary[lane], total[lane]);
    }
}

/* ---- atom and red ---- */

static float ftz(float value) {
    return __builtin_fabsf(value) < 0x1p-126f ? __builtin_copysignf(0, value) : value;
}

static uint32_t add_f32(uint32_t a, uint32_t b, bool is_flushed) {
    float x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    float sum = is_flushed ? ftz(ftz(x) + ftz(y)) : x + y;
    uint32_t bits;
    memcpy(&bits, &sum, 4);
    return sum != sum ? 0x7fffffff : bits;
}

static uint64_t add_f64(uint64_t a, uint64_t b) {
    double x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    double sum = x + y;
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    return sum != sum ? UINT64_C(0xfff8000000000000) : bits;
}

static uint32_t add_half(uint32_t a, uint32_t b, bool is_bfloat) {
    return is_bfloat ? isa_bfloat_add((uint16_t)a, (uint16_t)b)
                     : isa_half_add((uint16_t)a, (uint16_t)b);
}

/* min and max as for registers: a number is preferred to a NaN, -0 is below +0. */
static uint32_t minmax_half(uint32_t a, uint32_t b, bool is_bfloat, bool is_max) {
    const double x = is_bfloat ? f64_of_bf16(a) : f64_of_f16(a);
    const double y = is_bfloat ? f64_of_bf16(b) : f64_of_f16(b);
    if (x != x && y != y) return 0x7fff;
    if (x != x || y != y) return x != x ? b : a;
    const bool is_less = x < y || (x == y && a >> 15 > b >> 15);
    return is_less != is_max ? a : b;
}

static uint32_t combine_half(PtxSub operation, uint32_t a, uint32_t b, bool is_bfloat) {
    if (operation == PTX_SUB_ADD) return add_half(a, b, is_bfloat);
    return minmax_half(a, b, is_bfloat, operation == PTX_SUB_MAX);
}

static uint64_t atomic_float(const IsaInst *inst, uint64_t old, uint64_t b, PtxSpace space) {
    const bool is_bfloat = (inst->flags & ISA_BFLOAT) != 0;
    const PtxSub operation = (PtxSub)inst->sub;
    if (inst->size == 8) return add_f64(old, b);
    if (inst->size == 2) return combine_half(operation, (uint32_t)old, (uint32_t)b, is_bfloat);
    if (inst->flags & ISA_HALF_PAIR)
        return combine_half(operation, (uint32_t)old & 0xffff, (uint32_t)b & 0xffff, is_bfloat) |
               combine_half(operation, (uint32_t)old >> 16, (uint32_t)b >> 16, is_bfloat) << 16;
    /* PTX ISA, atom: .add.f32 flushes subnormals in global memory, not in shared memory. */
    return add_f32((uint32_t)old, (uint32_t)b, space != PTX_SPACE_SHARED);
}

static uint64_t atomic_minmax(uint64_t old, uint64_t b, uint32_t size, bool is_signed,
                              bool is_max) {
    bool is_less;
    if (!is_signed) is_less = b < old;
    else if (size == 4) is_less = (int32_t)b < (int32_t)old;
    else is_less = (int64_t)b < (int64_t)old;
    return is_less != is_max ? b : old;
}

static uint64_t atomic_result(const IsaInst *inst, uint64_t old, uint64_t b, uint64_t c,
                              PtxSpace space) {
    bool is_signed = (inst->flags & ISA_SIGNED) != 0;
    if (inst->flags & ISA_FLOAT) return atomic_float(inst, old, b, space);
    switch ((PtxSub)inst->sub) {
    case PTX_SUB_ADD: return old + b;
    case PTX_SUB_INC: return old >= b ? 0 : old + 1;
    case PTX_SUB_DEC: return old == 0 || old > b ? b : old - 1;
    case PTX_SUB_MIN: return atomic_minmax(old, b, inst->size, is_signed, false);
    case PTX_SUB_MAX: return old == b ? old : atomic_minmax(old, b, inst->size, is_signed, true);
    case PTX_SUB_AND: return old & b;
    case PTX_SUB_OR: return old | b;
    case PTX_SUB_XOR: return old ^ b;
    case PTX_SUB_EXCH: return b;
    case PTX_SUB_CAS: return old == b ? c : old;
    default: return old;
    }
}

uint64_t ISA_ACCESS(combine)(const IsaInst *inst, PtxSub operation, uint64_t old, uint64_t b) {
    IsaInst atomic = *inst;
    atomic.sub = (uint8_t)operation;
    return atomic_result(&atomic, old, b, 0, PTX_SPACE_GLOBAL);
}

static uint64_t row_value(const IsaWarp *warp, IsaOperand operand, uint32_t size, int lane) {
    if (size == 8) return isa_row64(warp, operand)[lane];
    uint32_t value = isa_row32(warp, operand)[lane];
    return size == 2 ? value & 0xffff : value;
}

/* exch and cas of 128 bits. */
static void atomic_wide(const IsaWarp *warp, const IsaInst *inst, uint8_t *bytes, int lane) {
    uint64_t old[2], value[2];
    memcpy(old, bytes, sizeof old);
    value[0] = isa_row64(warp, inst->operand[2])[lane];
    value[1] = isa_row64(warp, inst->operand[5])[lane];
    if (inst->sub == PTX_SUB_CAS) {
        const bool is_same = old[0] == value[0] && old[1] == value[1];
        value[0] = is_same ? isa_row64(warp, inst->operand[3])[lane] : old[0];
        value[1] = is_same ? isa_row64(warp, inst->operand[6])[lane] : old[1];
    }
    memcpy(bytes, value, sizeof value);
    if (inst->operand[0] != ISA_SINK) isa_row64(warp, inst->operand[0])[lane] = old[0];
    if (inst->operand[4] != ISA_SINK) isa_row64(warp, inst->operand[4])[lane] = old[1];
}

/* The result of a lane whose access was dropped is zero. */
static void clear_result(const IsaWarp *warp, const IsaInst *inst, uint32_t lanes) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        if (inst->size == 16 && inst->operand[4] != ISA_SINK)
            isa_row64(warp, inst->operand[4])[lane] = 0;
        if (inst->operand[0] == ISA_SINK) continue;
        if (inst->size >= 8) isa_row64(warp, inst->operand[0])[lane] = 0;
        else isa_row32(warp, inst->operand[0])[lane] = 0;
    }
}

/* Lane after lane, in rising order. Lanes that access the same word take effect in this order. */
static void atomic_space(IsaContext *context, IsaWarp *warp, const IsaInst *inst, PtxSpace space,
                         uint32_t mask) {
    uint32_t good = space == PTX_SPACE_LOCAL ? 0 : mask;
    uint8_t *bias = NULL;
    if (good) bias = open_space(context, warp, space, inst->size, &good, true);
    else
        isa_bad_access(context, warp, bits_lowest32(mask), ISA_FAULT_SPACE,
                       context->did.address[bits_lowest32(mask)],
                       "wrong space: atomic operation on local memory");
    if (context->fault.is_set) return;
    if (is_checked(context)) {
        clear_result(warp, inst, mask & ~good);
        isa_check_access(context, warp, inst, space, inst->size, good, ISA_ACCESS_ATOMIC);
    }
    uint64_t difference = 0; /* bits that differ between old and new value */
    for (uint32_t rest = good; rest; rest &= rest - 1) {
        int lane = bits_lowest32(rest);
        uint8_t *bytes = isa_byte(bias, context->did.address[lane]);
        if (inst->size == 16) {
            atomic_wide(warp, inst, bytes, lane);
            difference = 1;
            continue;
        }
        uint64_t old = 0;
        memcpy(&old, bytes, inst->size);
        uint64_t b = row_value(warp, inst->operand[2], inst->size, lane);
        uint64_t c =
            inst->sub == PTX_SUB_CAS ? row_value(warp, inst->operand[3], inst->size, lane) : 0;
        uint64_t result = atomic_result(inst, old, b, c, space);
        memcpy(bytes, &result, inst->size);
        difference |= inst->size == 8 ? old ^ result : (uint32_t)(old ^ result);
        if (inst->operand[0] == ISA_SINK) continue;
        if (inst->size == 8) isa_row64(warp, inst->operand[0])[lane] = old;
        else isa_row32(warp, inst->operand[0])[lane] = (uint32_t)old;
    }
    context->changes += difference != 0;
}

EXEC(ATOM) {
    /* atomic_space counts real changes; this is not counted as a store */
    if (inst->vector != ISA_NEXT_ELEMENT) context->changes--;
    lane_addresses(context, warp, inst, inst->operand[1]);
    if (inst->vector > 1) {
        mask = aligned_lanes(context, warp, (uint32_t)inst->size * inst->vector, mask);
        if (!mask) return;
    }
    if (inst->space == PTX_SPACE_NONE) access_generic(context, warp, inst, mask, atomic_space);
    else atomic_space(context, warp, inst, (PtxSpace)inst->space, mask);
}

/* ---- Address conversions: cvta, isspacep ---- */

/* operand[0] destination, operand[1] source; imm is added to it (the generic address of the space's
 * address 0, or its negative for cvta.to). */
EXEC(CVTA_32) {
    const RowWord *from = operand_row(warp, inst, 1);
    alignas(64) uint32_t result[ISA_LANES];
    FOR_LANES result[lane] = from[lane] + (uint32_t)inst->imm;
    write_row32(warp, inst, 0, result, mask);
}

EXEC(CVTA_64) {
    const RowLong *from = operand_row(warp, inst, 1);
    alignas(64) uint64_t result[ISA_LANES];
    FOR_LANES result[lane] = from[lane] + (uint64_t)inst->imm;
    write_row64(warp, inst, 0, result, mask);
}

/* operand[0] predicate, operand[1] generic address; sub is the PtxSpace to test for. */
EXEC(ISSPACEP) {
    uint32_t result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int i = bits_lowest32(rest);
        uint64_t address = inst->flags & ISA_BASE_IS_32 ? isa_row32(warp, inst->operand[1])[i]
                                                        : isa_row64(warp, inst->operand[1])[i];
        bool is_inside = space_of(address) == PTX_SPACE_GLOBAL && address >= MEM_GLOBAL_BASE;
        const MemBlock *block = is_inside ? mem_find(context->memory, address) : NULL;
        bool is_const = block && block->kind == MEM_KIND_CONST;
        PtxSpace space = is_const ? PTX_SPACE_CONST : space_of(address);
        uint64_t offset = address - MEM_SHARED_WINDOW;
        if (space == PTX_SPACE_SHARED) space = own_or_cluster(warp, &offset);
        const bool is_in_cluster = space == PTX_SPACE_SHARED || space == PTX_SPACE_CLUSTER;
        const bool is_same = space == (PtxSpace)inst->sub;
        result |= (uint32_t)(is_same || (is_in_cluster && inst->sub == PTX_SPACE_CLUSTER)) << i;
    }
    uint32_t *word = &warp->preds[inst->operand[0]];
    *word = (*word & ~mask) | result;
}
