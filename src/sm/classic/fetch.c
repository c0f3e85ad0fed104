/* Fetch and decode (see the header). */
#include "sm/classic/fetch.h"

/* Creates an L0I for each sub-core, above the L1I. */
static void init_l0i(SmFetch *fetch, SmContext *sm, SmPort *port) {
    uint32_t fronts = sm->config->subcores;
    fetch->front_mask = fronts - 1;
    fetch->l0i = ARENA_ARRAY(sm->arena, SmReadCache, fronts);
    for (uint32_t f = 0; f < fronts; f++) {
        read_cache_init(&fetch->l0i[f], sm, port, &sm->config->l0i, MEM_CLIENT_L1I);
        fetch->front[f].cache = &fetch->l0i[f];
    }
}

void fetch_init(SmFetch *fetch, SmContext *sm, SmPort *port) {
    fetch->config = &sm->config->fetch;
    fetch->front[0].cache = &fetch->l1i;
    if (fetch->config->is_per_subcore) init_l0i(fetch, sm, port);
    read_cache_init(&fetch->l1i, sm, port, &sm->config->l1i, MEM_CLIENT_L1I);
    if (fetch->l0i)
        read_levels_init(&fetch->levels, fetch->l0i, sm->config->subcores, &fetch->l1i, sm->arena);
    for (uint32_t f = 0; f <= fetch->front_mask; f++)
        fetch->front[f].bit = 1u << f;
    for (uint32_t slot = 0; slot < TYTO_MAX_WARPS; slot++)
        fetch->front[slot & fetch->front_mask].warps |= UINT64_C(1) << slot;
}

void fetch_start_kernel(SmFetch *fetch) {
    fetch->decoding = 0;
    for (uint32_t f = 0; fetch->l0i && f <= fetch->front_mask; f++)
        read_cache_start_kernel(&fetch->l0i[f]);
    read_cache_start_kernel(&fetch->l1i);
}

/* ---- Buffers ---- */

void fetch_start_warp(SmFetch *fetch, int warp, uint64_t code, uint32_t pc) {
    fetch->code[warp] = fetch->config->code_base + code;
    fetch->buffer[warp] = (SmBuffer){.pc = pc, .fetch_pc = pc};
    fetch->empty |= UINT64_C(1) << warp;
}

void fetch_retire(SmFetch *fetch, uint64_t warps) {
    fetch->empty &= ~warps;
    fetch->redirected &= ~warps;
}

/* With an ideal front end, the buffer holds the next instruction as soon as the last one has
 * issued. */
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
    uint32_t front = (uint32_t)warp & fetch->front_mask;
    if (fetch->front[front].decode_warp == warp) fetch->decoding &= ~(1u << front);
    if (fetch->config->is_ideal) fill_ideally(fetch, warp, pc);
}

void fetch_passed(SmFetch *fetch, int warp, uint32_t pc, uint32_t next, bool has_exited) {
    fetch_took(fetch, warp, pc, next, has_exited);
    if (fetch->config->is_ideal && !has_exited) fill_ideally(fetch, warp, next);
}

/* ---- Fetch ---- */

/* Warps that a front could fetch for if its decode latch is empty. */
static uint64_t fetchable(const SmFetch *fetch, const SmFront *front, const SmContext *sm) {
    return context_live(sm) & fetch->empty & ~fetch->waits & front->warps;
}

/* Address of the next instruction to fetch for a warp. */
static uint64_t code_address(const SmFetch *fetch, int warp) {
    const uint64_t pc = fetch->buffer[warp].fetch_pc;
    return fetch->code[warp] + pc * fetch->config->instruction_bytes;
}

/* Number of instructions that a fetch from `address` returns: up to the width, and within the line
 * unless a fetch may cross lines. */
static uint32_t fetch_count(const SmFetch *fetch, const SmFront *front, const SmBuffer *buffer,
                            uint64_t address) {
    const SmFetchConfig *config = fetch->config;
    uint32_t line = front->cache->config->line_bytes;
    uint32_t left = line - ((uint32_t)address & (line - 1)); /* bytes to the end of the line */
    uint32_t room = config->buffer - buffer->count;
    uint32_t count = config->width < room ? config->width : room;
    if (config->crosses_lines) return count;
    while (count * config->instruction_bytes > left)
        count--;
    return count;
}

/* The next warp after the last one that was fetched for. */
static int next_warp(const SmFront *front, uint64_t warps) {
    uint64_t after = warps & ~UINT64_C(1) << front->last;
    return bits_lowest64(after ? after : warps);
}

/* The warps after `last` up to and including `next`, with wrap-around. */
static uint64_t between(uint32_t last, uint32_t next) {
    uint64_t after_last = ~UINT64_C(1) << last, to_next = ~(~UINT64_C(1) << next);
    return next > last ? after_last & to_next : after_last | to_next;
}

uint64_t fetch_scanned(const SmFetch *fetch) {
    uint64_t scanned = 0;
    for (uint32_t left = fetch->scanning; left; left &= left - 1) {
        const SmFront *front = &fetch->front[bits_lowest32(left)];
        scanned |= between(front->before, front->last) & front->warps;
    }
    return scanned;
}

/* Sends the instructions at a warp's fetch address to decode; they must be in the cache. */
static void deliver(SmFetch *fetch, SmFront *front, const SmContext *sm, int warp,
                    uint64_t address) {
    SmBuffer *buffer = &fetch->buffer[warp];
    uint32_t count = fetch_count(fetch, front, buffer, address);
    fetch->decoding |= front->bit;
    front->decode_due = sm->cycle + fetch->config->decode_latency;
    front->decode_warp = (uint8_t)warp;
    front->decode_pc = buffer->fetch_pc;
    front->decode_count = count;
    buffer->fetch_pc += count;
}

static void access_cache(SmFetch *fetch, SmFront *front, SmContext *sm, SmPort *port, int warp) {
    uint64_t address = code_address(fetch, warp);
    front->last = (uint32_t)warp;
    sm->counters.fetches++;
    ReadResult result =
        read_cache_access(front->cache, sm, port, address, SM_NO_PC, (uint32_t)warp, warp);
    if (result == READ_REFUSED) return;
    sm->counters.l1i_accesses++;
    if (result == READ_HIT) {
        deliver(fetch, front, sm, warp, address);
        return;
    }
    sm->counters.l1i_misses++;
    fetch->waits |= UINT64_C(1) << warp;
}

/* Ends the wait of one warp whose line has arrived. */
static int stop_waiting(SmFetch *fetch, SmFront *front) {
    int warp = (int)mshr_pop(&front->cache->mshr);
    if (!mshr_has_ready(&front->cache->mshr)) fetch->returned &= ~front->bit;
    fetch->waits &= ~(UINT64_C(1) << warp);
    return warp;
}

/* Fetches for a warp whose line has arrived, unless the warp has been redirected in the
 * meantime. */
static void fetch_returned(SmFetch *fetch, SmFront *front, const SmContext *sm) {
    int warp = stop_waiting(fetch, front);
    uint64_t bit = UINT64_C(1) << warp, address = code_address(fetch, warp);
    if (fetchable(fetch, front, sm) & bit && read_cache_has(front->cache, address))
        deliver(fetch, front, sm, warp, address);
}

/* Scans for the next warp to fetch for. */
static void scan(SmFetch *fetch, SmFront *front, SmContext *sm, SmPort *port) {
    uint64_t wanting = fetchable(fetch, front, sm);
    if (fetch->config->is_ideal) {
        for (; wanting; wanting &= wanting - 1) {
            int warp = bits_lowest64(wanting);
            fill_ideally(fetch, warp, sm->warps.warp[warp].handle->pc);
            events_post_fetched(&sm->events, warp);
        }
    }
    fetch->scanning |= front->bit;
    front->before = front->last;
    if (wanting) access_cache(fetch, front, sm, port, next_warp(front, wanting));
}

void fetch_do_step(SmFetch *fetch, SmContext *sm, SmPort *port) {
    fetch->scanning = 0;
    for (uint32_t f = 0; f <= fetch->front_mask; f++) {
        SmFront *front = &fetch->front[f];
        const bool has_returned = fetch->returned & front->bit, asks = fetch->config->asks_again;
        if (!(fetch->decoding & front->bit)) {
            if (has_returned && !asks) fetch_returned(fetch, front, sm);
            else scan(fetch, front, sm, port);
        }
        if (has_returned && asks) stop_waiting(fetch, front);
    }
    if (read_levels_has_work(&fetch->levels))
        fetch->returned |= read_levels_step(&fetch->levels, sm, port);
    port_step_misses(port, sm, MEM_CLIENT_L1I);
}

static void decode(SmFetch *fetch, const SmFront *front, SmContext *sm) {
    int warp = front->decode_warp;
    SmBuffer *buffer = &fetch->buffer[warp];
    uint64_t bit = UINT64_C(1) << warp;
    if (!(context_live(sm) & bit)) return;
    if (buffer->count == 0) buffer->pc = front->decode_pc;
    buffer->count += front->decode_count;
    if (fetch->config->waits_for_empty || buffer->count == fetch->config->buffer)
        fetch->empty &= ~bit;
    fetch->redirected &= ~bit;
    events_post_fetched(&sm->events, warp);
}

void fetch_do_decode(SmFetch *fetch, SmContext *sm) {
    for (uint32_t left = fetch->decoding; left; left &= left - 1) {
        const SmFront *front = &fetch->front[bits_lowest32(left)];
        if (front->decode_due > sm->cycle) continue;
        fetch->decoding &= ~(left & -left);
        decode(fetch, front, sm);
    }
}

void fetch_line_arrived(SmFetch *fetch, const MemRequest *request) {
    uint64_t line = port_line_of(request);
    if (fetch->l0i) {
        fetch->returned |= read_levels_line_arrived(&fetch->levels, line);
        return;
    }
    read_cache_fill(&fetch->l1i, line);
    fetch->returned |= mshr_has_ready(&fetch->l1i.mshr);
}
