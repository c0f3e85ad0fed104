/* Fetch: one L1I access per cycle for the next warp, round robin, whose buffer can take it; decode
 * into the buffer a cycle later. A line that comes back from below uses the cycle's fetch for a
 * warp that waited for it. The fetch address is sequential: what a taken branch skips is fetched,
 * found to be stale by the scheduler, and flushed. */
#include "sm/sm_internal.h"

void fetch_init(Sm *sm) {
    read_cache_init(sm, &sm->l1i, &sm->config->l1i, MEM_CLIENT_L1I);
    sm->decode_due = UINT64_MAX;
}

/* With an ideal front end the buffer holds the next instruction as soon as the last one has issued.
 */
static void fill_ideally(Sm *sm, int warp) {
    SmWarp *w = &sm->warps[warp];
    w->buffer_pc = w->isa->pc;
    w->buffered = (uint8_t)sm->config->fetch.buffer;
    sm->empty &= ~(UINT64_C(1) << warp);
}

void fetch_flush(Sm *sm, int warp) {
    SmWarp *w = &sm->warps[warp];
    uint64_t bit = UINT64_C(1) << warp;
    w->buffered = 0;
    w->buffer_pc = w->fetch_pc = w->isa->pc;
    sm->empty |= bit;
    sm->redirected |= bit;
    if (sm->decode_due != UINT64_MAX && sm->decode_warp == warp) sm->decode_due = UINT64_MAX;
    if (sm->config->fetch.is_ideal) fill_ideally(sm, warp);
}

static uint64_t fetchable(const Sm *sm) {
    uint64_t warps = sm->view.resident & ~sm->view.exited & sm->empty & ~sm->fetch_waits;
    if (sm->decode_due != UINT64_MAX) warps &= ~(UINT64_C(1) << sm->decode_warp);
    return warps;
}

bool fetch_has_work(const Sm *sm) {
    return fetchable(sm) || sm->decode_due != UINT64_MAX ||
           send_queue_has_any(sm, MEM_CLIENT_L1I) || mshr_has_ready(&sm->l1i.mshr);
}

static uint64_t code_address(const Sm *sm, uint32_t pc) {
    return sm->config->fetch.code_base + (uint64_t)pc * sm->config->fetch.instruction_bytes;
}

/* Instructions that one fetch from `pc` brings: up to the width, within the line. */
static uint32_t fetch_count(const Sm *sm, const SmWarp *w, uint32_t pc) {
    const SmFetchConfig *config = &sm->config->fetch;
    uint32_t line = sm->config->l1i.line_bytes;
    uint32_t left =
        line - ((uint32_t)code_address(sm, pc) & (line - 1)); /* bytes to the line's end */
    uint32_t room = config->buffer - w->buffered;
    uint32_t count = config->width < room ? config->width : room;
    while (count * config->instruction_bytes > left)
        count--;
    return count;
}

/* The next warp after the last one fetched for. */
static int next_warp(const Sm *sm, uint64_t warps) {
    uint64_t after = warps & ~bits_low_mask((int)sm->last_fetched + 1);
    return bits_lowest64(after ? after : warps);
}

/* The warps from the one after `last` to `next`, going round. */
static uint64_t between(uint32_t last, int next) {
    uint64_t after_last = ~bits_low_mask((int)last + 1), to_next = bits_low_mask(next + 1);
    return (uint32_t)next > last ? after_last & to_next : after_last | to_next;
}

/* Sends the instructions at a warp's fetch address, which are in the L1I, to decode. */
static void deliver(Sm *sm, int warp) {
    SmWarp *w = &sm->warps[warp];
    sm->decode_due = sm->cycle + sm->config->fetch.decode_latency;
    sm->decode_warp = (uint8_t)warp;
    sm->decode_pc = w->fetch_pc;
    sm->decode_count = fetch_count(sm, w, w->fetch_pc);
    w->fetch_pc += sm->decode_count;
}

static void fetch(Sm *sm, int warp) {
    uint64_t address = code_address(sm, sm->warps[warp].fetch_pc);
    int32_t entry;
    sm->last_fetched = (uint32_t)warp;
    sm->counters.fetches++;
    ReadResult result = read_cache_access(sm, &sm->l1i, address, (uint32_t)warp, warp, &entry);
    if (result != READ_REFUSED) sm->counters.l1i_accesses++;
    if (result == READ_HIT) deliver(sm, warp);
    if (result != READ_WAIT) return;
    sm->counters.l1i_misses++;
    sm->fetch_waits |= UINT64_C(1) << warp;
}

/* A line has come back: one warp that waited for it fetches, unless it went elsewhere meanwhile. */
static void fetch_returned(Sm *sm) {
    int warp = (int)mshr_pop(&sm->l1i.mshr);
    uint64_t bit = UINT64_C(1) << warp;
    sm->fetch_waits &= ~bit;
    if (fetchable(sm) & bit && read_cache_has(&sm->l1i, code_address(sm, sm->warps[warp].fetch_pc)))
        deliver(sm, warp);
}

/* The scan for the next warp to fetch for: the warps that it passed, to the one found. */
static uint64_t scan(Sm *sm) {
    uint64_t warps = fetchable(sm);
    if (sm->config->fetch.is_ideal) {
        for (; warps; warps &= warps - 1) {
            fill_ideally(sm, bits_lowest64(warps));
            issue_update_head(sm, bits_lowest64(warps));
        }
    }
    if (!warps) return UINT64_MAX;
    int warp = next_warp(sm, warps);
    uint64_t scanned = between(sm->last_fetched, warp);
    fetch(sm, warp);
    return scanned;
}

uint64_t fetch_step(Sm *sm) {
    uint64_t scanned = 0;
    if (sm->decode_due == UINT64_MAX) {
        if (mshr_has_ready(&sm->l1i.mshr)) fetch_returned(sm);
        else scanned = scan(sm);
    }
    send_queue_step(sm, MEM_CLIENT_L1I);
    return scanned;
}

void fetch_decode(Sm *sm) {
    if (sm->decode_due > sm->cycle) return;
    sm->decode_due = UINT64_MAX;
    int warp = sm->decode_warp;
    SmWarp *w = &sm->warps[warp];
    uint64_t bit = UINT64_C(1) << warp;
    if (!(sm->view.resident & bit) || sm->view.exited & bit) return;
    if (w->buffered == 0) w->buffer_pc = sm->decode_pc;
    w->buffered = (uint8_t)(w->buffered + sm->decode_count);
    bool is_full = sm->config->fetch.waits_for_empty || w->buffered == sm->config->fetch.buffer;
    if (is_full) sm->empty &= ~bit;
    sm->redirected &= ~bit;
    issue_update_head(sm, warp);
}

void fetch_line_arrived(Sm *sm, const MemRequest *request) {
    read_cache_fill(&sm->l1i, port_line_of(request));
}
