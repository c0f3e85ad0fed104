/* What a machine file says about a streaming multiprocessor, unit by unit in the order in which an
 * instruction meets them. Plain numbers only; gpu/machine_rows.c gives each its key, bounds,
 * default and meaning. Cycles are SM cycles. A warp has 32 lanes on every machine. */
#ifndef TYTO_SM_SM_CONFIG_H
#define TYTO_SM_SM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache_config.h"
#include "isa/isa.h"
#include "tyto/policy.h"

enum {
    SM_MAX_THREADS =
        32 * TYTO_MAX_WARPS,     /* resident threads of one SM; its warps fit a word of bits */
    SM_MAX_CTAS = TYTO_MAX_CTAS, /* resident CTAs of one SM */
    SM_MAX_SCHEDULERS = TYTO_MAX_SCHEDULERS, /* warp schedulers of one SM */
    SM_MAX_PIPELINES = 16,                   /* SP, SFU and DP pipelines together */
    SM_MAX_COLLECTORS = 32,                  /* operand collector units of all kinds */
    SM_MAX_RESULTS = 8,                      /* results retired in one cycle */
    SM_POLICY_BYTES = 96,                    /* a policy's name and parameters, with the NUL */
};

/* The kinds of pipeline an instruction can be sent to. */
typedef enum SmUnit { SM_UNIT_SP, SM_UNIT_SFU, SM_UNIT_DP, SM_UNIT_LDST, SM_UNITS } SmUnit;

typedef struct SmOpConfig {
    /* cycles from acceptance by the unit to the result, less the stages around it */
    uint32_t latency;
    uint32_t initiation; /* cycles the unit's input stays busy with a warp, at 32 lanes */
    SmUnit unit;         /* pipeline that runs the class */
} SmOpConfig;

/* One kind of pipeline, and its share of the operand collector. */
typedef struct SmUnitConfig {
    uint32_t count; /* pipelines of this kind; 0 when the SM has none */
    /* lanes a pipeline takes a cycle: a warp keeps its input 32/lanes cycles at least */
    uint32_t lanes;
    uint32_t issue_slots; /* instructions between issue and collector, all schedulers together */
    uint32_t collector_units; /* instructions gathering operands */
    uint32_t collector_in;    /* collector units filled a cycle */
    uint32_t collector_out;   /* collector units emptied a cycle */
    uint32_t dispatch_slots;  /* instructions between collector and pipelines */
} SmUnitConfig;

typedef struct SmFetchConfig {
    bool is_ideal;              /* the next instruction of every warp is always in its buffer */
    uint32_t width;             /* consecutive instructions taken by one fetch */
    uint32_t buffer;            /* instructions buffered per warp */
    bool waits_for_empty;       /* a warp fetches only when its whole buffer is used up */
    uint32_t decode_latency;    /* cycles from a fetch that hits to the filled buffer */
    uint32_t instruction_bytes; /* size of an instruction in the L1I */
    uint32_t code_base;         /* address of the first instruction */
} SmFetchConfig;

typedef struct SmSchedulerConfig {
    uint32_t count;       /* schedulers; warp w belongs to scheduler w mod count */
    uint32_t issue_width; /* instructions a scheduler issues from the warp it picked */
    /* cycles from one pick to the next; the outcome stands for all of them */
    uint32_t issue_interval;
    bool alternates;              /* which scheduler goes first changes every cycle */
    char policy[SM_POLICY_BYTES]; /* warp scheduling policy when the user names none */
} SmSchedulerConfig;

typedef struct SmCollectorConfig {
    bool is_ideal;  /* every operand is there the cycle after issue */
    uint32_t banks; /* single-ported register banks */
    bool adds_warp; /* bank = (register + warp) mod banks, rather than register mod banks */
    bool writes_block_reads; /* a bank written this cycle serves no read */
} SmCollectorConfig;

typedef struct SmSharedConfig {
    uint32_t size_bytes;        /* shared memory */
    uint32_t granularity_bytes; /* a CTA's share is rounded up to this */
    uint32_t banks;             /* banks */
    uint32_t bank_bytes;        /* width of a bank */
    uint32_t latency;           /* cycles of the pipe after the last conflict */
    uint32_t conflict_lanes;    /* lanes that share one access: 32 the warp, 16 half-warps one after
                                   the other */
} SmSharedConfig;

/* The load/store unit: from a warp's 32 addresses to requests, and back to registers. */
typedef struct SmLsuConfig {
    uint32_t accesses_per_cycle; /* coalesced accesses sent to the caches a cycle */
    bool shrinks_segments; /* an access to one half or quarter of a segment asks for that only */
    bool narrows_small_elements; /* 2-byte elements coalesce in half segments, 1-byte in quarters */
    bool descends;               /* a warp's accesses go highest address first */
    uint32_t bypass_segment_bytes; /* segment of atomics and of loads that bypass the L1D */
    bool caches_global;            /* global loads may use the L1D */
    bool caches_local;             /* local loads and stores may use the L1D */
    bool atomics_block;            /* a warp issues nothing until its atomics are answered */
    bool loads_block;              /* a warp issues nothing until its load from memory ends */
    bool acknowledges_stores;      /* a CTA's slot is kept until all its stores are acknowledged */
    uint32_t fifo;                 /* replies waiting between network port and unit */
    uint32_t reply_fifo;           /* replies waiting in the unit */
    uint32_t writeback_ports;      /* load results written to registers a cycle */
} SmLsuConfig;

/* How the lanes of a warp part and meet (isa/converge.h). */
typedef enum SmDivergence { SM_DIVERGENCE_STACK, SM_DIVERGENCE_INDEPENDENT } SmDivergence;

typedef struct SmConfig {
    uint32_t threads;              /* resident threads */
    uint32_t ctas;                 /* resident CTAs */
    uint32_t registers;            /* 32-bit registers */
    uint32_t register_granularity; /* a thread's registers are rounded up to this */
    uint32_t result_buses;         /* results that SP, SFU and DP may finish a cycle, together */
    uint32_t writeback_width;      /* finished instructions retired a cycle */
    SmDivergence divergence;
    SmFetchConfig fetch;
    SmSchedulerConfig scheduler;
    SmCollectorConfig collector;
    SmUnitConfig units[SM_UNITS];
    SmOpConfig ops[ISA_CLASS_COUNT]; /* memory instructions: only their unit, the load/store unit */
    SmSharedConfig shared;
    SmLsuConfig lsu;
    CacheConfig l1i; /* instructions */
    CacheConfig l1d; /* global and local data */
    CacheConfig l1c; /* constants and kernel parameters */
    CacheConfig l1t; /* textures and read-only loads */
} SmConfig;

static inline uint32_t sm_config_warps(const SmConfig *config) { return config->threads / 32; }

#endif
