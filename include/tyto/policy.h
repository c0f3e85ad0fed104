/* Tyto scheduling policies: the plug-in interface, version 8.
 *
 * A policy is a constant TytoPolicy: names, parameters, and a few functions. One state object
 * exists per SM. The SM's schedulers share it, and each scheduler picks among its own warps. A
 * policy sees events and a read-only view of its SM, nothing else. It must not keep mutable
 * globals, so that a process can hold several simulators. It must not depend on addresses or time,
 * so that runs repeat.
 *
 * A shared object exports one symbol, `tyto_policy`, a `const TytoPolicy`. See
 * docs/writing-a-scheduler.md. Every function but `pick` may be NULL.
 *
 * Warps are named by hardware warp slot: 0 to warp_count - 1, at most 64, so a set of warps is a
 * uint64_t with bit w for slot w. CTAs are named by CTA slot. The warps of a CTA lie in rising
 * slots in the order of their index in it. A slot is reused only after its whole CTA has finished;
 * until then the view of a finished warp stays unchanged.
 *
 * How the interface grows. Fields are only appended to the structs below; none moves or changes its
 * meaning within a version. Each struct states its size in bytes, as its writer was compiled:
 * - Structs that a policy fills (TytoPolicy, rows of parameters): missing functions count as NULL
 *   in a shorter struct. In a longer one the bytes that Tyto does not know must be zero; otherwise
 *   the policy needs a newer Tyto, and is refused.
 * - Structs that a policy reads: a field of the first layout is always there. Read a later field by
 *   TYTO_GET. Reach warps, CTAs and lines by tyto_warp, tyto_cta and tyto_line, which know the
 *   distance from one to the next.
 *   No field ever goes into the padding of an earlier layout.
 * - Structs that a policy fills when asked (TytoDramPrefetch): Tyto states the size, and the policy
 *   writes the fields that it knows. */
#ifndef TYTO_POLICY_H
#define TYTO_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when this header changes other than by fields that are appended. */
#define TYTO_POLICY_VERSION 8

enum {
    TYTO_MAX_WARPS = 64,     /* of an SM */
    TYTO_MAX_CTAS = 32,      /* of an SM */
    TYTO_MAX_SCHEDULERS = 4, /* of an SM */
    TYTO_NO_WARP = -1
};

/* The program counter of no instruction. */
#define TYTO_NO_PC UINT32_MAX

/* Whether the struct at `of`, which states its size, has the field; and the field, or `otherwise`
 * where it has none. */
#define TYTO_END_OF(of, field)         (offsetof(__typeof__(*(of)), field) + sizeof((of)->field))
#define TYTO_HAS(of, field)            ((of)->size >= TYTO_END_OF(of, field))
#define TYTO_GET(of, field, otherwise) (TYTO_HAS(of, field) ? (of)->field : (otherwise))

/* Fields that plug-ins must reach by a function; Tyto's own code knows where they are. */
#ifdef TYTO_OWN_CODE
#define TYTO_BY_ACCESSOR
#else
#define TYTO_BY_ACCESSOR __attribute__((deprecated("use tyto_warp or tyto_cta")))
#endif

/* A resident warp. */
typedef struct TytoWarpView {
    uint64_t age;          /* number of warps launched on this SM before it: smaller is older */
    uint64_t instructions; /* warp instructions issued so far; on a machine that issues its own
                              (sm.instructions: lowered), its issue slots */
    uint64_t thread_instructions; /* the same, its active lanes summed, whatever their guards */
    uint8_t cta_slot;             /* its CTA's slot */
    uint8_t index_in_cta;         /* warp number inside its CTA */
} TytoWarpView;

/* A resident CTA. */
typedef struct TytoCtaView {
    uint64_t index;    /* linear index in the grid */
    uint64_t warps;    /* its warps that have not finished */
    uint64_t all;      /* all its warps */
    uint64_t launched; /* SM cycle at which it came */
} TytoCtaView;

/* What a policy may know of its SM. Valid during a call; fields change between calls. */
typedef struct TytoSmView {
    uint32_t size;           /* bytes of this struct */
    uint32_t warps_at;       /* byte at which the array of warps begins: use tyto_warp */
    uint32_t warp_bytes;     /* from one warp of it to the next */
    uint32_t ctas_at;        /* the same of CTAs: use tyto_cta */
    uint32_t cta_bytes;      /* from one CTA to the next */
    uint64_t cycle;          /* SM cycle */
    uint32_t sm;             /* its number, from 0 */
    uint32_t sms;            /* SMs of the GPU */
    uint32_t warp_count;     /* warp slots */
    uint32_t cta_count;      /* CTA slots */
    uint32_t cta_limit;      /* most CTAs of this kernel that the SM will hold at once: by its
                                resources, or fewer in a small grid. In slots 0 to cta_limit - 1,
                                unless kernels of several streams share the SM */
    uint32_t warps_per_cta;  /* warps of a CTA of this kernel */
    uint32_t schedulers;     /* schedulers of the SM */
    uint32_t pipeline_depth; /* cycles from issue to a dependent issue of a short instruction */
    uint32_t issue_interval; /* cycles from one pick of a scheduler to the next: 4, say, where a
                                warp takes a pipeline of SIMT width 8 */
    uint64_t scheduler_warps[TYTO_MAX_SCHEDULERS]; /* slots each scheduler picks from */
    uint64_t resident;                             /* warps that exist and have not finished */
    uint64_t exited;     /* of those, the ones without a thread left, whose stores are under way */
    uint64_t at_barrier; /* of those, the ones waiting at a CTA barrier */
    uint64_t has_instruction; /* of those, the ones with a decoded instruction to issue */
    /* Of those, the ones whose next instruction needs data still on their way from memory
     * (long-latency: global, local, texture), or that wait for an atomic operation or a fence. */
    uint64_t waits_memory;
    uint64_t wants_load; /* of those, the ones whose next instruction is a load through the L1D */
    uint64_t ctas;       /* occupied CTA slots */
    bool last_cta_dispatched; /* no CTA of the grid waits any more */
    uint64_t line_bytes;      /* of the L1D */
    /* by slot: the warps that came before its warp. Undefined for slots that are not resident; bits
     * of such slots are undefined too. */
    uint64_t older[TYTO_MAX_WARPS];
    TytoWarpView warp[TYTO_MAX_WARPS] TYTO_BY_ACCESSOR; /* tyto_warp */
    TytoCtaView cta[TYTO_MAX_CTAS] TYTO_BY_ACCESSOR;    /* tyto_cta */

    /* Only for a policy with TYTO_NEEDS_STALLS. What the last cycle left after its picks; holds in
     * all cycles that `elapsed` reports. Ready: the registers are free and nothing holds the warp.
     */
    uint64_t unit_full;  /* ready warps whose pipeline, other than the load/store unit, is full */
    uint64_t lsu_full;   /* ready warps that find the load/store unit full */
    uint64_t mshrs_full; /* ready warps whose next instruction is a load through the L1D, while the
                            L1D has no MSHR left */
    uint32_t l1d_mshrs_free;  /* MSHRs of the L1D that are free */
    uint32_t l1d_misses_free; /* free places of the L1D's queue of misses */

    uint32_t l1d_mshrs;  /* MSHRs of the L1D */
    uint32_t l1d_places; /* places for lines in the L1D: sets x most ways */
    /* Asks for a prefetch: use tyto_prefetch. */
    bool (*prefetch)(void *unit, uint64_t address, uint32_t tag);
    void *unit; /* handed back */
} TytoSmView;

static inline const TytoWarpView *tyto_warp(const TytoSmView *view, int warp) {
    return (const TytoWarpView *)(const void *)((const char *)view + view->warps_at +
                                                (size_t)warp * view->warp_bytes);
}
static inline const TytoCtaView *tyto_cta(const TytoSmView *view, int cta_slot) {
    return (const TytoCtaView *)(const void *)((const char *)view + view->ctas_at +
                                               (size_t)cta_slot * view->cta_bytes);
}

/* Asks for a prefetch of the line, or the sector, of `address` into the L1D. It is sent when an
 * MSHR, a way and a place in the queue of misses are free, behind the program's own accesses. `tag`
 * is the policy's own, and comes back in the event that says what happened to the prefetch. False:
 * too many prefetches wait to be sent, or the policy lacks TYTO_NEEDS_PREFETCH. */
static inline bool tyto_prefetch(const TytoSmView *view, uint64_t address, uint32_t tag) {
    return view->prefetch && view->prefetch(view->unit, address, tag);
}

/* What happened on the SM. */
typedef enum TytoEventKind {
    TYTO_EVENT_CTA_LAUNCHED,     /* cta_slot, warps: its warps */
    TYTO_EVENT_CTA_FINISHED,     /* cta_slot, warps */
    TYTO_EVENT_WARP_FINISHED,    /* warp, cta_slot */
    TYTO_EVENT_WARP_AT_BARRIER,  /* warp, cta_slot: it has begun to wait */
    TYTO_EVENT_BARRIER_RELEASED, /* cta_slot, warps: those that may go on */
    TYTO_EVENT_LAST_CTA,         /* the grid's last CTA has been dispatched (to any SM) */
    TYTO_EVENT_L1D_HIT,  /* warp, address: a load found its line; owner: the warp that brought it in
                          */
    TYTO_EVENT_L1D_MISS, /* warp, address: a load did not; the line is requested (or joins one
                            that is under way: is_pending) */
    TYTO_EVENT_L1D_EVICTED, /* address: line dropped; owner: the warp that had brought it in; warp:
                               its access replaced the line, TYTO_NO_WARP for a prefetch */
    TYTO_EVENT_L1D_STORED,  /* warp, address: a store was passed on to L2; where the L1D drops what
                               is written (write-evict), L1D_EVICTED came before */
    TYTO_EVENT_L1D_FILLED,  /* address: a line or sector has come; owner: the warp that asked first
                             */
    TYTO_EVENT_BRANCH,      /* warp: a branch has executed; comes before `issued` of it */
    TYTO_EVENT_PREFETCH_SENT,   /* tag, address: the policy's prefetch left for the L2 */
    TYTO_EVENT_PREFETCH_USED,   /* tag, address: an access wanted it for the first time; is_pending:
                                   while it was on its way */
    TYTO_EVENT_PREFETCH_UNUSED, /* tag, address: it was removed before any access wanted it */
    TYTO_EVENT_PREFETCH_DROPPED, /* tag, address: not sent. The L1D has the line or waits for it
                                    already, the address is no memory, or no CTA is left */
    TYTO_EVENTS
} TytoEventKind;

typedef struct TytoEvent {
    uint32_t size; /* bytes of this struct */
    TytoEventKind kind;
    int warp;     /* slot, TYTO_NO_WARP when it does not apply */
    int cta_slot; /* -1 when it does not apply */
    int owner; /* L1D events: slot of the warp that brought the line in; TYTO_NO_WARP: unknown, or a
                  prefetch of the policy */
    bool is_pending;       /* L1D_MISS: the line is already on its way */
    bool is_divergent;     /* BRANCH: the lanes go two ways */
    uint64_t warps;        /* set of slots */
    uint64_t address;      /* L1D events: byte address of the line */
    uint32_t pc;           /* L1D events: of the instruction whose access this is; L1D_EVICTED: of
                              the one whose line replaced it. BRANCH: of the branch. The first
                              instruction is 0. TYTO_NO_PC: unknown */
    uint32_t owner_pc;     /* L1D events: the instruction that brought the line in; TYTO_NO_PC */
    uint32_t place;        /* L1D events: of the line, set x most ways + way; TYTO_NO_PLACE */
    uint32_t target;       /* BRANCH: the warp's next pc */
    uint32_t lanes_before; /* BRANCH: active lanes before it, ... */
    uint32_t lanes_after;  /* ... and after it, of the side that goes first */
    uint32_t tag;          /* PREFETCH events: the policy's */
} TytoEvent;

#define TYTO_NO_PLACE UINT32_MAX

/* An instruction that was issued. */
typedef struct TytoIssue {
    uint32_t size;  /* bytes of this struct */
    int warp;       /* slot */
    int scheduler;  /* that issued it */
    uint32_t lanes; /* active lanes, bit each */
    bool is_load;   /* through the L1D */
    bool is_long;   /* its result comes from memory (long latency) */
    uint32_t pc;    /* its number in its kernel's program, from 0 */
} TytoIssue;

/* ---- The L1D ---- */

/* What happens to the line of a miss. */
typedef enum TytoInsertion {
    TYTO_INSERT_NORMAL, /* as without a policy */
    TYTO_INSERT_FIRST,  /* it is replaced before all normal lines of its set */
    TYTO_INSERT_LAST,   /* it stays while another line of its set can be replaced */
    TYTO_INSERT_BYPASS, /* it takes no line: the data go to the registers only */
    TYTO_INSERTIONS
} TytoInsertion;

/* An access that finds its line neither in the L1D nor on its way. */
typedef struct TytoMiss {
    uint32_t size;    /* bytes of this struct */
    int warp;         /* slot; TYTO_NO_WARP: a prefetch of the policy */
    uint64_t address; /* first byte of the line or sector */
    uint32_t pc;      /* of the instruction; TYTO_NO_PC */
    uint32_t lanes;   /* that asked for it, bit each */
    bool is_store;
} TytoMiss;

/* A line of the set in which a miss needs a way. */
typedef struct TytoLine {
    uint64_t address;  /* first byte */
    uint64_t order;    /* of its last use (LRU) or its arrival (FIFO): the least is the oldest */
    uint32_t place;    /* set x most ways + way, as in events */
    uint32_t owner_pc; /* of the instruction that brought it in; TYTO_NO_PC */
    int owner;         /* slot of the warp that brought it in */
    bool can_go; /* it can be replaced; false: its data are on their way, or the cache keeps it as
                    dirty */
    bool is_dirty;
    bool is_prefetch; /* a prefetch of the policy that no access has used yet */
} TytoLine;

/* All lines of a set that is full. */
typedef struct TytoLines {
    uint32_t size;       /* bytes of this struct */
    uint32_t count;      /* of the lines */
    uint32_t line_bytes; /* from one to the next: use tyto_line */
    const void *first;
} TytoLines;

static inline const TytoLine *tyto_line(const TytoLines *lines, uint32_t i) {
    return (const TytoLine *)(const void *)((const char *)lines->first +
                                            (size_t)i * lines->line_bytes);
}

enum { TYTO_ANY_LINE = -1 };

/* ---- What a policy says of itself ---- */

/* Where a policy says what only it knows. Numbers that add up over SMs (counts) or describe this
 * one now; a list is one value per warp, CTA or group. Names are as in "vta_hits"; strings are
 * copied. */
typedef struct TytoReport {
    uint32_t size; /* bytes of this struct */
    void *context; /* to be handed back */
    void (*value)(void *context, const char *name, const char *unit, double value);
    void (*list)(void *context, const char *name, const char *unit, const double *values,
                 size_t count);
} TytoReport;

/* The sizes of a machine, for a policy that says how much storage it adds. */
typedef struct TytoMachineSizes {
    uint32_t size;           /* bytes of this struct */
    uint32_t sms;            /* SMs */
    uint32_t warps;          /* per SM */
    uint32_t ctas;           /* per SM */
    uint32_t schedulers;     /* per SM */
    uint32_t l1d_lines;      /* per SM */
    uint32_t l1d_line_bytes; /* bytes */
    uint32_t channels;       /* memory controllers */
    uint32_t banks;          /* per channel */
    uint32_t row_bytes;      /* of a DRAM bank */
    uint32_t prefetch_bytes; /* of a row that one prefetch brings: an L2 line, or part of it */
    uint32_t queue;          /* requests that a memory controller holds */
} TytoMachineSizes;

/* Where a policy says how much storage it adds to the hardware, part by part. Only storage counts:
 * not adders, comparators or wires. Strings are not copied: they must be constants. */
typedef struct TytoStorage {
    uint32_t size; /* bytes of this struct */
    void *context; /* to be handed back */
    /* `what`: one line; `source`: paper and section, or that the width is ours. */
    void (*bits)(void *context, const char *what, const char *source, uint64_t per_sm,
                 uint64_t per_channel);
} TytoStorage;

/* Bits of a number from 0 to values - 1. */
static inline uint32_t tyto_bits_for(uint32_t values) {
    return values > 1 ? 32 - (uint32_t)__builtin_clz(values - 1) : 0;
}

typedef enum TytoPolicyValueKind { TYTO_INTEGER, TYTO_REAL, TYTO_CHOICE } TytoPolicyValueKind;

/* One parameter: a row that parsing, help and documents derive from. */
typedef struct TytoPolicyParameter {
    const char *name;
    TytoPolicyValueKind kind;
    double initial, minimum, maximum; /* a choice's value is its index in `choices` */
    const char *const *choices;       /* TYTO_CHOICE: NULL-terminated names of a-z, 0-9, _ and - */
    const char *meaning;              /* one line, with the unit */
    const char *source;               /* paper and section */
} TytoPolicyParameter;

/* When the memory controllers' opportunistic prefetch of a row ends (docs/dram.md). */
typedef enum TytoDramPrefetchScheme {
    TYTO_PREFETCH_NONE, /* none is wanted */
    TYTO_PREFETCH_STOP, /* as soon as a request to another row of the bank waits */
    TYTO_PREFETCH_MIN   /* then too, but not before a minimum of lines is fetched */
} TytoDramPrefetchScheme;

/* Which of the row's lines that have not been sent comes next. */
typedef enum TytoDramPrefetchOrder {
    TYTO_PREFETCH_FROM_START, /* the first */
    TYTO_PREFETCH_AROUND,     /* the first after the line sent last, or else the first */
    TYTO_PREFETCH_ONWARD      /* the first after the line sent last, or else none */
} TytoDramPrefetchOrder;

/* Whether prefetching of a row may begin while a request to another row of its bank waits. */
typedef enum TytoDramPrefetchStart {
    TYTO_PREFETCH_ALWAYS, /* it may: scheme min makes that request wait */
    TYTO_PREFETCH_IDLE    /* it may not; scheme min makes requests that come later wait */
} TytoDramPrefetchStart;

/* What a policy wants of the memory controllers: to read on in a row that is open anyway, into the
 * L2, when no request to the row is left. */
typedef struct TytoDramPrefetch {
    uint32_t
        size; /* bytes of this struct, set by Tyto; the rest is zero when the policy is asked */
    TytoDramPrefetchScheme scheme;
    uint32_t lower;     /* scheme min: least lines of a row to prefetch, 0 to 128 */
    uint32_t higher;    /* the same while few requests wait, `lower` to 128 */
    uint32_t threshold; /* fewer requests than this waiting at a channel are few; 0: the mean
                           of what has been waiting so far */
    bool skips_cached;  /* lines that the L2 has when the row is opened are not prefetched */
    TytoDramPrefetchOrder order;
    TytoDramPrefetchStart start;
} TytoDramPrefetch;

/* What costs time, and is there only for a policy that says so. */
enum {
    TYTO_NEEDS_STALLS = 1,  /* TytoSmView.unit_full to l1d_misses_free */
    TYTO_NEEDS_PREFETCH = 2 /* tyto_prefetch, and the events of prefetches */
};

/* The first fields of a policy for warps. */
#define TYTO_POLICY_HEAD                                                                           \
    .version = TYTO_POLICY_VERSION, .size = sizeof(TytoPolicy),                                    \
    .parameter_bytes = sizeof(TytoPolicyParameter)

typedef struct TytoPolicy {
    uint32_t version;         /* TYTO_POLICY_VERSION */
    uint32_t size;            /* bytes of this struct */
    uint32_t parameter_bytes; /* of a row of `parameters`; these three are TYTO_POLICY_HEAD */
    uint32_t parameter_count; /* rows of `parameters` */
    const char *name;         /* on the command line */
    const char *summary;      /* one line */
    const TytoPolicyParameter *parameters;
    size_t state_bytes; /* of one SM's state, aligned to 64 bytes */
    uint64_t events;    /* the events it wants: TYTO_WANTS(kind) | ... */
    uint64_t needs;     /* TYTO_NEEDS_... | ... */

    /* What it wants of the memory controllers, asked once: fills in `wanted`, which is zero but for
     * its size. NULL: nothing. */
    void (*dram_prefetch)(const double *values, TytoDramPrefetch *wanted);
    /* Bytes wanted after the state (from state + state_bytes rounded up to 64), asked once for each
     * SM, before the first kernel: for tables whose size depends on the SM or on the parameters.
     * NULL: none. Of the view, only the machine's sizes (sm to scheduler_warps, line_bytes) are
     * set. */
    size_t (*extra_bytes)(const TytoSmView *view, const double *values);
    /* Whenever a kernel starts: the state is all zeros, `values` are the parameters' values in
     * their rows' order. Events of CTA launches follow. */
    void (*start)(void *state, const TytoSmView *view, const double *values);
    /* Chooses a warp for `scheduler` among `ready`, a non-empty set of warps whose next instruction
     * can issue now, and of those whose instruction buffer is stale since they branched, which are
     * not in view->has_instruction: naming one of these flushes its buffer. Must return a member of
     * `ready`, or TYTO_NO_WARP to let none issue. It is called again in the same cycle with a
     * smaller set after such a flush, so no decision may rest on how often it was called: changes
     * of state belong to `issued`. */
    int (*pick)(void *state, const TytoSmView *view, int scheduler, uint64_t ready);
    /* Once per cycle before the schedulers pick: the warps that may issue loads (those through the
     * L1D, also behind another instruction of the same pick) and the warps that may issue anything.
     * NULL: all. */
    uint64_t (*may_load)(void *state, const TytoSmView *view);
    uint64_t (*may_issue)(void *state, const TytoSmView *view);
    void (*issued)(void *state, const TytoSmView *view, const TytoIssue *issue);
    void (*event)(void *state, const TytoSmView *view, const TytoEvent *event);
    /* Cycles went by: `count` of them (more than one when the SM slept; nothing could have issued
     * in the cycles left out). Called before the picks of the cycle that view->cycle names. */
    void (*elapsed)(void *state, const TytoSmView *view, uint64_t count);
    /* The warps among which the policy would look for one in this cycle, whether they are ready or
     * not: of a two-level one, the active ones. Asked in cycles after `elapsed` and the picks; for
     * the seen_* counters, which tell what these alone wait for. NULL: all. */
    uint64_t (*looks_at)(void *state, const TytoSmView *view);
    /* How many cycles ahead (at least 1) the policy's decisions, or the warps that it looks at,
     * could change by themselves, with no event and no issue (re-sorting every N cycles, decaying
     * scores): the SM wakes up then. UINT64_MAX, or NULL: never. */
    uint64_t (*next_change)(void *state, const TytoSmView *view);
    /* Reports the policy's numbers: at the end of a kernel and, where samples are wanted, every N
     * cycles. Counts run from the kernel's start. */
    void (*report)(void *state, const TytoSmView *view, const TytoReport *out);
    /* What becomes of the line of a load's miss: asked once for each access that misses, before the
     * L1D takes an MSHR for it. The access may be refused afterwards and hit later, so changes of
     * state belong to `event`. NULL: TYTO_INSERT_NORMAL. */
    TytoInsertion (*insert)(void *state, const TytoSmView *view, const TytoMiss *miss);
    /* Chooses which of `lines` goes for the miss: a number from 0 to lines->count - 1 of one that
     * can go, or TYTO_ANY_LINE to let the cache choose. Asked when the set is full, each time that
     * a line has to go; L1D_EVICTED follows. NULL: the cache chooses. */
    int (*victim)(void *state, const TytoSmView *view, const TytoMiss *miss,
                  const TytoLines *lines);
    /* How much storage it adds to the hardware, for `tyto cost`: at most 8 parts. NULL: none, or
     * its source does not say. */
    void (*storage)(const double *values, const TytoMachineSizes *sizes, const TytoStorage *out);
} TytoPolicy;

/* What a shared object defines. */
extern __attribute__((visibility("default"))) const TytoPolicy tyto_policy;

#define TYTO_WANTS(kind) (UINT64_C(1) << (kind))

/* Whether `warp` is in `set`. */
static inline bool tyto_has(uint64_t set, int warp) { return set >> warp & 1; }

/* The lowest slot in `set`, which is not empty. */
static inline int tyto_lowest(uint64_t set) { return __builtin_ctzll(set); }

/* Round-robin: the first slot of `set`, which is not empty, that comes after `warp` (-1 to 63). */
static inline int tyto_next(uint64_t set, int warp) {
    uint64_t after = warp < 63 ? set & ~UINT64_C(0) << (warp + 1) : 0;
    return tyto_lowest(after ? after : set);
}

/* The first of `set`, which is not empty, in an order given by who comes before whom. Most often
 * the lowest slot is the answer, and then one look is enough. */
static inline int tyto_first(const uint64_t before[TYTO_MAX_WARPS], uint64_t set) {
    int warp = tyto_lowest(set);
    for (uint64_t rest; (rest = before[warp] & set) != 0;)
        warp = tyto_lowest(rest);
    return warp;
}

/* The oldest warp of `set`, which is a non-empty set of resident warps. */
static inline int tyto_oldest(const TytoSmView *view, uint64_t set) {
    return tyto_first(view->older, set);
}

#ifdef __cplusplus
}
#endif

#endif
