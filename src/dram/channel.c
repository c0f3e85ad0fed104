/* The memory controller of one channel (see the header). */
#include "dram/channel.h"

#include <assert.h>

#include "base/bits.h"

/* ---- construction ---- */

static uint32_t burst_ticks_of(const DramConfig *config) {
    return config->burst_length / config->data_rate;
}

bool dram_config_check(const DramConfig *config, Diag *diag) {
    const DramConfig *c = config;
    const struct {
        const char *name;
        uint32_t value, least, most;
    } rules[] = {
        {"banks", c->banks, 1, DRAM_MAX_BANKS},
        {"bank groups", c->bank_groups, 1, DRAM_MAX_GROUPS},
        {"bus bytes", c->bus_bytes, 1, 1024},
        {"burst length", c->burst_length, 1, 64},
        {"data rate", c->data_rate, 1, 64},
        {"row bytes", c->row_bytes, 32, 65536},
        {"queue entries", c->queue_entries, 1, DRAM_MAX_QUEUE},
        {"reply entries", c->reply_entries, 1, DRAM_MAX_QUEUE},
    };
    int before = diag_error_count(diag);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].value < rules[i].least || rules[i].value > rules[i].most)
            diag_error(diag, NULL, 0, 0, "DRAM: %s = %u: must be %u to %u", rules[i].name,
                       rules[i].value, rules[i].least, rules[i].most);
    if (diag_error_count(diag) > before) return false;
    if (c->burst_length % c->data_rate)
        diag_error(
            diag, NULL, 0, 0,
            "DRAM: dram.burst of %u beats at dram.data_rate of %u beats per tick: not a whole "
            "number of ticks; for example dram.burst=%u",
            c->burst_length, c->data_rate, c->data_rate);
    if (c->bank_groups > c->banks)
        diag_error(diag, NULL, 0, 0, "DRAM: %u bank groups of %u banks", c->bank_groups, c->banks);
    if (c->scheduler == DRAM_SCHEDULER_bliss && (!c->bliss_threshold || !c->bliss_interval))
        diag_error(diag, NULL, 0, 0, "DRAM: bliss threshold = %u, interval = %u: must be 1 or more",
                   c->bliss_threshold, c->bliss_interval);
    dram_timing_check(&c->timing, burst_ticks_of(c), diag);
    dram_prefetch_check(&c->prefetch, c->row_bytes, diag);
    return diag_error_count(diag) == before;
}

DramChannel *dram_new(const DramConfig *config, Counters *counters, Arena *arena) {
    DramChannel *channel = arena_alloc_aligned(arena, sizeof *channel, 64);
    const DramTiming *timing = &config->timing;
    channel->counters = counters;
    channel->next_event = UINT64_MAX;
    channel->scheduler = dram_schedulers[config->scheduler];
    channel->bank_count = config->banks;
    channel->all_banks = (uint32_t)bits_low_mask((int)config->banks);
    channel->burst_bytes = config->bus_bytes * config->burst_length;
    channel->burst_ticks = burst_ticks_of(config);
    channel->mask_bytes = config->mask_bytes;
    channel->read_latency = timing->cl;
    channel->write_latency = timing->wl;
    channel->has_dual_bus = config->has_dual_bus;
    channel->gives_one_command = config->gives_one_command;
    channel->refresh_interval = timing->refi;
    channel->refresh_ticks = timing->rfc;
    channel->precharge_ticks = timing->rp;
    channel->refresh_due = timing->refi ? timing->refi : UINT64_MAX;
    dram_queue_init(&channel->queue, channel->scheduler, config, arena);
    dram_banks_init(&channel->banks, timing, channel->burst_ticks, config->bank_groups,
                    dram_config_side_by_side(config));
    dram_prefetch_init(&channel->prefetch, &config->prefetch, config->row_bytes);
    /* Column commands are tCCD apart, so no more transfers than this can be in flight. */
    uint32_t flights = 2;
    while (flights < timing->cl / timing->ccd + 2)
        flights *= 2;
    channel->flight_mask = flights - 1;
    channel->flights = ARENA_ARRAY(arena, DramFlight, flights);
    channel->reply_entries = config->reply_entries;
    channel->replies = ARENA_ARRAY(arena, DramReply, config->reply_entries);
    return channel;
}

/* ---- counters ---- */

void dram_settle(DramChannel *channel, uint64_t tick) {
    assert(tick >= channel->settled);
    uint64_t ticks = tick - channel->settled;
    Counters *counters = channel->counters;
    counters->dram_ticks += ticks;
    counters->dram_queue_ticks += ticks * channel->queue.count;
    counters->dram_bank_ticks += ticks * channel->busy_banks;
    if (channel->busy_banks) counters->dram_busy_ticks += ticks;
    channel->settled = tick;
}

static void begin_work(DramChannel *channel, uint32_t bank) {
    if (!channel->work[bank]++) channel->busy_banks++;
}

static void end_work(DramChannel *channel, uint32_t bank) {
    if (!--channel->work[bank]) channel->busy_banks--;
}

/* ---- refresh ---- */

static void refresh(DramChannel *channel, uint64_t tick) {
    dram_prefetch_closed_all(&channel->prefetch);
    dram_banks_refresh(&channel->banks, channel->precharge_ticks, channel->refresh_ticks, tick);
    channel->refresh_due += channel->refresh_interval;
}

/* Earliest tick at which the next refresh can begin, as far as the banks are concerned. */
static uint64_t refresh_tick(const DramChannel *channel) {
    uint64_t ready = dram_banks_refresh_earliest(&channel->banks);
    return ready > channel->refresh_due ? ready : channel->refresh_due;
}

/* Performs the refreshes that came due before `tick` while the channel had nothing else to do. */
static void refresh_idle(DramChannel *channel, uint64_t tick) {
    while (channel->refresh_due < tick && refresh_tick(channel) < tick)
        refresh(channel, refresh_tick(channel));
}

/* Refreshes if one is due, nothing is in service and every row may be closed. */
static void try_refresh(DramChannel *channel, uint64_t tick) {
    if (channel->refresh_due <= tick && !channel->serving && refresh_tick(channel) <= tick)
        refresh(channel, tick);
}

/* ---- requests in, replies out ---- */

static uint16_t bursts_of(const DramChannel *channel, uint32_t bytes) {
    return (uint16_t)((bytes + channel->burst_bytes - 1) / channel->burst_bytes);
}

void dram_push(DramChannel *channel, uint64_t tick, const DramRequest *request) {
    DramQueue *queue = &channel->queue;
    assert(dram_can_accept(channel) && request->bank < channel->bank_count && request->bytes);
    dram_settle(channel, tick);
    if (dram_is_idle(channel)) refresh_idle(channel, tick);
    uint16_t entry = dram_queue_take(queue);
    const uint32_t mask = request->has_mask ? channel->mask_bytes : 0;
    queue->entries[entry] = (DramEntry){
        .request = *request, .arrival = tick, .bursts = bursts_of(channel, request->bytes + mask)};
    channel->scheduler->add(queue, entry);
    queue->count++;
    dram_prefetch_arrived(&channel->prefetch, queue->count);
    if (queue->count > channel->counters->dram_queue_max)
        channel->counters->dram_queue_max = queue->count;
    if (tick < channel->next_event) channel->next_event = tick;
}

bool dram_pop_reply(DramChannel *channel, DramReply *reply) {
    if (!channel->reply_count) return false;
    /* The full ring may have delayed a transfer. */
    if (channel->reply_count == channel->reply_entries) channel->next_event = channel->settled;
    *reply = channel->replies[channel->reply_head];
    if (++channel->reply_head == channel->reply_entries) channel->reply_head = 0;
    channel->reply_count--;
    return true;
}

/* Moves the transfer that has ended, if there is one and the replies have room, to the replies. */
static void finish_transfer(DramChannel *channel, uint64_t tick) {
    const DramFlight *flight = &channel->flights[channel->flight_head];
    if ((channel->flight_count == 0) | (flight->done_tick > tick)) return;
    if (channel->reply_count == channel->reply_entries) return;
    dram_settle(channel, tick);
    end_work(channel, flight->reply.bank);
    if (flight->reply.is_write && !flight->reply.is_awaited) {
        channel->has_written = true;
        channel->written_handle = flight->reply.handle;
    } else {
        if (!channel->reply_count) channel->reply_head = 0; /* few cache lines stay in use */
        uint32_t tail = channel->reply_head + channel->reply_count++;
        if (tail >= channel->reply_entries) tail -= channel->reply_entries;
        channel->replies[tail] = flight->reply;
    }
    channel->flight_head = (channel->flight_head + 1) & channel->flight_mask;
    channel->flight_count--;
}

/* ---- scans over the banks ---- */

enum { ALL_POSITIONS = DRAM_MAX_BANKS }; /* of a scan */

/* The mask of banks, rotated so that the scan's first bank is bit 0. */
static uint32_t rotate(const DramChannel *channel, uint32_t banks) {
    uint64_t twice = (uint64_t)banks << channel->bank_count | banks;
    return (uint32_t)(twice >> channel->first_bank) & channel->all_banks;
}

/* The bank at a position of the scan. */
static uint32_t bank_at(const DramChannel *channel, int position) {
    uint32_t bank = channel->first_bank + (uint32_t)position;
    return bank >= channel->bank_count ? bank - channel->bank_count : bank;
}

static void scan_from(DramChannel *channel, uint32_t bank) {
    channel->first_bank = bank == channel->bank_count ? 0 : bank;
}

/* ---- service ---- */

/* Chooses the command that the request in service needs next, given the row that is open in its
 * bank. */
static void choose_command(DramChannel *channel, uint32_t bank) {
    const DramRequest *request = &channel->queue.entries[channel->entry[bank]].request;
    DramCommand command = DRAM_PRECHARGE;
    if (dram_banks_is_open(&channel->banks, bank, request->row))
        command = request->is_write ? DRAM_WRITE : DRAM_READ;
    else if (!(channel->banks.open >> bank & 1)) command = DRAM_ACTIVATE;
    channel->wants[command] |= UINT32_C(1) << bank;
}

/* Increments a counter of the channel and of the bank. */
#define COUNT(channel, bank, name)                                                                 \
    ((channel)->counters->name++, (channel)->bank_counts[bank].name++)

static void count_request(DramChannel *channel, DramEntry *entry, uint64_t tick) {
    uint32_t bank = entry->request.bank;
    entry->waited = (uint32_t)(tick - entry->arrival);
    if (dram_banks_is_open(&channel->banks, bank, entry->request.row))
        COUNT(channel, bank, dram_row_hits);
    else if (channel->banks.open >> bank & 1) COUNT(channel, bank, dram_row_conflicts);
    else COUNT(channel, bank, dram_row_misses);
    if (entry->request.is_write) COUNT(channel, bank, dram_writes);
    else COUNT(channel, bank, dram_reads);
}

static DramWaiting waiting_of(const DramChannel *channel) {
    return channel->scheduler->waiting(&channel->queue, &channel->banks);
}

/* Banks whose open row is kept open for prefetching: no request to the row itself waits. */
static uint32_t banks_held(const DramChannel *channel) {
    uint32_t held = dram_prefetch_held(&channel->prefetch, channel->queue.count);
    return held ? held & ~waiting_of(channel).same_row : 0;
}

/* Free banks that the scheduler would serve in `tick`. */
static uint32_t banks_to_serve(const DramChannel *channel, uint64_t tick) {
    if (!channel->queue.count) return 0;
    uint32_t taken = channel->serving | banks_held(channel);
    return channel->scheduler->candidates(&channel->queue, ~taken, tick);
}

/* Banks with a prefetch in progress and no waiting request. */
static uint32_t patient_prefetches(const DramChannel *channel) {
    if (!channel->prefetching) return 0;
    DramWaiting waiting = waiting_of(channel);
    return channel->prefetching & ~(waiting.same_row | waiting.other_rows);
}

/* Banks whose request in service has its row open and needs the bus. */
static uint32_t banks_wanting_bus(const DramChannel *channel) {
    uint32_t wanting = channel->wants[DRAM_READ] | channel->wants[DRAM_WRITE];
    return wanting & ~patient_prefetches(channel);
}

/* Banks in which a prefetch may begin or continue when no request has a column command to give.
 * Banks that have to prefetch before they serve a waiting request to another row come first. If
 * there is none of those, these are the banks without a waiting request; but no prefetch may begin
 * while it could delay a request that is about to use the bus. */
__attribute__((noinline)) static uint32_t find_banks_to_prefetch(const DramChannel *channel) {
    DramWaiting waiting = waiting_of(channel);
    uint32_t idle = channel->prefetch.rows & ~channel->serving & ~waiting.same_row;
    uint32_t due = idle & waiting.other_rows & banks_held(channel);
    if (due) return due;
    uint32_t under_way = patient_prefetches(channel);
    return banks_wanting_bus(channel) ? under_way : under_way | (idle & ~waiting.other_rows);
}

/* In most cycles no row has anything to prefetch. */
static inline uint32_t banks_to_prefetch(const DramChannel *channel) {
    return channel->prefetch.rows | channel->prefetching ? find_banks_to_prefetch(channel) : 0;
}

/* Moves one request from the queue into service in its bank. */
static void serve_request(DramChannel *channel, uint64_t tick) {
    uint32_t banks = banks_to_serve(channel, tick);
    if (!banks) return;
    uint32_t bank = bank_at(channel, bits_lowest32(rotate(channel, banks)));
    uint16_t entry = channel->scheduler->pick(&channel->queue, bank, tick);
    dram_settle(channel, tick);
    channel->queue.count--;
    channel->entry[bank] = entry;
    channel->serving |= UINT32_C(1) << bank;
    begin_work(channel, bank);
    count_request(channel, &channel->queue.entries[entry], tick);
    choose_command(channel, bank);
    scan_from(channel, channel->first_bank + 1);
}

/* ---- commands ---- */

/* Takes the bank's request out of service after its last column command, which was given at
 * `tick`. */
static void finish_service(DramChannel *channel, uint32_t bank, uint64_t tick) {
    uint16_t index = channel->entry[bank];
    const DramEntry *entry = &channel->queue.entries[index];
    bool is_write = entry->request.is_write;
    uint32_t tail = (channel->flight_head + channel->flight_count++) & channel->flight_mask;
    channel->flights[tail] = (DramFlight){
        .done_tick = tick + (is_write ? channel->write_latency : channel->read_latency),
        .reply = {entry->request.address, entry->arrival, entry->request.handle, entry->waited,
                  (uint8_t)bank, entry->request.is_prefetch, is_write, entry->request.is_awaited},
    };
    const DramRequest *request = &entry->request;
    if (request->is_prefetch) dram_prefetch_sent(&channel->prefetch, bank, request->column);
    else
        dram_prefetch_demanded(&channel->prefetch, bank, request->column, request->bytes, is_write);
    channel->serving &= ~(UINT32_C(1) << bank);
    channel->prefetching &= ~(UINT32_C(1) << bank);
    dram_queue_give_back(&channel->queue, index);
}

static void give_column_command(DramChannel *channel, uint32_t bank, uint64_t tick) {
    DramEntry *entry = &channel->queue.entries[channel->entry[bank]];
    DramCommand command = entry->request.is_write ? DRAM_WRITE : DRAM_READ;
    dram_banks_command(&channel->banks, command, bank, 0, tick);
    if (channel->bus) channel->bus->column = tick + 1;
    if (command == DRAM_WRITE) channel->counters->dram_write_commands++;
    else channel->counters->dram_read_commands++;
    channel->counters->dram_bus_ticks += channel->burst_ticks;
    if (--entry->bursts) return;
    channel->wants[command] &= ~(UINT32_C(1) << bank);
    finish_service(channel, bank, tick);
}

/* Begins to prefetch the next line of the bank's row. The line's first column command is given at
 * once, so a prefetch never occupies its bank without making progress. */
static void begin_prefetch(DramChannel *channel, uint32_t bank, uint64_t tick) {
    uint64_t address;
    uint32_t column = dram_prefetch_next(&channel->prefetch, bank, &address);
    uint32_t bytes = channel->prefetch.config.line_bytes;
    uint16_t entry = dram_queue_take(&channel->queue);
    channel->queue.entries[entry] = (DramEntry){.request = {.address = address,
                                                            .row = channel->banks.open_row[bank],
                                                            .column = (uint16_t)column,
                                                            .bytes = (uint16_t)bytes,
                                                            .bank = (uint8_t)bank,
                                                            .requester = DRAM_NOBODY,
                                                            .is_prefetch = true},
                                                .arrival = tick,
                                                .bursts = bursts_of(channel, bytes)};
    channel->entry[bank] = entry;
    channel->serving |= UINT32_C(1) << bank;
    channel->prefetching |= UINT32_C(1) << bank;
    channel->wants[DRAM_READ] |= UINT32_C(1) << bank;
    dram_settle(channel, tick);
    begin_work(channel, bank);
    COUNT(channel, bank, dram_prefetches);
    give_column_command(channel, bank, tick);
}

static void give_row_command(DramChannel *channel, uint32_t bank, DramCommand command,
                             uint64_t tick) {
    const DramRequest *request = &channel->queue.entries[channel->entry[bank]].request;
    dram_banks_command(&channel->banks, command, bank, request->row, tick);
    if (channel->bus) channel->bus->row = tick + 1;
    if (command == DRAM_ACTIVATE) {
        COUNT(channel, bank, dram_activates);
        dram_prefetch_opened(&channel->prefetch, bank, request->address);
    } else {
        COUNT(channel, bank, dram_precharges);
        dram_prefetch_closed(&channel->prefetch, bank);
    }
    channel->wants[command] &= ~(UINT32_C(1) << bank);
    choose_command(channel, bank);
}

/* Position in the scan of the first bank of `banks` whose command is legal. The command is `second`
 * if the bank wants that one, else `first`. Only positions before `end` are considered. -1 if there
 * is none. */
static int find_legal(const DramChannel *channel, uint32_t banks, DramCommand first,
                      DramCommand second, int end, uint64_t tick) {
    uint32_t left = rotate(channel, banks) & (uint32_t)bits_low_mask(end);
    for (; left; left &= left - 1) {
        int position = bits_lowest32(left);
        uint32_t bank = bank_at(channel, position);
        DramCommand command = channel->wants[second] >> bank & 1 ? second : first;
        if (dram_banks_earliest(&channel->banks, command, bank) <= tick) return position;
    }
    return -1;
}

/* Banks that want `command`; none if the channel as a whole does not allow it yet. */
static uint32_t wanting(const DramChannel *channel, DramCommand command, uint64_t tick) {
    return channel->banks.channel_ready[command] <= tick ? channel->wants[command] : 0;
}

/* Whether another transfer can be in flight. */
static bool has_flight_room(const DramChannel *channel) {
    return channel->flight_count <= channel->flight_mask;
}

/* Whether the command bus is free for this kind of command, that is, not used by another channel in
 * this tick. */
static bool has_bus(const DramChannel *channel, uint64_t tick, bool is_column) {
    const DramBus *bus = channel->bus;
    return !bus || (is_column ? bus->column : bus->row) != tick + 1;
}

/* Gives a read command to the first bank of the scan in which a prefetch may begin or continue. */
static void try_prefetch(DramChannel *channel, uint64_t tick) {
    uint32_t banks = banks_to_prefetch(channel);
    if (!banks || !has_flight_room(channel) || !has_bus(channel, tick, true)) return;
    int position = find_legal(channel, banks, DRAM_READ, DRAM_READ, ALL_POSITIONS, tick);
    if (position < 0) return;
    uint32_t bank = bank_at(channel, position);
    if (channel->serving >> bank & 1) give_column_command(channel, bank, tick);
    else begin_prefetch(channel, bank, tick);
}

/* Position of the first bank before `end` whose row command is legal; -1 if there is none. */
static int find_row_command(const DramChannel *channel, int end, uint64_t tick) {
    uint32_t row = wanting(channel, DRAM_PRECHARGE, tick) | wanting(channel, DRAM_ACTIVATE, tick);
    if (!row || !has_bus(channel, tick, false)) return -1;
    return find_legal(channel, row, DRAM_ACTIVATE, DRAM_PRECHARGE, end, tick);
}

/* Gives one column command, to the first bank of the scan that may have one, and one row command,
 * to the first bank before that one or, with two buses, to the first bank of all. Where only one
 * command per tick is allowed, only the first of these is given. Prefetches without a waiting
 * request get the remaining column commands. */
static void give_commands(DramChannel *channel, uint64_t tick) {
    uint32_t column = wanting(channel, DRAM_WRITE, tick) |
                      (wanting(channel, DRAM_READ, tick) & ~patient_prefetches(channel));
    int column_at = -1;
    if (column && has_flight_room(channel) && has_bus(channel, tick, true))
        column_at = find_legal(channel, column, DRAM_READ, DRAM_WRITE, ALL_POSITIONS, tick);
    int end = column_at < 0 || channel->has_dual_bus ? ALL_POSITIONS : column_at;
    int row_at = channel->gives_one_command ? find_row_command(channel, end, tick) : -1;
    if (row_at < 0) {
        if (column_at >= 0) give_column_command(channel, bank_at(channel, column_at), tick);
        else try_prefetch(channel, tick);
        if (channel->gives_one_command) return;
        row_at = find_row_command(channel, end, tick);
        if (row_at < 0) return;
    }
    uint32_t bank = bank_at(channel, row_at);
    bool closes = channel->wants[DRAM_PRECHARGE] >> bank & 1;
    give_row_command(channel, bank, closes ? DRAM_PRECHARGE : DRAM_ACTIVATE, tick);
    scan_from(channel, bank + 1);
}

/* ---- time ---- */

/* Earliest tick from `soonest` on at which one of `banks` may have `command`, but no later than
 * `bound`. */
static inline uint64_t earliest_command(const DramChannel *channel, DramCommand command,
                                        uint32_t banks, uint64_t soonest, uint64_t bound) {
    if (!banks) return bound;
    uint64_t ready = channel->banks.channel_ready[command];
    if (ready > soonest) soonest = ready;
    for (; banks && bound > soonest; banks &= banks - 1) {
        uint32_t bank = (uint32_t)bits_lowest32(banks);
        uint64_t earliest = dram_banks_earliest(&channel->banks, command, bank);
        if (earliest < soonest) earliest = soonest;
        if (earliest < bound) bound = earliest;
    }
    return bound;
}

/* Tick at which the next refresh will begin. An idle channel does not wait for it. */
static uint64_t next_refresh(const DramChannel *channel, uint64_t soonest) {
    if (channel->refresh_due == UINT64_MAX || channel->serving || dram_is_idle(channel))
        return UINT64_MAX;
    uint64_t tick = refresh_tick(channel);
    return tick > soonest ? tick : soonest;
}

static uint64_t find_next_event(const DramChannel *channel, uint64_t soonest) {
    uint64_t next = next_refresh(channel, soonest);
    if (banks_to_serve(channel, soonest) && channel->refresh_due > soonest) return soonest;
    if (channel->flight_count && channel->reply_count < channel->reply_entries) {
        uint64_t done = channel->flights[channel->flight_head].done_tick;
        if (done <= soonest) return soonest;
        if (done < next) next = done;
    }
    const uint32_t *wants = channel->wants;
    next = earliest_command(channel, DRAM_ACTIVATE, wants[DRAM_ACTIVATE], soonest, next);
    next = earliest_command(channel, DRAM_PRECHARGE, wants[DRAM_PRECHARGE], soonest, next);
    if (!has_flight_room(channel)) return next;
    uint32_t reads = wants[DRAM_READ] | banks_to_prefetch(channel);
    next = earliest_command(channel, DRAM_READ, reads, soonest, next);
    return earliest_command(channel, DRAM_WRITE, wants[DRAM_WRITE], soonest, next);
}

void dram_step_event(DramChannel *channel, uint64_t tick) {
    finish_transfer(channel, tick);
    try_refresh(channel, tick);
    if (channel->refresh_due > tick) serve_request(channel, tick);
    give_commands(channel, tick);
    channel->next_event = find_next_event(channel, tick + 1);
}
