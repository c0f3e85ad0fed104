/* The device heap: what malloc and free in a kernel hand out.
 *
 * One region of global memory (MEM_KIND_HEAP), cut into granules of 16 bytes with two bits each: in
 * use, and first of its block. Next fit in address order, so that addresses depend only on the
 * order of the calls, which is the order in which the simulated instructions issue. Real devices'
 * allocators are undocumented and much slower; their cost in time is not modelled. */
#ifndef TYTO_MEMORY_HEAP_H
#define TYTO_MEMORY_HEAP_H

#include "memory/memory.h"

typedef struct MemHeap MemHeap;

/* Takes `size_bytes` of `memory`; NULL when there is no room. */
MemHeap *mem_heap_new(DeviceMemory *memory, uint64_t size_bytes);
void mem_heap_free(MemHeap *heap); /* also gives the region back */

/* Device address of a block of `size_bytes` aligned to 16, or 0: no room, or size 0. */
uint64_t mem_heap_alloc(MemHeap *heap, uint64_t size_bytes);
/* False when no live block starts at `address`. */
bool mem_heap_release(MemHeap *heap, uint64_t address);
/* Whether [address, address + size) lies within one live block. */
bool mem_heap_is_valid(const MemHeap *heap, uint64_t address, uint64_t size);

#endif
