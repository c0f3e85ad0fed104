/* Supply of instructions (see the header). */
#include "sm/modern/front.h"

static void init_tags(ModernTags *tags, const CacheConfig *config, Arena *arena) {
    tags_init(tags, config->size_bytes, config->line_bytes, config->ways, arena);
}

void front_init(ModernFront *front, const SmConfig *config, Arena *arena) {
    front->config = config;
    init_tags(&front->l1, &config->l1i, arena);
    for (uint32_t s = 0; s < config->subcores; s++)
        init_tags(&front->stream[s].l0, &config->l0i, arena);
}

void front_start(ModernFront *front) {
    front->l1_free = 0;
    tags_clear(&front->l1);
    for (uint32_t s = 0; s < front->config->subcores; s++) {
        tags_clear(&front->stream[s].l0);
        front->stream[s].count = 0;
        front->stream[s].free = 0;
    }
}

/* Requests a line from the SM's cache. Returns the cycle in which a sub-core has it. The cache
 * looks up one line per cycle for waiting warps, and one per cycle for each stream buffer. `free`:
 * the next cycle in which it can do so. */
static uint64_t ask_l1(ModernFront *front, Counters *counters, uint64_t *free, uint64_t line,
                       uint64_t cycle) {
    const SmModernConfig *config = &front->config->modern;
    const uint64_t looked_up = cycle > *free ? cycle : *free;
    ModernLine *found = tags_find(&front->l1, line);
    uint64_t there = looked_up + config->code_latency;
    *free = looked_up + 1;
    counters->l1i_accesses++;
    counters->l1i_misses += !found;
    if (!found) tags_put(&front->l1, line, there);
    else there = found->ready > looked_up ? found->ready : looked_up;
    return there + config->fetch_latency;
}

/* ---- The stream buffer ---- */

/* Requests lines after `line` until the buffer is full. */
static void ask_ahead(ModernFront *front, Counters *counters, ModernStream *stream, uint64_t line,
                      uint64_t end, uint64_t cycle) {
    const uint64_t bytes = front->config->l0i.line_bytes;
    uint64_t next = stream->count ? stream->ahead[stream->count - 1].address + bytes : line + bytes;
    for (; stream->count < front->config->modern.stream_buffer && next < end; next += bytes)
        stream->ahead[stream->count++] = (ModernAhead){
            .address = next, .ready = ask_l1(front, counters, &stream->free, next, cycle)};
}

/* Takes the line out of the buffer, with all lines before it. Returns false if it was not there;
 * then the buffer is emptied. */
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

__attribute__((noinline)) uint64_t front_change_line(ModernFront *front, Counters *counters,
                                                     int warp, uint64_t line, uint64_t end,
                                                     uint64_t cycle) {
    ModernStream *stream = &front->stream[(uint32_t)warp % front->config->subcores];
    const ModernLine *own = tags_find(&stream->l0, line);
    uint64_t ready = own ? own->ready : 0;
    front->line[warp] = line;
    if (!own) {
        const bool was_ahead = take_ahead(stream, line, &ready);
        if (!was_ahead) ready = ask_l1(front, counters, &front->l1_free, line, cycle);
        ask_ahead(front, counters, stream, line, end, was_ahead ? cycle : cycle + 1);
        tags_put(&stream->l0, line, ready);
    }
    return ready > cycle ? ready : cycle;
}
