/* The machine in motion, as the files see it that step it (cycle.c), count what it did (tally.c),
 * show it as it runs (samples.c) and run kernels on it (engine.c). */
#ifndef TYTO_GPU_ENGINE_INTERNAL_H
#define TYTO_GPU_ENGINE_INTERNAL_H

#include "base/team.h"
#include "gpu/dispatch.h"
#include "gpu/engine.h"
#include "gpu/share.h"
#include "partition/partition.h"
#include "sm/order.h"

/* A clock domain beside the SMs'. */
typedef struct Domain {
    uint64_t khz;   /* its frequency */
    uint64_t phase; /* accumulated kHz: a tick is due when it reaches the SM clock's */
    uint64_t ticks; /* so far */
} Domain;

/* Ticks of each domain in an SM cycle, and the most of them. */
typedef struct CycleTurn {
    uint32_t noc, l2, dram, most;
} CycleTurn;

enum { ENGINE_MOST_SMS = 1024, NO_SM = ENGINE_MOST_SMS };

/* What a thread of the team notes of its part of a cycle, on lines of its own. */
typedef struct CyclePart {
    uint64_t holding[ENGINE_MOST_SMS / 64]; /* of its SMs that took replies: those that hold more */
    uint64_t failed; /* the first of its SMs whose instruction failed, or NO_SM */
    char apart[TEAM_LINE - sizeof(uint64_t)];
} CyclePart;
_Static_assert(sizeof(CyclePart) % TEAM_LINE == 0, "threads write side by side");

struct Engine {
    const MachineConfig *machine;
    Pages *pages; /* of SMs and partitions */
    AddressMap map;
    Noc *requests, *replies;
    Sm **sms;
    uint64_t **wake; /* per SM: the next cycle in which it must be stepped; those of a thread's SMs
                        side by side, in `wakes` */
    uint64_t *wakes; /* as it was allocated */
    uint64_t *awake; /* SMs for which that is the next one, or has come, bit each ... */
    uint64_t alarm;  /* ... but for those whose cycle comes now: first one to look at `wake` */
    uint64_t *holding;        /* SMs whose ports hold replies, bit each */
    uint64_t *receiving;      /* those that replies wait for in a cycle of the team's, bit each */
    SmOrder order;            /* of SMs that the team steps */
    Team *team;               /* NULL: one thread does all */
    CyclePart *parts;         /* of its threads */
    CycleTurn turn;           /* of the units below, in this cycle */
    bool is_stepped_together; /* the SMs in this cycle; told by the first thread to the others */
    Share share;              /* what the team does of a cycle */
    bool is_alone;            /* the running kernel is for one thread */
    Partition **partitions;
    DramBus *buses; /* of pseudo channels, one for each pair; NULL: each channel has its own */
    MemRequestPools pools;
    Domain noc, l2, dram;
    bool never_sleeps;       /* GpuOptions.never_sleeps, ... */
    uint32_t team_every;     /* ... and team_every */
    Watch *watch;            /* of the run; NULL: nobody watches */
    uint64_t cycle;          /* SM cycles so far, over all kernels */
    uint64_t start;          /* SM cycle at which the running kernel was launched */
    const IsaLaunch *launch; /* of the running kernel */
    Dispatch dispatch;
    SchedCall *calls;           /* GpuOptions' policies: by SM, then the CTA scheduler's */
    uint64_t ctas_done;         /* of the running kernel */
    uint64_t last_progress;     /* SM cycle at which something was last seen to move */
    uint64_t progress_mark;     /* sum of what moves, then */
    uint64_t last_change;       /* SM cycle at which something was last seen to change memory */
    uint64_t change_mark;       /* sum of changes, then */
    Counters *networks;         /* what each of the two networks has counted: lines of its own */
    Counters network_mark;      /* the same at the kernel's start */
    Counters *partition_marks;  /* and the partitions', ... */
    Counters *slice_marks;      /* ... of their slices, ... */
    DramBankCounts *bank_marks; /* ... and of their banks */
};

/* ---- cycle.c ---- */

/* Sees to it that so many threads share the work of a cycle, as far as there are so many SMs;
 * before the SMs are made. */
void cycle_share_work(Engine *engine, uint32_t threads);
void cycle_free(Engine *engine);
/* Whether there is a team. It is made when a kernel first wants it, and again in a fork's child. */
bool cycle_has_team(Engine *engine);
/* A kernel begins: all SMs are looked at in the next cycle. */
void cycle_start(Engine *engine);
/* Replies come in, the units below move, the SMs make their step: the first whose instruction
 * failed, or NULL. */
const Sm *cycle_run(Engine *engine);

/* ---- tally.c ---- */

/* What the networks have counted so far. */
Counters tally_networks(const Engine *engine);
/* The kernel's counters up to the SM cycle `end`, which is not included: the first that has not
 * been stepped. */
Counters tally_count(Engine *engine, uint64_t end);
/* How the SMs differ in the kernel, and the histograms of all so far. */
Spreads tally_spreads(const Engine *engine);
Histograms tally_histograms(const Engine *engine);
/* A kernel begins: what partition `p` has counted before it. */
void tally_mark_partition(Engine *engine, uint32_t p);
/* The kernel is over: what each unit did in it. */
void tally_keep_units(const Engine *engine);

/* ---- samples.c ---- */

/* The policies of all SMs, and that of the CTAs, tell their numbers. */
void samples_report_policies(Engine *engine);
/* Tells the timeline of warps and units, which have counted all up to now. */
void samples_tell_units(Engine *engine);
/* Records what of the run is due. */
void samples_record(Engine *engine, const Gpu *gpu);

#endif
