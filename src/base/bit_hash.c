/* Reads linear functions of bits and builds their tables (see the header). */
#include "base/bit_hash.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One list of source bits in the order of the text, highest first. */
typedef struct BitList {
    int bits[64];
    int count;
} BitList;

static const char *skip_blanks(const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* Reads a bit number 0..63; returns NULL if there is none. */
static const char *read_bit(const char *text, int *bit) {
    text = skip_blanks(text);
    if (!isdigit((unsigned char)*text)) return NULL;
    char *end;
    long value = strtol(text, &end, 10);
    if (value > 63) return NULL;
    *bit = (int)value;
    return skip_blanks(end);
}

/* Reads "A" or "A..B" with A >= B. Returns the text after it, or NULL on an error. */
static const char *read_range(const char *text, BitList *list) {
    int first, last;
    if (!(text = read_bit(text, &first))) return NULL;
    last = first;
    if (text[0] == '.' && text[1] == '.' && !(text = read_bit(text + 2, &last))) return NULL;
    for (int bit = first; bit >= last; bit--) {
        if (list->count == 64) return NULL;
        list->bits[list->count++] = bit;
    }
    return last <= first ? text : NULL;
}

/* Reads ranges separated by commas, up to '^' or the end. */
static const char *read_list(const char *text, BitList *list) {
    list->count = 0;
    do {
        if (!(text = read_range(text, list))) return NULL;
    } while (*text == ',' && text++);
    return *text == '^' || !*text ? text : NULL;
}

static bool read_lists(BitMatrix *matrix, const char *text) {
    for (;; text++) {
        BitList list;
        if (!(text = read_list(text, &list)) || list.count > BIT_HASH_MAX_BITS) return false;
        for (int i = 0; i < list.count; i++)
            matrix->column[list.bits[list.count - 1 - i]] ^= UINT32_C(1) << i;
        if (list.count > matrix->width) matrix->width = list.count;
        if (!*text) return true;
    }
}

/* Bit i of the list, counted from its lowest bit, is t^i modulo the polynomial. */
static bool read_polynomial(BitMatrix *matrix, const char *text) {
    char *end;
    unsigned long polynomial = strtoul(skip_blanks(text), &end, 16);
    BitList list;
    text = skip_blanks(end);
    if (polynomial < 2 || polynomial >> (BIT_HASH_MAX_BITS + 1) || *text++ != ':') return false;
    if (!(text = read_list(text, &list)) || *text) return false;
    while (polynomial >> (matrix->width + 1))
        matrix->width++;
    uint32_t power = 1 & (uint32_t)((UINT32_C(1) << matrix->width) - 1);
    for (int i = 0; i < list.count; i++) {
        matrix->column[list.bits[list.count - 1 - i]] ^= power;
        power <<= 1;
        if (power >> matrix->width) power ^= (uint32_t)polynomial;
    }
    return list.count >= matrix->width;
}

bool bit_matrix_read(BitMatrix *matrix, const char *text) {
    static const char ipoly[] = "ipoly";
    *matrix = (BitMatrix){.width = 0};
    text = skip_blanks(text);
    if (!strncmp(text, ipoly, sizeof ipoly - 1))
        return read_polynomial(matrix, text + sizeof ipoly - 1);
    return read_lists(matrix, text);
}

void bit_hash_init(BitHash *hash, const BitMatrix *matrix) {
    *hash = (BitHash){.count = 0};
    for (int from = 0; from < 64; from += 4) {
        const uint32_t *column = &matrix->column[from];
        if (!(column[0] | column[1] | column[2] | column[3])) continue;
        uint32_t *table = hash->table[hash->count];
        for (uint32_t value = 0; value < 16; value++)
            for (int bit = 0; bit < 4; bit++)
                if (value >> bit & 1) table[value] ^= column[bit];
        hash->from[hash->count++] = (uint8_t)from;
    }
}
