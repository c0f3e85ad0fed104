/* Derives values of the address map and of DRAM from others (derive.c). */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "machine/derive_internal.h"

/* ---- Letters of map.bits ---- */

static int count_of(const char *bits, const char *letters) {
    int count = 0;
    for (; *bits; bits++)
        count += strchr(letters, *bits) != NULL;
    return count;
}

/* Inserts `letter` before the first of `letters`; removes the first of them. */
static void put_bit(char *bits, const char *letters, char letter) {
    const size_t at = strcspn(bits, letters);
    memmove(bits + at + 1, bits + at, strlen(bits + at) + 1);
    bits[at] = letter;
}
static void drop_bit(char *bits, const char *letters) {
    const size_t at = strcspn(bits, letters);
    if (bits[at]) memmove(bits + at, bits + at + 1, strlen(bits + at + 1) + 1);
}

/* Makes the last bank bit that does not select a slice one that does (`more`), or the first one
 * that does one that does not. Returns whether there is such a bit. */
static bool share_bit(char *bits, bool more) {
    char *at = more ? strrchr(bits, 'B') : strchr(bits, 'b');
    if (at) *at = more ? 'b' : 'B';
    return at != NULL;
}

/* ---- Bits ---- */

/* Adapts the address map to the number of bits that slices, banks and rows need. */
static void derive_bits(Machine *machine) {
    const MachineConfig *config = &machine->config;
    static const char *const causes[] = {"partition.slices", "dram.banks", "dram.row"};
    char bits[sizeof config->map.bits + 64];
    const char *from = NULL;
    const struct {
        uint32_t value;
        const char *letters;
    } rows[] = {{config->partition.slices, "Sb"},
                {config->dram.banks, "Bb"},
                {config->dram.row_bytes, "C"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!bits_is_power_of_two(rows[i].value)) return;
        if (derive_is_newer(machine, causes[i], "map.bits")) from = causes[i];
    }
    if (!from || !*config->map.bits) return;
    snprintf(bits, sizeof bits - 40, "%s", config->map.bits);
    const int slices = bits_lowest32(config->partition.slices);
    const int banks = bits_lowest32(config->dram.banks);
    const int columns = bits_lowest32(config->dram.row_bytes);
    while (count_of(bits, "Bb") < banks && strchr(bits, 'B'))
        put_bit(bits, "B", 'B');
    while (count_of(bits, "Bb") > banks && strchr(bits, 'B'))
        drop_bit(bits, "B");
    while (count_of(bits, "Sb") < slices && share_bit(bits, true))
        continue;
    while (count_of(bits, "Sb") > slices && share_bit(bits, false))
        continue;
    while (count_of(bits, "C") < columns && strchr(bits, 'C'))
        put_bit(bits, "C", 'C');
    while (count_of(bits, "C") > columns && strchr(bits, 'C'))
        drop_bit(bits, "C");
    if (strcmp(bits, config->map.bits) != 0) derive_text(machine, "map.bits", bits, from);
}

/* ---- Channels ---- */

/* The address bits of a role, lowest first; returns their number. */
static int places_of(const char *bits, const char *letters, int places[64]) {
    int count = 0, bit = 0;
    for (size_t i = strlen(bits); i-- > 0;) {
        if (bits[i] == '.') continue;
        if (strchr(letters, bits[i]) && count < 64) places[count++] = bit;
        bit++;
    }
    return count;
}

static void remove_all(char *bits, const char *piece) {
    for (char *at; (at = strstr(bits, piece)) != NULL;)
        memmove(at, at + 1, strlen(at + 1) + 1);
}

/* Adapts the P bits to the number of channels. If that is not a power of two, there are none:
 * then the channels take turns with blocks, which are as large as what the bits below P kept
 * together. */
static void derive_channels(Machine *machine) {
    static const char from[] = "gpu.partitions";
    const MachineConfig *config = &machine->config;
    const uint32_t channels = config->partitions;
    char bits[sizeof config->map.bits + 64];
    int places[64];
    const int count = places_of(config->map.bits, "P", places);
    if (config->map.block_bytes || !count || !derive_is_newer(machine, from, "map.bits") ||
        channels == UINT32_C(1) << count)
        return;
    snprintf(bits, sizeof bits - 40, "%s", config->map.bits);
    if (bits_is_power_of_two(channels) && channels > 1) {
        const int wanted = bits_lowest32(channels);
        for (int i = count; i < wanted; i++)
            put_bit(bits, "P", 'P');
        for (int i = count; i > wanted; i--)
            drop_bit(bits, "P");
    } else {
        remove_all(bits, "P");
        remove_all(bits, "..");
        derive_number(machine, "map.block", UINT64_C(1) << places[0], "B", from);
    }
    derive_text(machine, "map.bits", bits, from);
}

/* ---- The hash of channels and slices ---- */

static bool has_map(const Machine *machine) {
    AddressMap map;
    const AddressMapConfig config = machine_map_config(&machine->config);
    Diag *diag = diag_new();
    const bool fits = address_map_init(&map, &config, diag);
    diag_free(diag);
    return fits;
}

/* Writes a hash of the same kind for a different number of slices or channels: their own bits, and
 * three times as many above them. With blocks it uses the low bits of the block number, one more
 * than channels need, as on a100. Returns false if there is no polynomial for it. */
static bool write_map_hash(const MachineConfig *config, Text *out) {
    int own[128], count = 0;
    if (config->map.block_bytes) {
        const int lowest = bits_lowest32(config->map.block_bytes);
        for (; (UINT32_C(1) << count) < 2 * config->partitions; count++)
            own[count] = lowest + count;
    } else {
        count = places_of(config->map.bits, "Sb", own);
        count += places_of(config->map.bits, "P", own + count);
    }
    const unsigned polynomial = derive_polynomial(count);
    if (!polynomial) return false;
    int above = 0;
    for (int i = 0; i < count; i++)
        if (own[i] >= above) above = own[i] + 1;
    text_printf(out, "ipoly 0x%x: %d..%d", polynomial, above + 3 * count - 1, above);
    for (int i = count; i-- > 0;)
        text_printf(out, ",%d", own[i]);
    return true;
}

static void derive_map_hash(Machine *machine) {
    static const char *const causes[] = {"gpu.partitions", "partition.slices", "map.block",
                                         "dram.banks", "dram.row"};
    const MachineConfig *config = &machine->config;
    const char *from = NULL;
    for (size_t i = 0; i < sizeof causes / sizeof *causes && !from; i++)
        if (derive_is_newer(machine, causes[i], "map.hash")) from = causes[i];
    if (!*config->map.hash || !from || has_map(machine)) return;
    Text text = {0};
    const bool is_polynomial = !strncmp(config->map.hash, "ipoly", strlen("ipoly"));
    if (!is_polynomial || !write_map_hash(config, &text)) text_clear(&text);
    derive_text(machine, "map.hash", text_string(&text), from);
    text_free(&text);
}

void derive_map(Machine *machine) {
    derive_channels(machine);
    derive_bits(machine);
    derive_map_hash(machine);
}

/* ---- Bursts ---- */

static DramTiming dram_timing(const Machine *machine) {
    return dram_timing_of(&machine->config.dram.stated, machine->config.clock.dram_khz);
}

/* Adapts the burst to a whole number of ticks, and the distances of commands so that a burst fits
 * on the bus. */
void derive_dram(Machine *machine) {
    static const char burst[] = "dram.burst", rate[] = "dram.data_rate", gap[] = "dram.tCCD",
                      long_gap[] = "dram.tCCDL";
    const DramConfig *dram = &machine->config.dram;
    if (dram->data_rate && dram->burst_length % dram->data_rate) {
        if (derive_is_newer(machine, rate, burst))
            derive_number(machine, burst,
                          (dram->burst_length / dram->data_rate + 1) * dram->data_rate, "beats",
                          rate);
        else return;
    }
    const uint32_t ticks = dram->data_rate ? dram->burst_length / dram->data_rate : 0;
    const char *from = derive_is_newer(machine, burst, gap) ? burst : rate;
    if (dram_timing(machine).ccd < ticks && derive_is_newer(machine, from, gap))
        derive_number(machine, gap, ticks, "cycles", from);
    const DramTiming timing = dram_timing(machine); /* with the new tCCD */
    if (timing.ccd_long && timing.ccd_long < timing.ccd && derive_is_newer(machine, gap, long_gap))
        derive_number(machine, long_gap, timing.ccd, "cycles", gap);
}
