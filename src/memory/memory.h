/* The device's memory as data: global memory with its allocations, the windows of the generic
 * address space, and checks of accesses against live allocations.
 *
 * Addresses. Global memory starts at MEM_GLOBAL_BASE, as in the peer simulator (peer: GPGPU-Sim
 * 4.2). It is backed by host memory that is reserved but not committed until it is touched. Below
 * it are the windows through which a generic address reaches shared, local and parameter space.
 * Addresses from 0 to the first window are never mapped, so a null pointer plus a small index is
 * caught. Module variables in .const space are allocations like any other, read-only to the kernel.
 *
 * Allocation is first fit in address order, so that addresses depend only on the calls. */
#ifndef TYTO_MEMORY_MEMORY_H
#define TYTO_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ranges.h"
#include "base/text.h"

#define MEM_LOCAL_WINDOW  UINT64_C(0x02000000) /* generic address of local offset 0 */
#define MEM_LOCAL_END     UINT64_C(0x04000000) /* local memory: 32 MiB per thread at most */
#define MEM_PARAM_WINDOW  UINT64_C(0x04000000) /* generic address of kernel parameter 0 */
#define MEM_PARAM_END     UINT64_C(0x04010000)
#define MEM_SHARED_WINDOW UINT64_C(0x10000000) /* generic address of shared offset 0 */
#define MEM_SHARED_END    UINT64_C(0x20000000) /* 16 MiB for each CTA of a cluster */
#define MEM_WINDOWS_START MEM_LOCAL_WINDOW     /* no allocation is between here ... */
#define MEM_WINDOWS_END   MEM_SHARED_END       /* ... and here */
#define MEM_GLOBAL_BASE   UINT64_C(0xC0000000)

enum {
    MEM_ALLOC_ALIGN = 256, /* bytes; what cudaMalloc guarantees (CUDA Programming Guide, 5.3.2) */
};

typedef enum MemKind {
    MEM_KIND_BUFFER,    /* cuMemAlloc and similar functions */
    MEM_KIND_GLOBAL,    /* a module's .global variable */
    MEM_KIND_CONST,     /* a module's .const variable: kernels may only read it */
    MEM_KIND_HEAP,      /* device malloc */
    MEM_KIND_ARRAY,     /* a CUDA array */
    MEM_KIND_HOST,      /* page-locked host memory that kernels can access */
    MEM_KIND_REGISTERED /* the host program's own memory, at its own addresses */
} MemKind;

/* A live allocation. */
typedef struct MemBlock {
    union {
        Range range;
        struct {
            uint64_t start; /* device address */
            uint64_t end;   /* one past the last byte */
        };
    };
    MemKind kind;
    const char *label; /* variable's name, or NULL; owned by the memory */
    uint8_t *written;  /* one bit per byte that was ever written; NULL if tracking is off, and for
                        * host memory, which the host can write unnoticed */
    bool is_used;      /* tracking is on, and some byte was read or written */
    bool is_read_only; /* kernels may not write it: constants, and memory registered as read-only */
    uint64_t seen_at;  /* address of its first byte in the machine model; 0: `start` */
    char *site;        /* description of what allocated it; NULL: unknown; owned by the memory */
} MemBlock;

typedef struct DeviceMemory DeviceMemory;
struct MemTexture;

/* Returns a memory of `capacity_bytes` (reserved, not committed), or NULL if the host cannot
 * reserve it. */
DeviceMemory *mem_new(uint64_t capacity_bytes);
void mem_free(DeviceMemory *memory);

/* Allocates `size` bytes (at least 1), aligned to `align` (a power of two; raised to
 * MEM_ALLOC_ALIGN if smaller). The memory is not zeroed: it keeps its previous contents, which are
 * zero at first. Returns the device address, or 0 if no gap is large enough. `label` may be NULL
 * and is copied. */
uint64_t mem_alloc(DeviceMemory *memory, uint64_t size, uint64_t align, MemKind kind,
                   const char *label);
/* Frees the allocation that starts at `address`; returns false if there is none. */
bool mem_release(DeviceMemory *memory, uint64_t address);

/* Lets kernels and copies access memory of the host program by its own address, as an allocation of
 * MEM_KIND_HOST, until mem_release. Returns false if something is at that address already, or if
 * device addresses differ from host addresses. */
bool mem_adopt(DeviceMemory *memory, uint64_t address, uint64_t size, const char *label);

/* The same for memory that the program registers, the bytes at host addresses [start, end). Returns
 * its device address, which equals the host address if device addresses do. Returns 0 if these
 * addresses are already used by other device memory. The machine model uses separate addresses for
 * such memory, which depend only on the order of the calls, not on the host addresses: each range
 * starts on a new page, at the same offset from a multiple of 16 as in the host. */
uint64_t mem_register(DeviceMemory *memory, Range host, bool is_read_only);
/* Whether kernels can already access some of these bytes of the host. */
bool mem_has_host_range(const DeviceMemory *memory, Range host);
/* Whether any memory is registered; and the address of a byte in the machine model. */
bool mem_has_registered(const DeviceMemory *memory);
uint64_t mem_seen_address(const DeviceMemory *memory, uint64_t address);

/* The live allocation that contains `address`, or NULL. Valid until the next alloc or release. */
const MemBlock *mem_find(const DeviceMemory *memory, uint64_t address);
/* Whether all of [address, address + size) is in one live allocation. Always true for size 0. */
bool mem_is_valid(const DeviceMemory *memory, uint64_t address, uint64_t size);
/* Host pointer to a device address in the reserved range; does not check that it is allocated. */
void *mem_host(const DeviceMemory *memory, uint64_t address);
/* The difference between the host address and the device address. */
uintptr_t mem_host_bias(const DeviceMemory *memory);

/* Copies by the host; they return false and copy nothing if the range is not valid. A write marks
 * its bytes as written. */
bool mem_write(DeviceMemory *memory, uint64_t address, const void *bytes, uint64_t size);
bool mem_read(const DeviceMemory *memory, uint64_t address, void *bytes, uint64_t size);
bool mem_copy(DeviceMemory *memory, uint64_t destination, uint64_t source, uint64_t size);
/* Fills `count` elements of `element_size` (1, 2, 4) bytes with `value`. */
bool mem_fill(DeviceMemory *memory, uint64_t address, uint32_t value, int element_size,
              uint64_t count);
/* Sets bytes to zero. Does not make the host provide memory for pages that are already zero. */
bool mem_zero(DeviceMemory *memory, uint64_t address, uint64_t size);

uint64_t mem_capacity(const DeviceMemory *memory);
uint64_t
mem_used(const DeviceMemory *memory); /* bytes in live allocations, rounded up to their alignment */

/* Leaves at least `bytes` free before and after each later allocation, so that an access slightly
 * outside an allocation does not hit another one. */
void mem_set_padding(DeviceMemory *memory, uint64_t bytes);
/* The first live allocation that ends after `address`, or NULL. For iterating over all of them. */
const MemBlock *mem_next(const DeviceMemory *memory, uint64_t address);

/* Whether code other than kernels may write while kernels run: there is host memory, or memory
 * shared with other processes. */
bool mem_is_seen_outside(const DeviceMemory *memory);

/* Turns on the tracking of written bytes for later allocations, for reports of uninitialised
 * reads. */
void mem_track_writes(DeviceMemory *memory);
/* For `size` bytes in one live allocation: the number of bytes before the first that was never
 * written. Returns `size` if all were written, or if nothing is tracked. Marks the allocation as
 * used. */
uint64_t mem_first_unwritten(DeviceMemory *memory, uint64_t address, uint64_t size);
/* Mark the bytes as written, or as never written. Do nothing if nothing is tracked. */
void mem_set_written(DeviceMemory *memory, uint64_t address, uint64_t size);
void mem_set_unwritten(DeviceMemory *memory, uint64_t address, uint64_t size);

/* Stores a copy of a description of the code that allocated the memory at `address`. */
void mem_set_site(DeviceMemory *memory, uint64_t address, const char *site);
/* "400-byte allocation at 0xc0000000" */
void mem_describe_block(const MemBlock *block, Text *out);
/* Describes the position of `address`: "4 bytes past the end of the 4096-byte allocation at
 * 0xc0000000", "inside a 256-byte allocation at ... that was freed", "a null pointer", ... */
void mem_describe(const DeviceMemory *memory, uint64_t address, Text *out);

/* ---- Texture and surface objects (texture.h) ---- */

/* A handle (never 0) for tex, suld and the like. The texture is copied. */
uint64_t mem_texture_add(DeviceMemory *memory, const struct MemTexture *texture);
bool mem_texture_remove(DeviceMemory *memory, uint64_t handle);
/* One more than the highest handle so far. */
uint32_t mem_texture_end(const DeviceMemory *memory);
/* NULL if there is no texture with this handle. */
const struct MemTexture *mem_texture(const DeviceMemory *memory, uint64_t handle);

#endif
