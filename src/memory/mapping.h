/* Addresses behind those of allocations, onto which the driver maps memory of its own making
 * (CUDA's virtual memory management). What is mapped is a part of a file in memory: it keeps its
 * bytes when it is mapped elsewhere, twice, or in another process. */
#ifndef TYTO_MEMORY_MAPPING_H
#define TYTO_MEMORY_MAPPING_H

#include "memory/memory.h"

enum { MEM_MAPPING_GRAIN = 2 << 20 }; /* bytes; of sizes and addresses, as on NVIDIA's GPUs */

/* The first address, and one past the last. */
uint64_t mem_window_start(const DeviceMemory *memory);
uint64_t mem_window_end(const DeviceMemory *memory);

/* Counts memory that will be mapped as in use; false when there is not so much. And the opposite.
 */
bool mem_take(DeviceMemory *memory, uint64_t bytes);
void mem_give_back(DeviceMemory *memory, uint64_t bytes);

/* Maps part of a file; it is not yet reachable for kernels. False when the host refuses. */
bool mem_map(DeviceMemory *memory, uint64_t address, uint64_t size, int file, uint64_t offset);
void mem_unmap(DeviceMemory *memory, uint64_t address, uint64_t size);
/* Makes the memory that is allocated from a file of this name in the host's memory, with the bytes
 * that are in it, so that another process can map parts of it: the byte at `address` is at
 * address - MEM_GLOBAL_BASE. Returns its descriptor, from then on the same one; -1: the host
 * refuses. */
int mem_share(DeviceMemory *memory, const char *name);
/* Lets kernels and copies reach what is mapped there, kernels perhaps only for reading; takes that
 * back. */
void mem_expose(DeviceMemory *memory, uint64_t address, uint64_t size, bool is_read_only);
void mem_hide(DeviceMemory *memory, uint64_t address);

#endif
