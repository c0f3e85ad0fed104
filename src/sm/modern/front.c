/* Where instructions come from (see the header). */
#include "sm/modern/front.h"

void front_init(ModernFront *front, SmContext *sm, SmPort *port) {
    const SmConfig *config = sm->config;
    front->config = config;
    read_cache_init(&front->l1i, sm, port, &config->l1i, MEM_CLIENT_L1I);
    for (uint32_t s = 0; s < config->subcores; s++)
        tags_init(&front->stream[s].l0, config->l0i.size_bytes, config->l0i.line_bytes,
                  config->l0i.ways, sm->arena);
}

void front_start(ModernFront *front) {
    read_cache_start_kernel(&front->l1i);
    front->l1_free = 0;
    front->waits = front->refused = 0;
    front->pending = 0;
    for (uint32_t s = 0; s < front->config->subcores; s++) {
        tags_clear(&front->stream[s].l0);
        front->stream[s].count = 0;
    }
}

static ModernStream *stream_of(ModernFront *front, int warp) {
    return &front->stream[(uint32_t)warp % front->config->subcores];
}

/* ---- The SM's cache ---- */

static bool is_pending(const ModernFront *front, uint64_t line) {
    for (uint32_t i = 0; i < front->pending; i++)
        if (front->pending_line[i] == line) return true;
    return false;
}

/* Asks for a line. The cycle in which a sub-core has it, at `cycle` + modern.fetch_latency at the
 * earliest; UINT64_MAX: it comes from L2. READ_REFUSED: it has to be asked for again. */
static ReadResult ask_l1i(ModernFront *front, SmContext *sm, SmPort *port, int warp, uint64_t line,
                          uint64_t cycle, uint64_t *ready) {
    *ready = UINT64_MAX;
    if (is_pending(front, line)) return READ_WAIT;
    if (front->pending == FRONT_LINES) return READ_REFUSED;
    const ReadResult result = read_cache_access(&front->l1i, sm, port, line, SM_NO_PC, 0, warp);
    if (result == READ_WAIT) front->pending_line[front->pending++] = line;
    if (result != READ_HIT) return result;
    const uint64_t looked_up = cycle > front->l1_free ? cycle : front->l1_free;
    front->l1_free = looked_up + 1;
    *ready = looked_up + front->config->modern.fetch_latency;
    return READ_HIT;
}

/* ---- The stream buffer ---- */

/* Asks for lines behind `line` until the buffer is full. */
static void ask_ahead(ModernFront *front, SmContext *sm, SmPort *port, int warp, uint64_t line,
                      uint64_t end, uint64_t cycle) {
    ModernStream *stream = stream_of(front, warp);
    const uint64_t bytes = front->config->l0i.line_bytes;
    uint64_t next = stream->count ? stream->ahead[stream->count - 1].address + bytes : line + bytes;
    for (; stream->count < front->config->modern.stream_buffer && next < end; next += bytes) {
        ModernAhead ahead = {.address = next};
        if (ask_l1i(front, sm, port, warp, next, cycle, &ahead.ready) == READ_REFUSED) return;
        stream->ahead[stream->count++] = ahead;
    }
}

/* The line, which is no longer in the buffer, nor are those before it; false: it was not there. */
static bool take_ahead(ModernStream *stream, uint64_t line, uint64_t *ready) {
    for (uint32_t i = 0; i < stream->count; i++) {
        if (stream->ahead[i].address != line) continue;
        *ready = stream->ahead[i].ready;
        stream->count -= i + 1;
        for (uint32_t left = 0; left < stream->count; left++)
            stream->ahead[left] = stream->ahead[left + i + 1];
        return true;
    }
    stream->count = 0;
    return false;
}

/* ---- A warp ---- */

/* The warp's line is one that its sub-core has not got. */
static uint64_t miss(ModernFront *front, SmContext *sm, SmPort *port, int warp, uint64_t line,
                     uint64_t end, uint64_t cycle) {
    ModernStream *stream = stream_of(front, warp);
    const uint64_t bit = UINT64_C(1) << warp;
    uint64_t ready;
    if (!take_ahead(stream, line, &ready) &&
        ask_l1i(front, sm, port, warp, line, cycle, &ready) == READ_REFUSED) {
        front->refused |= bit;
        return UINT64_MAX;
    }
    ask_ahead(front, sm, port, warp, line, end, cycle);
    if (ready == UINT64_MAX) {
        front->waits |= bit;
        return UINT64_MAX;
    }
    tags_put(&stream->l0, line, ready);
    return ready > cycle ? ready : cycle;
}

__attribute__((noinline)) uint64_t front_change_line(ModernFront *front, SmContext *sm,
                                                     SmPort *port, int warp, uint64_t line,
                                                     uint64_t end, uint64_t cycle) {
    front->line[warp] = line;
    const ModernLine *own = tags_find(&stream_of(front, warp)->l0, line);
    if (own) return own->ready > cycle ? own->ready : cycle;
    return miss(front, sm, port, warp, line, end, cycle);
}

/* ---- What comes back ---- */

static void forget_pending(ModernFront *front, uint64_t line) {
    for (uint32_t i = 0; i < front->pending; i++)
        if (front->pending_line[i] == line)
            front->pending_line[i--] = front->pending_line[--front->pending];
}

uint64_t front_line_arrived(ModernFront *front, const SmContext *sm, uint64_t line) {
    const uint64_t ready = sm->cycle + front->config->modern.fetch_latency;
    uint64_t warps = 0;
    read_cache_fill(&front->l1i, line);
    while (mshr_has_ready(&front->l1i.mshr))
        mshr_pop(&front->l1i.mshr);
    forget_pending(front, line);
    for (uint32_t s = 0; s < front->config->subcores; s++)
        for (uint32_t i = 0; i < front->stream[s].count; i++)
            if (front->stream[s].ahead[i].address == line) front->stream[s].ahead[i].ready = ready;
    for (uint64_t rest = front->waits; rest; rest &= rest - 1) {
        const int warp = bits_lowest64(rest);
        ModernTags *l0 = &stream_of(front, warp)->l0;
        if (front->line[warp] != line) continue;
        if (!tags_find(l0, line)) tags_put(l0, line, ready);
        warps |= UINT64_C(1) << warp;
    }
    front->waits &= ~warps;
    return warps;
}

uint64_t front_do_step(ModernFront *front, SmContext *sm, SmPort *port) {
    uint64_t warps = 0;
    for (uint64_t rest = front->refused; rest; rest &= rest - 1) {
        const int warp = bits_lowest64(rest);
        uint64_t ready;
        const ReadResult result =
            ask_l1i(front, sm, port, warp, front->line[warp], sm->cycle, &ready);
        if (result == READ_REFUSED) continue;
        front->refused &= ~(rest & -rest);
        if (result == READ_WAIT) {
            front->waits |= rest & -rest;
            continue;
        }
        tags_put(&stream_of(front, warp)->l0, front->line[warp], ready);
        warps |= rest & -rest;
    }
    port_step_misses(port, sm, MEM_CLIENT_L1I);
    return warps;
}
