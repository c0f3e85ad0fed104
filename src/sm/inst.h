/* Instructions between issue and completion, and the accesses of those that go to memory. One pool
 * serves the whole SM; stages hand indices on. This file and inst.c alone write the records. */
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
    SM_MAX_ACCESSES = 128, /* of one instruction: 32 lanes x 4 words of local memory */
    SM_NONE = 0xFFFF,      /* no index */
    SM_NO_PC = 0xFFFFFFF   /* no instruction: more than any program has */
};

/* An instruction between issue and completion. */
typedef struct SmInst {
    uint64_t reads;  /* register banks of its operands, bit each */
    uint64_t writes; /* of its results */
    uint32_t pc;
    uint32_t lanes;      /* that executed it */
    uint32_t serial;     /* number of its warp among those launched on the SM */
    uint32_t order;      /* its own among those that the SM issued */
    uint16_t read_count; /* operands to fetch: more than banks where some share one */
    uint16_t remaining;  /* accesses whose data are still to come */
    uint16_t memory;     /* its SmMemory, SM_NONE once all accesses are handed on */
    uint16_t next;       /* free list */
    uint8_t warp;        /* slot */
    uint8_t unit;        /* SmUnit */
    uint8_t copy;        /* cp.async: place of its group and 1 (copies.h), else 0 */
    bool holds_warp;     /* a load until whose end its warp issues nothing */
    uint8_t kept;        /* operands that need no read, bit for place (collector.reuse) */
} SmInst;
_Static_assert(sizeof(SmInst) == 48, "thousands may be under way");

/* Where a memory instruction's accesses go. */
typedef enum SmPath {
    SM_PATH_NONE, /* nowhere: no lane executed it, or a prefetch */
    SM_PATH_SHARED,
    SM_PATH_CONST,
    SM_PATH_TEXTURE,
    SM_PATH_L1D,
    SM_PATH_BYPASS,
    SM_PATH_REMOTE /* shared memory of another SM: an access's address has the SM from bit 24 on */
} SmPath;

/* Bit per byte of an access; aligned as its words are, so that records that hold one stay small. */
typedef unsigned __int128 SmBytes __attribute__((aligned(8)));

/* One coalesced access. */
typedef struct SmAccess {
    uint64_t address;    /* of the segment's first byte asked for; aligned to the sector */
    uint32_t sectors;    /* sectors wanted from there */
    uint16_t bytes;      /* from address to the end of the last sector asked for */
    uint8_t priority[2]; /* CachePriority in L1D and in L2 */
    uint32_t lanes;      /* that touch the segment, bit each */
    uint32_t pc : 28;    /* of the instruction that makes it, SM_NO_PC: none; only for a profile */
    uint32_t prefetch : 4; /* loads: log2 of the bytes that L2 shall bring, or 0 */
    SmBytes written;       /* stores: those written from address on; 0: every byte of the sectors */
} SmAccess;
_Static_assert(sizeof(SmAccess) == 40, "accesses are copied from queue to queue");

/* The accesses of a memory instruction until the LSU has handed them all on. */
typedef struct SmMemory {
    uint16_t count;  /* accesses */
    uint16_t done;   /* handed on */
    uint16_t cycles; /* shared: cycles it takes the latch */
    uint16_t least;  /* accesses if its lanes' data lay side by side; shared: cycles without bank
                        conflicts */
    uint16_t next;   /* free list */
    uint8_t path;    /* SmPath */
    bool is_store;   /* no data come back */
    bool is_atomic;
    bool is_local;
    bool is_parameter; /* of the kernel: the launch has brought it where caches have two levels */
    uint8_t advice;    /* MemAdvice: a store that stores nothing, and that no warp waits for */
    SmAccess *access;  /* SM_MAX_ACCESSES of them */
} SmMemory;

/* Both pools. */
typedef struct SmInsts {
    SmInst *inst;          /* SM_INSTS of them */
    SmMemory *memory;      /* one for every place between issue and the LSU's latch */
    uint32_t memory_count; /* of those */
    uint16_t fresh_inst;   /* from here on none was ever used */
    uint16_t free_inst;    /* first unused one before, SM_NONE */
    uint16_t free_memory;  /* first unused, SM_NONE */
} SmInsts;

/* Room for what the machine can have under way; empty after insts_reset. */
void insts_init(SmInsts *insts, const SmConfig *config, Arena *arena);
void insts_reset(SmInsts *insts);

/* Whether another instruction can be under way. */
static inline bool insts_has_room(const SmInsts *insts) {
    return insts->free_inst != SM_NONE || insts->fresh_inst < SM_INSTS;
}

/* A new instruction, to be filled in; there must be room. */
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

/* The place of the next instruction's accesses, to be filled before insts_attach takes it. */
static inline SmMemory *insts_next_memory(SmInsts *insts) {
    assert(insts->free_memory != SM_NONE);
    return &insts->memory[insts->free_memory];
}
/* The instruction owns what has been filled in; its loads wait for all of it. */
static inline void insts_attach(SmInsts *insts, SmInst *inst) {
    SmMemory *memory = insts_next_memory(insts);
    inst->memory = insts->free_memory;
    inst->remaining = memory->is_store ? 0 : memory->count;
    insts->free_memory = memory->next;
}
static inline SmMemory *insts_memory_of(const SmInsts *insts, uint16_t index) {
    return &insts->memory[insts->inst[index].memory];
}

/* One access's data are there; true when they were the last that anything waits for. */
static inline bool insts_access_done(SmInsts *insts, uint16_t index) {
    SmInst *inst = &insts->inst[index];
    return --inst->remaining == 0 && inst->memory == SM_NONE;
}
/* All accesses are handed on; true when no data are still to come. */
static inline bool insts_handed_on(SmInsts *insts, uint16_t index) {
    SmInst *inst = &insts->inst[index];
    insts->memory[inst->memory].next = insts->free_memory;
    insts->free_memory = inst->memory;
    inst->memory = SM_NONE;
    return inst->remaining == 0;
}

#endif
