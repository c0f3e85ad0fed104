/* One memory channel: its controller and its banks.
 *
 * A request waits in the bounded queue; the request scheduler moves it into its bank's single place
 * of service; there it gets the activate, precharge and column commands it needs; its data is back
 * tCL ticks after the last read command. Each tick, in this order: one finished transfer moves to
 * the replies, one request enters service, at most one row and one column command are given.
 *
 * Rows stay open until another one is wanted. Nothing is counted down, so a channel need not be
 * stepped before dram_next_event, and the ticks left out change no statistic.
 *
 * Where the device has to be refreshed (tREFI), no request enters service from the tick on at which
 * that is due until those in service are through; then all rows are closed, and the refresh begins.
 *
 * A device with two command buses takes a row command whatever column command goes with it. Pseudo
 * channels share their command bus: of two that want it in a tick, the one stepped first has it.
 *
 * Leaves out: read priority over writes, separate write queues. Source: the GTX 480 and Volta
 * models of GPGPU-Sim 4.2 as observed; the papers' machines build on the first. */
#ifndef TYTO_DRAM_CHANNEL_H
#define TYTO_DRAM_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/parameter.h"
#include "dram/bank.h"
#include "dram/prefetch.h"
#include "dram/queue.h"
#include "dram/timing.h"
#include "stats/counters.h"

/* clang-format off */
#define DRAM_PARAMETERS(P, key, at) \
    P(CHOICE, key, at, "scheduler", scheduler, DramSchedulerIndex, "fr-fcfs", "order in which requests are served") \
    P(COUNT, key, at, "queue", queue_entries, "", 1, DRAM_MAX_QUEUE, "64", "requests waiting at a channel") \
    P(COUNT, key, at, "replies", reply_entries, "", 1, DRAM_MAX_QUEUE, "116", "replies waiting for L2") \
    P(COUNT, key, at, "banks", banks, "", 1, DRAM_MAX_BANKS, "16", "banks of a channel") \
    P(COUNT, key, at, "bank_groups", bank_groups, "", 1, DRAM_MAX_GROUPS, "4", "groups the banks are dealt to; 1: no groups") \
    P(BOOL, key, at, "groups_lie_together", groups_lie_together, "no", "the banks of a group have numbers one after the other; no: those of one group and the next, and so on, in turn") \
    P(BYTES, key, at, "row", row_bytes, 32, 64 * KIB, "4 KiB", "row of a bank") \
    P(BYTES, key, at, "bus", bus_bytes, 1, 1 * KIB, "8 B", "moved per beat, all chips of a channel together") \
    P(COUNT, key, at, "burst", burst_length, "beats", 1, 64, "8", "of one column command") \
    P(COUNT, key, at, "data_rate", data_rate, "beats", 1, 64, "4", "per DRAM cycle: 2 double, 4 quad data rate") \
    P(BOOL, key, at, "dual_bus", has_dual_bus, "no", "row commands have a bus of their own: one of each kind a cycle, whatever the banks") \
    P(BOOL, key, at, "one_command", gives_one_command, "no", "one command a cycle, of either kind; else also a row command to a bank that is asked before the column command's") \
    P(COUNT, key, at, "pseudo_channels", pseudo_channels, "", 1, 2, "1", "channels that share a command bus, neighbours by number") \
    P(COUNT, key, at, "bliss_threshold", bliss_threshold, "", 1, 1000000, "4", "scheduler bliss: consecutive requests of one SM, served, that put it on the blacklist") \
    P(COUNT, key, at, "bliss_interval", bliss_interval, "cycles", 1, 1000000000, "10000", "scheduler bliss: DRAM cycles from one clearing of the blacklist to the next") \
    P(BYTES, key, at, "mask", mask_bytes, 0, 256, "0 B", "that move with a store to DRAM and say which of its bytes it writes; write-backs of L2 have none")
/* clang-format on */

typedef struct DramConfig {
    DRAM_PARAMETERS(PARAMETER_FIELD, , )
    DramTiming timing;           /* ticks */
    DramPrefetchConfig prefetch; /* all zero: none */
} DramConfig;

/* Banks of a group whose numbers follow one another. */
static inline uint32_t dram_config_side_by_side(const DramConfig *config) {
    if (!config->groups_lie_together) return 1;
    return (config->banks + config->bank_groups - 1) / config->bank_groups;
}

/* Data of a read or a prefetch, back from the banks. */
typedef struct DramReply {
    uint64_t address; /* of the request, or of the line prefetched */
    uint64_t arrival; /* tick at which the request joined the queue, or the prefetch began */
    uint32_t handle;  /* of the request; 0 for a prefetch */
    uint32_t waited;  /* ticks in the queue; 0 for a prefetch */
    uint8_t bank;     /* bank it came from */
    bool is_prefetch; /* the owner did not ask for it */
    bool is_write;    /* of a write that is awaited; inside the channel, of any in flight */
    bool is_awaited;  /* of the request */
} DramReply;

typedef struct DramFlight {
    uint64_t done_tick; /* tick at which the transfer ends */
    DramReply reply;
} DramFlight;

/* The command bus of pseudo channels: the ticks after those of the last commands of each kind. */
typedef struct DramBus {
    uint64_t column, row;
} DramBus;

/* What is counted of each bank; a channel's dram_ counters of these names are their sums. */
#define DRAM_BANK_COUNTS(COUNT)                                                                    \
    COUNT(dram_reads)                                                                              \
    COUNT(dram_writes)                                                                             \
    COUNT(dram_prefetches)                                                                         \
    COUNT(dram_row_hits)                                                                           \
    COUNT(dram_row_misses)                                                                         \
    COUNT(dram_row_conflicts)                                                                      \
    COUNT(dram_activates)                                                                          \
    COUNT(dram_precharges)
#define DRAM_BANK_COUNT(name) uint64_t name;
typedef struct DramBankCounts {
    DRAM_BANK_COUNTS(DRAM_BANK_COUNT)
} DramBankCounts;
#undef DRAM_BANK_COUNT

typedef struct DramChannel {
    /* What every event looks at: three lines of the host's caches. */
    _Alignas(64) uint64_t next_event; /* no step before this tick can do anything; UINT64_MAX when
                                         idle */
    uint64_t settled;                 /* tick up to which the sums over ticks are complete */
    DramQueue queue;
    uint64_t refresh_due; /* tick from which a refresh is due; UINT64_MAX: never */
    Counters *counters;   /* where the channel counts: the owner's, its dram_ rows */
    uint32_t busy_banks;  /* banks with any work */
    uint32_t serving;     /* bit per bank: a request is in service */

    uint32_t wants[DRAM_COMMANDS];      /* bit per bank: the command its request needs next */
    uint32_t prefetching;               /* bit per bank: it serves a prefetch */
    uint32_t first_bank;                /* where the scans over the banks begin; rotates */
    uint32_t all_banks;                 /* bit per bank */
    uint32_t bank_count;                /* banks of the channel */
    uint32_t flight_mask;               /* size of the ring `flights` - 1 */
    uint32_t flight_head, flight_count; /* transfers under way, in the order in which they end */
    uint32_t reply_entries, reply_head, reply_count; /* the ring `replies` */
    uint32_t written_handle;                         /* of the write that has_written reports */
    bool has_written; /* a write ended after the last call of dram_take_written */
    bool has_dual_bus, gives_one_command; /* of the configuration */

    DramFlight *flights;
    DramReply *replies;
    DramBus *bus; /* shared with other channels; NULL: its own */
    const DramScheduler *scheduler;
    uint32_t burst_bytes;   /* bytes of one column command */
    uint32_t burst_ticks;   /* bus ticks of one column command */
    uint32_t mask_bytes;    /* DramConfig */
    uint32_t read_latency;  /* ticks from the last read command to its data */
    uint32_t write_latency; /* ticks from the last write command to its end */
    uint32_t refresh_interval, refresh_ticks, precharge_ticks; /* tREFI, tRFC, tRP */

    uint16_t entry[DRAM_MAX_BANKS]; /* the request in service */
    uint16_t work[DRAM_MAX_BANKS];  /* requests in service or with data due */
    DramBanks banks;
    DramPrefetch prefetch;
    DramBankCounts bank_counts[DRAM_MAX_BANKS];
} DramChannel;

/* False, with every mistake told to `diag`, when no channel can be built from `config`. */
bool dram_config_check(const DramConfig *config, Diag *diag);

/* An idle channel at tick 0, which adds to `counters` (borrowed). A request is counted when it
 * enters service. `config` must have passed dram_config_check. Owned by `arena`. */
DramChannel *dram_new(const DramConfig *config, Counters *counters, Arena *arena);

/* Puts the channel on a command bus with others (borrowed). */
static inline void dram_share_bus(DramChannel *channel, DramBus *bus) { channel->bus = bus; }

static inline bool dram_can_accept(const DramChannel *channel) {
    return channel->queue.count < channel->queue.capacity;
}

/* Requests that wait in the queue. */
static inline uint32_t dram_waiting(const DramChannel *channel) { return channel->queue.count; }

/* Puts a request into the queue, which must have room. The step of `tick` is the first to see it;
 * `tick` must lie after the last tick stepped. */
void dram_push(DramChannel *channel, uint64_t tick, const DramRequest *request);

/* Earliest tick at which anything can happen; UINT64_MAX when nothing will until the next push. */
static inline uint64_t dram_next_event(const DramChannel *channel) { return channel->next_event; }

/* One command tick that has something to do: what dram_step does at an event. */
void dram_step_event(DramChannel *channel, uint64_t tick);

/* One command tick. Ticks must rise from call to call; those before dram_next_event may be left
 * out. */
static inline void dram_step(DramChannel *channel, uint64_t tick) {
    if (tick >= channel->next_event) dram_step_event(channel, tick);
}

/* Takes the oldest reply. False when there is none. */
bool dram_pop_reply(DramChannel *channel, DramReply *reply);

/* The oldest reply, or NULL; valid until it is popped. */
static inline const DramReply *dram_peek_reply(const DramChannel *channel) {
    return channel->reply_count ? &channel->replies[channel->reply_head] : NULL;
}

/* Whether a write has ended in the last step, and its handle: one at most ends in a tick. Asking
 * once takes it. */
static inline bool dram_take_written(DramChannel *channel, uint32_t *handle) {
    bool has_written = channel->has_written;
    *handle = channel->written_handle;
    channel->has_written = false;
    return has_written;
}

/* No request waits, is in service or in flight, and no reply waits. */
static inline bool dram_is_idle(const DramChannel *channel) {
    return !channel->queue.count && !channel->busy_banks && !channel->reply_count;
}

/* Brings the sums over ticks up to, not including, `tick`. Call before reading the counters. */
void dram_settle(DramChannel *channel, uint64_t tick);

#endif
