/* CPU references for the integer kernels: division, bits, bytes, carries, products. */
#include "kernel_test.h"

static void division64(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n / 2; i++) {
        uint64_t a = in.longs[2 * i], b = in.longs[2 * i + 1] >> (i % 61) | 1;
        int64_t sa = (int64_t)a, sb = (int64_t)b;
        uint64_t sum = a / b + a % b * 3;
        sum ^= (uint64_t)(sa / sb) + (uint64_t)(sa % sb);
        sum += a / 1000003 + a % 7 + (uint64_t)(sa / -13);
        int small = (int)(uint32_t)a, divisor = (int)(b & 0xffff) + 1;
        out.longs[2 * i] = sum;
        out.longs[2 * i + 1] = (uint32_t)(small / divisor) + (uint32_t)(small % divisor) +
                               (uint32_t)a / (uint32_t)divisor;
    }
}

/* Number of leading zeros in the low `width` bits. */
static unsigned leading_zeros(uint64_t x, unsigned width) {
    unsigned zeros = 0;
    while (zeros < width && !(x >> (width - 1 - zeros) & 1))
        zeros++;
    return zeros;
}

/* Position of the lowest set bit plus one; 0 if there is none. */
static unsigned first_set(uint64_t x) {
    for (unsigned bit = 0; bit < 64; bit++)
        if (x >> bit & 1) return bit + 1;
    return 0;
}

static unsigned count_ones(uint64_t x) {
    unsigned ones = 0;
    for (; x; x &= x - 1)
        ones++;
    return ones;
}

static uint64_t reverse_bits(uint64_t x, unsigned width) {
    uint64_t reversed = 0;
    for (unsigned bit = 0; bit < width; bit++)
        reversed |= (x >> bit & 1) << (width - 1 - bit);
    return reversed;
}

/* The upper word of high:low shifted left, and the lower word of it shifted right. */
static uint32_t funnel_left(uint32_t low, uint32_t high, unsigned shift) {
    return shift == 32 ? low : (uint32_t)((((uint64_t)high << 32 | low) << shift) >> 32);
}
static uint32_t funnel_right(uint32_t low, uint32_t high, unsigned shift) {
    return (uint32_t)(((uint64_t)high << 32 | low) >> shift);
}

static void bit_ops(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i] >> (i % 33 == 32 ? 31 : i % 33), y = in.words[(i + 1) % n];
        uint64_t wide = (uint64_t)x << 32 | y;
        uint32_t counts = count_ones(x) + 64 * leading_zeros(x, 32) + 4096 * first_set(x);
        uint32_t wide_counts = count_ones(wide) + 128 * leading_zeros(wide, 64) +
                               16384 * first_set(wide & ~(uint64_t)0xff);
        unsigned clamped = i < 32 ? i : 32;
        uint32_t shifts = funnel_left(x, y, i % 32) ^ funnel_right(x, y, (i + 3) % 32) ^
                          funnel_left(x, y, clamped) ^ funnel_right(x, y, clamped);
        uint32_t past_width = i < 32 ? y << i : 0;
        uint32_t sign_filled = (uint32_t)((int64_t)(int32_t)y >> clamped);
        uint64_t reversed = reverse_bits(wide, 64) ^ reverse_bits(y, 32);
        out.words[i] = counts + wide_counts * 3 + shifts * 5 + past_width * 7 + sign_filled * 11 +
                       (uint32_t)(reversed >> 17);
    }
}

/* Byte `index` of the eight in y:x. */
static uint32_t byte_of_pair(uint32_t x, uint32_t y, unsigned index) {
    return (uint32_t)(((uint64_t)y << 32 | x) >> (8 * (index & 7))) & 255;
}

/* One byte per nibble of the selector; the top bit of the nibble selects the byte's sign,
 * repeated. */
static uint32_t permute(uint32_t x, uint32_t y, uint32_t selector) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned nibble = selector >> (4 * k) & 15;
        uint32_t byte = byte_of_pair(x, y, nibble);
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * k);
    }
    return result;
}

static void byte_ops(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], y = in.words[(i + 1) % n];
        uint32_t forward = 0, backward = 0, edge = 0, average = 0;
        for (unsigned k = 0; k < 4; k++) {
            forward |= byte_of_pair(x, y, i % 4 + k) << (8 * k);
            backward |= byte_of_pair(x, y, i % 4 + 8 - k) << (8 * k);
            edge |= byte_of_pair(x, y, k > i % 4 ? k : i % 4) << (8 * k);
            average |= (byte_of_pair(x, x, k) + byte_of_pair(y, y, k) + 1) / 2 << (8 * k);
        }
        uint32_t permuted = permute(x, y, 0x5140) ^ permute(x, y, (i * 0x1357) & 0x7777);
        out.words[i] = permuted + forward * 3 + backward * 5 + edge * 7 +
                       permute(x, y, 0xb8f9) * 11 + average * 13;
    }
}

static void carry_chain(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n / 8; i++) {
        const uint32_t *a = in.words + 8 * i, *b = a + 4;
        uint32_t *row = out.words + 8 * i;
        unsigned __int128 wide_a = (unsigned __int128)a[2] << 64 | (uint64_t)a[1] << 32 | a[0];
        unsigned __int128 wide_b = (unsigned __int128)b[2] << 64 | (uint64_t)b[1] << 32 | b[0];
        unsigned __int128 sum = wide_a + wide_b, difference = wide_a - wide_b;
        unsigned __int128 product = (unsigned __int128)(uint64_t)wide_a * (uint64_t)wide_b;
        row[0] = (uint32_t)sum;
        row[1] = (uint32_t)(sum >> 32);
        row[2] = (uint32_t)(sum >> 64) ^ (uint32_t)(difference >> 64);
        row[3] = (uint32_t)difference + (uint32_t)(difference >> 32);
        for (unsigned k = 0; k < 4; k++)
            row[4 + k] = (uint32_t)(product >> (32 * k));
    }
}

static int64_t low24_signed(uint32_t x) { return (int32_t)(x << 8) >> 8; }
static uint64_t low24(uint32_t x) { return x & 0xffffff; }

static void mul_forms(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], y = in.words[(i + 1) % n];
        int64_t sx = (int32_t)x, sy = (int32_t)y;
        int64_t signed24 = low24_signed(x) * low24_signed(y);
        uint64_t unsigned24 = low24(x) * low24(y);
        uint64_t wide = (uint64_t)x * y, wide_x = wide * 0x9e3779b97f4a7c15u;
        uint64_t high = (uint64_t)((unsigned __int128)wide * wide_x >> 64);
        __int128 signed_product = (__int128)(sx * sy) * (int64_t)wide_x;
        uint32_t sum = (uint32_t)(sx * sy >> 32) + (uint32_t)(wide >> 32);
        sum ^= (uint32_t)(high >> 7);
        sum += (uint32_t)((int64_t)(signed_product >> 64) >> 9);
        sum ^= (uint32_t)signed24 + (uint32_t)unsigned24;
        sum += ((uint32_t)(sx > sy ? sx - sy : sy - sx) + 3) * 5;
        sum += ((x > y ? x - y : y - x) + 4) * 7;
        uint32_t added = (uint32_t)signed24 + 5, high_added = (uint32_t)(unsigned24 >> 16) + 9;
        out.words[i] = sum + added * 3 + high_added * 11;
    }
}

static void narrow_types(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        int8_t c = (int8_t)in.words[i];
        uint8_t u = (uint8_t)(in.words[i] >> 8);
        int16_t s = (int16_t)(in.words[i] >> 16);
        c = (int8_t)(c * 3 + u);
        u = (uint8_t)(u - s);
        s = (int16_t)(s * c);
        s = (int16_t)(s >> 3);
        uint32_t low = (uint8_t)c, next = (uint8_t)(u / 3 + ((int8_t)u < c));
        out.words[i] = low | next << 8 | (uint32_t)(uint16_t)(s % 77) << 16;
    }
}

/* Bits length - 1 ... 0 of the result are those of x, starting at `position`. `fill` replaces the
 * bits above bit 31 and above the field. */
static uint32_t extract(uint32_t x, unsigned position, unsigned length, unsigned fill) {
    uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        bool is_inside = bit < length && position + bit < 32;
        result |= (is_inside ? x >> (position + bit) & 1 : fill) << bit;
    }
    return result;
}

static uint32_t insert(uint32_t field, uint32_t x, unsigned position, unsigned length) {
    for (unsigned bit = 0; bit < length && position + bit < 32; bit++) {
        uint32_t mask = (uint32_t)1 << (position + bit);
        x = field >> bit & 1 ? x | mask : x & ~mask;
    }
    return x;
}

/* Any function of three bits, given as a table of eight results. */
static uint32_t look_up(uint32_t x, uint32_t y, uint32_t z, unsigned table) {
    uint32_t result = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned index = (x >> bit & 1) << 2 | (y >> bit & 1) << 1 | (z >> bit & 1);
        result |= (table >> index & 1) << bit;
    }
    return result;
}

static void logic_asm(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], y = in.words[(i + 1) % n], z = in.words[(i + 2) % n];
        uint32_t *row = out.words + 12 * i;
        unsigned position = i % 40, length = i / 2 % 36;
        unsigned last = position + length - 1 < 31 ? position + length - 1 : 31;
        uint32_t shifted = x >> (position & 31), without_sign = x >> 31 ? ~x : x;
        row[0] = look_up(x, y, z, 0x96);
        row[1] = look_up(x, y, z, 0xe8);
        row[2] = look_up(x, y, z, 0x1b);
        row[3] = extract(x, position, length, 0);
        row[4] = extract(x, position, length, length ? x >> last & 1 : 0);
        row[5] = insert(x, y, position, length);
        row[6] = 31 - leading_zeros(shifted, 32);
        row[7] = without_sign ? leading_zeros(without_sign, 32) : UINT32_MAX;
        row[8] = row[9] = row[10] = z;
        for (unsigned k = 0; k < 4; k++)
            row[8] += (uint32_t)((int8_t)(x >> (8 * k)) * (int)(y >> (8 * k) & 255));
        for (unsigned k = 0; k < 2; k++) {
            row[9] += (x >> (16 * k) & 0xffff) * (y >> (8 * k) & 255);
            row[10] += (uint32_t)((int16_t)(x >> (16 * k)) * (int8_t)(y >> (16 + 8 * k)));
        }
        row[11] = (i & 1 ? 0 : x) == 0;
    }
}

static void video_asm(Data in, Data out, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = in.words[i], y = in.words[(i + 1) % n], z = in.words[(i + 2) % n];
        uint32_t *row = out.words + 6 * i;
        int64_t sum = (int64_t)(int32_t)x + (int32_t)y;
        int32_t x_low = (int16_t)x, y_high = (int8_t)(y >> 24);
        uint32_t x0 = x & 255, y2 = y >> 16 & 255, x3 = x >> 24, y3 = y >> 24;
        row[0] = (uint32_t)(int32_t)(sum > INT32_MAX   ? INT32_MAX
                                     : sum < INT32_MIN ? INT32_MIN
                                                       : sum);
        row[1] = (x >> 8 & 255) - (y >> 16);
        row[2] = (uint32_t)(x_low < y_high ? x_low : y_high);
        row[3] = (x0 > y2 ? x0 : y2) + z;
        row[4] = (x3 > y3 ? x3 - y3 : y3 - x3) + z;
        row[5] = (x >> 16) + (y & 0xffff);
    }
}

/* Two CTAs over 128 words, and `words_per_thread` words of result for each thread. */
#define ROWS_OF(words_per_thread)                                                                  \
    .shape = {.grid = {2}, .block = {64}}, .in = {KIND_WORDS, 128},                                \
    .out = {KIND_WORDS, 128 * (words_per_thread)}

const KernelTest INTEGER_TESTS[] = {
    {.name = "division64",
     .shape = {.grid = {2}, .block = {64}},
     .in = {KIND_LONGS, 256},
     .out = {KIND_LONGS, 256},
     .reference = division64},
    {.name = "bit_ops", ROWS_OF(1), .reference = bit_ops},
    {.name = "byte_ops", ROWS_OF(1), .reference = byte_ops},
    {.name = "carry_chain", ROWS_OF(1), .reference = carry_chain},
    {.name = "mul_forms", ROWS_OF(1), .reference = mul_forms},
    {.name = "narrow_types", ROWS_OF(1), .reference = narrow_types},
    {.name = "logic_asm", ROWS_OF(12), .reference = logic_asm},
    {.name = "video_asm", ROWS_OF(6), .reference = video_asm},
    {0},
};
