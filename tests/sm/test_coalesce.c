/* Coalescing alone: the accesses of 32 addresses, and the cycles of shared memory's banks, in
 * closed form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "sm/coalesce.h"

enum { BASE = 0x10000, SECTOR = 32, LINE = 128 };

static const SmLsuConfig plain_lsu = {.coalesced_lanes = 32,
                                      .shrinks_segments = true,
                                      .narrows_small_elements = true,
                                      .descends = false,
                                      .bypass_segment_bytes = 32,
                                      .caches_global = true,
                                      .caches_local = true};
static const SmSharedConfig plain_shared = {.banks = 32,
                                            .bank_bytes = 4,
                                            .conflict_lanes = 32,
                                            .conflict_cycles = 1,
                                            .passes_per_cycle = 1};

typedef struct Bench {
    SmLsuConfig lsu;
    SmSharedConfig shared;
    SmCoalescer coalescer;
    SmLayout layout;
    IsaInfo info;
    uint64_t address[ISA_LANES];
    uint8_t space[ISA_LANES];
    SmOperation operation;
    SmAccess access[SM_MAX_ACCESSES];
    SmMemory memory;
} Bench;

static void bench_init(Bench *bench, IsaMemoryKind kind, PtxSpace space, uint8_t bytes) {
    *bench = (Bench){.lsu = plain_lsu, .shared = plain_shared};
    bench->coalescer = (SmCoalescer){.lsu = &bench->lsu,
                                     .shared = &bench->shared,
                                     .l2_sector_bytes = SECTOR,
                                     .least_bytes = SECTOR,
                                     .l1d_bytes = LINE,
                                     .l1c_bytes = 64,
                                     .l1t_bytes = 128,
                                     .sm = 1,
                                     .sms = 4};
    bench->layout = coalesce_layout(&bench->coalescer, 2, 8, 0);
    bench->memory.access = bench->access;
    bench->info = (IsaInfo){
        .memory = (uint8_t)kind, .space = (uint8_t)space, .element_bytes = bytes, .vector = 1};
    bench->operation = (SmOperation){.layout = &bench->layout,
                                     .info = &bench->info,
                                     .address = bench->address,
                                     .space = bench->space,
                                     .lanes = UINT32_MAX};
}

/* Lane i at `base` + i x `stride`. */
static void stride(Bench *bench, uint64_t base, uint64_t bytes) {
    for (uint64_t i = 0; i < ISA_LANES; i++)
        bench->address[i] = base + i * bytes;
}

static const SmMemory *run(Bench *bench) {
    coalesce(&bench->coalescer, &bench->operation, &bench->memory);
    return &bench->memory;
}

static uint32_t cycles(Bench *bench) { return run(bench)->cycles; }

/* ---- Accesses ---- */

/* The accesses that the lanes would make if their data were adjacent: for a copy of vectors as many
 * as are made, for a stride fewer, for one word that all lanes read just one. */
static void test_accesses_that_the_data_need_are_known(void **state) {
    (void)state;
    static const struct {
        uint8_t element, vector;
        uint32_t stride, lanes;
        uint16_t made, least;
    } rows[] = {
        {4, 1, 4, UINT32_MAX, 4, 4}, {4, 4, 16, UINT32_MAX, 16, 16}, {4, 1, 32, UINT32_MAX, 32, 4},
        {4, 1, 8, UINT32_MAX, 8, 4}, {4, 1, 0, UINT32_MAX, 1, 1},    {8, 1, 256, 0xFF, 8, 2},
        {4, 1, 4, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, rows[i].element);
        bench.coalescer.l1d_bytes = SECTOR;
        bench.info.vector = rows[i].vector;
        bench.operation.lanes = rows[i].lanes;
        stride(&bench, BASE, rows[i].stride);
        assert_int_equal(run(&bench)->count, rows[i].made);
        assert_int_equal(run(&bench)->least, rows[i].least);
        bench.lsu.coalesced_lanes = 16; /* each half has its own accesses */
        assert_true(run(&bench)->least <= run(&bench)->count);
    }
}

/* Each half-warp has accesses of its own and shares none with the other half. Accesses to constants
 * and textures belong to the whole warp. */
static void test_each_half_of_a_warp_can_have_accesses_of_its_own(void **state) {
    (void)state;
    for (int has_pattern = 0; has_pattern < 2; has_pattern++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
        bench.lsu.coalesced_lanes = 16;
        stride(&bench, BASE, 4);
        if (has_pattern) bench.operation.pattern = ISA_HALF_RUN | ISA_HALF_RUN << ISA_HALF_BITS;
        const SmMemory *memory = run(&bench);
        assert_int_equal(memory->count, 2);
        for (uint32_t half = 0; half < 2; half++) {
            assert_int_equal(memory->access[half].address, BASE + half * 64);
            assert_int_equal(memory->access[half].bytes, 64);
            assert_int_equal(memory->access[half].lanes, half ? 0xFFFF0000 : 0xFFFF);
        }
        bench.lsu.shrinks_segments = false;
        run(&bench);
        assert_int_equal(memory->access[0].address, BASE);
        assert_int_equal(memory->access[1].address, BASE);
        assert_int_equal(memory->access[1].bytes, LINE);
        bench.operation.pattern = 0;
        bench.operation.lanes = 0xFFFF0000;
        assert_int_equal(run(&bench)->count, 1);
        bench.operation.lanes = UINT32_MAX;
        stride(&bench, BASE, LINE);
        assert_int_equal(run(&bench)->count, 32);
        bench.lsu.descends = true; /* the last half first, starting from its highest address */
        run(&bench);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(memory->access[i].lanes, UINT32_C(1) << (31 - i));
        bench.info.space = PTX_SPACE_CONST;
        stride(&bench, BASE, 0);
        assert_int_equal(run(&bench)->count, 1);
    }
}

/* With sectors of a line and a least segment of 32 bytes, an access requests the half of its
 * segment that it touches, and the half of that half. An access on both sides of the middle is not
 * halved. */
static void test_segments_shrink_to_halves_within_a_sector(void **state) {
    (void)state;
    static const struct {
        uint32_t from, lanes, bytes;    /* touches words of the line from `from` on */
        uint32_t accesses, start, sent; /* of the first access */
        SmBytes written;
    } rows[] = {
        {0, 32, 4, 1, 0, 128, ~(SmBytes)0}, {0, 8, 4, 1, 0, 32, 0xFFFFFFFF},
        {8, 8, 4, 1, 32, 32, 0xFFFFFFFF},   {24, 1, 4, 1, 96, 32, 0xF},
        {16, 16, 4, 1, 64, 64, UINT64_MAX}, {8, 16, 4, 1, 0, 128, (SmBytes)UINT64_MAX << 32},
        {0, 32, 1, 1, 0, 32, 0xFFFFFFFF},   {64, 32, 1, 1, 64, 32, 0xFFFFFFFF},
        {16, 32, 1, 2, 0, 32, 0xFFFF0000},  {0, 32, 2, 1, 0, 64, UINT64_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_STORE, PTX_SPACE_GLOBAL, (uint8_t)rows[i].bytes);
        bench.coalescer.l2_sector_bytes = LINE;
        stride(&bench, BASE + (uint64_t)rows[i].from * rows[i].bytes, rows[i].bytes);
        bench.operation.lanes = (uint32_t)bits_low_mask((int)rows[i].lanes);
        const SmMemory *memory = run(&bench);
        assert_int_equal(memory->count, rows[i].accesses);
        assert_int_equal(memory->access[0].address, BASE + rows[i].start);
        assert_int_equal(memory->access[0].bytes, rows[i].sent);
        assert_int_equal(memory->access[0].sectors, 1);
        assert_true(memory->access[0].written == rows[i].written);
        bench.coalescer.least_bytes = LINE; /* as without shrinking */
        run(&bench);
        assert_int_equal(memory->count, 1);
        assert_int_equal(memory->access[0].address, BASE);
        assert_int_equal(memory->access[0].bytes, LINE);
    }
}

static void test_a_line_of_words_is_one_access(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
    stride(&bench, BASE, 4);
    const SmMemory *memory = run(&bench);
    assert_int_equal(memory->path, SM_PATH_L1D);
    assert_int_equal(memory->count, 1);
    assert_int_equal(memory->access[0].address, BASE);
    assert_int_equal(memory->access[0].sectors, 0xF);
    assert_int_equal(memory->access[0].bytes, LINE);
    assert_int_equal(memory->access[0].lanes, UINT32_MAX);
    assert_false(memory->is_store);
    assert_false(memory->is_atomic);
    assert_false(memory->is_local);
}

/* 32 lanes, `bytes` bytes apart, touch as many lines as their addresses span. */
static void test_a_stride_touches_its_share_of_lines_in_either_order(void **state) {
    (void)state;
    for (uint32_t bytes = 4; bytes <= 512; bytes *= 2)
        for (int descends = 0; descends < 2; descends++) {
            Bench bench;
            bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
            bench.lsu.descends = descends;
            stride(&bench, BASE, bytes);
            const SmMemory *memory = run(&bench);
            uint32_t lines = bytes < LINE ? bytes / 4 : ISA_LANES;
            assert_int_equal(memory->count, lines);
            uint64_t step = bytes < LINE ? LINE : bytes;
            for (uint32_t i = 0; i < lines; i++) {
                uint32_t nth = descends ? lines - 1 - i : i;
                assert_int_equal(memory->access[i].address, BASE + nth * step);
            }
        }
}

static void test_an_access_asks_only_for_sectors_touched_where_segments_shrink(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
    stride(&bench, BASE, 4);
    bench.operation.lanes = 0x00FF0100; /* of sectors 1 and 2 */
    const SmAccess *access = &run(&bench)->access[0];
    assert_int_equal(access->address, BASE + SECTOR);
    assert_int_equal(access->sectors, 3);
    assert_int_equal(access->bytes, 2 * SECTOR);
    assert_int_equal(access->lanes, 0x00FF0100);
    bench.lsu.shrinks_segments = false;
    run(&bench);
    assert_int_equal(access->address, BASE);
    assert_int_equal(access->sectors, 0xF);
    assert_int_equal(access->bytes, LINE);
}

static void test_small_elements_coalesce_in_narrower_segments(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes;
        bool narrows;
        uint32_t count; /* 128 bytes, one element in each word */
    } rows[] = {{1, true, 4}, {2, true, 2}, {4, true, 1}, {1, false, 1}, {2, false, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, rows[i].bytes);
        bench.lsu.narrows_small_elements = rows[i].narrows;
        stride(&bench, BASE, 4);
        assert_int_equal(run(&bench)->count, rows[i].count);
    }
}

static void test_a_store_notes_the_bytes_it_writes(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_STORE, PTX_SPACE_GLOBAL, 4);
    stride(&bench, BASE + 64, 8);
    bench.operation.lanes = 0x3;
    const SmMemory *memory = run(&bench);
    assert_true(memory->is_store);
    assert_int_equal(memory->access[0].address, BASE + 64);
    assert_int_equal((uint64_t)memory->access[0].written, 0x0F0F);
    assert_int_equal((uint64_t)(memory->access[0].written >> 64), 0);
}

static void test_wide_vectors_span_as_many_lines_as_bytes_need(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
    bench.info.vector = 4;
    stride(&bench, BASE, 16);
    assert_int_equal(run(&bench)->count, 4);
    assert_int_equal(bench.memory.access[0].sectors, 0xF);
}

/* ---- Atomics ---- */

static void test_atomics_on_one_word_go_one_after_the_other(void **state) {
    (void)state;
    for (uint32_t same = 1; same <= 32; same *= 2) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_ATOMIC, PTX_SPACE_GLOBAL, 4);
        for (uint32_t i = 0; i < ISA_LANES; i++)
            bench.address[i] = BASE + i / same * SECTOR; /* one segment for every `same` lanes */
        const SmMemory *memory = run(&bench);
        assert_true(memory->is_atomic);
        assert_int_equal(memory->path, SM_PATH_BYPASS);
        assert_int_equal(memory->count, ISA_LANES);
        assert_int_equal(memory->access[0].bytes, SECTOR);
        assert_int_equal(memory->access[0].sectors, 1);
    }
}

static void test_atomics_on_different_words_of_a_segment_go_together(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_ATOMIC, PTX_SPACE_GLOBAL, 4);
    stride(&bench, BASE, 4);
    assert_int_equal(run(&bench)->count, 4); /* 128 bytes in segments of 32 */
    bench.address[1] = bench.address[0];     /* one more for the word that two lanes name */
    assert_int_equal(run(&bench)->count, 5);
}

/* ---- Shared memory ---- */

static uint32_t gcd(uint32_t a, uint32_t b) { return b ? gcd(b, a % b) : a; }

static void test_a_stride_of_words_conflicts_by_its_common_divisor_with_the_banks(void **state) {
    (void)state;
    for (uint32_t words = 1; words <= 64; words++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
        stride(&bench, 0, words * 4);
        assert_int_equal(cycles(&bench), gcd(words, 32));
        assert_int_equal(bench.memory.path, SM_PATH_SHARED);
        assert_int_equal(bench.memory.count, 1);
    }
}

static void test_lanes_that_read_one_word_share_it(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
    stride(&bench, 64, 0);
    assert_int_equal(cycles(&bench), 1);
    /* they also share it when another word of the bank is read */
    for (uint32_t words = 2; words <= 32; words *= 2) {
        for (uint32_t i = 0; i < ISA_LANES; i++)
            bench.address[i] = i % words * 128;
        assert_int_equal(cycles(&bench), words);
    }
}

static void test_half_warps_take_turns_and_share_words_among_themselves(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
    bench.shared.banks = 16;
    bench.shared.conflict_lanes = 16;
    stride(&bench, 0, 4);
    assert_int_equal(cycles(&bench), 2);
    stride(&bench, 0, 0);
    assert_int_equal(cycles(&bench), 2);
    stride(&bench, 0, 64);
    assert_int_equal(cycles(&bench), 32);
    bench.operation.lanes = 0xFFFF;
    assert_int_equal(cycles(&bench), 16);
}

/* A word that several lanes of a half read takes a pass of its own, whatever its width. The other
 * lanes keep their positions in the banks. */
static void test_what_lanes_have_in_common_can_take_a_pass_of_its_own(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
    bench.shared.banks = 16;
    bench.shared.conflict_lanes = 16;
    bench.shared.lone_broadcasts = true;
    stride(&bench, 0, 4); /* no two lanes the same */
    assert_int_equal(cycles(&bench), 2);
    stride(&bench, 0, 0); /* all the same */
    assert_int_equal(cycles(&bench), 2);
    bench.info.vector = 4;
    assert_int_equal(cycles(&bench), 2);
    bench.info.vector = 1;
    for (uint32_t i = 0; i < ISA_LANES; i++) /* four words, read by four lanes each */
        bench.address[i] = i / 4 * 4;
    assert_int_equal(cycles(&bench), 8);
    stride(&bench, 0, 4); /* one pair in each half, and 14 single lanes */
    bench.address[1] = bench.address[0];
    bench.address[17] = bench.address[16];
    assert_int_equal(cycles(&bench), 4);
    bench.info.element_bytes = 1; /* different bytes of a word are not the same */
    stride(&bench, 0, 1);
    assert_int_equal(cycles(&bench), 8);
    bench.info.element_bytes = 8; /* every other bank, twice */
    stride(&bench, 0, 8);
    assert_int_equal(cycles(&bench), 4);
}

/* Of the words that several lanes of a half read, the one in the first bank goes to all of them at
 * once. The others go to one lane per pass. */
static void test_one_word_can_be_all_that_is_broadcast(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
    bench.shared.banks = 16;
    bench.shared.conflict_lanes = 16;
    bench.shared.one_broadcast = true;
    stride(&bench, 0, 4); /* no two lanes the same */
    assert_int_equal(cycles(&bench), 2);
    stride(&bench, 0, 0); /* all the same */
    assert_int_equal(cycles(&bench), 2);
    for (uint32_t i = 0; i < ISA_LANES; i++) /* two words, read by eight lanes each */
        bench.address[i] = i / 8 * 4;
    assert_int_equal(cycles(&bench), 16);
    bench.operation.lanes = 0xFFFF;
    assert_int_equal(cycles(&bench), 8);
    for (uint32_t i = 0; i < 16; i++) /* also in one bank: the lower word is broadcast */
        bench.address[i] = i < 6 ? 64 : 0;
    assert_int_equal(cycles(&bench), 7);
    stride(&bench, 0, 64); /* a pair in the bank of 14 others, which is the first bank */
    bench.address[1] = bench.address[0];
    assert_int_equal(cycles(&bench), 15);
    bench.address[2] = bench.address[3] = 4; /* likewise in the next bank */
    assert_int_equal(cycles(&bench), 13);
    bench.info.element_bytes = 8; /* a wide element is identified by its first word */
    stride(&bench, 0, 8);
    assert_int_equal(cycles(&bench), 2);
}

static void test_several_passes_can_fit_a_cycle(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
    bench.shared.banks = 16;
    bench.shared.conflict_lanes = 16;
    bench.shared.passes_per_cycle = 2;
    stride(&bench, 0, 4);
    assert_int_equal(cycles(&bench), 1);
    stride(&bench, 0, 64);
    assert_int_equal(cycles(&bench), 16);
    stride(&bench, 0, 4);
    bench.address[1] = 64; /* three passes */
    assert_int_equal(cycles(&bench), 2);
}

/* Passes needed for the width of the data take one cycle each; passes added by conflicts take
 * more. */
static void test_conflicts_can_take_several_cycles(void **state) {
    (void)state;
    static const struct {
        uint32_t bytes, stride, each, cycles;
    } rows[] = {{4, 4, 2, 1}, {4, 8, 2, 3}, {4, 16, 2, 7}, {4, 128, 2, 63},
                {4, 8, 3, 4}, {8, 8, 2, 2}, {8, 16, 2, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, (uint8_t)rows[i].bytes);
        bench.shared.conflict_cycles = rows[i].each;
        stride(&bench, 0, rows[i].stride);
        assert_int_equal(cycles(&bench), rows[i].cycles);
    }
}

static void test_each_word_of_constants_can_be_an_access(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_CONST, 4);
    stride(&bench, 0, 4);
    cycles(&bench);
    const uint32_t lines = bench.memory.count;
    assert_true(lines < 32);
    bench.lsu.constant_words = true;
    cycles(&bench);
    assert_int_equal(bench.memory.count, 32);
    stride(&bench, 0, 0);
    cycles(&bench);
    assert_int_equal(bench.memory.count, 1); /* one word for all lanes */
}

static void test_wide_elements_take_a_pass_for_each_of_their_words(void **state) {
    (void)state;
    static const struct {
        uint8_t bytes, vector;
        uint32_t cycles;
    } rows[] = {{8, 1, 2}, {4, 4, 4}, {8, 2, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, rows[i].bytes);
        bench.info.vector = rows[i].vector;
        stride(&bench, 0, (uint64_t)rows[i].bytes * rows[i].vector);
        assert_int_equal(cycles(&bench), rows[i].cycles);
    }
    Bench bench; /* banks of 8 bytes take them in one pass */
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 8);
    bench.shared.bank_bytes = 8;
    stride(&bench, 0, 8);
    assert_int_equal(cycles(&bench), 1);
}

/* Passes of aligned elements, one group of lanes after another. In each set of banks that an
 * element covers, a pass serves one element. */
static uint32_t passes_of_elements(const Bench *bench, uint32_t bytes) {
    const uint32_t together = 128 / bytes;
    uint32_t passes = 0;
    for (uint32_t first = 0; first < 32; first += together) {
        uint32_t most = 0, in_set[32] = {0};
        for (uint32_t lane = first; lane < first + together; lane++) {
            bool is_new = bench->operation.lanes >> lane & 1;
            for (uint32_t other = first; other < lane; other++)
                is_new &= !(bench->operation.lanes >> other & 1) ||
                          bench->address[other] != bench->address[lane];
            const uint32_t count = in_set[bench->address[lane] / bytes % together] += is_new;
            if (count > most) most = count;
        }
        passes += most;
    }
    return passes ? passes : 1;
}

static void test_wide_elements_conflict_where_their_banks_do(void **state) {
    (void)state;
    static const uint8_t vectors[] = {2, 4};
    uint64_t random = 1;
    for (uint32_t round = 0; round < 4000; round++) {
        Bench bench;
        bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
        bench.info.vector = vectors[round % 2];
        const uint32_t bytes = 4u * bench.info.vector, few = 1 + round % 3 * 20;
        for (uint32_t lane = 0; lane < 32; lane++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u; /* Knuth */
            const uint64_t other = (random >> 40) % few ? lane : random >> 33;
            bench.address[lane] = other % 64 * bytes;
        }
        bench.operation.lanes = round % 5 ? UINT32_MAX : (uint32_t)(random >> 32) & 0xFF00FFFF;
        assert_int_equal(cycles(&bench), passes_of_elements(&bench, bytes));
    }
}

/* ---- Where accesses go ---- */

/* Bank conflicts are the cycles beyond those needed for the width of the data. */
static void test_shared_cycles_without_conflicts_are_known(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 4);
    for (uint32_t words = 1; words <= 32; words *= 2) {
        stride(&bench, 0, 4 * words);
        assert_int_equal(run(&bench)->cycles, words);
        assert_int_equal(run(&bench)->least, 1);
    }
    bench.info.vector = 4;
    stride(&bench, 0, 16);
    assert_int_equal(run(&bench)->cycles, 4);
    assert_int_equal(run(&bench)->least, 4);
    stride(&bench, 0, 128);
    bench.shared.conflict_cycles = 2;
    assert_true(run(&bench)->cycles > 32);
    assert_int_equal(run(&bench)->least, 4);
}

static void test_each_space_and_kind_goes_its_way(void **state) {
    (void)state;
    static const struct {
        IsaMemoryKind kind;
        PtxSpace space;
        PtxCacheOp cache_op;
        uint16_t flags;
        SmPath path;
    } rows[] = {
        {ISA_MEMORY_NONE, PTX_SPACE_GLOBAL, 0, 0, SM_PATH_NONE},
        {ISA_MEMORY_PREFETCH, PTX_SPACE_GLOBAL, 0, 0, SM_PATH_NONE},
        {ISA_MEMORY_TEXTURE, PTX_SPACE_GLOBAL, 0, 0, SM_PATH_TEXTURE},
        {ISA_MEMORY_LOAD, PTX_SPACE_SHARED, 0, 0, SM_PATH_SHARED},
        {ISA_MEMORY_ATOMIC, PTX_SPACE_SHARED, 0, 0, SM_PATH_SHARED},
        {ISA_MEMORY_LOAD, PTX_SPACE_CONST, 0, 0, SM_PATH_CONST},
        {ISA_MEMORY_LOAD, PTX_SPACE_PARAM, 0, 0, SM_PATH_CONST},
        {ISA_MEMORY_LOAD, PTX_SPACE_LOCAL, 0, 0, SM_PATH_L1D},
        {ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 0, 0, SM_PATH_L1D},
        {ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, PTX_CACHE_CG, 0, SM_PATH_BYPASS},
        {ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, PTX_CACHE_CV, 0, SM_PATH_BYPASS},
        {ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 0, ISA_IS_VOLATILE, SM_PATH_BYPASS},
        {ISA_MEMORY_STORE, PTX_SPACE_GLOBAL, 0, ISA_IS_VOLATILE, SM_PATH_L1D},
        {ISA_MEMORY_STORE, PTX_SPACE_GLOBAL, 0, 0, SM_PATH_L1D},
        {ISA_MEMORY_ATOMIC, PTX_SPACE_GLOBAL, 0, 0, SM_PATH_BYPASS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench;
        bench_init(&bench, rows[i].kind, rows[i].space, 4);
        bench.info.cache_op = (uint8_t)rows[i].cache_op;
        bench.info.flags = rows[i].flags;
        assert_int_equal(run(&bench)->path, rows[i].path);
    }
}

static void test_an_l1d_that_does_not_cache_a_space_is_bypassed(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_LOCAL, 4);
    bench.lsu.caches_local = false;
    assert_int_equal(run(&bench)->path, SM_PATH_BYPASS);
    assert_true(bench.memory.is_local);
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
    bench.lsu.caches_global = false;
    stride(&bench, BASE, 4);
    assert_int_equal(run(&bench)->path, SM_PATH_BYPASS);
    assert_int_equal(bench.memory.count, 4); /* in segments of the bypass */
}

static void test_what_no_lane_executes_or_a_call_passes_goes_nowhere(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
    bench.operation.lanes = 0;
    assert_int_equal(run(&bench)->path, SM_PATH_NONE);
    assert_int_equal(bench.memory.count, 0);
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_PARAM, 4);
    bench.info.flags |= ISA_IS_CALL_ARGUMENT;
    assert_int_equal(run(&bench)->path, SM_PATH_NONE);
}

static void test_a_generic_access_is_its_first_lanes(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_NONE, 4);
    stride(&bench, BASE, LINE);
    for (int i = 0; i < ISA_LANES; i++)
        bench.space[i] = i % 2 ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
    assert_int_equal(run(&bench)->path, SM_PATH_L1D);
    assert_int_equal(bench.memory.count, 16);
    bench.operation.lanes = UINT32_MAX - 1;
    assert_int_equal(run(&bench)->path, SM_PATH_SHARED);
}

/* ---- Layouts ---- */

/* Word w of thread t is at (w x threads of the machine + t) x 4. */
static void test_local_words_of_one_offset_lie_side_by_side(void **state) {
    (void)state;
    enum { LOCAL = 0x20000000, CTA_THREADS = 64, THREADS = CTA_THREADS * 8 * 4 };
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_LOCAL, 4);
    bench.operation.warp = 1;
    bench.operation.cta_slot = 3;
    stride(&bench, 8, 0); /* word 2 of every thread */
    uint64_t first = (1 + 4 * 3) * CTA_THREADS + 32;
    assert_int_equal(run(&bench)->count, 1);
    assert_int_equal(bench.memory.access[0].address, LOCAL + (2 * THREADS + first) * 4);
    assert_int_equal(bench.memory.access[0].bytes, LINE);
    bench.info.vector = 4; /* words 2 to 5: a line each */
    assert_int_equal(run(&bench)->count, 4);
    assert_int_equal(bench.memory.access[3].address, LOCAL + (5 * THREADS + first) * 4);
}

static void test_parameters_lie_in_a_place_of_their_own(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_PARAM, 4);
    stride(&bench, 32, 0);
    assert_int_equal(run(&bench)->count, 1);
    assert_int_equal(bench.memory.access[0].address, 0x10000000 + 32);
    assert_int_equal(bench.memory.access[0].sectors, 1);
}

/* ---- Address patterns that are already known ---- */

/* Sets the addresses of half a warp's words from `address` on, by a pattern. */
static void lay_half(Bench *bench, int first, uint32_t pattern, uint64_t address) {
    for (int i = 0; i < ISA_LANES / 2; i++)
        bench->address[first + i] = address + (pattern == ISA_HALF_RUN ? 4 * (uint64_t)i : 0);
}

/* Checks whether the coalesced access is recognized as one pass of shared memory. */
static void assert_one_pass(Bench *bench, bool is_one) {
    SmMemory quick;
    bench->coalescer.has_word_banks = true;
    assert_int_equal(coalesce_is_one_pass(&bench->coalescer, &bench->info, bench->address,
                                          bench->operation.pattern),
                     is_one);
    if (!is_one) return;
    memset(&quick, 0xFF, sizeof quick);
    quick.next = bench->memory.next;
    coalesce_one_pass(&bench->info, &quick);
    assert_memory_equal(&quick, &bench->memory, offsetof(SmMemory, advice) + sizeof quick.advice);
    bench->coalescer.has_word_banks = false;
    assert_false(coalesce_is_one_pass(&bench->coalescer, &bench->info, bench->address,
                                      bench->operation.pattern));
}

/* Coalesces with the pattern and without it. The result must be the same. */
static void assert_same_with_pattern(PtxSpace space, IsaMemoryKind kind, uint32_t low,
                                     uint32_t high, int64_t distance) {
    Bench with, without;
    bench_init(&without, kind, space, 4);
    lay_half(&without, 0, low, BASE + 8);
    lay_half(&without, ISA_LANES / 2, high, (uint64_t)(BASE + 8 + distance * 4));
    bench_init(&with, kind, space, 4);
    memcpy(with.address, without.address, sizeof with.address);
    with.operation.pattern = low | high << ISA_HALF_BITS;
    assert_int_equal(cycles(&with), cycles(&without));
    assert_int_equal(with.memory.count, without.memory.count);
    if (space != PTX_SPACE_SHARED)
        assert_memory_equal(with.access, without.access, with.memory.count * sizeof *with.access);
    assert_one_pass(&with, space == PTX_SPACE_SHARED && without.memory.cycles == 1);
}

static void test_a_pattern_that_is_known_changes_nothing(void **state) {
    (void)state;
    for (int64_t distance = -70; distance <= 70; distance++)
        for (uint32_t halves = 0; halves < 4; halves++) {
            uint32_t low = halves & 1 ? ISA_HALF_RUN : ISA_HALF_ONE;
            uint32_t high = halves & 2 ? ISA_HALF_RUN : ISA_HALF_ONE;
            assert_same_with_pattern(PTX_SPACE_SHARED, ISA_MEMORY_LOAD, low, high, distance);
            assert_same_with_pattern(PTX_SPACE_SHARED, ISA_MEMORY_STORE, low, high, distance);
            assert_same_with_pattern(PTX_SPACE_GLOBAL, ISA_MEMORY_LOAD, low, high, distance);
            assert_same_with_pattern(PTX_SPACE_GLOBAL, ISA_MEMORY_STORE, low, high, distance);
        }
}

/* Lanes that did not execute access nothing, whatever pattern the others have. */
static void test_a_pattern_is_that_of_all_lanes(void **state) {
    (void)state;
    Bench bench;
    bench_init(&bench, ISA_MEMORY_LOAD, PTX_SPACE_GLOBAL, 4);
    stride(&bench, BASE, 4);
    bench.operation.pattern = ISA_HALF_RUN | ISA_HALF_RUN << ISA_HALF_BITS;
    bench.operation.lanes = 0xFF;
    assert_int_equal(run(&bench)->access[0].lanes, 0xFF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accesses_that_the_data_need_are_known),
        cmocka_unit_test(test_shared_cycles_without_conflicts_are_known),
        cmocka_unit_test(test_a_pattern_that_is_known_changes_nothing),
        cmocka_unit_test(test_a_pattern_is_that_of_all_lanes),
        cmocka_unit_test(test_each_half_of_a_warp_can_have_accesses_of_its_own),
        cmocka_unit_test(test_segments_shrink_to_halves_within_a_sector),
        cmocka_unit_test(test_a_line_of_words_is_one_access),
        cmocka_unit_test(test_a_stride_touches_its_share_of_lines_in_either_order),
        cmocka_unit_test(test_an_access_asks_only_for_sectors_touched_where_segments_shrink),
        cmocka_unit_test(test_small_elements_coalesce_in_narrower_segments),
        cmocka_unit_test(test_a_store_notes_the_bytes_it_writes),
        cmocka_unit_test(test_wide_vectors_span_as_many_lines_as_bytes_need),
        cmocka_unit_test(test_atomics_on_one_word_go_one_after_the_other),
        cmocka_unit_test(test_atomics_on_different_words_of_a_segment_go_together),
        cmocka_unit_test(test_a_stride_of_words_conflicts_by_its_common_divisor_with_the_banks),
        cmocka_unit_test(test_lanes_that_read_one_word_share_it),
        cmocka_unit_test(test_half_warps_take_turns_and_share_words_among_themselves),
        cmocka_unit_test(test_what_lanes_have_in_common_can_take_a_pass_of_its_own),
        cmocka_unit_test(test_one_word_can_be_all_that_is_broadcast),
        cmocka_unit_test(test_several_passes_can_fit_a_cycle),
        cmocka_unit_test(test_conflicts_can_take_several_cycles),
        cmocka_unit_test(test_each_word_of_constants_can_be_an_access),
        cmocka_unit_test(test_wide_elements_take_a_pass_for_each_of_their_words),
        cmocka_unit_test(test_wide_elements_conflict_where_their_banks_do),
        cmocka_unit_test(test_each_space_and_kind_goes_its_way),
        cmocka_unit_test(test_an_l1d_that_does_not_cache_a_space_is_bypassed),
        cmocka_unit_test(test_what_no_lane_executes_or_a_call_passes_goes_nowhere),
        cmocka_unit_test(test_a_generic_access_is_its_first_lanes),
        cmocka_unit_test(test_local_words_of_one_offset_lie_side_by_side),
        cmocka_unit_test(test_parameters_lie_in_a_place_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
