/* Derives values from others. If a machine's values contradict each other, inherited values (from a
 * base, or from the file to which --set applies) are adapted to the given ones. A machine without
 * contradictions is not changed.
 *
 * Each rule concerns a few keys. The origin of a derived value names the key that it is derived
 * from, so that `tyto machines` shows it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "cache/set_index.h"
#include "machine/derive_internal.h"
#include "machine/machine_rows.h"

static int index_of(const char *key) {
    int count;
    return (int)(machine_find_row(key, strlen(key)) - machine_rows(&count));
}

bool derive_is_newer(const Machine *machine, const char *key, const char *other) {
    return machine->layers[index_of(key)] > machine->layers[index_of(other)];
}

void derive_text(Machine *machine, const char *key, const char *value, const char *from) {
    const int i = index_of(key);
    Text why = {0};
    if (machine_set_row(&machine->config, machine_find_row(key, strlen(key)), value, &why)) {
        machine->layers[i] = machine->layers[index_of(from)];
        machine->origins[i] = arena_printf(machine->arena, "derived: follows from %s", from);
        machine->places[i] = (MachinePlace){0};
    }
    text_free(&why);
}

void derive_number(Machine *machine, const char *key, uint64_t value, const char *unit,
                   const char *from) {
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 "%s%s", value, *unit ? " " : "", unit);
    derive_text(machine, key, text, from);
}

unsigned derive_polynomial(int degree) {
    static const unsigned polynomials[] = {
        [2] = 0x7,   [3] = 0xB,   [4] = 0x13,   [5] = 0x25,   [6] = 0x43,   [7] = 0x83,
        [8] = 0x11B, [9] = 0x211, [10] = 0x409, [11] = 0x805, [12] = 0x1053};
    const int most = (int)(sizeof polynomials / sizeof *polynomials) - 1;
    return degree < 2 || degree > most ? 0 : polynomials[degree];
}

/* ---- Sub-cores ---- */

static void derive_subcores(Machine *machine) {
    const SmConfig *sm = &machine->config.sm;
    if (sm->subcores == 1 || sm->subcores == sm->scheduler.count) return;
    if (derive_is_newer(machine, "scheduler.count", "sm.subcores"))
        derive_number(machine, "sm.subcores", sm->scheduler.count, "", "scheduler.count");
    else if (derive_is_newer(machine, "sm.subcores", "scheduler.count"))
        derive_number(machine, "scheduler.count", sm->subcores, "", "sm.subcores");
}

/* ---- The data store that the L1D and shared memory divide ---- */

/* Whether a carve-out leaves the L1D enough ways to pass the check. */
static bool leaves_ways(const SmConfig *sm, uint64_t carve_out) {
    const uint64_t all = sm->l1d_own.unified_bytes;
    return carve_out < all && sm->l1d.ways * (all - carve_out) * 2 >= all;
}

static void write_list(const ParameterList *list, Text *out) {
    text_add(out, "[");
    for (uint32_t i = 0; i < list->count; i++)
        text_printf(out, "%s%u", i ? ", " : "", list->items[i]);
    text_add(out, "]");
}

/* The possible sizes of shared memory: those that leave some for the L1D, and shared.size. */
static void derive_carve_outs(Machine *machine) {
    const SmConfig *sm = &machine->config.sm;
    const ParameterList *old = &sm->l1d_own.carve_outs;
    const char *from =
        derive_is_newer(machine, "shared.size", "l1d.carve_outs") ? "shared.size" : NULL;
    if (derive_is_newer(machine, "l1d.unified", "l1d.carve_outs")) from = "l1d.unified";
    if (!from) return;
    ParameterList list = {0};
    for (uint32_t i = 0; i < old->count; i++)
        if (leaves_ways(sm, old->items[i] * UINT64_C(1024)))
            list.items[list.count++] = old->items[i];
    const uint32_t most = list.count ? list.items[list.count - 1] : 0;
    if (sm->shared.size_bytes > most * 1024 && list.count < PARAMETER_MAX_LIST &&
        leaves_ways(sm, sm->shared.size_bytes) && sm->shared.size_bytes % 1024 == 0)
        list.items[list.count++] = sm->shared.size_bytes / 1024;
    if (list.count == old->count && !memcmp(list.items, old->items, sizeof list.items)) return;
    Text text = {0};
    write_list(&list, &text);
    if (list.count) derive_text(machine, "l1d.carve_outs", text_string(&text), from);
    text_free(&text);
    const ParameterList *now = &machine->config.sm.l1d_own.carve_outs;
    const uint32_t largest = now->count ? now->items[now->count - 1] * 1024 : 0;
    if (largest && largest < sm->shared.size_bytes && derive_is_newer(machine, from, "shared.size"))
        derive_number(machine, "shared.size", largest, "B", from);
}

static void derive_unified(Machine *machine) {
    const SmConfig *sm = &machine->config.sm;
    if (!sm->l1d_own.unified_bytes) return;
    if (sm->l1d_own.unified_bytes != sm->l1d.size_bytes) {
        if (derive_is_newer(machine, "l1d.size", "l1d.unified"))
            derive_number(machine, "l1d.unified", sm->l1d.size_bytes, "B", "l1d.size");
        else if (derive_is_newer(machine, "l1d.unified", "l1d.size"))
            derive_number(machine, "l1d.size", sm->l1d_own.unified_bytes, "B", "l1d.unified");
    }
}

/* ---- Caches ---- */

typedef struct DerivedCache {
    const char *section;
    const CacheConfig *config;
    uint64_t skipped; /* address bits that are the same for all addresses of the cache */

} DerivedCache;

static void name_key(const DerivedCache *cache, const char *name, char key[64]) {
    snprintf(key, 64, "%s.%s", cache->section, name);
}

static bool has_sets(const CacheConfig *cache, uint64_t ways) {
    const uint64_t set_bytes = cache->line_bytes * ways;
    return ways && cache->size_bytes % set_bytes == 0 &&
           bits_is_power_of_two(cache->size_bytes / set_bytes);
}

#define MOST_RATIO 2.0 /* limit of a change: beyond it, it would be another cache */

/* The number of ways nearest to the present one, as a ratio, for which the number of sets is a
 * power of two; 0: none is near enough. */
static uint64_t nearest_ways(const CacheConfig *cache) {
    const uint64_t lines = cache->line_bytes ? cache->size_bytes / cache->line_bytes : 0;
    uint64_t best = 0;
    double best_ratio = 0;
    for (uint64_t sets = 1; sets && sets <= lines; sets *= 2) {
        const uint64_t ways = lines % sets ? 0 : lines / sets;
        if (!has_sets(cache, ways)) continue;
        const double ratio =
            ways > cache->ways ? (double)ways / cache->ways : (double)cache->ways / (double)ways;
        if (ratio > MOST_RATIO || (best && ratio >= best_ratio)) continue;
        best = ways;
        best_ratio = ratio;
    }
    return best;
}

/* Finds the key that was given last, among the cache's keys that were given later than `key`. */
static bool find_cause(const Machine *machine, const DerivedCache *cache, const char *key,
                       const char *const *names, size_t count, char cause[64]) {
    char name[64];
    bool has_any = false;
    for (size_t i = 0; i < count; i++) {
        name_key(cache, names[i], name);
        if (!derive_is_newer(machine, name, has_any ? cause : key)) continue;
        memcpy(cause, name, sizeof name);
        has_any = true;
    }
    return has_any;
}

static void derive_ways(Machine *machine, const DerivedCache *cache) {
    static const char *const causes[] = {"size", "line"};
    char ways[64], cause[64];
    if (has_sets(cache->config, cache->config->ways)) return;
    name_key(cache, "ways", ways);
    if (!find_cause(machine, cache, ways, causes, sizeof causes / sizeof *causes, cause)) return;
    const uint64_t nearest = nearest_ways(cache->config);
    if (nearest) derive_number(machine, ways, nearest, "", cause);
}

/* Writes a set index of the same kind for a different number of sets: the bits of the set and twice
 * as many above them, with an irreducible polynomial of that degree. */
static bool write_hash(const DerivedCache *cache, Text *out) {
    const uint32_t sets = cache_config_sets(cache->config);
    const int degree = bits_lowest32(sets), line = bits_lowest32(cache->config->line_bytes);
    const unsigned polynomial = derive_polynomial(degree);
    if (!polynomial) return false;
    int low[16], count = 0, bit = line;
    for (; count < degree; bit++)
        if (!(cache->skipped >> bit & 1)) low[count++] = bit;
    text_printf(out, "ipoly 0x%x: %d..%d", polynomial, bit + 2 * degree - 1, bit);
    for (int i = count - 1; i >= 0; i--)
        text_printf(out, ",%d", low[i]);
    return true;
}

static bool has_index(const DerivedCache *cache) {
    char text[CACHE_INDEX_BYTES];
    SetIndex index;
    Diag *diag = diag_new();
    cache_config_set_index(cache->config, cache->skipped, text);
    const bool fits = set_index_init(&index, *text ? text : NULL, cache_config_sets(cache->config),
                                     cache->config->line_bytes, diag);
    diag_free(diag);
    return fits;
}

static void derive_set_hash(Machine *machine, const DerivedCache *cache) {
    static const char *const causes[] = {"size", "line", "ways"};
    static const char slices[] = "partition.slices";
    char hash[64], cause[64];
    if (!*cache->config->set_hash || !has_sets(cache->config, cache->config->ways) ||
        !bits_is_power_of_two(cache->config->line_bytes) || has_index(cache))
        return;
    name_key(cache, "set_hash", hash);
    if (!find_cause(machine, cache, hash, causes, sizeof causes / sizeof *causes, cause)) {
        if (!cache->skipped || !derive_is_newer(machine, slices, hash)) return;
        memcpy(cause, slices, sizeof slices);
    }
    Text text = {0};
    const bool is_polynomial = !strncmp(cache->config->set_hash, "ipoly", strlen("ipoly"));
    if (!is_polynomial || !write_hash(cache, &text)) text_clear(&text);
    derive_text(machine, hash, text_string(&text), cause);
    text_free(&text);
}

static void derive_caches(Machine *machine) {
    const MachineConfig *config = &machine->config;
    const DerivedCache caches[] = {
        {"l0i", &config->sm.l0i, 0},
        {"l1i", &config->sm.l1i, 0},
        {"l1d", &config->sm.l1d, 0},
        {"l1c", &config->sm.l1c, 0},
        {"l15c", &config->sm.l15c, 0},
        {"l1t", &config->sm.l1t, 0},
        {"l2", &config->partition.l2, machine_slice_bits(config)},
    };
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const bool has_hash = i == 2 || i == 6; /* l1d and l2 */
        derive_ways(machine, &caches[i]);
        if (has_hash) derive_set_hash(machine, &caches[i]);
    }
}

/* ---- L2 ---- */

static void derive_sectors(Machine *machine) {
    const PartitionConfig *partition = &machine->config.partition;
    const uint32_t sector = partition->l2_sector_bytes;
    const uint32_t fill = cache_config_fill_bytes(&partition->l2);
    if (!partition->has_l2 || sector == fill) return;
    if (derive_is_newer(machine, "partition.sector", "l2.sector"))
        derive_number(machine, "l2.sector", sector, "B", "partition.sector");
    else if (derive_is_newer(machine, "l2.sector", "partition.sector"))
        derive_number(machine, "partition.sector", fill, "B", "l2.sector");
}

/* Limits it to three quarters of L2, as CUDA's devices offer
 * (cudaDevAttrMaxPersistingL2CacheSize). */
static void derive_persisting(Machine *machine) {
    static const char *const causes[] = {"l2.size", "gpu.partitions", "partition.slices"};
    const uint64_t bytes = machine_l2_bytes(&machine->config);
    if (machine->config.partition.persisting_bytes <= bytes) return;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (!derive_is_newer(machine, causes[i], "l2.persisting")) continue;
        derive_number(machine, "l2.persisting", bytes / 4 * 3, "B", causes[i]);
        return;
    }
}

/* ---- All of them ---- */

void machine_derive(Machine *machine) {
    derive_subcores(machine);
    derive_unified(machine);
    derive_sectors(machine);
    derive_map(machine); /* before caches, because it determines which bits select the slice */
    derive_dram(machine);
    derive_caches(machine);
    if (machine->config.sm.l1d_own.unified_bytes) derive_carve_outs(machine);
    derive_persisting(machine);
}
