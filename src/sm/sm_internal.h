/* The inside of an SM: what its stages share. Each stage is a file; each keeps its own part of the
 * record below and touches the others' only through the functions at the end. */
#ifndef TYTO_SM_SM_INTERNAL_H
#define TYTO_SM_SM_INTERNAL_H

#include "base/bits.h"
#include "cache/mshr.h"
#include "cache/tag_array.h"
#include "sm/sm.h"
#include "tyto/policy.h"

enum {
    SM_MAX_ACCESSES = 128,    /* of one instruction: 32 lanes x 4 words of local memory */
    SM_INSTS = 8192,          /* instructions between issue and completion */
    SM_REQUESTS = 8192,       /* requests under way; a send is refused beyond that */
    SM_RETURN_PLACES = 65536, /* accesses that wait for the write-back port, each way */
    SM_HORIZON = 2048, /* cycles ahead that a result can be due; longest latency below that */
    SM_MAX_BANKS = 64, /* register banks */
    SM_NONE = 0xFFFF,  /* no index */
    SM_NO_WARP = 0xFF, /* nobody waits for the acknowledgement */
    SM_CACHES = MEM_CLIENT_L1T + 1 /* caches with a miss queue; each is a MemClient */
};

/* A small queue of 16-bit indices. The capacity is a power of two. */
typedef struct SmQueue {
    uint16_t *items;
    uint32_t head, count, mask; /* first item, items held, capacity - 1 */
} SmQueue;

static inline void sm_queue_push(SmQueue *queue, uint32_t item) {
    assert(queue->count <= queue->mask);
    queue->items[(queue->head + queue->count++) & queue->mask] = (uint16_t)item;
}
static inline uint16_t sm_queue_peek(const SmQueue *queue) { return queue->items[queue->head]; }
static inline uint16_t sm_queue_pop(SmQueue *queue) {
    uint16_t item = queue->items[queue->head];
    /* An empty queue starts over: most never leave the first cache line of their ring. */
    queue->head = --queue->count ? (queue->head + 1) & queue->mask : 0;
    return item;
}

/* A place of a ring of any capacity, from one that is less than twice as far: no division. */
static inline uint32_t sm_ring_place(uint32_t place, uint32_t capacity) {
    return place < capacity ? place : place - capacity;
}

/* An instruction between issue and completion. */
typedef struct SmInst {
    uint32_t pc;
    uint32_t lanes;     /* that executed it */
    uint16_t remaining; /* accesses whose data are still to come */
    uint16_t memory;    /* its SmMemory, SM_NONE once all accesses are handed on */
    uint16_t next;      /* free list */
    uint8_t warp;       /* slot */
    uint8_t unit;       /* SmUnit */
    uint8_t operands;   /* reads still to be granted */
    bool holds_warp;    /* a load until whose end its warp issues nothing */
} SmInst;

/* Where a memory instruction's accesses go. */
typedef enum SmPath {
    SM_PATH_NONE, /* nowhere: no lane executed it, or a prefetch */
    SM_PATH_SHARED,
    SM_PATH_CONST,
    SM_PATH_TEXTURE,
    SM_PATH_L1D,
    SM_PATH_BYPASS
} SmPath;

/* Bit per byte of an access; aligned as its words are, so that records that hold one stay small. */
typedef unsigned __int128 SmBytes __attribute__((aligned(8)));

/* One coalesced access. */
typedef struct SmAccess {
    uint64_t address; /* of the segment's first byte asked for; aligned to the atom */
    uint32_t atoms;   /* atoms wanted from there */
    uint32_t bytes;   /* from address to the end of the last atom asked for */
    uint32_t lanes;   /* that touch the segment, bit each */
    SmBytes written;  /* stores: those written from address on; 0: every byte of the atoms */
} SmAccess;
_Static_assert(sizeof(SmAccess) == 40, "accesses are copied from queue to queue");

/* The accesses of a memory instruction until the LSU has handed them all on. */
typedef struct SmMemory {
    uint16_t count;  /* accesses */
    uint16_t done;   /* handed on */
    uint16_t cycles; /* shared: cycles it takes the latch */
    uint16_t next;   /* free list */
    uint8_t path;    /* SmPath */
    bool is_store;   /* no data come back */
    bool is_atomic;
    bool is_local;
    SmAccess access[SM_MAX_ACCESSES];
} SmMemory;

/* What the L1D has got back from below, as bits: a refused access may find what it lacked. */
typedef enum SmFreed {
    SM_FREED_LINE = 1,  /* a line was filled */
    SM_FREED_PLACE = 2, /* a miss was sent */
    SM_FREED_MSHR = 4,  /* a load left the MSHRs */
    SM_FREED_ALL = 7
} SmFreed;

/* An access in the L1D's latency queue. */
typedef struct SmLookup {
    uint64_t due; /* cycle from which its tags can be looked up */
    SmAccess access;
    uint32_t serial; /* number of the warp among those launched on the SM */
    uint16_t inst;   /* loads: the instruction, which must not be named once a store has left */
    uint8_t warp;
    bool is_store, is_local;
} SmLookup;

/* A request that waits for the network. */
typedef struct SmSend {
    SmAccess access;  /* reads of a cache: the line or sector it fills */
    uint32_t waiting; /* MemRequest.waiting: loads past the L1D the instruction, stores the warp */
    uint8_t op;       /* MemOp */
    uint8_t client;   /* MemClient */
    uint8_t warp;     /* that caused it */
} SmSend;

typedef struct SmSendQueue {
    SmSend *items;
    uint32_t head, count, capacity;
} SmSendQueue;

/* Instructions that leave in order, each at a cycle known when it enters. */
typedef struct SmPipe {
    SmQueue queue;
    uint64_t *due; /* by position in the queue's ring */
} SmPipe;

/* A read-only cache: instructions, constants, textures. */
typedef struct SmReadCache {
    const CacheConfig *config;
    TagArray tags;
    Mshr mshr;
    uint8_t client; /* MemClient */
    uint32_t fill_bytes;
} SmReadCache;

/* What a scheduler did last; stands for the cycles in which it does not pick. */
typedef enum SmOutcome {
    SM_ISSUED,
    SM_IDLE_NO_WARP,
    SM_IDLE_BARRIER,
    SM_IDLE_BRANCH,
    SM_IDLE_FETCH,
    SM_SCOREBOARD_MEMORY,
    SM_SCOREBOARD_OTHER,
    SM_PIPELINE_LSU,
    SM_PIPELINE_OTHER,
    SM_THROTTLED,
    SM_OUTCOMES
} SmOutcome;

typedef struct SmWarp {
    IsaWarp *isa;
    uint64_t *pending;        /* registers with a result to come, bit per register number */
    uint64_t *pending_memory; /* those among them that come from memory */
    uint32_t buffer_pc;       /* first buffered instruction */
    uint32_t fetch_pc;        /* next instruction to fetch */
    uint32_t in_flight;       /* instructions issued and not complete */
    uint32_t stores;          /* accesses of issued stores whose acknowledgement is still to come */
    uint32_t atomics;         /* atomic replies still to come */
    uint32_t pending_count;   /* registers in `pending` */
    uint8_t buffered;         /* instructions in the buffer */
    uint8_t cta_slot;
    bool is_fence_for_stores; /* the last fence: reaches beyond the CTA */
} SmWarp;

typedef struct SmCta {
    IsaCta isa;
    uint32_t live;      /* warps that have not retired */
    uint8_t first_warp; /* slot of its warp 0 */
    bool is_resident;
} SmCta;

/* A pipeline: SP, SFU or DP. */
typedef struct SmPipeline {
    uint64_t free_at; /* cycle from which its input takes another instruction */
    uint8_t unit;     /* SmUnit */
} SmPipeline;

/* A way from the memory side back to the registers. */
typedef enum SmReturn {
    SM_RETURN_SHARED,
    SM_RETURN_TEXTURE,
    SM_RETURN_CONST,
    SM_RETURN_BYPASS,
    SM_RETURN_L1D,
    SM_RETURNS
} SmReturn;

/* Cycles counted since they were last added to the counters: a step touches few lines this way. */
typedef struct SmCycles {
    uint64_t all;                  /* sm_cycles */
    uint64_t ctas, warps;          /* cta_cycles, warp_cycles */
    uint64_t no_issue;             /* no_issue_cycles */
    uint64_t no_warp;              /* NoWarpCycles */
    uint64_t memory_block;         /* MemoryBlockCycles */
    uint64_t outcome[SM_OUTCOMES]; /* of all schedulers */
} SmCycles;

/* Fields stand by stage, small ones first: what every step looks at lies in few cache lines. Tables
 * that a step reaches by index stand behind them. */
struct Sm {
    /* ---- Time ---- */
    uint64_t cycle;   /* of the step under way, or the last one */
    uint64_t settled; /* sums over cycles are complete up to here */
    SmCycles cycles;
    uint32_t outstanding; /* requests under way */

    /* ---- Instructions in flight ---- */
    uint32_t before_pipelines; /* instructions in the queues below and in collector units */
    SmInst *insts_in_flight;
    SmMemory *memory_insts; /* one for every place between issue and the LSU's latch */
    uint32_t memory_inst_count;
    uint16_t free_memory; /* first unused of them */
    uint16_t free_inst;
    uint32_t slots_free[SM_UNITS];
    SmQueue issue_queue[SM_UNITS];    /* issued, not yet in a collector unit */
    SmQueue dispatch_queue[SM_UNITS]; /* operands read, not yet in a pipeline */

    /* ---- Operand collector ---- */
    uint32_t collector_busy, collector_ready; /* units, bit each */
    uint32_t collector_of[SM_UNITS];          /* units of each kind */
    uint32_t collector_last[SM_UNITS];        /* unit that dispatched last */
    uint32_t bank_mask;                       /* banks - 1 */
    uint32_t bank_warp_mask;                  /* all ones when a bank depends on the warp, else 0 */
    uint64_t bank_waits;                      /* banks with reads queued */
    uint64_t bank_written;                    /* banks written in this cycle */
    uint32_t bank_reads;                      /* reads queued at all banks */

    /* ---- Pipelines ---- */
    uint32_t pipeline_count;
    uint32_t beats[SM_UNITS]; /* cycles in which a warp enters such a pipeline */
    uint32_t horizon_mask;    /* cycles that the rings below use - 1 */
    uint32_t result_places;   /* results that can be due in one cycle */
    uint32_t results_under_way;
    SmPipeline pipelines[SM_MAX_PIPELINES];

    /* ---- Load/store unit ---- */
    SmQueue chosen;           /* complete since the last cycle's choice */
    uint32_t returns_waiting; /* ways with such loads, bit each; the L1D's are in its MSHRs */
    uint32_t last_return;     /* SmReturn that won last */
    SmPipe shared_pipe;       /* loads from shared memory */
    SmPipe texture_pipe;      /* accesses that hit the texture cache */
    uint32_t misses_waiting;  /* caches with requests in `misses`, bit per MemClient */
    uint16_t latch;           /* instruction in the unit, SM_NONE */
    bool is_l1d_flushing;     /* dirty lines are being written back before all are dropped */
    uint8_t l1d_freed;        /* SmFreed since the head was refused */
    uint64_t *refusal;        /* counter of the refusal the L1D's head is stuck in, NULL */
    uint64_t latch_from;      /* first cycle in which it may try an access */
    uint64_t latch_until;     /* shared: last cycle it holds the latch */
    SmLookup *l1d_queue;      /* ring of l1d_capacity */
    uint32_t l1d_head, l1d_count, l1d_capacity;
    uint32_t l1d_fill_bytes;
    Mshr l1d_mshr;
    SmSendQueue misses[SM_CACHES]; /* requests of the caches, by MemClient */
    SmQueue returns[SM_RETURNS];   /* loads that wait for the write-back port */

    /* ---- Network port ---- */
    MemRequest *requests;
    uint32_t *free_requests;
    uint32_t *fifo;      /* handles of replies: network side, ring */
    uint32_t *unit_fifo; /* and the unit's own */
    uint32_t free_request_count;
    uint32_t fifo_head, fifo_count, fifo_capacity;
    uint32_t unit_head, unit_count, unit_capacity;

    /* ---- Fetch ---- */
    uint32_t last_fetched; /* warp slot */
    uint64_t decode_due;   /* cycle at which the latch is decoded, UINT64_MAX: empty */
    uint32_t decode_pc, decode_count;
    uint8_t decode_warp;

    /* ---- Schedulers ---- */
    bool has_news; /* some of the sets changed since the schedulers last looked */
    uint8_t outcome[SM_MAX_SCHEDULERS]; /* SmOutcome of the last pick */
    SchedAgent policy;                  /* the warp scheduler at work */
    uint64_t policy_cycle;              /* cycle up to which the policy knows that time passed */

    /* ---- Warps, as sets of slots ---- */
    uint64_t stale;           /* buffer holds instructions that are not the next ones */
    uint64_t clear;           /* next instruction's registers are free */
    uint64_t wants[SM_UNITS]; /* next instruction goes to this kind of pipeline */
    uint64_t empty;           /* buffer can take another fetch */
    uint64_t fetch_waits;     /* an instruction miss is under way */
    uint64_t fenced;          /* a memory fence waits */
    uint64_t atomic_waits;    /* atomics must be answered first */
    uint64_t load_waits;      /* a load must end first */
    uint64_t redirected;      /* buffer was flushed by a taken branch and is not filled yet */
    uint64_t drained;         /* nothing in flight, no acknowledgement to come */
    TytoSmView view; /* resident, at_barrier, has_instruction, waits_memory, wants_load ... */

    /* ---- Built once ---- */
    SmEnvironment env;
    const SmConfig *config;
    Arena *arena;
    uint64_t scheduler_warps[SM_MAX_SCHEDULERS];
    uint32_t warp_slots;
    uint32_t scoreboard_words; /* of one warp */
    SmUnit unit_of[ISA_CLASS_COUNT];

    /* ---- The kernel ---- */
    const IsaLaunch *launch;
    const IsaInst *insts;
    const IsaInfo *infos;
    const IsaReg *reg_pool;
    uint32_t cta_limit;   /* CTAs resident at once */
    uint32_t cta_threads; /* per CTA, rounded up to whole warps */
    uint64_t next_age;    /* of the next warp launched */
    SmListener listener;

    /* ---- Tables ---- */
    SmReadCache l1i, l1c, l1t;
    TagArray l1d_tags;
    uint16_t collector_inst[SM_MAX_COLLECTORS]; /* instruction of each unit */
    SmQueue bank_queue[SM_MAX_BANKS];           /* collector unit of each read */
    uint64_t result_due[SM_HORIZON / 64];       /* bit per cycle modulo the horizon */
    uint64_t finishing[SM_MAX_PIPELINES]
                      [SM_HORIZON / 64];          /* the same by pipeline: it has such a result */
    uint8_t result_count[SM_HORIZON];             /* results due, by cycle modulo the horizon */
    uint16_t results[SM_HORIZON][SM_MAX_RESULTS]; /* their instructions */
    SmWarp warps[TYTO_MAX_WARPS];
    SmCta ctas[SM_MAX_CTAS];
    IsaContext context;
    Counters counters;
    Histograms histograms;
};

/* ---- sm.c ---- */
void sm_warp_settled(Sm *sm, int warp); /* in_flight, stores or atomics fell: may be drained */
void sm_inst_complete(Sm *sm, uint16_t inst); /* frees it and its registers */
uint16_t sm_inst_new(Sm *sm);
void sm_notify(Sm *sm, const TytoEvent *event);

/* Warps that issue nothing until a fence, their atomics or their load has ended. */
static inline uint64_t sm_held(const Sm *sm) {
    return sm->fenced | sm->atomic_waits | sm->load_waits;
}

/* ---- fetch.c ---- */
void fetch_init(Sm *sm);
/* Fetches for one warp; the warps that the scan for it has passed, to the one found. */
uint64_t fetch_step(Sm *sm);
void fetch_decode(Sm *sm);
void fetch_line_arrived(Sm *sm, const MemRequest *request);
void fetch_flush(Sm *sm, int warp); /* empties the buffer and starts again at the warp's pc */
bool fetch_has_work(const Sm *sm);

/* ---- issue.c ---- */
void issue_step(Sm *sm);
bool issue_has_work(const Sm *sm);        /* a warp could issue, or its buffer must be flushed */
void issue_update_head(Sm *sm, int warp); /* the next instruction changed */
void issue_count_cycles(Sm *sm, uint64_t cycles); /* accounts `cycles` with the last outcomes */
void issue_report_cycles(const SmCycles *cycles,
                         Counters *counters); /* adds them to the counters */

/* ---- scoreboard.c ---- */
void scoreboard_reset(Sm *sm, int warp);
void scoreboard_reserve(Sm *sm, int warp, const IsaInfo *info, bool from_memory);
void scoreboard_release(Sm *sm, int warp, const IsaInfo *info);
/* Whether the instruction's registers are free; *waits_memory: one of them comes from memory. */
bool scoreboard_is_clear(const Sm *sm, int warp, const IsaInfo *info, bool *waits_memory);

/* ---- collector.c ---- */
void collector_init(Sm *sm);
void collector_step(Sm *sm);
/* An instruction between issue and pipelines can move, now or in the cycle to come. */
bool collector_has_work(const Sm *sm);
uint64_t collector_banks_of(const Sm *sm, const SmInst *inst); /* banks of its destinations */

/* ---- execute.c ---- */
void execute_init(Sm *sm);
void execute_write_back(Sm *sm);
void execute_step(Sm *sm);
uint64_t execute_next_result(const Sm *sm); /* cycle of the next result, UINT64_MAX */

/* ---- coalesce.c ---- */
/* The accesses of a memory instruction that has just executed (context->address is its lanes'). */
void coalesce(const Sm *sm, const SmInst *inst, const IsaInfo *info, SmMemory *memory);

/* ---- lsu.c ---- */
void lsu_init(Sm *sm);
void lsu_step(Sm *sm);
bool lsu_accept(Sm *sm, uint16_t inst); /* takes an instruction into the latch */
bool lsu_has_work(const Sm *sm);
uint64_t lsu_next_event(const Sm *sm);
/* One access's data are there and ask for the write-back port. */
void lsu_access_done(Sm *sm, uint16_t inst, SmReturn way);
void sm_queue_init(SmQueue *queue, uint32_t capacity, Arena *arena);

/* ---- l1d.c ---- */
void l1d_init(Sm *sm);
void l1d_step(Sm *sm);
void l1d_line_arrived(Sm *sm, const MemRequest *request);
void l1d_flush(Sm *sm);
bool l1d_is_busy(const Sm *sm);        /* holds accesses, misses or dirty lines to write back */
bool l1d_has_work(const Sm *sm);       /* something to do in the next cycle */
uint64_t l1d_next_event(const Sm *sm); /* cycle at which its oldest access is due */
bool l1d_can_enter(const Sm *sm);
void l1d_enter(Sm *sm, const SmAccess *access, uint16_t inst, bool is_store, bool is_local);

/* ---- port.c ---- */
void port_init(Sm *sm);
/* The atoms of `bytes` from an atom's start on, bit each; at least one. */
static inline uint32_t port_atoms_of(const Sm *sm, uint32_t bytes) {
    return (uint32_t)bits_low_mask((int)((bytes + sm->env.atom_bytes - 1) / sm->env.atom_bytes));
}
/* The line or sector that a cache's request has brought. */
static inline uint64_t port_line_of(const MemRequest *request) {
    return request->address + request->waiting;
}
/* Sends a request if the network has room. */
bool port_send(Sm *sm, const SmSend *send);
/* The same for the oldest of a cache's misses, of which there is one. */
bool port_send_miss(Sm *sm, MemClient cache);
/* Handles one reply from the unit's FIFO. */
void port_handle_reply(Sm *sm);
void send_queue_init(SmSendQueue *queue, uint32_t capacity, Arena *arena);
static inline bool send_queue_is_full(const SmSendQueue *queue) {
    return queue->count == queue->capacity;
}
/* The cache's miss queue must have room. */
void send_queue_push(Sm *sm, MemClient cache, const SmSend *send);
static inline bool send_queue_has_any(const Sm *sm, MemClient cache) {
    return sm->misses_waiting >> cache & 1;
}
/* Sends the oldest, if there is one and the network has room; true when it did. */
static inline bool send_queue_step(Sm *sm, MemClient cache) {
    return send_queue_has_any(sm, cache) && port_send_miss(sm, cache);
}

/* ---- read_cache.c ---- */
typedef enum ReadResult { READ_HIT, READ_WAIT, READ_REFUSED } ReadResult;
void read_cache_init(Sm *sm, SmReadCache *cache, const CacheConfig *config, MemClient client);
/* Looks up the line of `address`. READ_WAIT: it is fetched; `waiter` comes out of the MSHRs when it
 * is there (*entry: its MSHR). READ_REFUSED: try again. */
ReadResult read_cache_access(Sm *sm, SmReadCache *cache, uint64_t address, uint32_t waiter,
                             int warp, int32_t *entry);
/* Whether the line of `address` is there. */
bool read_cache_has(SmReadCache *cache, uint64_t address);
void read_cache_fill(SmReadCache *cache, uint64_t address);

#endif
