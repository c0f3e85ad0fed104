/* BLISS (ICCD 2014): its order of requests, checked with a worked example and a plain model of the
 * rules; the clearing of the blacklist; and its guarantees. No SM starves another, and with an
 * unreachable threshold it is FR-FCFS. */
#include "dram/channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "drive.h"

/* ---- A queue without a channel ---- */

/* A queue under BLISS, with requests numbered in order of arrival. */
typedef struct Line {
    Arena *arena;
    DramConfig config;
    DramQueue queue;
    uint32_t handle; /* handle of the next request */
} Line;

static const DramScheduler *const bliss = &dram_scheduler_bliss;

static Line line_new(uint32_t threshold, uint32_t interval) {
    Line line = {.arena = arena_new(),
                 .config = device_under(&devices[DEVICE_GTX480], DRAM_SCHEDULER_bliss)};
    line.config.bliss_threshold = threshold;
    line.config.bliss_interval = interval;
    dram_queue_init(&line.queue, bliss, &line.config, line.arena);
    return line;
}

static void line_free(Line *line) { arena_free(line->arena); }

/* Adds a request of an SM. Returns its handle. */
static uint32_t arrive(Line *line, uint16_t sm, uint32_t bank, uint32_t row) {
    const uint16_t entry = dram_queue_take(&line->queue);
    line->queue.entries[entry] = (DramEntry){
        .request = {
            .handle = line->handle, .row = row, .bank = (uint8_t)bank, .requester = {.sm = sm}}};
    bliss->add(&line->queue, entry);
    return line->handle++;
}

/* The handle of the request that a bank serves in `tick`. */
static uint32_t serve(Line *line, uint32_t bank, uint64_t tick) {
    assert_true(bliss->candidates(&line->queue, UINT32_MAX, tick) >> bank & 1);
    const uint16_t entry = bliss->pick(&line->queue, bank, tick);
    const uint32_t handle = line->queue.entries[entry].request.handle;
    dram_queue_give_back(&line->queue, entry);
    return handle;
}

static void serve_in_order(Line *line, const uint32_t *handles, uint32_t count, uint64_t tick) {
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(serve(line, 0, tick), handles[i]);
    assert_int_equal(bliss->candidates(&line->queue, UINT32_MAX, tick), 0);
}

/* SM 7 reads row 5 six times; SM 8 reads row 9 once, after the second of them. FR-FCFS would serve
 * all of row 5 first. Here SM 7's fourth consecutive request puts it on the list. */
static void a_worked_example(void **state) {
    (void)state;
    Line line = line_new(4, 10000);
    for (int i = 0; i < 2; i++)
        arrive(&line, 7, 0, 5);
    arrive(&line, 8, 0, 9); /* request 2 */
    for (int i = 0; i < 4; i++)
        arrive(&line, 7, 0, 5);
    serve_in_order(&line, (uint32_t[]){0, 1, 3, 4, 2, 5, 6}, 7, 100);
    line_free(&line);
}

/* A request of another SM in between: no SM has four consecutive requests, and all hits are served
 * first. */
static void another_sms_request_ends_a_run(void **state) {
    (void)state;
    Line line = line_new(4, 10000);
    arrive(&line, 8, 0, 9);
    assert_int_equal(serve(&line, 0, 1), 0); /* row 9 is open */
    for (int i = 0; i < 3; i++)
        arrive(&line, 7, 0, 9);
    arrive(&line, 6, 0, 9); /* request 4 */
    arrive(&line, 8, 0, 1); /* request 5 */
    for (int i = 0; i < 3; i++)
        arrive(&line, 7, 0, 9);
    serve_in_order(&line, (uint32_t[]){1, 2, 3, 4, 6, 7, 8, 5}, 8, 100);
    line_free(&line);
}

/* The list is cleared in ticks 0, interval, 2 x interval, ..., even if no request was served in
 * between. */
static void the_list_is_cleared_after_the_interval(void **state) {
    (void)state;
    for (int is_late = 0; is_late < 2; is_late++) {
        Line line = line_new(2, 1000);
        for (int i = 0; i < 3; i++)
            arrive(&line, 7, 0, 5);
        arrive(&line, 8, 0, 9); /* request 3 */
        assert_int_equal(serve(&line, 0, 10), 0);
        assert_int_equal(serve(&line, 0, 10), 1); /* now SM 7 is on the list */
        assert_int_equal(serve(&line, 0, is_late ? 1000 : 999), is_late ? 2 : 3);
        line_free(&line);
    }
}

/* A bank with a request of an SM that is not on the list is served before banks without one, unless
 * that bank is not free. */
static void a_bank_with_an_unlisted_request_goes_first(void **state) {
    (void)state;
    Line line = line_new(2, 1000);
    for (uint32_t bank = 0; bank < 3; bank++)
        arrive(&line, 7, bank, 5);
    assert_int_equal(bliss->candidates(&line.queue, UINT32_MAX, 1), 7);
    serve(&line, 0, 1), serve(&line, 1, 1);
    arrive(&line, 7, 0, 5);
    assert_int_equal(bliss->candidates(&line.queue, UINT32_MAX, 1), 5); /* only SM 7 waits */
    arrive(&line, 8, 2, 6);
    assert_int_equal(bliss->candidates(&line.queue, UINT32_MAX, 1), 4);
    assert_int_equal(bliss->candidates(&line.queue, 3, 1), 1);
    assert_int_equal(bliss->candidates(&line.queue, UINT32_MAX, 1000), 5); /* the list is empty */
    line_free(&line);
}

/* A write-back has no SM: it is never on the list, and does not end a run. */
static void a_request_without_an_sm_is_not_counted(void **state) {
    (void)state;
    Line line = line_new(2, 1000);
    for (int i = 0; i < 4; i++)
        arrive(&line, DRAM_NO_SM, 0, 5);
    arrive(&line, 7, 0, 9); /* request 4 */
    serve_in_order(&line, (uint32_t[]){0, 1, 2, 3, 4}, 5, 1);
    arrive(&line, DRAM_NO_SM, 0, 9);
    arrive(&line, 7, 0, 9);
    arrive(&line, 7, 0, 9);
    arrive(&line, 8, 0, 1); /* request 8 */
    serve_in_order(&line, (uint32_t[]){5, 6, 8, 7}, 4, 1);
    line_free(&line);
}

/* ---- Comparison with the rules ---- */

enum { MODEL_SMS = 4, MODEL_BANKS = 3, MODEL_WAITING = 40 };

/* The rules as written in the paper, without lists or counts. */
typedef struct Model {
    struct ModelRequest {
        uint32_t handle, bank, row;
        uint16_t sm;
    } waiting[MODEL_WAITING];
    uint32_t count;
    bool is_listed[MODEL_SMS];
    uint16_t last;
    uint32_t run;
    int64_t row[MODEL_BANKS]; /* open row; -1: none */
} Model;

static bool model_goes_before(const Model *model, const struct ModelRequest *a,
                              const struct ModelRequest *b) {
    const bool listed_a = model->is_listed[a->sm], listed_b = model->is_listed[b->sm];
    if (listed_a != listed_b) return listed_b;
    const bool hit_a = model->row[a->bank] == a->row, hit_b = model->row[b->bank] == b->row;
    if (hit_a != hit_b) return hit_a;
    return a->handle < b->handle;
}

/* Serves the next request of the bank. Returns its handle, or UINT32_MAX if none waits. */
static uint32_t model_serve(Model *model, uint32_t bank, uint32_t threshold) {
    struct ModelRequest *best = NULL;
    for (uint32_t i = 0; i < model->count; i++) {
        struct ModelRequest *request = &model->waiting[i];
        if (request->bank != bank) continue;
        if (!best || model_goes_before(model, request, best)) best = request;
    }
    if (!best) return UINT32_MAX;
    const struct ModelRequest served = *best;
    *best = model->waiting[--model->count];
    model->row[bank] = served.row;
    model->run = served.sm == model->last ? model->run + 1 : 1;
    model->last = served.sm;
    if (model->run >= threshold) model->is_listed[served.sm] = true;
    return served.handle;
}

static void model_arrive(Model *model, Line *line, uint64_t *seed) {
    const uint64_t r = next_random(seed);
    const uint16_t sm = (uint16_t)((r & 3) ? 0 : (r >> 2) % MODEL_SMS);
    const struct ModelRequest request = {
        .bank = (uint32_t)(r >> 8) % MODEL_BANKS,
        .row = (uint32_t)(r >> 16) & 1,
        .sm = sm,
        .handle = arrive(line, sm, (uint32_t)(r >> 8) % MODEL_BANKS, (uint32_t)(r >> 16) & 1)};
    model->waiting[model->count++] = request;
}

/* Checks that the scheduler's masks of banks fit the waiting requests. */
static void check_waiting(const Model *model, const Line *line) {
    uint32_t same = 0, other = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        const struct ModelRequest *request = &model->waiting[i];
        const bool is_same = model->row[request->bank] == request->row;
        *(is_same ? &same : &other) |= UINT32_C(1) << request->bank;
    }
    const DramWaiting waiting = bliss->waiting(&line->queue, NULL);
    assert_int_equal(waiting.same_row, same);
    assert_int_equal(waiting.other_rows, other);
}

static void requests_are_served_by_the_rules(void **state) {
    (void)state;
    enum { THRESHOLD = 3, INTERVAL = 12, TICKS = 20000 };
    Line line = line_new(THRESHOLD, INTERVAL);
    Model model = {.last = UINT16_MAX, .row = {-1, -1, -1}};
    uint64_t seed = 42, listed = 0;
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        if (tick % INTERVAL == 0) memset(model.is_listed, 0, sizeof model.is_listed);
        while (model.count < MODEL_WAITING && next_random(&seed) % 3)
            model_arrive(&model, &line, &seed);
        check_waiting(&model, &line);
        const uint32_t bank = (uint32_t)(next_random(&seed) % MODEL_BANKS);
        listed += model.is_listed[0];
        const uint32_t handle = model_serve(&model, bank, THRESHOLD);
        if (handle == UINT32_MAX) continue;
        const uint16_t entry = bliss->pick(&line.queue, bank, tick);
        assert_int_equal(line.queue.entries[entry].request.handle, handle);
        dram_queue_give_back(&line.queue, entry);
    }
    assert_in_range(listed, TICKS / 10, TICKS * 9 / 10); /* SM 0 was listed, and was not */
    line_free(&line);
}

/* ---- A channel ---- */

static void push(Bench *bench, uint32_t handle, uint16_t sm, uint32_t bank, uint32_t row,
                 uint32_t column) {
    dram_push(bench->channel, bench->tick,
              &(DramRequest){.handle = handle,
                             .row = row,
                             .column = (uint16_t)column,
                             .bytes = 32,
                             .bank = (uint8_t)bank,
                             .requester = {.sm = sm}});
}

/* A hash of the replies to random requests of five SMs, with the ticks of the replies. */
static uint64_t replies_under(const DramConfig *config) {
    Bench bench = bench_new(config);
    uint64_t seed = 7, hash = 1;
    uint32_t sent = 0;
    DramReply reply;
    while (sent < 5000 || !dram_is_idle(bench.channel)) {
        while (sent < 5000 && dram_can_accept(bench.channel) && next_random(&seed) % 4) {
            const uint64_t r = next_random(&seed);
            push(&bench, sent++, (uint16_t)(r % 5), (uint32_t)(r >> 8) % config->banks,
                 (uint32_t)(r >> 16) % 3, (uint32_t)(r >> 24) % (config->row_bytes / 32) * 32);
        }
        dram_step(bench.channel, bench.tick);
        if (dram_pop_reply(bench.channel, &reply))
            hash = (hash ^ reply.handle) * 1099511628211u + bench.tick;
        bench.tick++;
    }
    bench_free(&bench);
    return hash;
}

static void a_threshold_out_of_reach_gives_frfcfs(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        const DramConfig frfcfs = device_under(&devices[d], DRAM_SCHEDULER_frfcfs);
        DramConfig config = device_under(&devices[d], DRAM_SCHEDULER_bliss);
        config.bliss_threshold = UINT32_MAX;
        assert_int_equal(replies_under(&config), replies_under(&frfcfs));
        config.bliss_threshold = 1;
        assert_int_not_equal(replies_under(&config), replies_under(&frfcfs));
    }
}

/* SM 0 keeps the queue full of requests to row 1 of a bank; SM 1 sends one to row 2. Returns the
 * tick of SM 1's reply, or `patience`. */
static uint64_t wait_beside_a_stream(DramSchedulerIndex scheduler, uint64_t patience) {
    const DramConfig config = device_under(&devices[DEVICE_GTX480], scheduler);
    Bench bench = bench_new(&config);
    DramReply reply = {.handle = 0};
    uint32_t column = 0;
    run_to(&bench, 1);
    for (int i = 0; i < 8; i++)
        push(&bench, 0, 0, 3, 1, 32 * column++);
    push(&bench, 1, 1, 3, 2, 0);
    while (bench.tick < patience && reply.handle != 1) {
        while (dram_can_accept(bench.channel))
            push(&bench, 0, 0, 3, 1, 32 * (column++ % 64));
        dram_step(bench.channel, bench.tick++);
        (void)dram_pop_reply(bench.channel, &reply);
    }
    const uint64_t end = bench.tick;
    bench_free(&bench);
    return end;
}

/* Four reads of row 1, a precharge and the read of row 2 take less than tRC + tRP + tRCD + tCL and
 * four bursts at tCCDL. */
static void a_stream_of_row_hits_starves_nobody(void **state) {
    (void)state;
    enum { PATIENCE = 9000 }; /* less than the interval, so the list is not cleared meanwhile */
    assert_int_equal(wait_beside_a_stream(DRAM_SCHEDULER_frfcfs, PATIENCE), PATIENCE);
    assert_true(wait_beside_a_stream(DRAM_SCHEDULER_bliss, PATIENCE) < 40 + 12 + 12 + 12 + 4 * 3);
}

/* Two SMs stream row hits through one bank and are on the list most of the time; so is a third that
 * reads other rows. No SM may wait much longer than an interval. */
static void nobody_waits_for_longer_than_an_interval(void **state) {
    (void)state;
    enum { INTERVAL = 500, REQUESTS = 4000 };
    DramConfig config = device_under(&devices[DEVICE_GTX480], DRAM_SCHEDULER_bliss);
    config.bliss_interval = INTERVAL;
    Bench bench = bench_new(&config);
    uint64_t seed = 3;
    uint32_t sent = 0, longest = 0;
    while (sent < REQUESTS || !dram_is_idle(bench.channel)) {
        while (sent < REQUESTS && dram_can_accept(bench.channel)) {
            const uint64_t r = next_random(&seed);
            const uint16_t sm = (uint16_t)(r % 8 < 4 ? 0 : r % 8 < 7 ? 1 : 2);
            const uint32_t row = sm < 2 ? 1 : 2 + (uint32_t)(r >> 4) % 3;
            push(&bench, sent++, sm, 0, row, (uint32_t)(r >> 8) % 64 * 32);
        }
        dram_step(bench.channel, bench.tick++);
        DramReply reply;
        if (dram_pop_reply(bench.channel, &reply) && reply.waited > longest) longest = reply.waited;
    }
    /* when the list is cleared, at most a queue of 64 is ahead, each with a row conflict (tRC
     * 40) */
    assert_in_range(longest, INTERVAL / 2, INTERVAL + 64 * 40);
    bench_free(&bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worked_example),
        cmocka_unit_test(another_sms_request_ends_a_run),
        cmocka_unit_test(the_list_is_cleared_after_the_interval),
        cmocka_unit_test(a_bank_with_an_unlisted_request_goes_first),
        cmocka_unit_test(a_request_without_an_sm_is_not_counted),
        cmocka_unit_test(requests_are_served_by_the_rules),
        cmocka_unit_test(a_threshold_out_of_reach_gives_frfcfs),
        cmocka_unit_test(a_stream_of_row_hits_starves_nobody),
        cmocka_unit_test(nobody_waits_for_longer_than_an_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
