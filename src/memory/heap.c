/* The device heap: next fit over a bit map of granules. */
#include "memory/heap.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bits.h"

enum { GRANULE_BYTES = 16 };

struct MemHeap {
    DeviceMemory *memory;
    uint64_t start;    /* device address of the region */
    uint64_t granules; /* in the region */
    uint64_t next;     /* granule at which the next search begins */
    uint64_t *used;    /* bit per granule */
    uint64_t *first;   /* bit per granule: a block starts here */
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
    return heap;
}

void mem_heap_free(MemHeap *heap) {
    if (!heap) return;
    mem_release(heap->memory, heap->start);
    free(heap->used);
    free(heap->first);
    free(heap);
}

/* First granule of a run of `count` free ones that starts in [from, to), or `to` when there is
 * none. The run may reach past `to`, not past the region. */
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
    heap->next = at + count < heap->granules ? at + count : 0;
    return heap->start + at * GRANULE_BYTES;
}

static bool is_inside(const MemHeap *heap, uint64_t address) {
    return address >= heap->start && address - heap->start < heap->granules * GRANULE_BYTES;
}

bool mem_heap_release(MemHeap *heap, uint64_t address) {
    if (!is_inside(heap, address) || (address - heap->start) % GRANULE_BYTES) return false;
    uint64_t i = (address - heap->start) / GRANULE_BYTES;
    if (!bits_get(heap->first, i)) return false;
    bits_clear(heap->first, i);
    do {
        bits_clear(heap->used, i);
        i++;
    } while (i < heap->granules && bits_get(heap->used, i) && !bits_get(heap->first, i));
    return true;
}

bool mem_heap_is_valid(const MemHeap *heap, uint64_t address, uint64_t size) {
    if (!heap || !is_inside(heap, address)) return false;
    if (size == 0) return true;
    uint64_t at = (address - heap->start) / GRANULE_BYTES;
    uint64_t last = (address - heap->start + size - 1) / GRANULE_BYTES;
    if (last >= heap->granules || !bits_get(heap->used, at)) return false;
    for (uint64_t i = at + 1; i <= last; i++)
        if (!bits_get(heap->used, i) || bits_get(heap->first, i)) return false;
    return true;
}
