/* Fetch and decode (see the header). */
#include "sm/fetch.h"

void fetch_init(SmFetch *fetch, SmContext *sm, SmPort *port) {
    fetch->config = &sm->config->fetch;
    fetch->decode_due = UINT64_MAX;
    read_cache_init(&fetch->l1i, sm, port, &sm->config->l1i, MEM_CLIENT_L1I);
}

void fetch_start_kernel(SmFetch *fetch) {
    fetch->decode_due = UINT64_MAX;
    read_cache_start_kernel(&fetch->l1i);
}

/* ---- Buffers ---- */

void fetch_start_warp(SmFetch *fetch, int warp, uint32_t pc) {
    fetch->buffer[warp] = (SmBuffer){.pc = pc, .fetch_pc = pc};
    fetch->empty |= UINT64_C(1) << warp;
}

void fetch_retire(SmFetch *fetch, uint64_t warps) {
    fetch->empty &= ~warps;
    fetch->redirected &= ~warps;
}

/* With an ideal front end the buffer holds the next instruction as soon as the last one has issued.
 */
static void fill_ideally(SmFetch *fetch, int warp, uint32_t pc) {
    fetch->buffer[warp].pc = pc;
    fetch->buffer[warp].count = fetch->config->buffer;
    fetch->empty &= ~(UINT64_C(1) << warp);
}

void fetch_flush(SmFetch *fetch, int warp, uint32_t pc) {
    uint64_t bit = UINT64_C(1) << warp;
    fetch->buffer[warp] = (SmBuffer){.pc = pc, .fetch_pc = pc};
    fetch->empty |= bit;
    fetch->redirected |= bit;
    if (fetch->decode_due != UINT64_MAX && fetch->decode_warp == warp)
        fetch->decode_due = UINT64_MAX;
    if (fetch->config->is_ideal) fill_ideally(fetch, warp, pc);
}

void fetch_took(SmFetch *fetch, int warp, uint32_t pc, uint32_t next, bool has_exited) {
    SmBuffer *buffer = &fetch->buffer[warp];
    bool is_empty = --buffer->count == 0;
    buffer->pc = pc + 1;
    fetch->empty |= bits_if(is_empty | !fetch->config->waits_for_empty, warp);
    fetch->redirected |= bits_if(is_empty & !has_exited & (next != pc + 1), warp);
    if (has_exited) buffer->count = 0;
}

void fetch_passed(SmFetch *fetch, int warp, uint32_t pc, uint32_t next, bool has_exited) {
    fetch_took(fetch, warp, pc, next, has_exited);
    if (fetch->config->is_ideal && !has_exited) fill_ideally(fetch, warp, next);
}

/* ---- Fetch ---- */

static uint64_t fetchable(const SmFetch *fetch, const SmContext *sm) {
    uint64_t warps = context_live(sm) & fetch->empty & ~fetch->waits;
    if (fetch->decode_due != UINT64_MAX) warps &= ~(UINT64_C(1) << fetch->decode_warp);
    return warps;
}

bool fetch_has_work(const SmFetch *fetch, const SmContext *sm, const SmPort *port) {
    return fetchable(fetch, sm) || fetch->decode_due != UINT64_MAX ||
           port_has_misses(port, MEM_CLIENT_L1I) || mshr_has_ready(&fetch->l1i.mshr);
}

static uint64_t code_address(const SmFetch *fetch, uint32_t pc) {
    return fetch->config->code_base + (uint64_t)pc * fetch->config->instruction_bytes;
}

/* Instructions that the next fetch brings: up to the width, within the line. */
static uint32_t fetch_count(const SmFetch *fetch, const SmBuffer *buffer) {
    const SmFetchConfig *config = fetch->config;
    uint32_t line = fetch->l1i.config->line_bytes;
    uint32_t at = (uint32_t)code_address(fetch, buffer->fetch_pc) & (line - 1);
    uint32_t left = line - at; /* bytes to the line's end */
    uint32_t room = config->buffer - buffer->count;
    uint32_t count = config->width < room ? config->width : room;
    while (count * config->instruction_bytes > left)
        count--;
    return count;
}

/* The next warp after the last one fetched for. */
static int next_warp(const SmFetch *fetch, uint64_t warps) {
    uint64_t after = warps & ~bits_low_mask((int)fetch->last + 1);
    return bits_lowest64(after ? after : warps);
}

/* The warps from the one after `last` to `next`, going round. */
static uint64_t between(uint32_t last, int next) {
    uint64_t after_last = ~bits_low_mask((int)last + 1), to_next = bits_low_mask(next + 1);
    return (uint32_t)next > last ? after_last & to_next : after_last | to_next;
}

/* Sends the instructions at a warp's fetch address, which are in the L1I, to decode. */
static void deliver(SmFetch *fetch, const SmContext *sm, int warp) {
    SmBuffer *buffer = &fetch->buffer[warp];
    fetch->decode_due = sm->cycle + fetch->config->decode_latency;
    fetch->decode_warp = (uint8_t)warp;
    fetch->decode_pc = buffer->fetch_pc;
    fetch->decode_count = fetch_count(fetch, buffer);
    buffer->fetch_pc += fetch->decode_count;
}

static void access_l1i(SmFetch *fetch, SmContext *sm, SmPort *port, int warp) {
    uint64_t address = code_address(fetch, fetch->buffer[warp].fetch_pc);
    fetch->last = (uint32_t)warp;
    sm->counters.fetches++;
    ReadResult result =
        read_cache_access(&fetch->l1i, sm, port, address, SM_NO_PC, (uint32_t)warp, warp);
    if (result != READ_REFUSED) sm->counters.l1i_accesses++;
    if (result == READ_HIT) deliver(fetch, sm, warp);
    if (result != READ_WAIT) return;
    sm->counters.l1i_misses++;
    fetch->waits |= UINT64_C(1) << warp;
}

/* A line has come back: one warp that waited for it fetches, unless it went elsewhere meanwhile. */
static void fetch_returned(SmFetch *fetch, const SmContext *sm) {
    int warp = (int)mshr_pop(&fetch->l1i.mshr);
    uint64_t bit = UINT64_C(1) << warp;
    fetch->waits &= ~bit;
    if (fetchable(fetch, sm) & bit &&
        read_cache_has(&fetch->l1i, code_address(fetch, fetch->buffer[warp].fetch_pc)))
        deliver(fetch, sm, warp);
}

/* The scan for the next warp to fetch for: the warps that it passed, to the one found. */
static uint64_t scan(SmFetch *fetch, SmContext *sm, SmPort *port) {
    uint64_t wanting = fetchable(fetch, sm);
    if (fetch->config->is_ideal) {
        for (; wanting; wanting &= wanting - 1) {
            int warp = bits_lowest64(wanting);
            fill_ideally(fetch, warp, sm->warps.warp[warp].isa->pc);
            events_post(&sm->events, SM_EVENT_FETCHED, (uint32_t)warp);
        }
    }
    if (!wanting) return UINT64_MAX;
    int warp = next_warp(fetch, wanting);
    uint64_t scanned = between(fetch->last, warp);
    access_l1i(fetch, sm, port, warp);
    return scanned;
}

uint64_t fetch_step(SmFetch *fetch, SmContext *sm, SmPort *port) {
    uint64_t scanned = 0;
    if (fetch->decode_due == UINT64_MAX) {
        if (mshr_has_ready(&fetch->l1i.mshr)) fetch_returned(fetch, sm);
        else scanned = scan(fetch, sm, port);
    }
    port_step_misses(port, sm, MEM_CLIENT_L1I);
    return scanned;
}

void fetch_decode(SmFetch *fetch, SmContext *sm) {
    if (fetch->decode_due > sm->cycle) return;
    fetch->decode_due = UINT64_MAX;
    int warp = fetch->decode_warp;
    SmBuffer *buffer = &fetch->buffer[warp];
    uint64_t bit = UINT64_C(1) << warp;
    if (!(context_live(sm) & bit)) return;
    if (buffer->count == 0) buffer->pc = fetch->decode_pc;
    buffer->count += fetch->decode_count;
    if (fetch->config->waits_for_empty || buffer->count == fetch->config->buffer)
        fetch->empty &= ~bit;
    fetch->redirected &= ~bit;
    events_post(&sm->events, SM_EVENT_FETCHED, (uint32_t)warp);
}

void fetch_line_arrived(SmFetch *fetch, const MemRequest *request) {
    read_cache_fill(&fetch->l1i, port_line_of(request));
}
