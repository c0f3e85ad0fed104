/* Internals of the machine in motion, shared by the files that step it (cycle.c), count what it did
 * (tally.c), show it while it runs (samples.c) and run kernels on it (engine.c). */
#ifndef TYTO_ENGINE_ENGINE_INTERNAL_H
#define TYTO_ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>

#include "base/thread_pool.h"
#include "engine/dispatch.h"
#include "engine/engine.h"
#include "engine/launch/grid.h"
#include "engine/thread_tuner.h"
#include "issue_stream/interpreter.h"
#include "partition/partition.h"
#include "sm/inbox.h"
#include "sm/order.h"

/* A clock domain other than the SMs'. */
typedef struct Domain {
    uint64_t khz;   /* its frequency */
    uint64_t phase; /* accumulated kHz: a tick is due when it reaches the SM clock's */
    uint64_t ticks; /* ticks so far */
} Domain;

/* Ticks of each domain in one SM cycle, and the largest of these numbers. */
typedef struct CycleTurn {
    uint32_t noc, l2, dram, most;
} CycleTurn;

enum { ENGINE_MOST_SMS = 1024, NO_SM = ENGINE_MOST_SMS };
_Static_assert((int)ENGINE_MOST_SMS <= (int)DRAM_MAX_SMS, "DRAM schedulers tell SMs apart");
enum { ENGINE_LINE = 64 }; /* bytes of a cache line of the host */

/* Sets of 64 ports or SMs, one bit each. */
typedef struct CycleWord {
    uint64_t holding; /* ports that received replies and hold more */
    uint64_t woken;   /* SMs that received a reply and must be stepped */
    uint64_t asleep;  /* SMs that sleep after their step */
} CycleWord;

/* What a pool thread records of its part of a cycle, on cache lines of its own. Up to 64 SMs need
 * one line, which is all that the first thread has to fetch. */
typedef struct CyclePart {
    _Atomic uint64_t done; /* last split cycle whose SMs it has stepped (split_threads.c) */
    uint64_t alarm;        /* cycle in which the first of its sleeping SMs wakes */
    uint64_t failed; /* place (sm/order.h) of the first SM whose instruction failed, or NO_SM */
    pthread_t host;  /* the thread, while SMs are stepped in parallel */
    CycleWord words[ENGINE_MOST_SMS / 64];
    char padding[THREAD_POOL_LINE -
                 (4 + 3 * ENGINE_MOST_SMS / 64) * sizeof(uint64_t) % THREAD_POOL_LINE];
} CyclePart;
_Static_assert(sizeof(CyclePart) % THREAD_POOL_LINE == 0, "threads write side by side");

/* Cycles that a thread has completed since it took over its units (engine/split_threads.c). Only
 * this thread writes the struct. */
typedef struct SplitPace {
    _Atomic uint64_t replies;  /* moved by the second thread, taken by the first (Engine.taken) */
    _Atomic uint64_t requests; /* moved by the first thread; taken by the second, whose partitions
                                  have stepped */
    _Atomic bool is_over;      /* no further cycle follows */
    char padding[THREAD_POOL_LINE - 2 * sizeof(uint64_t) - sizeof(bool)];
    uint64_t seen_replies; /* last progress that it saw of the other of the first two */
    uint64_t seen_requests;
    char padding_seen[THREAD_POOL_LINE - 2 * sizeof(uint64_t)];
} SplitPace;
_Static_assert(sizeof(SplitPace) % THREAD_POOL_LINE == 0, "threads write side by side");

/* Counters at the time when a grid's turn came, from which the grid's own counts follow. */
typedef struct EngineMarks {
    uint64_t start;        /* SM cycle of its turn */
    Counters *sms;         /* of the SMs; NULL if the grid began at rest, where SMs count from 0 */
    Counters *sm_room;     /* memory for `sms`, allocated when first needed */
    Counters *partitions;  /* of the partitions, ... */
    Counters *slices;      /* ... their slices, ... */
    DramBankCounts *banks; /* ... their banks, ... */
    Counters networks;     /* ... and both networks */
} EngineMarks;

enum { ENGINE_MOST_GRIDS = SM_MAX_GRIDS }; /* on the machine at once */

/* A place for a grid on the machine. */
typedef struct EnginePlace {
    GpuGrid *grid;         /* NULL: the place is free */
    Interpreter **sources; /* sources of its instructions, by SM */
    SmGrid **on_sm;        /* the grid on each SM */
    Dispatch dispatch;     /* dispatches its CTAs; a CTA scheduler has a state for each grid */
    EngineMarks *marks;    /* what it counts from: Engine.rest_marks, or ... */
    EngineMarks own_marks; /* ... these */
} EnginePlace;

/* When the run loop leaves its inner loop for a check. */
typedef struct EngineLooks {
    uint64_t poll;     /* SM cycle of the next look at interrupts and limits */
    uint64_t progress; /* SM cycle of the next look at whether anything moves */
    uint64_t turn;     /* SM cycle of the next look at whose turn it is; UINT64_MAX: none */
} EngineLooks;

/* Three parts on different cache lines, since two threads write to it (engine/split_threads.c). */
struct Engine {
    /* Fields that rarely change during a run. */
    const MachineConfig *machine;
    Pages *pages; /* memory of SMs and partitions */
    AddressMap map;
    Noc *requests, *replies;
    Partition **partitions;
    DramBus *buses; /* buses of pseudo channels, one per pair; NULL: each channel has its own */
    MemRequestPools pools;
    uint8_t *sm_groups; /* group of each SM, for coalescers; NULL: all SMs are one group */
    Sm **sms;
    IsaCta **ctas;   /* by SM: the CTAs in its CTA slots, of any grid */
    uint64_t **wake; /* per SM: the next cycle in which it must be stepped. The values of a thread's
                        SMs are adjacent, in the first of `wakes` */
    uint64_t *wakes[2];       /* memory for wake times; the second is free */
    uint64_t *awake;          /* SMs that may have to be stepped now, one bit each */
    SmInbox *inboxes;         /* inboxes of the SMs' ports */
    SmDeliveries *deliveries; /* by port: copies of replies for its SMs */
    uint64_t *delivering;     /* ports with deliveries, one bit each */
    uint32_t *copies;         /* per SM: copies of its replies that wait for delivery */
    uint32_t ports;           /* number of ports; SM i is at port i modulo this */
    uint64_t *holding;        /* ports that hold replies, one bit each */
    uint64_t *receiving;      /* ports at which replies wait in a cycle of the pool, one bit each */
    ThreadPool *pool;         /* NULL: one thread does all */
    uint32_t threads;         /* threads of the pool, including the kernel's own; 1: no pool */
    CyclePart *parts;         /* one for each thread of the pool */
    bool can_go_ahead; /* the memory side may be a cycle ahead of the SMs (engine/memory_side.c) */
    bool has_agents;   /* SMs serve requests and send replies (sm/agent.h) */
    bool samples;      /* the CTA scheduler may inspect SMs and pause CTAs */
    bool is_alone;     /* only one thread may run the kernel */
    bool never_sleeps; /* GpuOptions.never_sleeps, ... */
    uint32_t pool_every;    /* ... and pool_every */
    SplitPace *split;       /* one for each thread */
    uint32_t split_threads; /* threads that take part while the second thread owns units, and may
                               not have finished with them; else 0 */
    uint64_t lead;          /* cycles by which the second thread may be behind with the replies */
    Watch *watch;           /* watches the run; NULL: the run is not watched */
    const GpuOptions *options; /* options that it was made with */
    SchedCallPlace *calls;     /* calls of the policies: by SM, then the CTA scheduler's */
    Counters *networks;     /* counters of each of the two networks, on cache lines of their own */
    EnginePlace *places;    /* ENGINE_MOST_GRIDS of them */
    EngineMarks rest_marks; /* counters when the machine was last at rest */
    uint64_t rest_cycle;    /* SM cycle at which the machine was last at rest, ... */
    uint64_t rest_ps;       /* ... and the simulated time then */

    /* Fields that the first thread, the kernel's, writes. For the SMs that the pool steps: all that
     * the threads need, on the cache line that tells them to begin. ... */
    _Alignas(ENGINE_LINE) uint64_t cycle; /* SM cycles so far, over all kernels */
    SmOrder order;                        /* of SMs that the pool steps */
    _Atomic uint64_t taken;               /* last split cycle whose replies have been taken, ... */
    _Atomic uint64_t begun;               /* ... and last one whose SMs the pool steps */
    /* ... For the first thread itself. */
    _Alignas(ENGINE_LINE) uint64_t alarm; /* first cycle in which an SM outside `awake` wakes */
    uint64_t next_look;                   /* SM cycle before which no check is due */
    uint64_t split_cycles; /* cycles that it has completed since the split began, ... */
    Domain handoff_noc; /* ... network ticks in them, since the second thread may be behind, ... */
    uint32_t handoff_steps;   /* ... and ticks of the requests' network in the coming cycle */
    uint32_t waiting;         /* an SM that was found waiting for many requests */
    bool is_ahead;            /* partitions have completed the coming cycle's steps */
    ThreadTuner tuner;        /* decides what the pool does in a cycle */
    EnginePlace *dispatching; /* the grid that is being dispatched; NULL: all CTAs are dispatched */
    uint32_t residents;       /* grids on the machine */
    uint32_t finishing;       /* grids on the machine all of whose CTAs have ended */
    bool has_waiting;         /* a grid waits for its turn */
    bool has_failed;          /* a grid ended early, so the machine cannot be used any more */
    bool has_triggered;       /* in this cycle, all CTAs of a grid allow dependent grids to begin */
    uint64_t quiet;           /* coming SM cycles in which nothing can happen */
    EngineLooks looks;        /* when the next checks are due */
    SourcePlace *looks_again; /* CTAs to check again at the end of the cycle (SmListener) */
    uint32_t look_again_count, look_again_capacity;
    uint32_t last_sm;             /* SM that received the last CTA */
    uint32_t shared_bytes;        /* bytes of an SM's store that shared memory has */
    uint64_t sent;                /* CTAs dispatched since the machine was at rest */
    uint64_t ctas_done;           /* CTAs ended and warp instructions issued ... */
    uint64_t instructions_before; /* ... by grids that overlap (gpu_progress) */
    uint64_t last_progress;       /* SM cycle at which progress was last seen */
    uint64_t progress_mark;       /* sum of the progress counters then */
    uint64_t last_change;         /* SM cycle at which a change of memory was last seen */
    uint64_t stop_after;  /* thread instructions since the machine was at rest that end its run; 0:
                             none */
    uint64_t stop_base;   /* thread instructions before the machine was at rest */
    bool has_starved;     /* the last deadlock check found a warp that could issue but did not */
    bool proves_polls;    /* that is so long ago that warps now compare their states */
    uint64_t change_mark; /* sum of the change counters then */

    /* Fields that are written while SMs are stepped. */
    _Alignas(ENGINE_LINE) CycleTurn turn; /* ticks of the memory side in its cycle */
    Domain noc, l2, dram;
};

/* ---- cycle.c ---- */

/* Lets `threads` threads share the work of a cycle, at most one per SM. Called before the SMs are
 * made. */
void cycle_share_work(Engine *engine, uint32_t threads);
/* Makes the ports at which replies arrive. Called after the networks are made. */
void cycle_open_ports(Engine *engine);
/* Writes the ways in which a cycle may be executed, by the machine and by the threads of the pool.
 * Returns their number. The first one uses one thread. */
uint32_t cycle_modes(const Engine *engine, ThreadMode modes[THREAD_MODES]);
void cycle_free(Engine *engine);
/* Whether there is a pool. It is made when a kernel first needs it, and again in the child of a
 * fork. */
bool cycle_has_pool(Engine *engine);
/* Called when a kernel begins: all SMs are checked in the next cycle. */
void cycle_start(Engine *engine);
/* Runs one cycle: SMs receive replies, the memory side moves, SMs are stepped. Returns the first SM
 * whose instruction failed, or NULL. */
const Sm *cycle_run(Engine *engine);
/* The SMs' parts of a cycle, executed by one thread. cycle_receive delivers replies. cycle_step_sms
 * steps the SMs that are awake and returns the first that failed, or NO_SM. */
void cycle_receive(Engine *engine);
/* The ports at which requests to SMs have arrived, of the 64 ports from `word` x 64 on. */
uint64_t cycle_askers(const Engine *engine, uint32_t word);
uint32_t cycle_step_sms(Engine *engine);
/* The same, executed by the pool.
 *
 * Replies: the first thread records which ports have some; each thread takes those of its SMs; then
 * the first thread records which ports hold more.
 *
 * SMs, if enough are awake for the pool: the first thread begins. Each thread steps its awake SMs,
 * in ascending order. SMs that send wait until the requests have moved in this cycle. When all SMs
 * have been stepped, the first thread ends the step, which returns the first SM that failed, or
 * NO_SM. */
void cycle_begin_receiving(Engine *engine);
void cycle_receive_part(Engine *engine, uint32_t thread);
void cycle_note_received(Engine *engine);
bool cycle_is_shared(Engine *engine);
void cycle_begin_sms(Engine *engine);
void cycle_let_send(Engine *engine);
void cycle_step_sms_part(Engine *engine, uint32_t thread);
uint32_t cycle_end_sms(Engine *engine);

/* ---- split_threads.c ---- */

enum { SPLIT_COLLECT_CYCLES = 8 }; /* cycles between looks for returned room */

/* Whether the partitions may be a cycle ahead at the end of this cycle. If so, no check is due
 * then, and the kernel neither ends nor stalls, because an SM waits for more replies than it can
 * receive in one cycle. */
bool split_may_run(Engine *engine);
/* Runs one cycle in which two threads own units, and all threads of the mode step SMs if the mode
 * shares them. Returns the first SM that failed, or NO_SM. */
uint32_t split_run(Engine *engine, ThreadMode mode);
/* Returns all units to one thread, if they are split. */
void split_end(Engine *engine);

/* ---- memory_side.c ---- */

/* Determines what is due in the coming cycle. Not called if the memory side is ahead. */
void memory_side_begin(Engine *engine);
/* Marks it as done. */
void memory_side_end(Engine *engine);
/* Does all that is due in this thread, except what was done ahead, and marks it as done. */
void memory_side_step(Engine *engine);

/* Whether all partitions exchange packets with the networks before the networks move, not after,
 * and never with each other. The two halves of an L2 do exchange packets. */
bool memory_side_can_part(const Engine *engine);
/* From now on the networks buffer what units do to them. */
void memory_side_hold(Engine *engine);
/* Steps the partitions of a thread. */
void memory_side_step_part(const Engine *engine, uint32_t thread);
/* Applies what a network has buffered, and moves it. */
void memory_side_move(const Engine *engine, Noc *network);

/* Whether the machine's partitions can be a cycle ahead of its SMs in every cycle. */
bool memory_side_can_go_ahead(const Engine *engine);
/* Cycles by which the thread that moves the replies' network may be behind the thread that takes
 * the replies: replies that arrive within this time have already left the switch. */
uint64_t memory_side_lead(const Engine *engine);
/* Gives the requests' network to one thread, and the replies' network and the partitions to
 * another. The partitions have already made their steps of this cycle. */
void memory_side_hand_off(Engine *engine);
/* Returns all units to one thread; the partitions are ahead. */
void memory_side_take_back(Engine *engine);
/* For the first thread: delivers replies that have arrived before this cycle; moves the requests'
 * network. */
void memory_side_replies_arrive(Engine *engine);
void memory_side_move_requests(Engine *engine);
/* For the second thread: moves the replies' network; steps the partitions ahead, in their part of
 * the next cycle, which begins when the first thread has moved the requests. */
void memory_side_move_replies(const Engine *engine);
void memory_side_step_ahead(Engine *engine);
/* Called after the last cycle of a kernel that failed: steps the partitions ahead, as they may
 * already be. */
void memory_side_settle(Engine *engine);

/* ---- engine.c ---- */

/* Simulated time of `cycles` SM cycles, in picoseconds. */
static inline uint64_t engine_time_ps(const Engine *engine, uint64_t cycles) {
    return (uint64_t)((unsigned __int128)cycles * 1000000000u / engine->machine->clock.sm_khz);
}
/* Plans the checks of the run loop from the start. */
void engine_plan_looks(Engine *engine, const Gpu *gpu);
/* Warp instructions issued since the machine was at rest. */
uint64_t engine_issued(const Engine *engine);
/* Publishes the progress of the grids for readers in other threads (gpu_progress). */
void engine_tell_progress(const Engine *engine, Gpu *gpu);

/* ---- residents.c ---- */

/* The grid that began on the machine at rest, if it runs alone. */
static inline GpuGrid *engine_sole(const Engine *engine) { return engine->places[0].grid; }
/* The grid at the first place that is not free. */
GpuGrid *residents_first(const Engine *engine);
/* Whether the options of a grid or of the run have no meaningful result if other grids run at the
 * same time. */
bool residents_must_run_alone(const Engine *engine, const Gpu *gpu, const GpuGrid *grid);
/* Begins the grids whose turn has come. */
void residents_take_turns(Engine *engine, Gpu *gpu);
/* Dispatches CTAs at the end of a cycle. Returns the error, or NULL. */
const IsaFault *residents_dispatch(Engine *engine);
/* Before that, lets the CTA schedulers of all grids inspect the SMs and pause CTAs, if it is
 * time. */
void residents_sample(Engine *engine);
/* Before that, checks CTAs whose warps another SM may have released. */
void residents_look_again(Engine *engine);
/* Called when all CTAs of a grid have triggered: the grids that depend on it may begin. */
void residents_note_trigger(Engine *engine);
/* Called when a grid has ended: the grids that depend on it need not wait any more. */
void residents_end_wait(Engine *engine, const GpuGrid *grid);
/* SM cycles after the current one in which no CTA scheduler inspects the SMs. */
uint64_t residents_quiet(const Engine *engine);
/* Removes a grid that has ended in this cycle from the machine and completes its result. Returns
 * the grid, or NULL if none has ended. */
GpuGrid *residents_end_one(Engine *engine, Gpu *gpu);
/* Ends all grids, because `failed` has failed; its result has the reason. */
void residents_fail(Engine *engine, Gpu *gpu, GpuGrid *failed);
/* Whether all CTAs of the grids on the machine have ended. */
static inline bool residents_have_ended(const Engine *engine) {
    return engine->finishing == engine->residents;
}
/* Whether a grid may end in a cycle in which an SM still waits for many replies. If other grids are
 * on the machine, a grid ends with its last CTA. */
bool residents_may_end_early(const Engine *engine);
/* The grid whose instruction failed on an SM; the first grid if the policy failed. */
GpuGrid *residents_failed(const Engine *engine, const Sm *sm);
void residents_init(Engine *engine);
void residents_free(Engine *engine);

/* ---- tally.c ---- */

/* The present counters of both networks. */
Counters tally_networks(const Engine *engine);
/* What was counted from a mark up to SM cycle `end`, the first cycle that is not stepped yet. */
Counters tally_count(Engine *engine, const EngineMarks *marks, uint64_t end);
/* The spreads over SMs since a mark; the histograms and warp states since the machine was at
 * rest. */
Spreads tally_spreads(const Engine *engine, const EngineMarks *marks);
Histograms tally_histograms(const Engine *engine);
WarpStates tally_states(const Engine *engine);
/* Records the units' counters when a grid's turn has come. `is_at_rest`: no other grid is on the
 * machine. */
void tally_mark(Engine *engine, EngineMarks *marks, bool is_at_rest);
void tally_free_marks(EngineMarks *marks);
/* Keeps what each unit did in a grid that ran alone and has ended. */
void tally_keep_units(const Engine *engine, const EngineMarks *marks);

/* ---- samples.c ---- */

/* Lets the policies of all SMs and the CTA scheduler report their numbers. */
void samples_report_policies(Engine *engine);
/* Passes warps and units, with their present counters, to the timeline. */
void samples_tell_units(Engine *engine);
/* Records what the observers of the run want at this cycle. */
void samples_record(Engine *engine, const Gpu *gpu);

#endif
