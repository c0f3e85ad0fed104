/* Reads sums of bits (see the header). */
#include "base/bit_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum { LONGEST_LIST = 192 };

bool bit_sum_is(const char *text) { return strchr(text, '+') != NULL; }

/* Reads the text up to, not including, `end` as a list. */
static bool read_own(BitMatrix *matrix, const char *text, const char *end) {
    char list[LONGEST_LIST];
    if (end - text >= LONGEST_LIST) return false;
    snprintf(list, sizeof list, "%.*s", (int)(end - text), text);
    return bit_matrix_read(matrix, list);
}

bool bit_sum_read(BitSum *sum, BitMatrix *own, BitMatrix *added, const char *text) {
    const char *plus = strchr(text, '+');
    if (!plus || !read_own(own, text, plus)) return false;
    char *end;
    unsigned long factor = strtoul(plus + 1, &end, 10);
    end += strspn(end, " ");
    if (factor < 1 || factor > UINT16_MAX || *end != 'x') return false;
    if (!bit_matrix_read(added, end + 1) || added->width > own->width) return false;
    bit_hash_init(&sum->own, own);
    bit_hash_init(&sum->added, added);
    sum->factor = (uint32_t)factor;
    sum->mask = (uint32_t)bits_low_mask(own->width);
    return true;
}
