/* Reads set functions (see the header). */
#include "cache/set_index.h"

#include "base/bits.h"

static bool check_size(const char *what, uint32_t value, Diag *diag) {
    if (bits_is_power_of_two(value) && value <= UINT32_C(1) << BIT_HASH_MAX_BITS) return true;
    diag_error(diag, NULL, 0, 0, "cache: %u %s: must be a power of two, at most 2^%d", value, what,
               BIT_HASH_MAX_BITS);
    return false;
}

/* Builds the function from runs of bits. Returns false if it needs too many runs. */
static bool gather_runs(BitGather *bits, const BitMatrix *matrix) {
    *bits = (BitGather){0};
    BitMatrix left = *matrix;
    for (int to = 0; to < matrix->width; to++)
        for (int from = 0; from < 64; from++) {
            /* take the longest run from here */
            for (int i = 0; from + i < 64 && to + i < matrix->width; i++) {
                uint32_t bit = UINT32_C(1) << (to + i);
                if (!(left.column[from + i] & bit)) break;
                if (!gather_append(bits, to + i, from + i)) return false;
                left.column[from + i] &= ~bit;
            }
        }
    return true;
}

bool set_index_init(SetIndex *index, const char *text, uint32_t sets, uint32_t line_bytes,
                    Diag *diag) {
    *index = (SetIndex){0};
    bool is_good = check_size("sets", sets, diag);
    is_good &= check_size("bytes per line", line_bytes, diag);
    if (!is_good) return false;
    int width = bits_lowest32(sets), line_bits = bits_lowest32(line_bytes);
    if (!text || (!*text && sets == 1)) {
        for (int i = 0; i < width; i++)
            gather_append(&index->bits, i, line_bits + i);
        return true;
    }
    BitMatrix matrix, added = {.width = 0};
    index->is_summed = bit_sum_is(text);
    is_good = index->is_summed ? bit_sum_read(&index->sum, &matrix, &added, text)
                               : bit_matrix_read(&matrix, text);
    for (int bit = 0; bit < line_bits; bit++)
        is_good = is_good && !(matrix.column[bit] | added.column[bit]);
    if (!is_good) {
        diag_error(diag, NULL, 0, 0,
                   "set index \"%s\": not lists of address bits like \"11..7 ^ 19,15..13\" or "
                   "\"11..7 + 7 x 16..12\", nor \"ipoly 0x25: 27..13,12..9,7\", with bits from %d "
                   "to 63",
                   text, line_bits);
        return false;
    }
    if (matrix.width != width) {
        diag_error(diag, NULL, 0, 0, "set index \"%s\": makes %d bits, but %u sets need %d", text,
                   matrix.width, sets, width);
        return false;
    }
    index->is_hashed = index->is_summed || !gather_runs(&index->bits, &matrix);
    if (index->is_hashed && !index->is_summed) bit_hash_init(&index->hash, &matrix);
    return true;
}
