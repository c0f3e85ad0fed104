/* Set functions of the caches of a machine. */
#include "cache/cache_config.h"

#include <stdio.h>

#include "base/bits.h"

/* Line-address bits that the Fermi function XORs with the lowest bits of the set, lowest first.
 * Source: the GTX 480 model of GPGPU-Sim 4.2 as observed (its L1D of 32 sets). */
static const int fermi_bits[] = {6, 7, 8, 10, 12};
enum { FERMI_BITS = sizeof fermi_bits / sizeof *fermi_bits };

/* The factor by which the summed function multiplies the tag. Source: the simulator that CCWS's
 * authors released (docs/machines.md). */
enum { SUMMED_FACTOR = 7 };

/* Adds a list of bits to the text, highest first; `bits` holds the lowest first. */
static int add_list(char *text, int at, const int *bits, int count) {
    for (int i = count; i-- > 0;)
        at += snprintf(text + at, (size_t)(CACHE_INDEX_BYTES - at), "%d%s", bits[i], i ? "," : "");
    return at;
}

void cache_config_set_index(const CacheConfig *config, uint64_t skipped,
                            char text[static CACHE_INDEX_BYTES]) {
    if (*config->set_hash) {
        snprintf(text, CACHE_INDEX_BYTES, "%s", config->set_hash);
        return;
    }
    int line_bits = bits_lowest32(config->line_bytes);
    int width = bits_lowest32(cache_config_sets(config)), bits[64];
    int listed = config->index == CACHE_INDEX_SUMMED ? 2 * width : width;
    for (int i = 0, bit = line_bits; i < listed; bit++) {
        if (!(skipped >> bit & 1)) bits[i++] = bit;
    }
    text[0] = 0;
    int at = add_list(text, 0, bits, width);
    if (config->index == CACHE_INDEX_SUMMED && width) {
        at += snprintf(text + at, (size_t)(CACHE_INDEX_BYTES - at), " + %d x ", SUMMED_FACTOR);
        add_list(text, at, &bits[width], width);
    }
    if (config->index != CACHE_INDEX_FERMI || !width) return;
    int hashed = width < FERMI_BITS ? width : FERMI_BITS;
    for (int i = 0; i < hashed; i++)
        bits[i] = line_bits + fermi_bits[i];
    at += snprintf(text + at, (size_t)(CACHE_INDEX_BYTES - at), " ^ ");
    add_list(text, at, bits, hashed);
}
