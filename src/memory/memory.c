/* The store of device memory: one reserved range of host memory, its live allocations in address
 * order (base/ranges.h), and the most recently freed ones for messages. */
#include "memory/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bits.h"
#include "memory/mapping.h"
#include "memory/texture.h"

enum {
    FREED_REMEMBERED = 256,     /* freed allocations kept for messages */
    ZERO_PAGES_BYTES = 1 << 20, /* from this size on, zeroing gives whole pages back to the host */
    SEEN_GRAIN = 4096,          /* bytes; registered memory is placed at multiples of it */
    SEEN_ALIGN = 16,            /* bytes; the alignment that hosts guarantee at least */
    NEAR_BYTES = 1 << 20 /* bytes; addresses this close to an allocation are described relative to
                          * it */
};

struct DeviceMemory {
    uint8_t *host;                    /* backing of [MEM_GLOBAL_BASE, MEM_GLOBAL_BASE + capacity) */
    uint64_t capacity;                /* bytes */
    uint64_t window;                  /* bytes after it, for mappings */
    int file;                         /* file that backs it once it is shared; otherwise -1 */
    uint64_t used;                    /* bytes in live allocations, and bytes taken for mappings */
    Ranges *blocks;                   /* the live allocations: MemBlock */
    Ranges *seen;                     /* Range: registered memory's addresses in the machine
                                       * model */
    MemBlock freed[FREED_REMEMBERED]; /* ring of freed allocations (start, end and kind only) */
    size_t freed_count;               /* number of allocations ever freed */
    bool is_tracking;                 /* mem_track_writes */
    uint64_t padding;                 /* mem_set_padding */
    MemTexture **textures;            /* by handle - 1; NULL once removed */
    size_t texture_count;             /* number of handles ever given */
};

DeviceMemory *mem_new(uint64_t capacity_bytes) {
    if (capacity_bytes == 0 || capacity_bytes > (UINT64_C(1) << 46)) return NULL;
    /* If the host has these addresses free, a device address equals its host address. Managed
     * memory needs that; nothing else depends on it. */
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *wish = (void *)(uintptr_t)MEM_GLOBAL_BASE;
    uint64_t window = bits_align_up(2 * capacity_bytes, MEM_MAPPING_GRAIN) + MEM_MAPPING_GRAIN;
    uint64_t bytes = capacity_bytes + window;
    void *host = mmap(wish, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (host == MAP_FAILED) host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (host == MAP_FAILED) return NULL;
    DeviceMemory *memory = base_calloc(1, sizeof *memory);
    memory->host = host;
    memory->file = -1;
    memory->capacity = capacity_bytes;
    memory->window = window;
    memory->blocks =
        ranges_new(sizeof(MemBlock), MEM_GLOBAL_BASE, MEM_GLOBAL_BASE + bytes, MEM_ALLOC_ALIGN);
    memory->seen = ranges_new(sizeof(Range), bits_align_up(MEM_GLOBAL_BASE + bytes, SEEN_GRAIN),
                              UINT64_C(1) << 48, SEEN_GRAIN);
    return memory;
}

static void block_clear(MemBlock *block) {
    free((char *)(uintptr_t)block->label);
    free(block->written);
    free(block->site);
}

void mem_free(DeviceMemory *memory) {
    if (!memory) return;
    uint64_t end = 0;
    for (MemBlock *block; (block = ranges_at_or_after(memory->blocks, end, NULL)) != NULL;
         end = block->end)
        block_clear(block);
    for (size_t i = 0; i < memory->texture_count; i++)
        free(memory->textures[i]);
    munmap(memory->host, memory->capacity + memory->window);
    if (memory->file >= 0) close(memory->file);
    ranges_free(memory->blocks);
    ranges_free(memory->seen);
    free(memory->textures);
    free(memory);
}

uint64_t mem_alloc(DeviceMemory *memory, uint64_t size, uint64_t align, MemKind kind,
                   const char *label) {
    if (size == 0) size = 1;
    if (align < MEM_ALLOC_ALIGN) align = MEM_ALLOC_ALIGN;
    if (size > memory->capacity || !bits_is_power_of_two(align)) return 0;
    if (size > memory->capacity - memory->used) return 0;
    MemBlock block = {.kind = kind, .is_read_only = kind == MEM_KIND_CONST};
    uint64_t padding = bits_align_up(memory->padding, align);
    if (padding > memory->capacity ||
        !ranges_find_gap(memory->blocks, size + 2 * padding, align, &block.start))
        return 0;
    block.start += padding;
    block.end = block.start + size;
    if (block.end + padding > MEM_GLOBAL_BASE + memory->capacity) return 0;
    if (label) block.label = strdup(label);
    if (memory->is_tracking && kind != MEM_KIND_HOST)
        block.written = base_calloc(1, (size_t)(size + 7) / 8);
    ranges_add(memory->blocks, &block);
    memory->used += size;
    return block.start;
}

bool mem_adopt(DeviceMemory *memory, uint64_t address, uint64_t size, const char *label) {
    MemBlock block = {
        .start = address, .end = address + size, .kind = MEM_KIND_HOST, .label = NULL};
    if (mem_host_bias(memory) || address < MEM_WINDOWS_END || block.end <= address) return false;
    MemBlock *added = ranges_add(memory->blocks, &block);
    if (!added) return false;
    added->label = strdup(label);
    return true;
}

/* Device addresses of a range of host memory, which may wrap around. Returns false if it is empty
 * or has no device addresses. */
static bool place_host(const DeviceMemory *memory, Range host, Range *device) {
    *device = (Range){host.start - mem_host_bias(memory), host.end - mem_host_bias(memory)};
    return host.start < host.end && device->start < device->end;
}

bool mem_has_host_range(const DeviceMemory *memory, Range host) {
    Range device;
    if (!place_host(memory, host, &device)) return false;
    const MemBlock *block = ranges_at_or_after(memory->blocks, device.start, NULL);
    return block && block->start < device.end;
}

uint64_t mem_register(DeviceMemory *memory, Range host, bool is_read_only) {
    MemBlock block = {.kind = MEM_KIND_REGISTERED, .is_read_only = is_read_only};
    Range seen;
    uint64_t inset = host.start % SEEN_ALIGN, size = host.end - host.start;
    if (!place_host(memory, host, &block.range) ||
        (block.start < MEM_WINDOWS_END && block.end > MEM_WINDOWS_START) ||
        !ranges_find_gap(memory->seen, inset + size, SEEN_GRAIN, &seen.start))
        return 0;
    block.seen_at = seen.start + inset;
    if (!ranges_add(memory->blocks, &block)) return 0;
    seen.end = block.seen_at + size;
    ranges_add(memory->seen, &seen);
    return block.start;
}

bool mem_has_registered(const DeviceMemory *memory) { return ranges_count(memory->seen) != 0; }

uint64_t mem_seen_address(const DeviceMemory *memory, uint64_t address) {
    const MemBlock *block = mem_has_registered(memory) ? mem_find(memory, address) : NULL;
    return block && block->seen_at ? block->seen_at + (address - block->start) : address;
}

bool mem_release(DeviceMemory *memory, uint64_t address) {
    MemBlock *block = ranges_find(memory->blocks, address);
    if (!block || block->start != address) return false;
    if (block->start >= MEM_GLOBAL_BASE && block->start < MEM_GLOBAL_BASE + memory->capacity)
        memory->used -= block->end - block->start;
    if (block->seen_at) ranges_remove(memory->seen, ranges_find(memory->seen, block->seen_at));
    memory->freed[memory->freed_count++ % FREED_REMEMBERED] =
        (MemBlock){.start = block->start, .end = block->end, .kind = block->kind};
    block_clear(block);
    ranges_remove(memory->blocks, block);
    return true;
}

const MemBlock *mem_find(const DeviceMemory *memory, uint64_t address) {
    return ranges_find(memory->blocks, address);
}

/* Adjacent mappings count as one. */
bool mem_is_valid(const DeviceMemory *memory, uint64_t address, uint64_t size) {
    if (size == 0) return true;
    const MemBlock *block = mem_find(memory, address);
    while (block && size > block->end - address) {
        if (block->start < mem_window_start(memory)) return false;
        size -= block->end - address;
        address = block->end;
        block = mem_find(memory, address);
    }
    return block != NULL;
}

uintptr_t mem_host_bias(const DeviceMemory *memory) {
    return (uintptr_t)memory->host - (uintptr_t)MEM_GLOBAL_BASE;
}

void *mem_host(const DeviceMemory *memory, uint64_t address) {
    return (void *)(mem_host_bias(memory) + (uintptr_t)address);
}

/* ---- Mappings ---- */

uint64_t mem_window_start(const DeviceMemory *memory) {
    return bits_align_up(MEM_GLOBAL_BASE + memory->capacity, MEM_MAPPING_GRAIN);
}

uint64_t mem_window_end(const DeviceMemory *memory) {
    uint64_t end = MEM_GLOBAL_BASE + memory->capacity + memory->window;
    return end - end % MEM_MAPPING_GRAIN;
}

bool mem_take(DeviceMemory *memory, uint64_t bytes) {
    if (bytes > memory->capacity - memory->used) return false;
    memory->used += bytes;
    return true;
}

void mem_give_back(DeviceMemory *memory, uint64_t bytes) { memory->used -= bytes; }

bool mem_map(DeviceMemory *memory, uint64_t address, uint64_t size, int file, uint64_t offset) {
    return mmap(mem_host(memory, address), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                file, (off_t)offset) != MAP_FAILED;
}

void mem_unmap(DeviceMemory *memory, uint64_t address, uint64_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    void *host = mem_host(memory, address);
    if (mmap(host, size, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        abort(); /* otherwise the file would stay mapped where other memory will be */
}

/* Writes the live allocations to the file, except pages of zeros, which the file has already. */
static bool save(const DeviceMemory *memory, int file, uint64_t page) {
    static const uint8_t zeros[4096];
    uint64_t at = MEM_GLOBAL_BASE, end = MEM_GLOBAL_BASE + memory->capacity;
    for (const MemBlock *block;
         (block = ranges_at_or_after(memory->blocks, at, NULL)) != NULL && block->start < end;
         at = block->end) {
        uint64_t first = block->start > at ? block->start : at;
        for (uint64_t place = first - first % page; place < block->end; place += page) {
            const uint8_t *bytes = mem_host(memory, place);
            bool is_zero = page <= sizeof zeros && memcmp(bytes, zeros, page) == 0;
            if (!is_zero &&
                pwrite(file, bytes, page, (off_t)(place - MEM_GLOBAL_BASE)) != (ssize_t)page)
                return false;
        }
    }
    return true;
}

int mem_share(DeviceMemory *memory, const char *name) {
    if (memory->file >= 0) return memory->file;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t bytes = bits_align_up(memory->capacity, page);
    int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    int file = memfd_create(name, MFD_CLOEXEC);
    bool is_made = file >= 0 && ftruncate(file, (off_t)bytes) == 0 && save(memory, file, page) &&
                   mmap(memory->host, bytes, PROT_READ | PROT_WRITE, flags, file, 0) != MAP_FAILED;
    if (is_made) memory->file = file;
    else if (file >= 0) close(file);
    return memory->file;
}

void mem_expose(DeviceMemory *memory, uint64_t address, uint64_t size, bool is_read_only) {
    ranges_add(memory->blocks, &(MemBlock){.start = address,
                                           .end = address + size,
                                           .kind = MEM_KIND_BUFFER,
                                           .is_read_only = is_read_only,
                                           .label = strdup("a mapping")});
}

void mem_hide(DeviceMemory *memory, uint64_t address) {
    MemBlock *block = ranges_find(memory->blocks, address);
    if (!block) return;
    block_clear(block);
    ranges_remove(memory->blocks, block);
}

/* ---- Tracking of writes ---- */

/* The allocation of `address` if its bytes are tracked, otherwise NULL; *at gets the offset in
 * it. */
static MemBlock *tracked(DeviceMemory *memory, uint64_t address, uint64_t *at) {
    MemBlock *block = memory->is_tracking ? ranges_find(memory->blocks, address) : NULL;
    if (!block || !block->written) return NULL;
    *at = address - block->start;
    return block;
}

/* Sets or clears `count` bits from bit `at` on, in whole bytes where possible. */
static void set_bits(uint8_t *bits, uint64_t at, uint64_t count, bool value) {
    uint64_t end = at + count;
    for (; at < end && at % 8; at++)
        bits[at / 8] = (uint8_t)((bits[at / 8] & ~(1u << at % 8)) | (unsigned)value << at % 8);
    if (end > at) memset(bits + at / 8, value ? 0xff : 0, (size_t)((end - at) / 8));
    for (at += (end - at) / 8 * 8; at < end; at++)
        bits[at / 8] = (uint8_t)((bits[at / 8] & ~(1u << at % 8)) | (unsigned)value << at % 8);
}

uint64_t mem_first_unwritten(DeviceMemory *memory, uint64_t address, uint64_t size) {
    uint64_t at;
    MemBlock *block = tracked(memory, address, &at);
    if (!block) return size;
    block->is_used = true;
    for (uint64_t i = at; i < at + size;) {
        bool is_whole = i % 8 == 0 && at + size - i >= 8;
        if (is_whole && block->written[i / 8] == 0xff) {
            i += 8;
        } else {
            if (!(block->written[i / 8] >> i % 8 & 1)) return i - at;
            i++;
        }
    }
    return size;
}

void mem_set_written(DeviceMemory *memory, uint64_t address, uint64_t size) {
    uint64_t at;
    MemBlock *block = tracked(memory, address, &at);
    if (!block) return;
    block->is_used = true;
    set_bits(block->written, at, size, true);
}

void mem_set_unwritten(DeviceMemory *memory, uint64_t address, uint64_t size) {
    uint64_t at;
    MemBlock *block = tracked(memory, address, &at);
    if (block) set_bits(block->written, at, size, false);
}

bool mem_write(DeviceMemory *memory, uint64_t address, const void *bytes, uint64_t size) {
    if (!mem_is_valid(memory, address, size)) return false;
    if (size == 0) return true;
    memcpy(mem_host(memory, address), bytes, size);
    mem_set_written(memory, address, size);
    return true;
}

bool mem_read(const DeviceMemory *memory, uint64_t address, void *bytes, uint64_t size) {
    if (!mem_is_valid(memory, address, size)) return false;
    if (size) memcpy(bytes, mem_host(memory, address), size);
    return true;
}

bool mem_copy(DeviceMemory *memory, uint64_t destination, uint64_t source, uint64_t size) {
    if (!mem_is_valid(memory, destination, size) || !mem_is_valid(memory, source, size))
        return false;
    if (size == 0) return true;
    memmove(mem_host(memory, destination), mem_host(memory, source), size);
    mem_set_written(memory, destination, size);
    return true;
}

bool mem_fill(DeviceMemory *memory, uint64_t address, uint32_t value, int element_size,
              uint64_t count) {
    uint64_t size;
    if (__builtin_mul_overflow(count, (uint64_t)element_size, &size)) return false;
    if (!mem_is_valid(memory, address, size)) return false;
    uint8_t *bytes = mem_host(memory, address);
    if (element_size == 1) {
        memset(bytes, (int)(value & 0xff), size);
    } else {
        for (uint64_t at = 0; at < size; at += (uint64_t)element_size)
            memcpy(bytes + at, &value, (size_t)element_size);
    }
    if (size) mem_set_written(memory, address, size);
    return true;
}

bool mem_zero(DeviceMemory *memory, uint64_t address, uint64_t size) {
    bool is_private = memory->file < 0 && address >= MEM_GLOBAL_BASE &&
                      address < MEM_GLOBAL_BASE + memory->capacity;
    if (size < ZERO_PAGES_BYTES || !is_private) return mem_fill(memory, address, 0, 1, size);
    if (!mem_is_valid(memory, address, size)) return false;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint8_t *start = mem_host(memory, address), *end = start + size;
    uint8_t *first = (uint8_t *)(uintptr_t)bits_align_up((uintptr_t)start, page);
    uint8_t *last = (uint8_t *)((uintptr_t)end & ~(page - 1));
    memset(start, 0, (size_t)(first - start));
    memset(last, 0, (size_t)(end - last));
    /* Pages of private anonymous memory that were given back read as zero (madvise(2)). */
    if (madvise(first, (size_t)(last - first), MADV_DONTNEED))
        memset(first, 0, (size_t)(last - first));
    mem_set_written(memory, address, size);
    return true;
}

uint64_t mem_capacity(const DeviceMemory *memory) { return memory->capacity; }
uint64_t mem_used(const DeviceMemory *memory) { return memory->used; }
void mem_track_writes(DeviceMemory *memory) { memory->is_tracking = true; }
void mem_set_padding(DeviceMemory *memory, uint64_t bytes) { memory->padding = bytes; }

const MemBlock *mem_next(const DeviceMemory *memory, uint64_t address) {
    return ranges_at_or_after(memory->blocks, address, NULL);
}

bool mem_is_seen_outside(const DeviceMemory *memory) {
    if (memory->file >= 0) return true;
    for (const MemBlock *block = NULL; (block = mem_next(memory, block ? block->end : 0));)
        if (block->kind == MEM_KIND_HOST || block->kind == MEM_KIND_REGISTERED) return true;
    return false;
}

/* ---- Describing an address ---- */

void mem_set_site(DeviceMemory *memory, uint64_t address, const char *site) {
    MemBlock *block = ranges_find(memory->blocks, address);
    if (!block) return;
    free(block->site);
    block->site = strdup(site);
}

void mem_describe_block(const MemBlock *block, Text *out) {
    static const char *const kinds[] = {
        [MEM_KIND_BUFFER] = "allocation",
        [MEM_KIND_GLOBAL] = "global variable",
        [MEM_KIND_CONST] = "constant variable",
        [MEM_KIND_HEAP] = "device malloc block",
        [MEM_KIND_ARRAY] = "CUDA array",
        [MEM_KIND_HOST] = "host allocation",
        [MEM_KIND_REGISTERED] = "range of registered host memory",
    };
    text_printf(out, "%" PRIu64 "-byte %s", block->end - block->start, kinds[block->kind]);
    if (block->label) text_printf(out, " '%s'", block->label);
    text_printf(out, " at 0x%" PRIx64, block->start);
}

/* Whether the host has memory at the address that is not part of device memory. */
static bool is_of_host(const DeviceMemory *memory, uint64_t address) {
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    unsigned char residency;
    return !mem_host_bias(memory) &&
           address - MEM_GLOBAL_BASE >= memory->capacity + memory->window &&
           mincore((void *)(uintptr_t)(address - address % page), 1, &residency) == 0;
}

/* Whether a live block near the address overlaps the freed one: the rest of the freed block is then
 * described relative to the live one. */
static bool is_taken_again(const MemBlock *freed, const MemBlock *previous, const MemBlock *next,
                           uint64_t address) {
    return (previous && previous->end > freed->start && address - previous->end < NEAR_BYTES) ||
           (next && next->start < freed->end && next->start - address < NEAR_BYTES);
}

void mem_describe(const DeviceMemory *memory, uint64_t address, Text *out) {
    void *before;
    const MemBlock *next = ranges_at_or_after(memory->blocks, address, &before), *previous = before;
    if (next && next->start <= address) {
        text_printf(out, "byte %" PRIu64 " of the ", address - next->start);
        mem_describe_block(next, out);
        return;
    }
    for (size_t age = 1; age <= memory->freed_count && age <= FREED_REMEMBERED; age++) {
        const MemBlock *freed = &memory->freed[(memory->freed_count - age) % FREED_REMEMBERED];
        if (freed->start <= address && address < freed->end &&
            !is_taken_again(freed, previous, next, address)) {
            text_printf(out, "byte %" PRIu64 " of a freed ", address - freed->start);
            mem_describe_block(freed, out);
            return;
        }
    }
    if (address < MEM_WINDOWS_START) {
        text_add(out, address ? "next to the null pointer" : "the null pointer");
    } else if (previous && address - previous->end < NEAR_BYTES) {
        uint64_t distance = address - previous->end + 1;
        text_printf(out, "%" PRIu64 " byte%s past the last byte of the ", distance,
                    text_plural(distance));
        mem_describe_block(previous, out);
    } else if (next && next->start - address < NEAR_BYTES) {
        text_printf(out, "%" PRIu64 " byte%s before the ", next->start - address,
                    text_plural(next->start - address));
        mem_describe_block(next, out);
    } else if (is_of_host(memory, address)) {
        text_add(out, "the program's own memory, which kernels reach once it is registered "
                      "(cudaHostRegister)");
    } else if (next || previous) {
        text_add(out, "in no allocation; the nearest is the ");
        const MemBlock *nearest = next;
        if (!next || (previous && address - previous->end < next->start - address))
            nearest = previous;
        mem_describe_block(nearest, out);
    } else {
        text_add(out, "in no allocation; there is none at all");
    }
}

/* ---- Texture objects ---- */

uint64_t mem_texture_add(DeviceMemory *memory, const MemTexture *texture) {
    size_t i = 0;
    while (i < memory->texture_count && memory->textures[i])
        i++;
    if (i == memory->texture_count) {
        memory->textures = base_realloc(memory->textures, (i + 1) * sizeof(MemTexture *));
        memory->texture_count++;
    }
    memory->textures[i] = base_malloc(sizeof *texture);
    *memory->textures[i] = *texture;
    return i + 1;
}

bool mem_texture_remove(DeviceMemory *memory, uint64_t handle) {
    if (!mem_texture(memory, handle)) return false;
    free(memory->textures[handle - 1]);
    memory->textures[handle - 1] = NULL;
    return true;
}

const MemTexture *mem_texture(const DeviceMemory *memory, uint64_t handle) {
    return handle >= 1 && handle <= memory->texture_count ? memory->textures[handle - 1] : NULL;
}

uint32_t mem_texture_end(const DeviceMemory *memory) { return (uint32_t)memory->texture_count + 1; }
