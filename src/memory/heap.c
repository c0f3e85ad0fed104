/* The device heap: next fit over a bitmap of granules. */
#include "memory/heap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/bits.h"

enum {
    GRANULE_BYTES = 16,
    HEAP_REMEMBERED = 64 /* freed blocks kept for messages */
};

struct MemHeap {
    DeviceMemory *memory;
    uint64_t start;                  /* device address of the region */
    uint64_t granules;               /* number in the region */
    uint64_t next;                   /* granule at which the next search begins */
    uint64_t *used;                  /* one bit per granule */
    uint64_t *first;                 /* one bit per granule: a block starts here */
    uint8_t *slack;                  /* by a block's last granule: unused bytes after the block */
    uint32_t *tags;                  /* by a block's first granule: the block's tag; NULL: all are
                                      * 0 */
    MemBlock freed[HEAP_REMEMBERED]; /* ring of freed blocks (start and end only) */
    uint64_t freed_count;            /* number of blocks ever freed */
};

MemHeap *mem_heap_new(DeviceMemory *memory, uint64_t size_bytes) {
    uint64_t granules = (size_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;
    uint64_t start =
        mem_alloc(memory, granules * GRANULE_BYTES, MEM_ALLOC_ALIGN, MEM_KIND_HEAP, "device heap");
    if (!start) return NULL;
    MemHeap *heap = base_calloc(1, sizeof *heap);
    *heap = (MemHeap){.memory = memory, .start = start, .granules = granules};
    heap->used = base_calloc(bits_words(granules), sizeof *heap->used);
    heap->first = base_calloc(bits_words(granules), sizeof *heap->first);
    heap->slack = base_calloc(granules, 1);
    return heap;
}

void mem_heap_free(MemHeap *heap) {
    if (!heap) return;
    mem_release(heap->memory, heap->start);
    free(heap->used);
    free(heap->first);
    free(heap->slack);
    free(heap->tags);
    free(heap);
}

/* First granule of a run of `count` free ones that starts in [from, to), or `to` if there is none.
 * The run may extend past `to`, but not past the region. */
static uint64_t find_run(const MemHeap *heap, uint64_t from, uint64_t to, uint64_t count) {
    uint64_t start = from, length = 0;
    for (uint64_t i = from; i < heap->granules; i++) {
        if (bits_get(heap->used, i)) {
            length = 0;
            start = i + 1;
            if (start >= to) return to;
        } else if (++length == count) {
            return start;
        }
    }
    return to;
}

uint64_t mem_heap_alloc(MemHeap *heap, uint64_t size_bytes) {
    if (size_bytes == 0 || size_bytes > heap->granules * GRANULE_BYTES) return 0;
    uint64_t count = (size_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;
    uint64_t at = find_run(heap, heap->next, heap->granules, count);
    if (at == heap->granules) {
        at = find_run(heap, 0, heap->next, count);
        if (at == heap->next) return 0;
    }
    for (uint64_t i = at; i < at + count; i++)
        bits_set(heap->used, i);
    bits_set(heap->first, at);
    heap->slack[at + count - 1] = (uint8_t)(count * GRANULE_BYTES - size_bytes);
    heap->next = at + count < heap->granules ? at + count : 0;
    uint64_t address = heap->start + at * GRANULE_BYTES;
    mem_set_unwritten(heap->memory, address, size_bytes);
    return address;
}

bool mem_heap_has(const MemHeap *heap, uint64_t address) {
    return heap && address >= heap->start && address - heap->start < heap->granules * GRANULE_BYTES;
}

/* Whether a granule in use is the last one of its block. */
static bool ends_block(const MemHeap *heap, uint64_t at) {
    return at + 1 >= heap->granules || !bits_get(heap->used, at + 1) ||
           bits_get(heap->first, at + 1);
}

/* The last granule of the block that granule `at` belongs to. */
static uint64_t last_granule(const MemHeap *heap, uint64_t at) {
    while (!ends_block(heap, at))
        at++;
    return at;
}

static uint64_t address_of(const MemHeap *heap, uint64_t granule) {
    return heap->start + granule * GRANULE_BYTES;
}

/* One past the last byte of the block that granule `at` belongs to. */
static uint64_t end_of(const MemHeap *heap, uint64_t at) {
    uint64_t last = last_granule(heap, at);
    return address_of(heap, last + 1) - heap->slack[last];
}

bool mem_heap_release(MemHeap *heap, uint64_t address) {
    if (!mem_heap_has(heap, address) || (address - heap->start) % GRANULE_BYTES) return false;
    uint64_t first = (address - heap->start) / GRANULE_BYTES;
    if (!bits_get(heap->first, first)) return false;
    uint64_t last = last_granule(heap, first);
    heap->freed[heap->freed_count++ % HEAP_REMEMBERED] =
        (MemBlock){.start = address, .end = end_of(heap, first)};
    bits_clear(heap->first, first);
    for (uint64_t i = first; i <= last; i++)
        bits_clear(heap->used, i);
    return true;
}

bool mem_heap_is_valid(const MemHeap *heap, uint64_t address, uint64_t size) {
    if (!mem_heap_has(heap, address)) return false;
    if (size == 0) return true;
    uint64_t at = (address - heap->start) / GRANULE_BYTES;
    uint64_t last = (address - heap->start + size - 1) / GRANULE_BYTES;
    if (last >= heap->granules || !bits_get(heap->used, at)) return false;
    for (uint64_t i = at + 1; i <= last; i++)
        if (!bits_get(heap->used, i) || bits_get(heap->first, i)) return false;
    return !ends_block(heap, last) ||
           address + size <= address_of(heap, last + 1) - heap->slack[last];
}

uint64_t mem_heap_next(const MemHeap *heap, uint64_t address, uint64_t *size_bytes) {
    uint64_t at = 0;
    if (!heap) return 0;
    if (address > heap->start) at = (address - heap->start + GRANULE_BYTES - 1) / GRANULE_BYTES;
    while (at < heap->granules && !bits_get(heap->first, at))
        at++;
    if (at >= heap->granules) return 0;
    *size_bytes = end_of(heap, at) - address_of(heap, at);
    return address_of(heap, at);
}

void mem_heap_set_tag(MemHeap *heap, uint64_t address, uint32_t tag) {
    if (!heap->tags) heap->tags = base_calloc(heap->granules, sizeof *heap->tags);
    heap->tags[(address - heap->start) / GRANULE_BYTES] = tag;
}

uint32_t mem_heap_tag(const MemHeap *heap, uint64_t address) {
    return heap->tags ? heap->tags[(address - heap->start) / GRANULE_BYTES] : 0;
}

/* ---- Describing an address ---- */

static void describe(uint64_t start, uint64_t end, const char *which, Text *out) {
    text_printf(out, "%s %" PRIu64 "-byte device malloc block at 0x%" PRIx64, which, end - start,
                start);
}

void mem_heap_describe(const MemHeap *heap, uint64_t address, Text *out) {
    uint64_t at = (address - heap->start) / GRANULE_BYTES;
    if (mem_heap_is_valid(heap, address, 1)) {
        while (!bits_get(heap->first, at))
            at--;
        text_printf(out, "byte %" PRIu64 " of ", address - address_of(heap, at));
        describe(address_of(heap, at), end_of(heap, at), "the", out);
        return;
    }
    for (uint64_t age = 1; age <= heap->freed_count && age <= HEAP_REMEMBERED; age++) {
        const MemBlock *freed = &heap->freed[(heap->freed_count - age) % HEAP_REMEMBERED];
        if (address < freed->start || address >= freed->end) continue;
        text_printf(out, "byte %" PRIu64 " of ", address - freed->start);
        describe(freed->start, freed->end, "a freed", out);
        return;
    }
    uint64_t before = at;
    while (before > 0 && !bits_get(heap->first, before))
        before--;
    if (!bits_get(heap->first, before)) {
        text_add(out, "in no block of the device heap");
        return;
    }
    uint64_t distance = address - end_of(heap, before) + 1;
    text_printf(out, "%" PRIu64 " byte%s past the last byte of ", distance, text_plural(distance));
    describe(address_of(heap, before), end_of(heap, before), "the", out);
}
