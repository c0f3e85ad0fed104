/* Reading set functions (see the header). */
#include "cache/set_index.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/bits.h"

enum { MAX_SET_BITS = 24 };

/* One list of address bits as read, highest first. */
typedef struct BitList {
    int bits[MAX_SET_BITS];
    int count;
} BitList;

static const char *skip_blanks(const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* A bit number 0..63; NULL when there is none. */
static const char *read_bit(const char *text, int *bit) {
    text = skip_blanks(text);
    if (!isdigit((unsigned char)*text)) return NULL;
    char *end;
    long value = strtol(text, &end, 10);
    if (value > 63) return NULL;
    *bit = (int)value;
    return skip_blanks(end);
}

/* "A" or "A..B" with A >= B. Returns what follows, NULL on a mistake. */
static const char *read_range(const char *text, BitList *list) {
    int first, last;
    if (!(text = read_bit(text, &first))) return NULL;
    last = first;
    if (text[0] == '.' && text[1] == '.' && !(text = read_bit(text + 2, &last))) return NULL;
    for (int bit = first; bit >= last; bit--) {
        if (list->count == MAX_SET_BITS) return NULL;
        list->bits[list->count++] = bit;
    }
    return last <= first ? text : NULL;
}

/* Ranges separated by commas, up to '^' or the end. */
static const char *read_list(const char *text, BitList *list) {
    list->count = 0;
    do {
        if (!(text = read_range(text, list))) return NULL;
    } while (*text == ',' && text++);
    return *text == '^' || !*text ? text : NULL;
}

static bool append_list(SetIndex *index, const BitList *list, uint32_t line_bytes) {
    for (int i = 0; i < list->count; i++) {
        int bit = list->bits[list->count - 1 - i];
        if (UINT64_C(1) << bit < line_bytes || !gather_append(&index->bits, i, bit)) return false;
    }
    return true;
}

static bool check_size(const char *what, uint32_t value, Diag *diag) {
    if (bits_is_power_of_two(value) && value <= UINT32_C(1) << MAX_SET_BITS) return true;
    diag_error(diag, NULL, 0, 0, "cache: %u %s: must be a power of two, at most 2^%d", value, what,
               MAX_SET_BITS);
    return false;
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
    int widest = 0;
    for (const char *rest = text;; rest++) {
        BitList list;
        rest = read_list(rest, &list);
        if (!rest || !append_list(index, &list, line_bytes)) {
            diag_error(
                diag, NULL, 0, 0,
                "set index \"%s\": not lists of address bits like \"11..7 ^ 19,15..13\" with "
                "bits from %d to 63",
                text, line_bits);
            return false;
        }
        if (list.count > widest) widest = list.count;
        if (!*rest) break;
    }
    if (widest == width) return true;
    diag_error(diag, NULL, 0, 0, "set index \"%s\": makes %d bits, but %u sets need %d", text,
               widest, sets, width);
    return false;
}
