/* The device's memory as data: global memory with its allocations, the windows of the generic
 * address space, and checks of accesses against live allocations.
 *
 * Addresses. Global memory starts at MEM_GLOBAL_BASE, as the peer simulator has it (peer: GPGPU-Sim
 * 4.2), and is backed by host memory that is only reserved until touched. Below it lie the windows
 * through which a generic address reaches shared, local and parameter space; address 0 up to the
 * first window is never mapped, so a null pointer plus a small index is caught. Module variables in
 * .const space are allocations like any other, read-only to the kernel.
 *
 * Allocation is first fit in address order, so that addresses depend on nothing but the calls made.
 */
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
#define MEM_WINDOWS_START MEM_LOCAL_WINDOW     /* no allocation lies from here ... */
#define MEM_WINDOWS_END   MEM_SHARED_END       /* ... to here */
#define MEM_GLOBAL_BASE   UINT64_C(0xC0000000)

enum {
    MEM_ALLOC_ALIGN = 256, /* bytes; what cudaMalloc guarantees (CUDA Programming Guide, 5.3.2) */
};

typedef enum MemKind {
    MEM_KIND_BUFFER,    /* cuMemAlloc and the like */
    MEM_KIND_GLOBAL,    /* a module's .global variable */
    MEM_KIND_CONST,     /* a module's .const variable: kernels may only read it */
    MEM_KIND_HEAP,      /* device malloc */
    MEM_KIND_ARRAY,     /* a CUDA array */
    MEM_KIND_HOST,      /* page-locked host memory that kernels may access */
    MEM_KIND_REGISTERED /* the host program's own memory, where it lies */
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
    uint8_t *written; /* one bit per byte that was ever written; NULL unless tracking is on, and for
                         host memory, which the host writes unseen */
    bool is_used;     /* tracking is on: some byte was read or written */
    bool is_read_only; /* kernels may not write: constants, and what was registered so */
    uint64_t seen_at;  /* address of its first byte to the machine model; 0: `start` */
    char *site;        /* what allocated it, in words, NULL: unknown; owned by the memory */
} MemBlock;

typedef struct DeviceMemory DeviceMemory;
struct MemTexture;

/* A memory of `capacity_bytes` (reserved, not committed). NULL when the host cannot reserve it. */
DeviceMemory *mem_new(uint64_t capacity_bytes);
void mem_free(DeviceMemory *memory);

/* `size` bytes (at least 1), aligned to `align` (a power of two, at least
 * MEM_ALLOC_ALIGN is taken), zeroed never: contents are what
 * was there before, zero at first. Returns the device address, 0 when no gap is large enough.
 * `label` may be NULL, is copied. */
uint64_t mem_alloc(DeviceMemory *memory, uint64_t size, uint64_t align, MemKind kind,
                   const char *label);
/* Gives back an allocation by its start address; false when there is none that starts there. */
bool mem_release(DeviceMemory *memory, uint64_t address);

/* Lets kernels and copies reach memory of the host program's by its own address, as an allocation
 * of MEM_KIND_HOST that mem_release ends. False when something lies there already, or when device
 * addresses are not the host's own. */
bool mem_adopt(DeviceMemory *memory, uint64_t address, uint64_t size, const char *label);

/* The same for memory that the program registers, the bytes at host addresses [start, end). Returns
 * its device address, which is the host's own where device addresses are that; 0: kernels know
 * other memory by such addresses. The machine model sees such memory at addresses that depend only
 * on the order of the calls, not on where the host has it: from a page's begin on, as far from a
 * multiple of 16 as it is. */
uint64_t mem_register(DeviceMemory *memory, Range host, bool is_read_only);
/* Whether kernels reach some of these bytes of the host's already. */
bool mem_has_host_range(const DeviceMemory *memory, Range host);
/* Whether anything is registered; and the address by which the machine model knows a byte. */
bool mem_has_registered(const DeviceMemory *memory);
uint64_t mem_seen_address(const DeviceMemory *memory, uint64_t address);

/* The live allocation that contains `address`, or NULL. Valid until the next alloc or release. */
const MemBlock *mem_find(const DeviceMemory *memory, uint64_t address);
/* Whether all of [address, address + size) lies in one live allocation. size 0 is true for any
 * address. */
bool mem_is_valid(const DeviceMemory *memory, uint64_t address, uint64_t size);
/* Host pointer to a device address inside the reserved range; no check of liveness. */
void *mem_host(const DeviceMemory *memory, uint64_t address);
/* What to add to a device address in order to get its host address. */
uintptr_t mem_host_bias(const DeviceMemory *memory);

/* Host-side copies; false (and nothing copied) when the range is not valid. A write marks its bytes
 * as written. */
bool mem_write(DeviceMemory *memory, uint64_t address, const void *bytes, uint64_t size);
bool mem_read(const DeviceMemory *memory, uint64_t address, void *bytes, uint64_t size);
bool mem_copy(DeviceMemory *memory, uint64_t destination, uint64_t source, uint64_t size);
/* Fills `count` elements of `element_size` (1, 2, 4) bytes with `value`. */
bool mem_fill(DeviceMemory *memory, uint64_t address, uint32_t value, int element_size,
              uint64_t count);
/* Sets bytes to zero, without the host having to provide memory for pages that are zero already. */
bool mem_zero(DeviceMemory *memory, uint64_t address, uint64_t size);

uint64_t mem_capacity(const DeviceMemory *memory);
uint64_t
mem_used(const DeviceMemory *memory); /* bytes in live allocations, rounded up to their alignment */

/* Leaves at least `bytes` free before and behind each later allocation, so that an access slightly
 * outside an allocation does not reach another one. */
void mem_set_padding(DeviceMemory *memory, uint64_t bytes);
/* The first live allocation that ends after `address`, NULL: none. For walks over all of them. */
const MemBlock *mem_next(const DeviceMemory *memory, uint64_t address);

/* Whether others than kernels may write while kernels run: there is memory of the host's, or memory
 * that other processes share. */
bool mem_is_seen_outside(const DeviceMemory *memory);

/* Turns on the tracking of written bytes (reports of uninitialised reads) for allocations to come.
 */
void mem_track_writes(DeviceMemory *memory);
/* Of `size` bytes in one live allocation, the number of those before the first that was never
 * written: `size` when all were, or nothing is tracked. They count as used. */
uint64_t mem_first_unwritten(DeviceMemory *memory, uint64_t address, uint64_t size);
/* They are written now, or are as if they never had been. Nothing where nothing is tracked. */
void mem_set_written(DeviceMemory *memory, uint64_t address, uint64_t size);
void mem_set_unwritten(DeviceMemory *memory, uint64_t address, uint64_t size);

/* Keeps a copy of who asked for the allocation that starts there. */
void mem_set_site(DeviceMemory *memory, uint64_t address, const char *site);
/* "400-byte allocation at 0xc0000000" */
void mem_describe_block(const MemBlock *block, Text *out);
/* Says in words where `address` is: "4 bytes past the end of the 4096-byte allocation at
 * 0xc0000000", "inside a 256-byte allocation at ... that was freed", "a null pointer", ... */
void mem_describe(const DeviceMemory *memory, uint64_t address, Text *out);

/* ---- Texture and surface objects (texture.h) ---- */

/* A handle (never 0) for tex, suld and the like. The texture is copied. */
uint64_t mem_texture_add(DeviceMemory *memory, const struct MemTexture *texture);
bool mem_texture_remove(DeviceMemory *memory, uint64_t handle);
/* NULL: there is none of this handle. */
const struct MemTexture *mem_texture(const DeviceMemory *memory, uint64_t handle);

#endif
