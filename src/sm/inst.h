/* Instructions between issue and completion, and the accesses of memory instructions. One pool
 * serves the whole SM; stages pass indices. Only this file and inst.c write the pools. */
#ifndef TYTO_SM_INST_H
#define TYTO_SM_INST_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "sm/sm_config.h"

enum {
    SM_REMOTE_SHIFT = 24,  /* SM_PATH_REMOTE */
    SM_INSTS = 8192,       /* instructions between issue and completion */
    SM_MAX_ACCESSES = 128, /* per instruction: 32 lanes x 4 words of local memory */
    SM_NONE = 0xFFFF,      /* no index */
    SM_NO_PC = 0xFFFFFFF   /* no instruction: larger than any program */
};

/* An instruction between issue and completion. */
typedef struct SmInst {
    uint64_t reads;  /* register banks of its operands, one bit each */
    uint64_t writes; /* register banks of its results */
    uint32_t pc;
    uint32_t lanes;      /* lanes that executed it */
    uint32_t serial;     /* number of its warp among those launched on the SM */
    uint32_t order;      /* its number among the instructions that the SM issued */
    uint16_t read_count; /* operands to read; more than banks if several share one */
    uint16_t remaining;  /* accesses whose data have not arrived */
    uint16_t memory;     /* its SmMemory; SM_NONE once all accesses are sent */
    uint16_t next;       /* free list */
    uint8_t warp;        /* slot */
    uint8_t unit;        /* SmUnit */
    uint8_t copy;        /* cp.async: place of its group plus 1 (copies.h); else 0 */
    bool holds_warp;     /* a load that blocks its warp from issuing until it completes */
    uint8_t kept;        /* operands that need no read, one bit per place (collector.reuse) */
} SmInst;
_Static_assert(sizeof(SmInst) == 48, "thousands may be under way");

/* The path that a memory instruction's accesses take. */
typedef enum SmPath {
    SM_PATH_NONE, /* none: no lane executed it, or a prefetch that no cache takes */
    SM_PATH_SHARED,
    SM_PATH_CONST,
    SM_PATH_TEXTURE,
    SM_PATH_L1D,
    SM_PATH_BYPASS,
    SM_PATH_REMOTE /* shared memory of another SM; bits 24 and up of an address are the SM */
} SmPath;

/* One bit per byte of an access. Aligned like its words, so that records that contain one stay
 * small. */
typedef unsigned __int128 SmBytes __attribute__((aligned(8)));

/* One coalesced access. */
typedef struct SmAccess {
    uint64_t address;      /* of the first requested byte of the segment; aligned to the sector */
    uint32_t sectors;      /* requested sectors, from `address` on */
    uint16_t bytes;        /* bytes from `address` to the end of the last requested sector */
    uint8_t priority[2];   /* CachePriority in L1D and in L2 */
    uint32_t lanes;        /* lanes that touch the segment, one bit each */
    uint32_t pc : 28;      /* of its instruction; SM_NO_PC: none; only for a profile */
    uint32_t prefetch : 4; /* loads: log2 of the bytes that L2 prefetches, or 0 */
    SmBytes written;       /* stores: bytes written from `address` on; 0: whole sectors */
} SmAccess;
_Static_assert(sizeof(SmAccess) == 40, "accesses are copied from queue to queue");

/* The accesses of a memory instruction, until the LSU has sent them all. */
typedef struct SmMemory {
    uint16_t count;  /* accesses */
    uint16_t done;   /* accesses already sent */
    uint16_t cycles; /* shared memory: cycles that it occupies the latch */
    uint16_t least;  /* accesses if its lanes' data were contiguous; shared memory: cycles without
                        bank conflicts */
    uint16_t next;   /* free list */
    uint8_t path;    /* SmPath */
    bool is_store;   /* no data return */
    bool is_atomic;
    bool is_local;
    bool is_parameter; /* kernel parameter; it hits if there are two levels of constant caches */
    uint8_t advice;    /* MemAdvice: a store that writes nothing and that no warp waits for */
    SmAccess *access;  /* SM_MAX_ACCESSES of them */
} SmMemory;

/* Both pools. */
typedef struct SmInsts {
    SmInst *inst;          /* SM_INSTS entries */
    SmMemory *memory;      /* one for each place between issue and the LSU's latch */
    uint32_t memory_count; /* entries of `memory` */
    uint16_t fresh_inst;   /* index of the first entry that was never used */
    uint16_t free_inst;    /* first free entry below fresh_inst; SM_NONE: none */
    uint16_t free_memory;  /* first free entry; SM_NONE: none */
} SmInsts;

/* Allocates entries for all that the machine can have in flight. insts_reset empties the pools. */
void insts_init(SmInsts *insts, const SmConfig *config, Arena *arena);
void insts_reset(SmInsts *insts);

/* Whether there is room for another instruction in flight. */
static inline bool insts_has_room(const SmInsts *insts) {
    return insts->free_inst != SM_NONE || insts->fresh_inst < SM_INSTS;
}

/* Allocates a new instruction, which the caller fills in; there must be room. */
static inline uint16_t insts_new(SmInsts *insts) {
    uint16_t index = insts->free_inst;
    if (index == SM_NONE) {
        assert(insts->fresh_inst < SM_INSTS);
        return insts->fresh_inst++;
    }
    insts->free_inst = insts->inst[index].next;
    return index;
}
static inline void insts_free(SmInsts *insts, uint16_t index) {
    insts->inst[index].next = insts->free_inst;
    insts->free_inst = index;
}

/* The entry for the next instruction's accesses; the caller fills it before insts_attach. */
static inline SmMemory *insts_next_memory(SmInsts *insts) {
    assert(insts->free_memory != SM_NONE);
    return &insts->memory[insts->free_memory];
}
/* Attaches the filled entry to the instruction; a load waits for all its accesses. */
static inline void insts_attach(SmInsts *insts, SmInst *inst) {
    SmMemory *memory = insts_next_memory(insts);
    inst->memory = insts->free_memory;
    inst->remaining = memory->is_store ? 0 : memory->count;
    insts->free_memory = memory->next;
}
static inline SmMemory *insts_memory_of(const SmInsts *insts, uint16_t index) {
    return &insts->memory[insts->inst[index].memory];
}

/* Records that one access's data have arrived. Returns true if nothing else is pending. */
static inline bool insts_access_done(SmInsts *insts, uint16_t index) {
    SmInst *inst = &insts->inst[index];
    return --inst->remaining == 0 && inst->memory == SM_NONE;
}
/* Records that all accesses are sent. Returns true if no data are pending. */
static inline bool insts_handed_on(SmInsts *insts, uint16_t index) {
    SmInst *inst = &insts->inst[index];
    insts->memory[inst->memory].next = insts->free_memory;
    insts->free_memory = inst->memory;
    inst->memory = SM_NONE;
    return inst->remaining == 0;
}

#endif
