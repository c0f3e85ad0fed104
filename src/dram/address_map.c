/* Building an address map from its bit string, and its less frequently used lookups (see the
 * header). */
#include "dram/address_map.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"

enum { MAX_BITS = 48 }; /* longest bit string: 256 TB */

/* What a bit contributes to, by its letter. One row per letter. */
static const struct BitRole {
    char letter;
    bool is_channel, is_slice, is_bank, is_row, is_column;
} bit_roles[] = {
    {.letter = 'P', .is_channel = true},
    {.letter = 'S', .is_slice = true},
    {.letter = 'b', .is_slice = true, .is_bank = true},
    {.letter = 'B', .is_bank = true},
    {.letter = 'R', .is_row = true},
    {.letter = 'C', .is_column = true},
    {.letter = '-'},
};

static const struct BitRole *find_role(char letter) {
    for (size_t i = 0; i < sizeof bit_roles / sizeof *bit_roles; i++)
        if (bit_roles[i].letter == letter) return &bit_roles[i];
    return NULL;
}

/* The string's letters without separators, lowest bit first. Returns their number, or -1 if the
 * string is invalid. */
static int read_letters(const char *bits, char letters[MAX_BITS], Diag *diag) {
    int count = 0;
    for (size_t i = strlen(bits); i-- > 0;) {
        if (strchr("._ ", bits[i])) continue;
        if (!find_role(bits[i])) {
            diag_error(diag, NULL, 0, 0,
                       "address map \"%s\": '%c': not one of R, B, b, C, P, S and -", bits,
                       bits[i]);
            return -1;
        }
        if (count == MAX_BITS) {
            diag_error(diag, NULL, 0, 0, "address map \"%s\": more than %d bits", bits, MAX_BITS);
            return -1;
        }
        letters[count++] = bits[i];
    }
    return count;
}

typedef struct FieldWidths {
    int channel, slice, bank, row, column, local; /* bits collected so far */
} FieldWidths;

static bool place_bit(AddressMap *map, FieldWidths *width, char letter, int bit) {
    const struct BitRole *role = find_role(letter);
    bool fits = true;
    if (role->is_channel) fits &= gather_append(&map->channel, width->channel++, bit);
    if (role->is_slice) fits &= gather_append(&map->slice, width->slice++, bit);
    if (role->is_bank) fits &= gather_append(&map->bank, width->bank++, bit);
    if (role->is_row) fits &= gather_append(&map->row, width->row++, bit);
    if (role->is_column) {
        fits &= gather_append(&map->column, width->column++, bit);
        map->column_mask |= UINT64_C(1) << bit;
    }
    if (!role->is_channel) fits &= gather_append(&map->local, width->local++, bit);
    return fits;
}

static bool check_division(const AddressMapConfig *config, const FieldWidths *width, Diag *diag) {
    int before = diag_error_count(diag);
    if (width->channel)
        diag_error(diag, NULL, 0, 0,
                   "address map \"%s\": P bits and a channel count of %u: the channel comes either "
                   "from bits or from a division",
                   config->bits, config->channels);
    if (config->channels > ADDRESS_MAP_MAX_CHANNELS)
        diag_error(diag, NULL, 0, 0, "address map: %u channels: at most %d", config->channels,
                   ADDRESS_MAP_MAX_CHANNELS);
    if (!bits_is_power_of_two(config->block_bytes) || config->block_bytes < config->channels)
        diag_error(
            diag, NULL, 0, 0,
            "address map: blocks of %u bytes: must be a power of two, at least the number of "
            "channels",
            config->block_bytes);
    return diag_error_count(diag) == before;
}

static bool check_widths(const AddressMapConfig *config, const FieldWidths *width, Diag *diag) {
    const struct {
        const char *name;
        int bits, least, most;
    } rules[] = {
        {"channel", width->channel, 0, 7}, {"slice", width->slice, 0, 4},
        {"bank", width->bank, 0, 6},       {"row", width->row, 1, 32},
        {"column", width->column, 5, 16},
    };
    int before = diag_error_count(diag);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].bits < rules[i].least || rules[i].bits > rules[i].most)
            diag_error(diag, NULL, 0, 0, "address map \"%s\": %d %s bits: must be %d to %d",
                       config->bits, rules[i].bits, rules[i].name, rules[i].least, rules[i].most);
    return diag_error_count(diag) == before;
}

/* ---- hashes ---- */

/* Reads a hash. Each bit of the result must include the source bit that it replaces (`own`, lowest
 * first) and none of the other bits in `own`, so no two addresses collide. */
static bool read_hash(BitMatrix *matrix, const char *what, const char *text, const int *own,
                      int width, int skipped, Diag *diag) {
    if (!bit_matrix_read(matrix, text)) {
        diag_error(diag, NULL, 0, 0,
                   "address map: %s \"%s\": neither lists of bits like \"12..8,13 ^ 25..20\" nor "
                   "\"ipoly 0x43: 32..14,12..8,13\"",
                   what, text);
        return false;
    }
    if (matrix->width != width) {
        diag_error(diag, NULL, 0, 0, "address map: %s \"%s\": makes %d bits instead of %d", what,
                   text, matrix->width, width);
        return false;
    }
    uint32_t kept = ~(uint32_t)bits_low_mask(skipped);
    for (int i = skipped; i < width; i++) {
        if ((matrix->column[own[i]] & kept) == UINT32_C(1) << i) continue;
        diag_error(diag, NULL, 0, 0,
                   "address map: %s \"%s\": bit %d of the result must have address bit %d in it, "
                   "and no other bit of the result may",
                   what, text, i, own[i]);
        return false;
    }
    return true;
}

static void note_lowest(AddressMap *map, const BitMatrix *matrix) {
    for (int bit = 0; bit < map->lowest_hashed; bit++)
        if (matrix->column[bit]) map->lowest_hashed = (uint8_t)bit;
}

/* Stores the bits of the string that have one of the roles, lowest first. Returns their number. */
static int bits_of(const char *letters, int count, const char *roles, int *bits) {
    int found = 0;
    for (int bit = 0; bit < count; bit++)
        if (strchr(roles, letters[bit])) bits[found++] = bit;
    return found;
}

/* A slice hash in the form of a sum: the channel's own bits, lowest first, plus other bits. */
static bool sum_slices(AddressMap *map, const AddressMapConfig *config, const char *letters,
                       int count, Diag *diag) {
    BitMatrix own, added;
    int bits[64];
    bool is_good = !map->is_division && !map->slice_bits &&
                   bit_sum_read(&map->sum, &own, &added, config->hash) &&
                   own.width == bits_of(letters, count, "P", bits);
    for (int i = 0; is_good && i < own.width; i++)
        is_good = own.column[bits[i]] == UINT32_C(1) << i && !added.column[bits[i]];
    for (int bit = 0; is_good && bit < 64; bit++)
        is_good = !own.column[bit] || (bit < count && letters[bit] == 'P');
    if (!is_good) {
        diag_error(
            diag, NULL, 0, 0,
            "address map: hash \"%s\": a sum is that of a channel's P bits, where it has one "
            "slice, and a multiple of others: \"10..8 + 9 x 19..17\"",
            config->hash);
        return false;
    }
    map->is_hashed = map->is_summed = true;
    note_lowest(map, &own);
    note_lowest(map, &added);
    return true;
}

static bool hash_slices(AddressMap *map, const AddressMapConfig *config, const char *letters,
                        int count, Diag *diag) {
    BitMatrix matrix;
    int own[64] = {0}, width;
    if (!config->hash || !*config->hash) return true;
    if (bit_sum_is(config->hash)) return sum_slices(map, config, letters, count, diag);
    if (map->is_division) {
        for (int i = 0; i < 64; i++)
            own[i] = map->block_shift + i;
        if (!bit_matrix_read(&matrix, config->hash)) matrix.width = 0; /* reported by read_hash */
        width = matrix.width;
        map->block_mask = bits_low_mask(width);
    } else {
        width = map->slice_bits + bits_of(letters, count, "P", &own[map->slice_bits]);
    }
    if (!read_hash(&matrix, "hash", config->hash, own, width,
                   map->is_division ? 0 : map->slice_bits, diag))
        return false;
    map->is_hashed = true;
    bit_hash_init(&map->hash, &matrix);
    note_lowest(map, &matrix);
    if (!map->is_division || map->lowest_hashed >= map->block_shift) return true;
    diag_error(diag, NULL, 0, 0, "address map: hash \"%s\": bit %d lies within a block",
               config->hash, map->lowest_hashed);
    return false;
}

static bool hash_banks(AddressMap *map, const AddressMapConfig *config, const char *letters,
                       int count, Diag *diag) {
    BitMatrix matrix;
    int own[64];
    if (!config->bank_hash || !*config->bank_hash) return true;
    int width = bits_of(letters, count, "Bb", own);
    if (!read_hash(&matrix, "bank hash", config->bank_hash, own, width, 0, diag)) return false;
    for (int bit = 0; bit < 64; bit++) {
        if (!matrix.column[bit] || (bit < count && strchr("BbR", letters[bit]))) continue;
        diag_error(diag, NULL, 0, 0,
                   "address map: bank hash \"%s\": bit %d is neither of the bank nor of the row",
                   config->bank_hash, bit);
        return false;
    }
    map->is_bank_hashed = true;
    bit_hash_init(&map->bank_hash, &matrix);
    note_lowest(map, &matrix);
    return true;
}

/* ---- the map ---- */

bool address_map_init(AddressMap *map, const AddressMapConfig *config, Diag *diag) {
    char letters[MAX_BITS];
    *map = (AddressMap){.channels = 1, .lowest_hashed = 64};
    int count = read_letters(config->bits, letters, diag);
    if (count < 0) return false;
    FieldWidths width = {0};
    bool fits = true;
    for (int bit = 0; bit < count; bit++)
        fits &= place_bit(map, &width, letters[bit], bit);
    /* The bits above the string are added to the local address, so that it stays unique. */
    for (int bit = count; bit < 64; bit++)
        fits &= gather_append(&map->local, width.local++, bit);
    if (!fits) {
        diag_error(diag, NULL, 0, 0, "address map \"%s\": a field in more than %d pieces",
                   config->bits, GATHER_MAX_RUNS);
        return false;
    }
    if (!check_widths(config, &width, diag)) return false;
    if (config->channels && !check_division(config, &width, diag)) return false;
    map->channels = config->channels ? config->channels : 1u << width.channel;
    map->is_division = config->channels > 1; /* one channel: `rest` is the whole address */
    if (map->is_division) {
        map->block_shift = (uint8_t)bits_lowest32(config->block_bytes);
        map->reciprocal = UINT64_MAX / config->channels + 1;
    }
    map->slices_per_channel = 1u << width.slice;
    map->slice_bits = (uint8_t)width.slice;
    map->banks = 1u << width.bank;
    map->row_bytes = 1u << width.column;
    return hash_slices(map, config, letters, count, diag) &&
           hash_banks(map, config, letters, count, diag);
}

DramPlace address_map_place(const AddressMap *map, uint64_t address) {
    uint32_t channel = 0, slice = address_map_slice(map, address);
    uint64_t rest = address_map_rest(map, address, &channel);
    return (DramPlace){
        .channel = slice >> map->slice_bits,
        .slice = slice,
        .bank = address_map_bank_of(map, rest),
        .row = address_map_row_of(map, rest),
        .column = (uint32_t)gather_bits(&map->column, rest),
    };
}

/* The address for a given `rest` and channel (without a hash, `rest` already contains the channel's
 * P bits). */
static uint64_t join(const AddressMap *map, uint32_t channel, uint64_t rest) {
    if (!map->is_division) {
        if (!map->is_hashed) return rest;
        rest &= ~gather_scatter(&map->channel, UINT32_MAX);
        if (map->is_summed)
            return rest | gather_scatter(&map->channel,
                                         (channel - bit_sum(&map->sum, rest)) & map->sum.mask);
        return rest | gather_scatter(&map->channel,
                                     channel ^ (bit_hash(&map->hash, rest) >> map->slice_bits));
    }
    uint64_t offset_mask = (UINT64_C(1) << map->block_shift) - 1;
    uint64_t block = (rest >> map->block_shift) * map->channels + channel;
    if (map->is_hashed) {
        uint64_t high = (block & ~map->block_mask) << map->block_shift;
        block ^= bit_hash(&map->hash, high);
    }
    return block << map->block_shift | (rest & offset_mask);
}

uint64_t address_map_address(const AddressMap *map, uint32_t channel, uint64_t local) {
    assert(channel < map->channels);
    return join(map, channel,
                gather_scatter(&map->local, local) | gather_scatter(&map->channel, channel));
}

uint64_t address_map_sibling(const AddressMap *map, uint64_t address, uint32_t column) {
    assert(column < map->row_bytes);
    uint32_t channel = 0;
    uint64_t rest = address_map_rest(map, address, &channel);
    if (!map->is_division) channel = address_map_slice(map, address) >> map->slice_bits;
    return join(map, channel, (rest & ~map->column_mask) | gather_scatter(&map->column, column));
}
