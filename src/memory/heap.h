/* The device heap: the memory of malloc and free in kernels.
 *
 * It is one region of global memory (MEM_KIND_HEAP), divided into granules of 16 bytes with two
 * bits each: in use, and first of its block. Allocation is next fit in address order, so that
 * addresses depend only on the order of the calls, which is the order in which the simulated
 * instructions issue. A block ends with the last requested byte, not with its granule. Real
 * devices' allocators are undocumented and much slower; their cost in time is not modelled. */
#ifndef TYTO_MEMORY_HEAP_H
#define TYTO_MEMORY_HEAP_H

#include "memory/memory.h"

typedef struct MemHeap MemHeap;

/* Allocates `size_bytes` of `memory` for the heap; returns NULL if there is no room. */
MemHeap *mem_heap_new(DeviceMemory *memory, uint64_t size_bytes);
void mem_heap_free(MemHeap *heap); /* also frees the region */

/* Allocates a block of `size_bytes` aligned to 16. Returns its device address, or 0 if there is no
 * room or the size is 0. */
uint64_t mem_heap_alloc(MemHeap *heap, uint64_t size_bytes);
/* Returns false if no live block starts at `address`. */
bool mem_heap_release(MemHeap *heap, uint64_t address);
/* Whether [address, address + size) lies within the requested bytes of one live block. */
bool mem_heap_is_valid(const MemHeap *heap, uint64_t address, uint64_t size);
/* Whether an address is in the heap's region; and a description of its position there: "3 bytes
 * past the last byte of the 10-byte device malloc block at 0xc0000100". */
bool mem_heap_has(const MemHeap *heap, uint64_t address);
void mem_heap_describe(const MemHeap *heap, uint64_t address, Text *out);
/* A number that the owner can store for a live block; initially 0. */
void mem_heap_set_tag(MemHeap *heap, uint64_t address, uint32_t tag);
uint32_t mem_heap_tag(const MemHeap *heap, uint64_t address);
/* The first live block that starts at or after `address`, with its size; 0 if there is none. */
uint64_t mem_heap_next(const MemHeap *heap, uint64_t address, uint64_t *size_bytes);

#endif
