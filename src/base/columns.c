/* Widths of characters (see the header). Wide characters are from Markus Kuhn's wcwidth.c of 2007,
 * plus later emoji. Combining characters are the blocks that contain nothing else (Unicode 15). */
#include "base/columns.h"

#include <stdint.h>
#include <string.h>

typedef struct Block {
    uint32_t first, last; /* code points */
    int columns;
} Block;

/* In increasing order. */
static const Block blocks[] = {
    {0x0300, 0x036F, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05BD, 0},   {0x064B, 0x065F, 0},
    {0x1100, 0x115F, 2},   {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},   {0x200B, 0x200F, 0},
    {0x20D0, 0x20FF, 0},   {0x2E80, 0x3029, 2},   {0x302A, 0x302D, 0},   {0x302E, 0x303E, 2},
    {0x3041, 0x3098, 2},   {0x3099, 0x309A, 0},   {0x309B, 0xA4CF, 2},   {0xA960, 0xA97C, 2},
    {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},   {0xFE20, 0xFE2F, 0},
    {0xFE30, 0xFE6F, 2},   {0xFEFF, 0xFEFF, 0},   {0xFF01, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},
    {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FC, 2}, {0x1F900, 0x1F9FF, 2}, {0x20000, 0x3FFFD, 2},
};

static int columns_of_letter(uint32_t letter) {
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && letter >= blocks[i].first; i++)
        if (letter <= blocks[i].last) return blocks[i].columns;
    return 1;
}

size_t columns_of_first(const char *text, int *columns) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = *at >= 0xF0 && *at < 0xF8 ? 4 : *at >= 0xE0 ? 3 : *at >= 0xC0 ? 2 : 1;
    uint32_t letter = length == 1 ? *at : *at & (0x7Fu >> length);
    *columns = 1;
    if (*at >= 0xF8) return 1;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return 1;
        letter = letter << 6 | (at[i] & 0x3F);
    }
    *columns = columns_of_letter(letter);
    return length;
}

int columns_of(const char *text) {
    int all = 0, columns;
    for (; *text; all += columns)
        text += columns_of_first(text, &columns);
    return all;
}

int columns_pad(const char *text, int columns) {
    return columns + (int)strlen(text) - columns_of(text);
}
