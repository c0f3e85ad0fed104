/* The machine in motion, as the files see it that step it (cycle.c), count what it did (tally.c),
 * show it as it runs (samples.c) and run kernels on it (engine.c). */
#ifndef TYTO_ENGINE_ENGINE_INTERNAL_H
#define TYTO_ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>

#include "base/thread_pool.h"
#include "engine/dispatch.h"
#include "engine/engine.h"
#include "engine/launch/grid.h"
#include "engine/thread_tuner.h"
#include "issue_stream/ptx_source.h"
#include "partition/partition.h"
#include "sm/inbox.h"
#include "sm/order.h"

/* A clock domain other than the SMs'. */
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
_Static_assert((int)ENGINE_MOST_SMS <= (int)DRAM_MAX_SMS, "DRAM schedulers tell SMs apart");
enum { ENGINE_LINE = 64 }; /* bytes that the host's caches move */

/* Sets of 64 ports or SMs, bit each. */
typedef struct CycleWord {
    uint64_t holding; /* ports that took replies and hold more */
    uint64_t woken;   /* SMs that took one, and must be stepped */
    uint64_t asleep;  /* SMs that have made their step and sleep */
} CycleWord;

/* What a thread of the pool notes of its part of a cycle, on its own lines of the host's caches.
 * Up to 64 SMs need one line, which is all that the first thread has to fetch. */
typedef struct CyclePart {
    _Atomic uint64_t
        done; /* of the cycles apart, the last whose SMs it has stepped (engine/split_threads.c) */
    uint64_t alarm;  /* when the first of those that sleep will be awake */
    uint64_t failed; /* the place (sm/order.h) of the first SM whose instruction failed, or NO_SM */
    pthread_t host;  /* whose part it is, while SMs are stepped side by side */
    CycleWord words[ENGINE_MOST_SMS / 64];
    char padding[THREAD_POOL_LINE -
                 (4 + 3 * ENGINE_MOST_SMS / 64) * sizeof(uint64_t) % THREAD_POOL_LINE];
} CyclePart;
_Static_assert(sizeof(CyclePart) % THREAD_POOL_LINE == 0, "threads write side by side");

/* Cycles that a thread has completed since it took over its units (engine/split_threads.c). Only
 * this thread writes them. */
typedef struct SplitPace {
    _Atomic uint64_t replies;  /* moved by the second; the first takes them (Engine.taken) */
    _Atomic uint64_t requests; /* moved by the first, taken by the second, whose partitions have
                                  stepped */
    _Atomic bool is_over;      /* there is no further cycle */
    char padding[THREAD_POOL_LINE - 2 * sizeof(uint64_t) - sizeof(bool)];
    uint64_t seen_replies; /* the last progress that it saw of the other one of the first two */
    uint64_t seen_requests;
    char padding_seen[THREAD_POOL_LINE - 2 * sizeof(uint64_t)];
} SplitPace;
_Static_assert(sizeof(SplitPace) % THREAD_POOL_LINE == 0, "threads write side by side");

/* What was counted when a grid's turn came, so that what it counts can be told. */
typedef struct EngineMarks {
    uint64_t start;        /* SM cycle of its turn */
    Counters *sms;         /* the SMs'; NULL where the grid began on a machine at rest, whose SMs
                              count from 0 */
    Counters *sm_room;     /* for them, once needed */
    Counters *partitions;  /* the partitions', ... */
    Counters *slices;      /* ... of their slices, ... */
    DramBankCounts *banks; /* ... of their banks, ... */
    Counters networks;     /* ... and the networks' */
} EngineMarks;

enum { ENGINE_MOST_GRIDS = SM_MAX_GRIDS }; /* on the machine at once */

/* A place for a grid on the machine. */
typedef struct EnginePlace {
    GpuGrid *grid;         /* NULL: the place is free */
    PtxSource **sources;   /* of its instructions, by SM */
    SmGrid **on_sm;        /* the grid on each SM */
    Dispatch dispatch;     /* hands out its CTAs; a CTA scheduler has a state for each grid */
    EngineMarks *marks;    /* since which it counts: Engine.rest_marks, or ... */
    EngineMarks own_marks; /* ... these */
} EnginePlace;

/* When the run loop looks up from its cycles. */
typedef struct EngineLooks {
    uint64_t poll;     /* SM cycle of the next look at interrupts and limits */
    uint64_t progress; /* at whether anything moves */
    uint64_t turn;     /* at which grid's turn it is; UINT64_MAX: at none's */
} EngineLooks;

/* In three parts, on different lines, as two threads write to it (engine/split_threads.c). */
struct Engine {
    /* What hardly changes in a run. */
    const MachineConfig *machine;
    Pages *pages; /* of SMs and partitions */
    AddressMap map;
    Noc *requests, *replies;
    Partition **partitions;
    DramBus *buses; /* of pseudo channels, one for each pair; NULL: each channel has its own */
    MemRequestPools pools;
    Sm **sms;
    IsaCta **ctas;   /* by SM: what its CTA slots hold, whichever grid the CTA is of */
    uint64_t **wake; /* per SM: the next cycle in which it must be stepped; those of a thread's SMs
                        side by side, in the first of `wakes` */
    uint64_t *wakes[2];  /* as they were allocated: the second is free */
    uint64_t *awake;     /* SMs for which that is the next one, or has come, bit each */
    SmInbox *inboxes;    /* of the SMs' ports, */
    uint32_t ports;      /* their number; SM i is at port i modulo this */
    uint64_t *holding;   /* those that hold replies, bit each */
    uint64_t *receiving; /* those at which replies wait in a cycle of the pool's, bit each */
    ThreadPool *pool;    /* NULL: one thread does all */
    uint32_t threads;    /* that it is to have, the kernel's among them; 1: there is none */
    CyclePart *parts;    /* of its threads */
    bool can_go_ahead;   /* as the machine is: the units below, of the SMs (engine/memory_side.c) */
    bool has_agents;     /* SMs serve requests, and send replies (sm/agent.h) */
    bool samples;        /* the CTA scheduler may look at SMs, and pause CTAs */
    bool is_alone;       /* the running kernel is for one thread */
    bool never_sleeps;   /* GpuOptions.never_sleeps, ... */
    uint32_t pool_every; /* ... and pool_every */
    SplitPace *split;    /* of all threads */
    uint32_t split_threads;    /* while the second thread has units of its own, and may not be done
                                  with them: those that take part; else 0 */
    uint64_t lead;             /* cycles by which the second may be behind with the replies */
    Watch *watch;              /* of the run; NULL: the run is not watched */
    const GpuOptions *options; /* it was made with */
    SchedCallPlace *calls;     /* GpuOptions' policies: by SM, then the CTA scheduler's */
    Counters *networks;        /* what each of the two networks has counted: lines of its own */
    EnginePlace *places;       /* ENGINE_MOST_GRIDS of them */
    EngineMarks rest_marks;    /* when the machine was last at rest */
    uint64_t rest_cycle;       /* SM cycle at which the machine was last at rest, ... */
    uint64_t rest_ps;          /* ... and the simulated time then */

    /* What the first thread, the kernel's, writes: for the pool's SMs, all that they need on the
     * line that tells them to begin, ... */
    _Alignas(ENGINE_LINE) uint64_t cycle; /* SM cycles so far, over all kernels */
    SmOrder order;                        /* of SMs that the pool steps */
    _Atomic uint64_t taken; /* of the cycles apart, the last whose replies have been taken, ... */
    _Atomic uint64_t begun; /* ... and the last whose SMs the pool steps */
    /* ... and for itself. */
    _Alignas(ENGINE_LINE) uint64_t alarm; /* first cycle in which one not in `awake` will be */
    uint64_t next_look;                   /* SM cycle before which the units need no look */
    uint64_t split_cycles;    /* those that it is through with since the second has units, ... */
    Domain handoff_noc;       /* ... network steps in them, as the second need not be as far, ... */
    uint32_t handoff_steps;   /* ... and those of the requests in the coming cycle */
    uint32_t waiting;         /* an SM that was seen to wait for many requests */
    bool is_ahead;            /* partitions have made the coming cycle's steps */
    ThreadTuner tuner;        /* what the pool does of a cycle */
    EnginePlace *dispatching; /* the grid whose CTAs go out; NULL: all have gone out */
    uint32_t residents;       /* grids on the machine */
    uint32_t finishing;       /* of them, those all of whose CTAs have ended */
    bool has_waiting;         /* a grid has been given and its turn is still to come */
    bool has_failed;          /* a grid ended early: the machine is of no further use */
    bool has_triggered; /* all CTAs of a grid let those that depend on it begin, in this cycle */
    uint64_t quiet;     /* coming SM cycles in which nothing can happen */
    EngineLooks looks;  /* when the run loop looks up */
    SourcePlace *looks_again; /* CTAs to look at again at the end of the cycle (SmListener) */
    uint32_t look_again_count, look_again_capacity;
    uint32_t last_sm;             /* that got the last CTA */
    uint32_t shared_bytes;        /* of an SM\'s store that shared memory has */
    uint64_t sent;                /* CTAs handed out since the machine was at rest */
    uint64_t ctas_done;           /* CTAs ended, and warp instructions issued, ... */
    uint64_t instructions_before; /* ... of grids under way together (gpu_progress) */
    uint64_t last_progress;       /* SM cycle at which something was last seen to move */
    uint64_t progress_mark;       /* sum of what moves, then */
    uint64_t last_change;         /* SM cycle at which something was last seen to change memory */
    uint64_t stop_after;  /* thread instructions since the machine was at rest that end its run;
                             0: none do */
    uint64_t stop_base;   /* those before */
    bool has_starved;     /* in the last look for deadlocks: a warp that could issue did not */
    bool proves_polls;    /* since then so long ago that warps compare their states */
    uint64_t change_mark; /* sum of changes, then */

    /* What is written while SMs make their step. */
    _Alignas(ENGINE_LINE) CycleTurn turn; /* of the units below, in their cycle */
    Domain noc, l2, dram;
};

/* ---- cycle.c ---- */

/* Makes `threads` threads share the work of a cycle, at most one for each SM. Called before the SMs
 * are made. */
void cycle_share_work(Engine *engine, uint32_t threads);
/* Where replies come in; when there are networks. */
void cycle_open_ports(Engine *engine);
/* How a cycle may be done, as the machine is and as many as the pool has threads: their number. The
 * first is one thread's. */
uint32_t cycle_modes(const Engine *engine, ThreadMode modes[THREAD_MODES]);
void cycle_free(Engine *engine);
/* Whether there is a pool. It is made when a kernel first wants it, and again in a fork's child. */
bool cycle_has_pool(Engine *engine);
/* A kernel begins: all SMs are looked at in the next cycle. */
void cycle_start(Engine *engine);
/* Replies come in, the units below move, the SMs make their step: the first whose instruction
 * failed, or NULL. */
const Sm *cycle_run(Engine *engine);
/* The parts of a cycle that are the SMs', done by one thread: replies come in; SMs that are awake
 * make their step, with the first that failed, or NO_SM, as the result. */
void cycle_receive(Engine *engine);
/* Of 64 ports, from port `word` x 64 on, those at which requests to SMs have arrived. */
uint64_t cycle_askers(const Engine *engine, uint32_t word);
uint32_t cycle_step_sms(Engine *engine);
/* The same by the pool. Replies: the first thread notes whose there are; then each thread takes
 * those of its SMs; when all have, the first notes which SMs hold more. SMs, where enough are awake
 * for the pool: the first thread begins; each steps those of its SMs that are, in rising order;
 * those that send wait until requests have moved in this cycle; when all have made their step, the
 * first ends it, with the first SM that failed, or NO_SM, as the result. */
void cycle_begin_receiving(Engine *engine);
void cycle_receive_part(Engine *engine, uint32_t thread);
void cycle_note_received(Engine *engine);
bool cycle_is_shared(Engine *engine);
void cycle_begin_sms(Engine *engine);
void cycle_let_send(Engine *engine);
void cycle_step_sms_part(Engine *engine, uint32_t thread);
uint32_t cycle_end_sms(Engine *engine);

/* ---- apart.c ---- */

enum { SPLIT_COLLECT_CYCLES = 8 }; /* between looks at the room that the other has given back */

/* Whether the partitions may be a cycle ahead when this cycle is over. In that case no unit looks
 * at them then, and the kernel is neither at its end nor at a standstill, since an SM waits for
 * more answers than it can get in a cycle. */
bool split_may_run(Engine *engine);
/* One cycle by two threads, each with units of its own, and by all of a mode's as far as the SMs
 * are shared in it: the first SM that failed, or NO_SM. */
uint32_t split_run(Engine *engine, ThreadMode mode);
/* One thread has all units again, if it had not. */
void split_end(Engine *engine);

/* ---- below.c ---- */

/* What is due in the coming cycle; not where the units below are ahead. */
void memory_side_begin(Engine *engine);
/* It has been done. */
void memory_side_end(Engine *engine);
/* One thread does all that is due, but for what has been done ahead, and ends it. */
void memory_side_step(Engine *engine);

/* Whether partitions meet the networks before these move, and not after, and one another never: the
 * halves of an L2 do. */
bool memory_side_can_part(const Engine *engine);
/* From now on the networks hold what units do to them. */
void memory_side_hold(Engine *engine);
/* A thread steps its partitions. */
void memory_side_step_part(const Engine *engine, uint32_t thread);
/* A network that has held what the units did to it does that, and moves. */
void memory_side_move(const Engine *engine, Noc *network);

/* Whether the machine's partitions can be a cycle ahead of its SMs, in every cycle. */
bool memory_side_can_go_ahead(const Engine *engine);
/* Cycles by which the thread that has the replies' network may be behind the one that takes them
 * out: those that arrive so soon have left its switch. */
uint64_t memory_side_lead(const Engine *engine);
/* From now on a thread has the network of requests, and another that of replies and the partitions,
 * which have made their steps of this cycle. */
void memory_side_hand_off(Engine *engine);
/* One thread has all again; partitions are ahead. */
void memory_side_take_back(Engine *engine);
/* The first thread's: replies that have arrived before this cycle are there; the requests' network
 * moves. */
void memory_side_replies_arrive(Engine *engine);
void memory_side_move_requests(Engine *engine);
/* For the second thread: the replies' network moves. The partitions make their part of the next
 * cycle's turn, which begins when the first thread has moved the requests. */
void memory_side_move_replies(const Engine *engine);
void memory_side_step_ahead(Engine *engine);
/* After the last cycle of a kernel that failed: the partitions are ahead, as they may have been. */
void memory_side_settle(Engine *engine);

/* ---- engine.c ---- */

/* Simulated time of this many SM cycles. */
static inline uint64_t engine_time_ps(const Engine *engine, uint64_t cycles) {
    return (uint64_t)((unsigned __int128)cycles * 1000000000u / engine->machine->clock.sm_khz);
}
/* The run loop's looks start over. */
void engine_plan_looks(Engine *engine, const Gpu *gpu);
/* Warp instructions issued since the machine was at rest. */
uint64_t engine_issued(const Engine *engine);
/* Progress of the grids, for readers in other threads (gpu_progress). */
void engine_tell_progress(const Engine *engine, Gpu *gpu);

/* ---- residents.c ---- */

/* The grid that began on the machine at rest, where it runs alone. */
static inline GpuGrid *engine_sole(const Engine *engine) { return engine->places[0].grid; }
/* The grid at the first place that has one. */
GpuGrid *residents_first(const Engine *engine);
/* Whether what is asked of a grid, or of the run, is worth nothing where others run as well. */
bool residents_must_run_alone(const Engine *engine, const Gpu *gpu, const GpuGrid *grid);
/* Begins the grids whose turn has come. */
void residents_take_turns(Engine *engine, Gpu *gpu);
/* The end of a cycle: CTAs go out. What went wrong in it, or NULL. */
const IsaFault *residents_dispatch(Engine *engine);
/* The end of a cycle, before that: the CTA schedulers of all grids look at the SMs if it is time,
 * and pause CTAs. */
void residents_sample(Engine *engine);
/* The same: CTAs whose warps another SM may have let go on are looked at. */
void residents_look_again(Engine *engine);
/* Grids may begin that depend on one of those on the machine. */
void residents_note_trigger(Engine *engine);
/* What a grid on the machine depends on has ended. */
void residents_end_wait(Engine *engine, const GpuGrid *grid);
/* SM cycles after the current one in which none of them looks. */
uint64_t residents_quiet(const Engine *engine);
/* A grid that has ended in this cycle, NULL: none has. It leaves the machine, with its result. */
GpuGrid *residents_end_one(Engine *engine, Gpu *gpu);
/* The machine fails: all grids end, with `failed`, whose result says why. */
void residents_fail(Engine *engine, Gpu *gpu, GpuGrid *failed);
/* Whether all CTAs of the grids on the machine have ended. */
static inline bool residents_have_ended(const Engine *engine) {
    return engine->finishing == engine->residents;
}
/* Whether a grid may end in a cycle in which an SM still waits for much: where others are on the
 * machine, one ends with its last CTA. */
bool residents_may_end_early(const Engine *engine);
/* The grid whose instruction failed on an SM; the first one, if it was the policy. */
GpuGrid *residents_failed(const Engine *engine, const Sm *sm);
void residents_init(Engine *engine);
void residents_free(Engine *engine);

/* ---- tally.c ---- */

/* What the networks have counted so far. */
Counters tally_networks(const Engine *engine);
/* What was counted since a mark up to the SM cycle `end`, which is not included: the first that has
 * not been stepped. */
Counters tally_count(Engine *engine, const EngineMarks *marks, uint64_t end);
/* How the SMs differ since a mark, and the histograms and warps' states since the machine was at
 * rest. */
Spreads tally_spreads(const Engine *engine, const EngineMarks *marks);
Histograms tally_histograms(const Engine *engine);
WarpStates tally_states(const Engine *engine);
/* A grid's turn has come: what the units have counted before it. `is_at_rest`: no other grid is on
 * the machine. */
void tally_mark(Engine *engine, EngineMarks *marks, bool is_at_rest);
void tally_free_marks(EngineMarks *marks);
/* A grid that ran alone is over: what each unit did in it. */
void tally_keep_units(const Engine *engine, const EngineMarks *marks);

/* ---- samples.c ---- */

/* The policies of all SMs, and that of the CTAs, tell their numbers. */
void samples_report_policies(Engine *engine);
/* Tells the timeline of warps and units, which have counted all up to now. */
void samples_tell_units(Engine *engine);
/* Records what of the run is due. */
void samples_record(Engine *engine, const Gpu *gpu);

#endif
