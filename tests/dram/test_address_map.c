/* Address map: the recorded places of the GTX 480, the inverse functions, and rejected maps. */
#include "dram/address_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define GTX480_BITS "RRRR.RRRRRRRR.BBBCCCC.b.CC.CCCCCC"
#define OWL_BITS    "RRRRRRRRRRRR.BB.CCC.PPP.CCCCCCCC"

static const AddressMapConfig gtx480 = {.bits = GTX480_BITS, .channels = 6, .block_bytes = 256};
static const AddressMapConfig md = {
    .bits = "RRRRRRRRRRRR.BBBB.CCCC.CCCCCCCC", .channels = 12, .block_bytes = 256};
static const AddressMapConfig owl = {.bits = OWL_BITS};
static const AddressMapConfig one = {
    .bits = "RRRRRRRR.BB.CCCCCCCCCC", .channels = 1, .block_bytes = 256};

/* Volta and Ampere as in GPGPU-Sim 4.2's models. */
static const AddressMapConfig qv100 = {.bits = "RRRRRRRRRRRRR.BBB.CCC.b.PPPPP.CCCCCCCC",
                                       .hash = "ipoly 0x43: 32..14,12..8,13"};
static const AddressMapConfig rtx3070 = {.bits = "RRRRRRRRRRRRR.BBB.CCCC.PPPP.b.CCCCCCC",
                                         .hash = "ipoly 0x25: 27..13,11..8,7"};
static const AddressMapConfig divided = {.bits = "RRRRRRRRRRRR.BBBB.CC.SS.CCCCCCCC",
                                         .channels = 20,
                                         .block_bytes = 256,
                                         .hash = "11..8 ^ 15..12 ^ 22,21,18,16",
                                         .bank_hash = "15..12 ^ 20,18,17,16"};

/* The map that CCWS's authors released: the row rotates the channels. */
static const AddressMapConfig ccws = {.bits = "RRRRRRRRRRRRRR.BBB.CCC.PPP.CCCCCCCC",
                                      .hash = "10..8 + 9 x 19..17"};

static AddressMap build(const AddressMapConfig *config) {
    AddressMap map;
    Diag *diag = diag_new();
    bool is_built = address_map_init(&map, config, diag);
    assert_string_equal(diag_text(diag), "");
    assert_true(is_built);
    diag_free(diag);
    return map;
}

/* The example rows of the peer's map, as observed. */
static void gtx480_examples(void **state) {
    (void)state;
    static const struct {
        uint64_t address;
        uint32_t channel, slice, bank, row, column;
    } rows[] = {
        {0xC0000000, 0, 0, 0, 0, 0},
        {0xC0000100, 1, 2, 0, 0, 0},
        {0xC0000600, 0, 1, 1, 0, 0},
        {0xC0012340, 3, 6, 2, 0, 0x840},
    };
    AddressMap map = build(&gtx480);
    assert_int_equal(map.channels, 6);
    assert_int_equal(map.slices_per_channel, 2);
    assert_int_equal(map.banks, 16);
    assert_int_equal(map.row_bytes, 4096);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        DramPlace place = address_map_place(&map, rows[i].address);
        assert_int_equal(place.channel, rows[i].channel);
        assert_int_equal(place.slice, rows[i].slice);
        assert_int_equal(place.bank, rows[i].bank);
        assert_int_equal(place.row, rows[i].row);
        assert_int_equal(place.column, rows[i].column);
        assert_int_equal(address_map_slice(&map, rows[i].address), rows[i].slice);
    }
}

/* Places observed on the peer's models of Volta and Ampere, whose slices are hashed. */
static void hashed_examples(void **state) {
    (void)state;
    static const struct {
        uint64_t address;
        uint32_t slice, bank, row, column;
    } rows[2][8] = {{
                        {0xC0000000, 28, 0, 3072, 0},
                        {0xC0000080, 28, 0, 3072, 128},
                        {0xC0000100, 30, 0, 3072, 0},
                        {0xC0002000, 29, 1, 3072, 0},
                        {0xC0004000, 31, 0, 3072, 256},
                        {0xC0020000, 4, 2, 3072, 0},
                        {0xC0100000, 25, 0, 3073, 0},
                        {0xC0012340, 23, 1, 3072, 1088},
                    },
                    {
                        {0xC0000000, 0, 0, 6144, 0},
                        {0xC0000080, 1, 1, 6144, 0},
                        {0xC0000100, 2, 0, 6144, 0},
                        {0xC0002000, 5, 0, 6144, 256},
                        {0xC0004000, 10, 0, 6144, 512},
                        {0xC0020000, 26, 4, 6144, 0},
                        {0xC0100000, 14, 0, 6146, 0},
                        {0xC0012340, 14, 2, 6144, 320},
                    }};
    const AddressMapConfig *configs[] = {&qv100, &rtx3070};
    for (int machine = 0; machine < 2; machine++) {
        AddressMap map = build(configs[machine]);
        for (int i = 0; i < 8; i++) {
            DramPlace place = address_map_place(&map, rows[machine][i].address);
            assert_int_equal(place.slice, rows[machine][i].slice);
            assert_int_equal(place.channel, rows[machine][i].slice / 2);
            assert_int_equal(place.bank, rows[machine][i].bank);
            assert_int_equal(place.row, rows[machine][i].row);
            assert_int_equal(place.column, rows[machine][i].column);
            assert_int_equal(address_map_slice(&map, rows[machine][i].address), place.slice);
        }
    }
}

static void summed_examples(void **state) {
    (void)state;
    AddressMap map = build(&ccws);
    for (uint64_t row = 0; row < 16; row++)
        for (uint64_t own = 0; own < 8; own++) {
            uint64_t address = row << 17 | own << 8 | 0x3810;
            DramPlace place = address_map_place(&map, address);
            assert_int_equal(place.channel, (own + 9 * row) % 8);
            assert_int_equal(place.row, row);
            assert_int_equal(place.column, 0x710);
        }
}

/* Blocks are hashed before they are distributed, so each channel gets its share, even of addresses
 * that are a power of two apart. */
static void a_hashed_division_deals_out_evenly(void **state) {
    (void)state;
    AddressMap map = build(&divided);
    for (uint64_t stride = 256; stride <= 65536; stride *= 4) {
        uint32_t count[20] = {0};
        for (uint64_t i = 0; i < 20000; i++)
            count[address_map_slice(&map, i * stride) / map.slices_per_channel]++;
        for (int channel = 0; channel < 20; channel++)
            assert_in_range(count[channel], 900, 1100);
    }
}

static void bit_string_places(void **state) {
    (void)state;
    AddressMap map = build(&owl);
    assert_int_equal(map.channels, 8);
    assert_int_equal(map.slices_per_channel, 1);
    assert_int_equal(map.banks, 4);
    assert_int_equal(map.row_bytes, 2048);
    /* row 0xABC, bank 2, column 5 x 256 + 0x40, channel 6 */
    uint64_t address = UINT64_C(0xABC) << 16 | 2u << 14 | 5u << 11 | 6u << 8 | 0x40;
    DramPlace place = address_map_place(&map, address);
    assert_int_equal(place.channel, 6);
    assert_int_equal(place.row, 0xABC);
    assert_int_equal(place.bank, 2);
    assert_int_equal(place.column, 0x540);
    /* The local address leaves out the channel's bits. */
    assert_int_equal(address_map_local(&map, address), (address >> 11) << 8 | 0x40);
}

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

/* Divisions agree with the host's own, and both inverses return the original address. */
static void inverses(void **state) {
    (void)state;
    const AddressMapConfig *configs[] = {&gtx480, &md,      &owl,     &one,
                                         &qv100,  &rtx3070, &divided, &ccws};
    uint64_t seed = 88172645463325252u;
    for (size_t c = 0; c < 8; c++) {
        AddressMap map = build(configs[c]);
        for (int i = 0; i < 20000; i++) {
            uint64_t address = next_random(&seed) >> next_random(&seed) % 40;
            DramPlace place = address_map_place(&map, address);
            if (configs[c]->channels && !configs[c]->hash)
                assert_int_equal(place.channel, address / 256 % configs[c]->channels);
            assert_true(place.bank < map.banks && place.column < map.row_bytes);
            uint64_t local = address_map_local(&map, address);
            assert_true(address_map_address(&map, place.channel, local) == address);
            assert_true(address_map_sibling(&map, address, place.column) == address);
            uint32_t column = (uint32_t)(next_random(&seed) % map.row_bytes);
            DramPlace other = address_map_place(&map, address_map_sibling(&map, address, column));
            assert_int_equal(other.channel, place.channel);
            assert_int_equal(other.bank, place.bank);
            assert_int_equal(other.row, place.row);
            assert_int_equal(other.column, column);
        }
    }
}

static void rejected(void **state) {
    (void)state;
    static const struct {
        AddressMapConfig config;
        const char *why;
    } rows[] = {
        {{.bits = "RRRRXCCCCCC"}, "'X': not one of"},
        {{.bits = "BBCCCCCC"}, "0 row bits"},
        {{.bits = ""}, "0 row bits"},
        {{.bits = "RRRRBBCCC"}, "3 column bits"},
        {{.bits = "RRRRPPBBCCCCCC", .channels = 6, .block_bytes = 256}, "either from bits"},
        {{.bits = "RRRRBBCCCCCC", .channels = 6, .block_bytes = 100}, "blocks of 100 bytes"},
        {{.bits = "RRRRBBCCCCCC", .channels = 6, .block_bytes = 0}, "blocks of 0 bytes"},
        {{.bits = "RRRRBBCCCCCC", .channels = 300, .block_bytes = 512}, "300 channels"},
        {{.bits = "RBRBRBRBRBRBRBRBRBRBRBRBRBCRCRCRCRCR"}, "more than 12 pieces"},
        {{.bits = "RRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRCCCCCC"}, "more than 48 bits"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "9..8 & 1"}, "neither lists of bits"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "10..8"}, "makes 3 bits instead of 2"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "8,9"}, "bit 0 of the result must have address bit 8"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "9..8 ^ 8,10"}, "no other bit of the result may"},
        {{.bits = "RRRRBBCCCCCCCCCC", .channels = 3, .block_bytes = 256, .hash = "9,8 ^ 12,7"},
         "bit 7 lies within a block"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "9..8 + 11..10"}, "a sum is that of"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "8 + 3 x 10"}, "a sum is that of"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "8,9 + 3 x 11..10"}, "a sum is that of"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "9..8 ^ 10 + 3 x 11"}, "a sum is that of"},
        {{.bits = "RRRRPPBBCCCCCC", .hash = "9..8 + 3 x 10,8"}, "a sum is that of"},
        {{.bits = "RRRPPSBBCCCCCC", .hash = "10..9 + 3 x 11"}, "a sum is that of"},
        {{.bits = "RRRRBBCCCCCCCCCC", .channels = 3, .block_bytes = 256, .hash = "9,8 + 3 x 12"},
         "a sum is that of"},
        {{.bits = "RRRRBBCCCCCC", .bank_hash = "7..6 ^ 8,5"}, "neither of the bank nor of the row"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AddressMap map;
        Diag *diag = diag_new();
        assert_false(address_map_init(&map, &rows[i].config, diag));
        assert_non_null(strstr(diag_text(diag), rows[i].why));
        diag_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gtx480_examples),   cmocka_unit_test(hashed_examples),
        cmocka_unit_test(summed_examples),   cmocka_unit_test(a_hashed_division_deals_out_evenly),
        cmocka_unit_test(bit_string_places), cmocka_unit_test(inverses),
        cmocka_unit_test(rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
