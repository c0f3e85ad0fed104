/* Addresses after those of allocations, to which the driver maps memory that it creates (CUDA's
 * virtual memory management). A mapping is a part of a file in memory: its bytes are the same when
 * it is mapped at another address, twice, or in another process. */
#ifndef TYTO_MEMORY_MAPPING_H
#define TYTO_MEMORY_MAPPING_H

#include "memory/memory.h"

enum { MEM_MAPPING_GRAIN = 2 << 20 }; /* bytes; unit of sizes and addresses, as on NVIDIA's GPUs */

/* The first address of the window, and one past the last. */
uint64_t mem_window_start(const DeviceMemory *memory);
uint64_t mem_window_end(const DeviceMemory *memory);

/* mem_take counts memory that will be mapped as in use; it returns false if there is not enough.
 * mem_give_back undoes it. */
bool mem_take(DeviceMemory *memory, uint64_t bytes);
void mem_give_back(DeviceMemory *memory, uint64_t bytes);

/* Maps part of a file; kernels cannot access it yet. Returns false if the host refuses. */
bool mem_map(DeviceMemory *memory, uint64_t address, uint64_t size, int file, uint64_t offset);
void mem_unmap(DeviceMemory *memory, uint64_t address, uint64_t size);
/* Moves the allocatable memory, with its contents, to a memory file with this name, so that another
 * process can map parts of it: the byte at `address` is at offset address - MEM_GLOBAL_BASE.
 * Returns its descriptor, the same one in later calls; -1 if the host refuses. */
int mem_share(DeviceMemory *memory, const char *name);
/* mem_expose lets kernels and copies access a mapping; kernels may be limited to reads. mem_hide
 * undoes it. */
void mem_expose(DeviceMemory *memory, uint64_t address, uint64_t size, bool is_read_only);
void mem_hide(DeviceMemory *memory, uint64_t address);

#endif
