/* Bulk copies, tiles by tensor maps, transaction counts, and clusters of one thread block.
 *
 * One thread moves a few hundred bytes with each form. A plain loop copies them to shared memory or
 * to the output. Tiles fill their tensor, so their bytes are contiguous; tests/driver/test_tensor.c
 * tests the other features of tensor maps. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

#include "isa/tensor_map.h"

enum {
    BYTES = 512,
    WORDS = BYTES / 8,
    MAP_AT = 256,     /* word of the input where the tensor map begins */
    MAP_BYTES = 4096, /* byte of the output where the kernel stores it */
    ROW_ELEMENTS = 8  /* elements of 4 bytes in a row of a tile; other dimensions have size 2 */
};

#define ROOM ".shared .align 128 .b8 room[2048];\n.shared .align 8 .b64 barrier;\n"
#define WAIT "WAIT: mbarrier.try_wait.parity.shared.b64 done, [barrier], 0;\n@!done bra WAIT;\n"

static void begin(Trial *trial, const char *spelling) {
    trial_begin(trial, spelling);
    trial->shape.block[0] = 1;
    trial_begin_kernel(trial, ROOM);
    text_printf(&trial->ptx,
                ".reg .b64 word, map, policy, d<4>;\n.reg .b32 r, size, i, c<5>, e<4>;\n"
                ".reg .b16 ranks, none;\n.reg .pred done;\nmov.b16 ranks, 1;\nmov.b16 none, 0;\n"
                "mov.u32 r, room;\nmov.u32 size, %d;\nmov.b64 policy, 0;\n"
                "mov.u32 c0, 0;\nmov.u32 c1, 0;\nmov.u32 c2, 0;\nmov.u32 c3, 0;\nmov.u32 c4, 0;\n"
                "mbarrier.init.shared.b64 [barrier], 1;\nfence.proxy.async;\n",
                BYTES);
}

/* Copies words from input word `from` into shared memory, or into the output. */
static void fill(Trial *trial, const char *label, int from, bool is_shared) {
    text_printf(&trial->ptx,
                "mov.u32 i, 0;\n%s: mad.wide.u32 at, i, 8, in;\nld.global.b64 word, [at+%d];\n",
                label, 8 * from);
    text_printf(&trial->ptx, is_shared
                                 ? "mad.lo.u32 t, i, 8, r;\nst.shared.b64 [t], word;\n"
                                 : "mad.wide.u32 at, i, 8, out;\nst.global.b64 [at], word;\n");
    text_printf(&trial->ptx, "add.u32 i, i, 1;\nsetp.lt.u32 done, i, %d;\n@done bra %s;\n", WORDS,
                label);
}

static void hand_over(Trial *trial, int from) {
    text_printf(&trial->ptx,
                "mov.u32 i, 0;\nOUT: mad.lo.u32 t, i, 8, r;\nld.shared.b64 word, [t+%d];\n"
                "mad.wide.u32 at, i, 8, out;\nst.global.b64 [at], word;\nadd.u32 i, i, 1;\n"
                "setp.lt.u32 done, i, %d;\n@done bra OUT;\n",
                from, WORDS);
}

static void expect(Trial *trial) {
    text_add(&trial->ptx, "mbarrier.arrive.expect_tx.shared.b64 _, [barrier], size;\n");
}

static void finish_group(Trial *trial, bool is_read) {
    text_printf(&trial->ptx, "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group%s 0;\n",
                is_read ? ".read" : "");
    harness_count_form(trial->harness, "cp.async.bulk.commit_group");
    harness_count_form(trial->harness,
                       is_read ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group");
}

/* ---- Tensor maps ---- */

static int rank_of(const char *spelling) {
    for (int rank = 1; rank <= TENSOR_MAX_RANK; rank++) {
        char word[8];
        snprintf(word, sizeof word, ".%dd", rank);
        if (strstr(spelling, word)) return rank;
    }
    return 0;
}

static bool is_im2col(const char *spelling) { return strstr(spelling, "im2col") != NULL; }

/* Makes the kernel store the map of a tensor at address `where` in the output. */
static int put_map(Trial *trial, int rank, const char *where) {
    TensorMap map = {.mark = TENSOR_MAP_MARK, .type = TENSOR_U32, .rank = (uint8_t)rank};
    int bytes = 4 * ROW_ELEMENTS;
    for (int i = 0; i < rank; i++) {
        const int count = i ? 2 : ROW_ELEMENTS;
        map.last[i] = (uint32_t)count - 1;
        map.box[i] = (uint16_t)count;
        map.step[i] = 1;
        if (i) map.stride[i - 1] = (uint64_t)bytes;
        if (i) bytes *= 2;
    }
    map.is_im2col = is_im2col(trial->spelling);
    map.pixels = (uint16_t)(bytes / (4 * ROW_ELEMENTS)); /* all: the box is the tensor */
    tensor_map_put((uint8_t *)&trial->in[MAP_AT], &map);
    for (int at = 0; at < TENSOR_MAP_BYTES; at += 8)
        text_printf(&trial->ptx, "ld.global.b64 word, [in+%d];\nst.global.b64 [out+%d], word;\n",
                    8 * MAP_AT + at, MAP_BYTES + at);
    text_printf(&trial->ptx,
                "st.global.b64 [out+%d], %s;\nadd.u64 map, out, %d;\nmov.u32 size, %d;\n",
                MAP_BYTES + TENSOR_ADDRESS_AT, where, MAP_BYTES, bytes);
    return bytes / 8;
}

static const char *coordinates(int rank) {
    static const char *const lists[] = {
        "", "{c0}", "{c0, c1}", "{c0, c1, c2}", "{c0, c1, c2, c3}", "{c0, c1, c2, c3, c4}"};
    return lists[rank];
}

/* Additional operands of loads and prefetches with an im2col map. */
static const char *offsets(const char *spelling, int rank) {
    static const char *const lists[] = {", {0}", ", {none, 0}", ", {none, none, none}"};
    return is_im2col(spelling) ? lists[rank - 3] : "";
}

/* ---- Copies ---- */

/* The multicast mask of a cluster of one thread block. */
static const char *ranks_of(const char *spelling) {
    return strstr(spelling, "multicast") ? ", ranks" : "";
}

static const char *policy_of(const char *spelling) {
    return strstr(spelling, "cache_hint") ? ", policy" : "";
}

static void run_load(void *user, const char *spelling) {
    Trial *trial = user;
    const int rank = rank_of(spelling);
    int words = WORDS;
    if (!harness_wants(trial->harness, spelling)) return;
    begin(trial, spelling);
    if (rank) words = put_map(trial, rank, "in");
    expect(trial);
    if (rank)
        text_printf(&trial->ptx, "%s [r], [map, %s], [barrier]%s%s%s;\n", spelling,
                    coordinates(rank), offsets(spelling, rank), ranks_of(spelling),
                    policy_of(spelling));
    else
        text_printf(&trial->ptx, "%s [r], [in], size, [barrier]%s%s;\n", spelling,
                    ranks_of(spelling), policy_of(spelling));
    text_add(&trial->ptx, WAIT);
    hand_over(trial, 0);
    trial->slots = words;
    memcpy(trial->expected, trial->in, 8 * (size_t)words);
    trial_run(trial);
}

static void run_local(void *user, const char *spelling) {
    Trial *trial = user;
    if (!harness_wants(trial->harness, spelling)) return;
    begin(trial, spelling);
    fill(trial, "FILL", 0, true);
    expect(trial);
    text_printf(&trial->ptx, "%s [r+1024], [r], size, [barrier];\n" WAIT, spelling);
    hand_over(trial, 1024);
    trial->slots = WORDS;
    memcpy(trial->expected, trial->in, BYTES);
    trial_run(trial);
}

static void run_store(void *user, const char *spelling) {
    Trial *trial = user;
    const int rank = rank_of(spelling);
    int words = WORDS;
    if (!harness_wants(trial->harness, spelling)) return;
    begin(trial, spelling);
    fill(trial, "FILL", 0, true);
    if (rank) words = put_map(trial, rank, "out");
    if (rank)
        text_printf(&trial->ptx, "%s [map, %s], [r]%s;\n", spelling, coordinates(rank),
                    policy_of(spelling));
    else text_printf(&trial->ptx, "%s [out], [r], size%s;\n", spelling, policy_of(spelling));
    finish_group(trial, rank != 0);
    trial->slots = words;
    memcpy(trial->expected, trial->in, 8 * (size_t)words);
    trial_run(trial);
}

static void run_prefetch(void *user, const char *spelling) {
    Trial *trial = user;
    const int rank = rank_of(spelling);
    if (!harness_wants(trial->harness, spelling)) return;
    begin(trial, spelling);
    if (rank) {
        put_map(trial, rank, "in");
        text_printf(&trial->ptx, "%s [map, %s]%s%s;\n", spelling, coordinates(rank),
                    offsets(spelling, rank), policy_of(spelling));
    } else if (strstr(spelling, "tensormap")) {
        put_map(trial, 1, "in");
        text_printf(&trial->ptx, "%s [map];\n", spelling);
    } else {
        text_printf(&trial->ptx, "%s [in], size%s;\n", spelling, policy_of(spelling));
    }
    text_add(&trial->ptx, "st.global.b64 [out], 7;\n");
    trial->expected[0] = 7;
    trial->slots = 1;
    trial_run(trial);
}

/* ---- tensormap ---- */

/* For each field: its value in the map of a tile with one dimension at `in`, and a wrong value. */
static const struct {
    const char *field, *good, *bad;
} map_fields[] = {
    {".global_address", "in", "out"},
    {".rank", "0", "3"},
    {".box_dim", "0, 8", "0, 16"},
    {".global_dim", "0, 8", "0, 3"},
    {".element_stride", "1, 1", "1, 3"},
    {".global_stride", "0, 32", "0, 1024"},
    {".elemtype", "2", "1"},
    {".interleave_layout", "0", "2"},
    {".swizzle_mode", "0", "3"},
    {".fill_mode", "0", "1"},
};

/* Sets a field to the wrong value and then back, in global or shared memory. A map in shared memory
 * is then copied to global memory. */
static void run_map(void *user, const char *spelling) {
    Trial *trial = user;
    const bool is_copy = strstr(spelling, "cp_fenceproxy") != NULL;
    const bool is_shared = is_copy || strstr(spelling, ".shared") != NULL;
    const char *const map = is_shared ? "r" : "map";
    if (!harness_wants(trial->harness, spelling)) return;
    begin(trial, spelling);
    const int words = put_map(trial, 1, "in");
    for (int at = 0; at < TENSOR_MAP_BYTES && is_shared; at += 8)
        text_printf(&trial->ptx, "ld.global.b64 word, [map+%d];\nst.shared.b64 [r+%d], word;\n", at,
                    at);
    for (size_t i = 0; i < sizeof map_fields / sizeof *map_fields && !is_copy; i++)
        if (strstr(spelling, map_fields[i].field))
            text_printf(&trial->ptx, "%s [%s], %s;\n%s [%s], %s;\n", spelling, map,
                        map_fields[i].bad, spelling, map, map_fields[i].good);
    if (is_shared)
        text_printf(&trial->ptx, "%s [map], [r], 128;\n",
                    is_copy ? spelling
                            : "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
                              ".release.gpu.sync.aligned");
    expect(trial);
    text_add(&trial->ptx, "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx"
                          "::bytes [r], [map, {c0}], [barrier];\n" WAIT);
    hand_over(trial, 0);
    trial->slots = words;
    memcpy(trial->expected, trial->in, 8 * (size_t)words);
    trial_run(trial);
}

/* ---- Reductions ---- */

/* The old value (5 or 2.0), the operand (3 or 1.0), and their sum, as elements of a type. */
static const struct {
    const char *type;
    int bytes;
    uint64_t there, comes, sum;
} elements[] = {
    {"u32", 4, 5, 3, 8},
    {"s32", 4, 5, 3, 8},
    {"b32", 4, 5, 3, 8},
    {"u64", 8, 5, 3, 8},
    {"s64", 8, 5, 3, 8},
    {"b64", 8, 5, 3, 8},
    {"f16", 2, 0x4000, 0x3c00, 0x4200},
    {"bf16", 2, 0x4000, 0x3f80, 0x4040},
    {"f32", 4, 0x40000000, 0x3f800000, 0x40400000},
    {"f64", 8, UINT64_C(0x4000000000000000), UINT64_C(0x3ff0000000000000),
     UINT64_C(0x4008000000000000)},
};

/* Repeats the element to fill 8 bytes. */
static uint64_t spread(uint64_t element, int bytes) {
    for (int at = bytes; at < 8; at *= 2)
        element |= element << 8 * at;
    return element;
}

static uint64_t combined(const char *spelling, int type) {
    const uint64_t a = elements[type].there, b = elements[type].comes;
    if (strstr(spelling, ".add")) return elements[type].sum;
    if (strstr(spelling, ".min")) return b;
    if (strstr(spelling, ".max")) return a;
    if (strstr(spelling, ".inc")) return 0; /* the old value exceeds the bound */
    if (strstr(spelling, ".dec")) return b; /* the same */
    if (strstr(spelling, ".and")) return a & b;
    return strstr(spelling, ".xor") ? a ^ b : a | b;
}

static void run_reduction(void *user, const char *spelling) {
    Trial *trial = user;
    const int rank = rank_of(spelling), count = sizeof elements / sizeof *elements;
    const bool is_local = strstr(spelling, ".shared::cluster") != NULL;
    int type = 0, words = WORDS;
    if (!harness_wants(trial->harness, spelling)) return;
    while (!rank && type < count - 1) { /* tiles have the type of the map, the first in the table */
        char word[8];
        snprintf(word, sizeof word, ".%s", elements[type].type);
        if (strstr(spelling, word)) break;
        type++;
    }
    begin(trial, spelling);
    for (int i = 0; i < WORDS; i++) {
        trial->in[i] = spread(elements[type].comes, elements[type].bytes);
        trial->in[WORDS + i] = spread(elements[type].there, elements[type].bytes);
        trial->expected[i] = spread(combined(spelling, type), elements[type].bytes);
    }
    fill(trial, "FILL", 0, true);
    fill(trial, "THERE", WORDS, false);
    if (rank) words = put_map(trial, rank, "out");
    if (is_local) {
        text_add(&trial->ptx, "add.u32 r, r, 1024;\n");
        fill(trial, "LOCAL", WORDS, true);
        text_add(&trial->ptx, "sub.u32 r, r, 1024;\n");
        expect(trial);
        text_printf(&trial->ptx, "%s [r+1024], [r], size, [barrier];\n" WAIT, spelling);
        hand_over(trial, 1024);
    } else if (rank)
        text_printf(&trial->ptx, "%s [map, %s], [r]%s;\n", spelling, coordinates(rank),
                    policy_of(spelling));
    else text_printf(&trial->ptx, "%s [out], [r], size%s;\n", spelling, policy_of(spelling));
    if (!is_local) finish_group(trial, false);
    trial->slots = words;
    trial_run(trial);
}

/* ---- st.async, red.async ---- */

/* The form has a type, and each lane has one or several elements of it. The first elements hold
 * `there`; the form combines them with the next ones. */
static void run_async(void *user, const char *spelling) {
    Trial *trial = user;
    const int count = strstr(spelling, ".v2") ? 2 : strstr(spelling, ".v4") ? 4 : 1;
    const bool is_reduction = !strncmp(spelling, "red", 3);
    const char *type = strrchr(spelling, '.') + 1;
    const int bytes = strstr(type, "64") ? 8 : 4, words = count * bytes / 8 ? count * bytes / 8 : 1;
    int row = 0;
    if (!harness_wants(trial->harness, spelling)) return;
    while (strcmp(elements[row].type, type) != 0)
        row++;
    begin(trial, spelling);
    for (int i = 0; i < WORDS; i++) {
        trial->in[i] = spread(elements[row].comes, bytes);
        trial->in[WORDS + i] = spread(elements[row].there, bytes);
        trial->expected[i] = trial->in[WORDS + i];
    }
    fill(trial, "FILL", WORDS, true);
    for (int i = 0; i < count; i++)
        text_printf(&trial->ptx,
                    bytes == 8 ? "ld.global.b64 d%d, [in+%d];\n" : "ld.global.b32 e%d, [in+%d];\n",
                    i, bytes * i);
    text_printf(&trial->ptx, "mov.u32 size, %d;\n", count * bytes);
    expect(trial);
    text_printf(&trial->ptx, "%s [r], ", spelling);
    const char *const lists[] = {"", bytes == 8 ? "d0" : "e0", bytes == 8 ? "{d0, d1}" : "{e0, e1}",
                                 "", "{e0, e1, e2, e3}"};
    text_printf(&trial->ptx, "%s, [barrier];\n" WAIT, lists[count]);
    hand_over(trial, 0);
    const uint64_t result = is_reduction ? combined(spelling, row) : elements[row].comes;
    const uint64_t kept = bytes * count < 8 ? elements[row].there << 32 : 0;
    for (int i = 0; i < words; i++)
        trial->expected[i] = kept ? kept | result : spread(result, bytes);
    trial->slots = WORDS;
    trial_run(trial);
}

/* ---- Transactions ---- */

/* An arrival and transactions complete a phase together. */
static void run_transactions(Trial *trial, const char *space, const char *order) {
    static const char *const kinds[] = {"arrive", "arrive_drop"};
    for (int kind = 0; kind < 2; kind++) {
        char expects[FORM_TEXT_BYTES], completes[FORM_TEXT_BYTES], arrives[FORM_TEXT_BYTES];
        snprintf(arrives, sizeof arrives, "mbarrier.%s.expect_tx%s%s.b64", kinds[kind],
                 strcmp(order, ".relaxed.cluster") ? "" : ".release.cluster", space);
        snprintf(expects, sizeof expects, "mbarrier.expect_tx%s%s.b64", order, space);
        snprintf(completes, sizeof completes, "mbarrier.complete_tx%s%s.b64", order, space);
        begin(trial, arrives);
        text_printf(&trial->ptx,
                    "mov.u64 at, barrier;\n%s%s [at], 16;\n%s _, [at], 32;\n%s [at], 40;\n"
                    "mbarrier.test_wait.parity.shared.b64 done, [barrier], 0;\n"
                    "selp.u64 word, 1, 0, done;\nst.global.b64 [out], word;\n%s [at], 8;\n"
                    "mbarrier.test_wait.parity.shared.b64 done, [barrier], 0;\n"
                    "selp.u64 word, 1, 0, done;\nst.global.b64 [out+8], word;\n",
                    *space ? "" : "cvta.shared.u64 at, at;\n", expects, arrives, completes,
                    completes);
        trial->expected[1] = 1;
        trial->expected[0] = 0;
        trial->slots = 2;
        harness_count_form(trial->harness, expects);
        harness_count_form(trial->harness, completes);
        trial_run(trial);
    }
}

/* ---- A cluster of one thread block ---- */

static const struct {
    const char *spelling, *text;
} ones[] = {
    /* each leaves 1 in word */
    {"barrier.cluster.arrive.release.aligned", "barrier.cluster.arrive.release.aligned;\n"
                                               "barrier.cluster.wait.acquire.aligned;\n"},
    {"barrier.cluster.arrive.relaxed", "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"},
    {"barrier.cluster.wait.acquire", "barrier.cluster.wait.acquire;\n"},
    {"griddepcontrol.wait", "griddepcontrol.wait;\n"},
    {"griddepcontrol.launch_dependents", "griddepcontrol.launch_dependents;\n"},
    {"fence.mbarrier_init.release.cluster", "fence.mbarrier_init.release.cluster;\n"},
    {"getctarank.u32", "cvta.shared.u64 at, 16;\ncvt.u32.u64 t, at;\ngetctarank.u32 t, t;\n"
                       "add.u32 t, t, 1;\ncvt.u64.u32 word, t;\n"},
    {"getctarank.u64", "cvta.shared.u64 at, 16;\ngetctarank.u64 t, at;\nadd.u32 t, t, 1;\n"
                       "cvt.u64.u32 word, t;\n"},
    {"getctarank.shared::cluster.u32", "getctarank.shared::cluster.u32 t, room;\nadd.u32 t, t, 1;\n"
                                       "cvt.u64.u32 word, t;\n"},
    {"getctarank.shared::cluster.u64", "mov.u64 at, room;\ngetctarank.shared::cluster.u64 t, at;\n"
                                       "add.u32 t, t, 1;\ncvt.u64.u32 word, t;\n"},
    {"mapa.u64", "mov.u64 at, room;\ncvta.shared.u64 at, at;\nmapa.u64 at, at, 0;\n"
                 "st.b64 [at], 1;\nld.shared.b64 word, [r];\n"},
    {"mapa.u32", "mov.u32 t, 77;\nmapa.u32 t, t, 0;\nsub.u32 t, t, 76;\ncvt.u64.u32 word, t;\n"},
    {"mapa.shared::cluster.u32", "mapa.shared::cluster.u32 t, room, 0;\nst.shared.b64 [t], 1;\n"
                                 "ld.shared.b64 word, [r];\n"},
    {"mapa.shared::cluster.u64", "mov.u64 at, room;\nmapa.shared::cluster.u64 at, at, 0;\n"
                                 "st.shared.b64 [at], 1;\nld.shared.b64 word, [r];\n"},
    {"atom.shared::cluster.exch.b64", "st.shared.b64 [r], 1;\n"
                                      "atom.shared::cluster.exch.b64 word, [r], 5;\n"},
    {"red.shared::cluster.add.u64", "st.shared.b64 [r], 0;\nred.shared::cluster.add.u64 [r], 1;\n"
                                    "ld.shared.b64 word, [r];\n"},
    {"ld.shared::cluster.b64", "st.shared.b64 [r], 1;\nld.shared::cluster.b64 word, [r];\n"},
    {"st.shared::cluster.b64", "st.shared::cluster.b64 [r], 1;\nld.shared.b64 word, [r];\n"},
    {"cvta.shared::cluster.u64", "cvta.shared::cluster.u64 at, room;\nst.b64 [at], 1;\n"
                                 "ld.shared.b64 word, [r];\n"},
    {"isspacep.shared::cluster", "cvta.shared.u64 at, room;\nisspacep.shared::cluster done, at;\n"
                                 "selp.u64 word, 1, 0, done;\n"},
};

static void run_one(Trial *trial, const char *spelling, const char *text) {
    if (!harness_wants(trial->harness, spelling)) return;
    begin(trial, spelling);
    text_printf(&trial->ptx, "mov.b64 word, 1;\n%sst.global.b64 [out], word;\n", text);
    trial->expected[0] = 1;
    trial->slots = 1;
    trial_run(trial);
}

static void run_fence(void *user, const char *spelling) {
    char text[FORM_TEXT_BYTES];
    snprintf(text, sizeof text, "%s;\n", spelling);
    run_one(user, spelling, text);
}

static void run_acquire(void *user, const char *spelling) {
    char text[FORM_TEXT_BYTES];
    snprintf(text, sizeof text, "%s [out], 128;\n", spelling);
    run_one(user, spelling, text);
}

/* ---- All of them ---- */

#define HINT         "{.L2::cache_hint}"
#define LOADED       ".mbarrier::complete_tx::bytes"
#define TO_SHARED    "(.shared::cluster,.shared::cta).global"
#define TO_GLOBAL    ".global.shared::cta"
#define DIMENSIONS   "(.1d,.2d,.3d,.4d,.5d)"
#define MAP_SPACE    "{.global,.shared::cta}.b1024"
#define IMAGES       "(.3d,.4d,.5d)"
#define COMBINED     "(.add,.min,.max,.inc,.dec,.and,.or,.xor)"
#define ASYNC        ".async{.weak}.shared::cluster" LOADED
#define ASYNC_RED    ".async.relaxed.cluster.shared::cluster" LOADED
#define REDUCE       ".reduce.async.bulk" TO_GLOBAL ".bulk_group" HINT
#define REDUCE_LOCAL ".reduce.async.bulk.shared::cluster.shared::cta" LOADED

void bulk_run(Harness *harness) {
    Trial *trial = trial_new(harness);
    form_expand("cp", ".async.bulk" TO_SHARED LOADED HINT, run_load, trial);
    form_expand("cp", ".async.bulk.shared::cluster.global" LOADED ".multicast::cluster" HINT,
                run_load, trial);
    form_expand("cp", ".async.bulk.shared::cluster.shared::cta" LOADED, run_local, trial);
    form_expand("cp", ".async.bulk" TO_GLOBAL ".bulk_group" HINT, run_store, trial);
    form_expand("cp", ".async.bulk.prefetch.L2.global" HINT, run_prefetch, trial);
    form_expand("cp", REDUCE_LOCAL "(.and,.or,.xor).b32", run_reduction, trial);
    form_expand("cp", REDUCE_LOCAL "(.inc,.dec).u32", run_reduction, trial);
    form_expand("cp", REDUCE_LOCAL ".add(.u32,.s32,.u64)", run_reduction, trial);
    form_expand("cp", REDUCE_LOCAL "(.min,.max)(.u32,.s32)", run_reduction, trial);
    form_expand("cp", REDUCE "(.and,.or,.xor)(.b32,.b64)", run_reduction, trial);
    form_expand("cp", REDUCE "(.inc,.dec).u32", run_reduction, trial);
    form_expand("cp", REDUCE ".add(.u32,.s32,.u64,.s64,.f32,.f64)", run_reduction, trial);
    form_expand("cp", REDUCE ".add.noftz(.f16,.bf16)", run_reduction, trial);
    form_expand("cp", REDUCE "(.min,.max)(.u32,.s32,.u64,.s64,.f16,.bf16)", run_reduction, trial);
    form_expand("cp", ".async.bulk.tensor" DIMENSIONS TO_SHARED "{.tile}" LOADED HINT, run_load,
                trial);
    form_expand("cp",
                ".async.bulk.tensor" DIMENSIONS ".shared::cluster.global{.tile}" LOADED
                ".multicast::cluster" HINT,
                run_load, trial);
    form_expand("st", ASYNC "{.v2,.v4}(.b32,.u32,.s32,.f32)", run_async, trial);
    form_expand("st", ASYNC "{.v2}(.b64,.u64,.s64,.f64)", run_async, trial);
    form_expand("red", ASYNC_RED "(.inc,.dec).u32", run_async, trial);
    form_expand("red", ASYNC_RED "(.min,.max)(.u32,.s32)", run_async, trial);
    form_expand("red", ASYNC_RED ".add(.u32,.s32,.u64)", run_async, trial);
    form_expand("red", ASYNC_RED "(.and,.or,.xor).b32", run_async, trial);
    form_expand("cp", ".async.bulk.tensor" DIMENSIONS TO_GLOBAL "{.tile}.bulk_group" HINT,
                run_store, trial);
    form_expand("cp", ".async.bulk.prefetch.tensor" DIMENSIONS ".L2.global{.tile}" HINT,
                run_prefetch, trial);
    form_expand("cp",
                ".reduce.async.bulk.tensor" DIMENSIONS TO_GLOBAL COMBINED "{.tile}.bulk_group" HINT,
                run_reduction, trial);
    form_expand("cp", ".async.bulk.tensor" IMAGES TO_SHARED ".im2col" LOADED HINT, run_load, trial);
    form_expand("cp",
                ".async.bulk.tensor" IMAGES ".shared::cluster.global.im2col" LOADED
                ".multicast::cluster" HINT,
                run_load, trial);
    form_expand("cp", ".async.bulk.tensor" IMAGES TO_GLOBAL ".im2col_no_offs.bulk_group" HINT,
                run_store, trial);
    form_expand("cp", ".async.bulk.prefetch.tensor" IMAGES ".L2.global.im2col" HINT, run_prefetch,
                trial);
    form_expand("cp",
                ".reduce.async.bulk.tensor" IMAGES TO_GLOBAL COMBINED
                ".im2col_no_offs.bulk_group" HINT,
                run_reduction, trial);
    form_expand("prefetch", "{.const,.param}.tensormap", run_prefetch, trial);
    form_expand("tensormap", ".replace.tile(.global_address,.global_stride)" MAP_SPACE ".b64",
                run_map, trial);
    form_expand("tensormap",
                ".replace.tile(.rank,.box_dim,.global_dim,.element_stride,.elemtype,"
                ".interleave_layout,.swizzle_mode,.fill_mode)" MAP_SPACE ".b32",
                run_map, trial);
    form_expand("tensormap",
                ".cp_fenceproxy.global.shared::cta.tensormap::generic.release"
                "(.cta,.cluster,.gpu,.sys).sync.aligned",
                run_map, trial);
    form_expand("fence", ".proxy.tensormap::generic.release(.cta,.cluster,.gpu,.sys)", run_fence,
                trial);
    form_expand("fence", ".proxy.tensormap::generic.acquire(.cta,.cluster,.gpu,.sys)", run_acquire,
                trial);
    static const char *const spaces[] = {"", ".shared", ".shared::cta", ".shared::cluster"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        run_transactions(trial, spaces[i], "");
        run_transactions(trial, spaces[i], ".relaxed.cta");
        run_transactions(trial, spaces[i], ".relaxed.cluster");
    }
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        run_one(trial, ones[i].spelling, ones[i].text);
    form_expand("fence", "{.proxy.async::generic}.acquire.sync_restrict::shared::cluster.cluster",
                run_fence, trial);
    form_expand("fence", "{.proxy.async::generic}.release.sync_restrict::shared::cta.cluster",
                run_fence, trial);
    form_expand("fence", ".proxy.async{.global,.shared::cta,.shared::cluster}", run_fence, trial);
    form_expand("membar", ".proxy.async{.global,.shared::cta,.shared::cluster}", run_fence, trial);
    trial_free(trial);
}
