/* An L2 whose lines are placed when their data arrive, as in GPGPU-Sim 2.1. Until then only the
 * MSHRs know of them. In that simulator, and here with l2.store_mshrs, a store that misses has an
 * MSHR as well. Requests that reach its line in the meantime wait for it and make no access of
 * their own. */
#include "partition/slice_internal.h"

/* The MSHR of the line: one in flight, or the one whose requests are being answered. */
static int32_t find(const Slice *slice, uint64_t local) {
    const Mshr *mshr = &slice->mshr;
    if (mshr_has_ready(mshr) && mshr->entries[mshr->ready_first].key == local)
        return mshr->ready_first;
    return mshr_find(mshr, local);
}

/* The sector joins those that wait for its line. `waiter` may be SLICE_NO_REQUEST. Returns false if
 * there is no room. */
static bool join(Slice *slice, int32_t entry, uint32_t waiter) {
    if (!mshr_can_merge(&slice->mshr, entry)) return false;
    mshr_merge(&slice->mshr, entry, waiter);
    return true;
}

/* The sector is the first of its line to go to DRAM. Returns false if there is no room. */
static bool begin(Slice *slice, const SliceSector *sector, uint32_t waiter) {
    const bool is_write = sector->op == MEM_OP_WRITE;
    if (slice->misses.count > (is_write ? slice->write_limit : slice->read_limit)) return false;
    if (mshr_is_full(&slice->mshr)) return false;
    int32_t entry = mshr_allocate(&slice->mshr, sector->local, waiter);
    slice->fills[entry] = (SliceFill){.place = TAG_NONE};
    DramAccess access = slice_sector_access(slice, sector, (uint32_t)entry);
    access.is_awaited = is_write;
    slice_add_miss(slice, &access);
    return true;
}

bool slice_miss_on_fill(Slice *slice, const SliceSector *sector, uint64_t cycle) {
    const bool is_write = sector->op == MEM_OP_WRITE;
    const bool is_told = is_write && !slice->acknowledges_late;
    const uint32_t waiter = is_told ? SLICE_NO_REQUEST : sector->handle;
    const int32_t entry = find(slice, sector->local);
    const bool is_first = entry == MSHR_NONE;
    if (!(is_first ? begin(slice, sector, waiter) : join(slice, entry, waiter))) return false;
    slice_count_access(slice, sector, !is_write, is_first ? TAG_MISS : TAG_PENDING);
    if (is_told) slice_add_reply(slice, sector->handle, sector->local, cycle, NULL);
    return true;
}

void slice_take_line(Slice *slice, uint32_t handle, uint64_t local) {
    const uint8_t op = request_of(slice, handle)->op;
    if (op == MEM_OP_WRITE) return;
    TagArray *tags = &slice->tags;
    const uint8_t mask = slice_sectors(slice, local);
    int32_t place = tag_array_find(tags, local);
    if (place == TAG_NONE) {
        TagEviction evicted;
        place = tag_array_reserve(tags, local, 0, &evicted);
        slice_evict(slice, &evicted);
        tag_array_fill(tags, place, mask);
    }
    if (op == MEM_OP_ATOMIC) tag_array_write(tags, place, mask);
}
