/* Handles are slots with generations: handle = generation << 32 | (slot + 1) << 4. */
#include "driver/handles.h"

#include "base/arena.h"

static uint64_t handle_of(const Handles *handles, uint32_t slot) {
    return (uint64_t)handles->slots[slot].generation << 32 | (uint64_t)(slot + 1) << 4;
}

/* An unused slot, from the free list or new. */
static uint32_t take_slot(Handles *handles) {
    if (handles->first_free < handles->count) {
        uint32_t slot = handles->first_free;
        handles->first_free = handles->slots[slot].next_free;
        return slot;
    }
    if (handles->count == handles->capacity) {
        handles->capacity = handles->capacity ? 2 * handles->capacity : 64;
        handles->slots = base_realloc(handles->slots, handles->capacity * sizeof(HandleSlot));
    }
    handles->slots[handles->count] = (HandleSlot){0};
    handles->first_free = handles->count + 1;
    return handles->count++;
}

uint64_t handles_add(Handles *handles, HandleKind kind, void *object) {
    uint32_t slot = take_slot(handles);
    handles->slots[slot].object = object;
    handles->slots[slot].kind = kind;
    handles->slots[slot].generation++;
    return handle_of(handles, slot);
}

/* The slot of a live handle of this kind; NULL if it is not one. */
static HandleSlot *find(const Handles *handles, HandleKind kind, uint64_t handle) {
    uint32_t slot = (uint32_t)(handle >> 4 & 0x0fffffff) - 1; /* 0 wraps past every count */
    if (slot >= handles->count || handles->slots[slot].kind != kind) return NULL;
    return handle_of(handles, slot) == handle ? &handles->slots[slot] : NULL;
}

void *handles_get(const Handles *handles, HandleKind kind, uint64_t handle) {
    const HandleSlot *slot = find(handles, kind, handle);
    return slot ? slot->object : NULL;
}

void *handles_remove(Handles *handles, HandleKind kind, uint64_t handle) {
    HandleSlot *slot = find(handles, kind, handle);
    if (!slot) return NULL;
    slot->kind = HANDLE_NONE;
    slot->next_free = handles->first_free;
    handles->first_free = (uint32_t)(slot - handles->slots);
    return slot->object;
}

uint64_t handles_at(const Handles *handles, uint32_t i) {
    return handles->slots[i].kind == HANDLE_NONE ? 0 : handle_of(handles, i);
}
