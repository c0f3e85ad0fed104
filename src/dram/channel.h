/* One memory channel: its controller and its banks.
 *
 * A request waits in the bounded queue. The request scheduler moves it into service in its bank,
 * which serves one request at a time. There it gets the activate, precharge and column commands it
 * needs. Its data arrives tCL ticks after the last read command. Each tick does the following, in
 * this order: one finished transfer moves to the replies, one request enters service, and at most
 * one row command and one column command are given.
 *
 * Rows stay open until another row of the bank is needed. Nothing is counted down, so a channel
 * need not be stepped before dram_next_event, and the skipped ticks change no statistic.
 *
 * If the device needs refreshes (tREFI), no request enters service from the tick at which a refresh
 * is due until the requests in service have finished. Then all rows are closed, and the refresh
 * begins.
 *
 * A device with two command buses accepts a row command together with any column command. Pseudo
 * channels share their command bus: if two need it in the same tick, the one stepped first gets it.
 *
 * Not modelled: read priority over writes, separate write queues. Source: the GTX 480 and Volta
 * models of GPGPU-Sim 4.2 as observed; the machines of the papers are based on the first. */
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
    P(COUNT, key, at, "queue", queue_entries, "", 1, DRAM_MAX_QUEUE, "64", "maximum number of requests waiting at a channel") \
    P(COUNT, key, at, "replies", reply_entries, "", 1, DRAM_MAX_QUEUE, "116", "maximum number of replies waiting for L2") \
    P(COUNT, key, at, "banks", banks, "", 1, DRAM_MAX_BANKS, "16", "banks of a channel") \
    P(COUNT, key, at, "bank_groups", bank_groups, "", 1, DRAM_MAX_GROUPS, "4", "number of bank groups; 1: no groups") \
    P(BOOL, key, at, "groups_lie_together", groups_lie_together, "no", "the banks of a group have consecutive numbers; no: the banks are dealt to the groups in turn") \
    P(BYTES, key, at, "row", row_bytes, 32, 64 * KIB, "4 KiB", "size of a row of a bank") \
    P(BYTES, key, at, "bus", bus_bytes, 1, 1 * KIB, "8 B", "amount of data moved per beat by all chips of a channel together") \
    P(COUNT, key, at, "burst", burst_length, "beats", 1, 64, "8", "length of the burst of one column command") \
    P(COUNT, key, at, "data_rate", data_rate, "beats", 1, 64, "4", "number of beats per DRAM cycle: 2 double, 4 quad data rate") \
    P(BOOL, key, at, "dual_bus", has_dual_bus, "no", "row commands have a bus of their own: one row and one column command per cycle, to any banks") \
    P(BOOL, key, at, "one_command", gives_one_command, "no", "at most one command per cycle, of either kind; no: in addition to a column command, a row command to a bank that comes before the column command's in the scan") \
    P(COUNT, key, at, "pseudo_channels", pseudo_channels, "", 1, 2, "1", "number of channels, with consecutive numbers, that share a command bus") \
    P(COUNT, key, at, "bliss_threshold", bliss_threshold, "", 1, 1000000, "4", "scheduler bliss: number of consecutive served requests of one SM that puts it on the blacklist") \
    P(COUNT, key, at, "bliss_interval", bliss_interval, "cycles", 1, 1000000000, "10000", "scheduler bliss: DRAM cycles between two clearings of the blacklist") \
    P(BYTES, key, at, "mask", mask_bytes, 0, 256, "0 B", "size of the byte mask that is transferred with a store to DRAM; write-backs of L2 have none")
/* clang-format on */

typedef struct DramConfig {
    DRAM_PARAMETERS(PARAMETER_FIELD, , )
    DramStatedTiming stated;     /* by the machine */
    DramTiming timing;           /* derived from that and the clock */
    DramPrefetchConfig prefetch; /* all zero: no prefetch */
} DramConfig;

/* Number of consecutively numbered banks in a group. */
static inline uint32_t dram_config_side_by_side(const DramConfig *config) {
    if (!config->groups_lie_together) return 1;
    return (config->banks + config->bank_groups - 1) / config->bank_groups;
}

/* The data of a read or a prefetch, as returned by the banks. */
typedef struct DramReply {
    uint64_t address; /* of the request or the prefetched line */
    uint64_t arrival; /* tick at which the request joined the queue or the prefetch began */
    uint32_t handle;  /* of the request; 0 for a prefetch */
    uint32_t waited;  /* ticks in the queue; 0 for a prefetch */
    uint8_t bank;     /* bank it came from */
    bool is_prefetch; /* the owner did not ask for it */
    bool is_write;    /* of an awaited write; inside the channel: of any write in flight */
    bool is_awaited;  /* as in the request */
} DramReply;

typedef struct DramFlight {
    uint64_t done_tick; /* tick at which the transfer ends */
    DramReply reply;
} DramFlight;

/* The command bus of pseudo channels. Each value is the tick after the last command of its kind. */
typedef struct DramBus {
    uint64_t column, row;
} DramBus;

/* Statistics kept for each bank. The channel's dram_ counters of the same names are their sums. */
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
    /* Fields used at every event: three cache lines of the host. */
    _Alignas(64) uint64_t next_event; /* no earlier step can do anything; UINT64_MAX when idle */
    uint64_t settled;                 /* tick up to which sums over ticks are complete */
    DramQueue queue;
    uint64_t refresh_due; /* tick from which a refresh is due; UINT64_MAX: never */
    Counters *counters;   /* the dram_ counters of the owner, in which the channel counts */
    uint32_t busy_banks;  /* banks with any work */
    uint32_t serving;     /* one bit per bank: a request is in service */

    uint32_t wants[DRAM_COMMANDS];      /* one bit per bank, for next command of its request */
    uint32_t prefetching;               /* one bit per bank: it serves a prefetch */
    uint32_t first_bank;                /* where scans over the banks begin; rotates */
    uint32_t all_banks;                 /* one bit for every bank */
    uint32_t bank_count;                /* banks of the channel */
    uint32_t flight_mask;               /* size of the ring `flights` - 1 */
    uint32_t flight_head, flight_count; /* transfers in flight, in the order in which they end */
    uint32_t reply_entries, reply_head, reply_count; /* the ring `replies` */
    uint32_t written_handle;                         /* for has_written */
    bool has_written; /* a write has ended since the last call of dram_take_written */
    bool has_dual_bus, gives_one_command; /* from the configuration */

    DramFlight *flights;
    DramReply *replies;
    DramBus *bus; /* shared with other channels; NULL: the channel has its own */
    const DramScheduler *scheduler;
    uint32_t burst_bytes;   /* bytes moved by one column command */
    uint32_t burst_ticks;   /* bus ticks used by one column command */
    uint32_t mask_bytes;    /* see DramConfig */
    uint32_t read_latency;  /* ticks from the last read command to its data */
    uint32_t write_latency; /* ticks from the last write command to its end */
    uint32_t refresh_interval, refresh_ticks, precharge_ticks; /* tREFI, tRFC, tRP */

    uint16_t entry[DRAM_MAX_BANKS]; /* the request in service */
    uint16_t work[DRAM_MAX_BANKS];  /* number of requests in service or with data still to come */
    DramBanks banks;
    DramPrefetch prefetch;
    DramBankCounts bank_counts[DRAM_MAX_BANKS];
} DramChannel;

/* Returns false and reports every mistake to `diag` if no channel can be built from `config`. */
bool dram_config_check(const DramConfig *config, Diag *diag);

/* An idle channel at tick 0, which adds to `counters` (borrowed). A request is counted when it
 * enters service. `config` must have passed dram_config_check. The channel is owned by `arena`. */
DramChannel *dram_new(const DramConfig *config, Counters *counters, Arena *arena);

/* Makes the channel share a command bus (borrowed) with other channels. */
static inline void dram_share_bus(DramChannel *channel, DramBus *bus) { channel->bus = bus; }

static inline bool dram_can_accept(const DramChannel *channel) {
    return channel->queue.count < channel->queue.capacity;
}

/* Number of requests waiting in the queue. */
static inline uint32_t dram_waiting(const DramChannel *channel) { return channel->queue.count; }

/* Puts a request into the queue, which must have room. `tick` must be later than the last tick
 * stepped. The step of `tick` is the first one that sees the request. */
void dram_push(DramChannel *channel, uint64_t tick, const DramRequest *request);

/* Earliest tick at which anything can happen; UINT64_MAX if nothing will happen until the next
 * push. */
static inline uint64_t dram_next_event(const DramChannel *channel) { return channel->next_event; }

/* Processes one command tick that has something to do. Called by dram_step at an event. */
void dram_step_event(DramChannel *channel, uint64_t tick);

/* Processes one command tick. Ticks must increase from call to call; those before dram_next_event
 * may be skipped. */
static inline void dram_step(DramChannel *channel, uint64_t tick) {
    if (tick >= channel->next_event) dram_step_event(channel, tick);
}

/* Removes the oldest reply. Returns false if there is none. */
bool dram_pop_reply(DramChannel *channel, DramReply *reply);

/* The oldest reply, or NULL. Valid until it is popped. */
static inline const DramReply *dram_peek_reply(const DramChannel *channel) {
    return channel->reply_count ? &channel->replies[channel->reply_head] : NULL;
}

/* Whether a write ended in the last step, and its handle. At most one write ends per tick. A write
 * is reported only once. */
static inline bool dram_take_written(DramChannel *channel, uint32_t *handle) {
    bool has_written = channel->has_written;
    *handle = channel->written_handle;
    channel->has_written = false;
    return has_written;
}

/* Whether no request waits, is in service or in flight, and no reply waits. */
static inline bool dram_is_idle(const DramChannel *channel) {
    return !channel->queue.count && !channel->busy_banks && !channel->reply_count;
}

/* Brings the statistics that sum over ticks up to `tick`, exclusive. Call it before reading the
 * counters. */
void dram_settle(DramChannel *channel, uint64_t tick);

#endif
