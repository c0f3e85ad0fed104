/* Address map: the recorded places of the GTX 480, the inverse directions, and rejected maps. */
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
    /* The channel's bits are squeezed out of the local address. */
    assert_int_equal(address_map_local(&map, address), (address >> 11) << 8 | 0x40);
}

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return *seed;
}

/* The division agrees with the machine's own, and both inverses come back to where they began. */
static void inverses(void **state) {
    (void)state;
    const AddressMapConfig *configs[] = {&gtx480, &md, &owl, &one};
    uint64_t seed = 88172645463325252u;
    for (size_t c = 0; c < 4; c++) {
        AddressMap map = build(configs[c]);
        for (int i = 0; i < 20000; i++) {
            uint64_t address = next_random(&seed) >> next_random(&seed) % 40;
            DramPlace place = address_map_place(&map, address);
            if (configs[c]->channels)
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
        cmocka_unit_test(gtx480_examples),
        cmocka_unit_test(bit_string_places),
        cmocka_unit_test(inverses),
        cmocka_unit_test(rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
