/* The SM's unit for bulk copies (see the header). */
#include "sm/bulk.h"

#include <stdlib.h>

#include "memory/memory.h"
#include "sm/parts.h"

enum { NO_JOB = UINT32_MAX };

void bulk_init(SmBulk *bulk, Sm *owner) {
    const SmBulkList none = {NO_JOB, NO_JOB};
    *bulk = (SmBulk){.owner = owner,
                     .unused = none,
                     .sending = none,
                     .ended = none,
                     .delivered = none,
                     .releasing = none};
}

void bulk_free(SmBulk *bulk) { free(bulk->jobs); }

/* ---- Lists ---- */

static void push(SmBulk *bulk, SmBulkList *list, uint32_t job) {
    bulk->jobs[job].next = NO_JOB;
    if (list->first == NO_JOB) list->first = job;
    else bulk->jobs[list->last].next = job;
    list->last = job;
}

static uint32_t pop(SmBulk *bulk, SmBulkList *list) {
    const uint32_t job = list->first;
    list->first = bulk->jobs[job].next;
    return job;
}

static uint32_t new_job(SmBulk *bulk) {
    if (bulk->unused.first != NO_JOB) return pop(bulk, &bulk->unused);
    bulk->jobs = base_grow(bulk->jobs, bulk->used, &bulk->capacity, sizeof *bulk->jobs);
    return bulk->used++;
}

/* ---- Requests ---- */

enum { REMOTE_PACKET = 128, ARRIVAL_BYTES = 8 };

static bool is_of_memory(const IsaBulk *copy) {
    return copy->kind != ISA_BULK_LOCAL && copy->kind != ISA_BULK_ARRIVE &&
           copy->kind != ISA_BULK_RELEASE;
}

/* Bytes that a copy moves to another SM (if `is_remote`) or to or from global memory. */
static uint32_t moved_bytes(const IsaBulk *copy, bool is_remote) {
    if (!is_of_memory(copy))
        return !is_remote ? 0 : copy->kind == ISA_BULK_ARRIVE ? ARRIVAL_BYTES : copy->bytes;
    uint32_t bytes = copy->row_bytes;
    for (int i = 0; i < ISA_BULK_DIMENSIONS; i++)
        bytes *= copy->rows[i];
    return bytes;
}

static uint64_t row_address(const IsaBulk *copy, uint32_t row) {
    uint64_t address = copy->global;
    if (copy->pixels.dimensions)
        return address + isa_pixels_offset(&copy->pixels) + row % copy->rows[1] * copy->stride[1];
    for (int i = 0; i < ISA_BULK_DIMENSIONS; i++) {
        address += row % copy->rows[i] * copy->stride[i];
        row /= copy->rows[i];
    }
    return address;
}

/* Whether the next row must be located: the job has just sent all bytes of a pixel. */
static bool is_pixel_sent(const SmBulkJob *job) {
    return job->copy.pixels.dimensions && job->sent < job->bytes &&
           job->sent % (job->copy.row_bytes * job->copy.rows[1]) == 0;
}

/* Advances to the next pixel inside the tensor; there must be one. */
static void find_pixel(IsaPixels *pixels) {
    do
        isa_pixels_advance(pixels);
    while (!isa_pixels_are_inside(pixels));
}

/* The next packet of a job that goes to another SM. */
static SmSend next_packet(const SmBulk *bulk, uint32_t index, uint32_t *bytes) {
    const SmBulkJob *job = &bulk->jobs[index];
    const uint32_t left = job->bytes - job->sent;
    *bytes = left < REMOTE_PACKET ? left : REMOTE_PACKET;
    return (SmSend){.access = {.address = job->copy.shared + job->sent,
                               .sectors = 1,
                               .bytes = (uint16_t)*bytes,
                               .pc = SM_NO_PC},
                    .waiting = index,
                    .op = MEM_OP_WRITE,
                    .client = bulk->client,
                    .warp = job->warp};
}

/* The next part of a job, at most one line of global memory. */
static SmSend next_part(const SmContext *sm, const SmBulk *bulk, uint32_t index, uint32_t *bytes) {
    const SmBulkJob *job = &bulk->jobs[index];
    const uint32_t line = sm->config->l1d.line_bytes, sector = sm->env.l2_sector_bytes;
    const uint32_t in_row = job->sent % job->copy.row_bytes;
    const uint64_t at = row_address(&job->copy, job->sent / job->copy.row_bytes) + in_row;
    const uint64_t address = at & ~(uint64_t)(sector - 1);
    const uint32_t left = job->copy.row_bytes - in_row, room = line - (uint32_t)(at % line);
    const uint32_t skipped = (uint32_t)(at - address);
    *bytes = left < room ? left : room;
    const uint32_t end = skipped + *bytes;
    const bool is_whole = skipped == 0 && end % sector == 0;
    const bool is_prefetch = job->copy.kind == ISA_BULK_PREFETCH;
    const bool is_write = is_prefetch || job->copy.kind == ISA_BULK_STORE;
    const uint32_t sectors = context_sectors_of(sm, end);
    return (SmSend){
        .access = {.address = address,
                   .sectors = sectors,
                   .bytes = (uint16_t)(bits_count32(sectors) * (int)sector),
                   .pc = SM_NO_PC,
                   .written = is_write && !is_whole ? (((SmBytes)1 << *bytes) - 1) << skipped : 0},
        .waiting = index,
        .op = is_write                            ? MEM_OP_WRITE
              : job->copy.kind == ISA_BULK_REDUCE ? MEM_OP_ATOMIC
                                                  : MEM_OP_READ,
        .client = bulk->client,
        .warp = job->warp,
        .advice = is_prefetch ? MEM_ADVICE_PREFETCH : MEM_ADVICE_NONE};
}

/* Each delivery gets a copy of the replies to a request. */
static void expect_copies(SmBulk *bulk, uint32_t index, uint32_t sectors) {
    for (uint32_t i = bulk->jobs[index].delivery; i != NO_JOB; i = bulk->jobs[i].delivery)
        bulk->jobs[i].under_way += (uint32_t)bits_count32(sectors);
}

/* Sends the next request of a job. Returns its size in bytes; 0: no room. */
static uint32_t send_part(SmBulk *bulk, SmContext *sm, SmPort *port, uint32_t index) {
    const SmBulkJob *job = &bulk->jobs[index];
    uint32_t bytes;
    if (job->sm == BULK_TO_MEMORY) {
        const SmSend part = next_part(sm, bulk, index, &bytes);
        if (!port_send(port, sm, &part)) return 0;
        expect_copies(bulk, index, part.access.sectors);
        return bytes;
    }
    const SmSend packet = next_packet(bulk, index, &bytes);
    return port_send_to(port, sm, &packet, endpoint_sm(job->sm)) ? bytes : 0;
}

static bool has_arrived(const SmBulkJob *delivery) {
    return delivery->sent == delivery->bytes && !delivery->under_way;
}

/* All requests of the job have been sent: its deliveries expect no further copies. */
static void end_deliveries(SmBulk *bulk, uint32_t index) {
    for (uint32_t i = bulk->jobs[index].delivery; i != NO_JOB; i = bulk->jobs[i].delivery) {
        bulk->jobs[i].sent = bulk->jobs[i].bytes;
        if (has_arrived(&bulk->jobs[i])) push(bulk, &bulk->delivered, i);
    }
}

/* Sends the next request of the oldest job that still has bytes to send. */
static void send(SmBulk *bulk, SmContext *sm, SmPort *port) {
    const uint32_t index = bulk->sending.first;
    if (index == NO_JOB || bulk->jobs[index].from > sm->cycle) return;
    SmBulkJob *job = &bulk->jobs[index];
    if (job->sent < job->bytes) {
        if (bulk->under_way >= sm->config->bulk_requests) return;
        const uint32_t bytes = send_part(bulk, sm, port, index);
        if (!bytes) return;
        job->sent += bytes;
        job->under_way++;
        bulk->under_way++;
        if (is_pixel_sent(job)) find_pixel(&job->copy.pixels);
    }
    if (job->sent < job->bytes) return;
    pop(bulk, &bulk->sending);
    end_deliveries(bulk, index);
    if (!job->under_way) push(bulk, &bulk->ended, index);
}

static void answered(void *agent, SmContext *sm, const MemRequest *request) {
    SmBulk *bulk = agent;
    SmBulkJob *job = &bulk->jobs[request->waiting];
    (void)sm;
    bulk->under_way--;
    job->under_way--;
    if (job->sent == job->bytes && !job->under_way) push(bulk, &bulk->ended, request->waiting);
}

uint32_t bulk_copies(const SmBulk *bulk, const MemRequest *request,
                     SmDelivery copies[SM_MOST_COPIES]) {
    uint32_t count = 0;
    if (!bulk->is_attached || request->client != bulk->client) return 0;
    for (uint32_t i = bulk->jobs[request->waiting].delivery; i != NO_JOB;
         i = bulk->jobs[i].delivery)
        copies[count++] = (SmDelivery){bulk->jobs[i].sm, i};
    return count;
}

void bulk_delivered(SmBulk *bulk, uint32_t delivery) {
    SmBulkJob *job = &bulk->jobs[delivery];
    job->under_way--;
    if (has_arrived(job)) push(bulk, &bulk->delivered, delivery);
}

/* ---- Ends ---- */

static bool holds_warp(const IsaBulk *copy) { return copy->kind != ISA_BULK_PREFETCH; }

/* Completes a copy. Its effect on other CTAs of a cluster is announced at the end of the cycle
 * (sm_look_again). */
static void end(SmContext *sm, struct SmGrid *grid, int warp, const IsaBulk *copy) {
    WarpSource *source = grid->source;
    SourceWarp *handle = sm->warps.warp[warp].handle;
    SourcePlace places[SOURCE_MOST_PLACES];
    const uint32_t count =
        source->has_clusters ? source->type->places(source, handle, copy, places) : 0;
    source->type->bulk_done(source, handle, copy);
    if (!sm->fault && source->type->fault(source)) {
        sm->fault = source->type->fault(source);
        sm->failed = grid;
    }
    for (uint32_t i = 0; i < count; i++)
        sm->listener.look_again(sm->listener.user, places[i]);
    if (!count && (copy->kind == ISA_BULK_LOAD || copy->kind == ISA_BULK_LOCAL))
        warps_phase_changed(sm, warp);
}

/* Completes the barriers whose release cycle has come. */
static void release(SmBulk *bulk, const SmContext *sm) {
    while (bulk->releasing.first != NO_JOB && bulk->jobs[bulk->releasing.first].from <= sm->cycle) {
        const uint32_t index = pop(bulk, &bulk->releasing);
        push(bulk, &bulk->ended, index);
    }
}

/* Completes the oldest job of a list. */
static void end_first(SmBulk *bulk, SmContext *sm, SmBulkList *list) {
    const uint32_t index = pop(bulk, list);
    const SmBulkJob *job = &bulk->jobs[index];
    if (holds_warp(&job->copy)) {
        if (!job->is_empty) end(sm, job->grid, job->warp, &job->copy);
        warps_copy_done(&sm->warps, job->warp, job->group);
        events_post(&sm->events, SM_EVENT_WAIT_DONE, job->warp);
    }
    push(bulk, &bulk->unused, index);
}

/* Completes at most one job per cycle, and all deliveries: these are on other SMs. */
static void end_some(SmBulk *bulk, SmContext *sm) {
    while (bulk->delivered.first != NO_JOB)
        end_first(bulk, sm, &bulk->delivered);
    if (bulk->ended.first != NO_JOB) end_first(bulk, sm, &bulk->ended);
}

static void step(void *agent, SmContext *sm, SmPort *port) {
    release(agent, sm);
    end_some(agent, sm);
    send(agent, sm, port);
}

static uint64_t next_step(const void *agent) {
    const SmBulk *bulk = agent;
    if (bulk->ended.first != NO_JOB || bulk->delivered.first != NO_JOB) return 0;
    const SmBulkList *lists[] = {&bulk->sending, &bulk->releasing};
    uint64_t next = UINT64_MAX;
    for (int i = 0; i < 2; i++)
        if (lists[i]->first != NO_JOB && bulk->jobs[lists[i]->first].from < next)
            next = bulk->jobs[lists[i]->first].from;
    return next;
}

static const SmAgentOps operations = {.answered = answered, .step = step, .next_step = next_step};

/* ---- Starts ---- */

/* The SM that a copy goes to; BULK_TO_MEMORY if it goes to global memory or to this SM. */
static uint32_t target_of(const SmContext *sm, const SmWarp *w, const IsaBulk *copy) {
    const WarpSource *source = w->grid->source;
    SourcePlace places[SOURCE_MOST_PLACES];
    if (is_of_memory(copy) || copy->kind == ISA_BULK_RELEASE || !copy->ranks) return BULK_TO_MEMORY;
    const uint32_t count = source->type->places(source, w->handle, copy, places);
    return count && places[0].sm != sm->env.index ? places[0].sm : BULK_TO_MEMORY;
}

/* The delivery of the job to that SM, a new one if it has none. */
static uint32_t delivery_to(SmBulk *bulk, SmContext *sm, uint32_t index, uint32_t target) {
    for (uint32_t i = bulk->jobs[index].delivery; i != NO_JOB; i = bulk->jobs[i].delivery)
        if (bulk->jobs[i].sm == target) return i;
    const uint32_t delivery = new_job(bulk);
    SmBulkJob *of = &bulk->jobs[index], *made = &bulk->jobs[delivery];
    *made = *of;
    made->copy.ranks = 0;
    made->sm = target;
    of->delivery = delivery;
    warps_issued(&sm->warps, of->warp);
    return delivery;
}

/* Divides the destination CTAs of a load among this SM and deliveries to others. CTAs that have
 * exited stay with this SM: the end of the copy reports them. */
static void add_deliveries(SmBulk *bulk, SmContext *sm, uint32_t index) {
    const SmBulkJob *job = &bulk->jobs[index];
    const WarpSource *source = job->grid->source;
    const SourceWarp *handle = sm->warps.warp[job->warp].handle;
    const uint32_t all = job->copy.ranks;
    IsaBulk one = job->copy;
    for (uint32_t rest = all; rest; rest &= rest - 1) {
        SourcePlace places[SOURCE_MOST_PLACES];
        one.ranks = (uint16_t)(rest & -rest);
        if (!source->type->places(source, handle, &one, places)) continue;
        if (places[0].sm == sm->env.index) continue;
        const uint32_t delivery = delivery_to(bulk, sm, index, places[0].sm);
        bulk->jobs[delivery].copy.ranks |= one.ranks;
        bulk->jobs[index].copy.ranks &= (uint16_t)~one.ranks;
    }
    bulk->jobs[index].is_empty = all && !bulk->jobs[index].copy.ranks;
}

static void add(SmBulk *bulk, SmContext *sm, int warp, const IsaBulk *copy) {
    SmWarp *w = &sm->warps.warp[warp];
    const struct DeviceMemory *memory = w->grid->source->memory;
    const bool is_in_group = copy->kind == ISA_BULK_STORE || copy->kind == ISA_BULK_REDUCE;
    const bool is_release = copy->kind == ISA_BULK_RELEASE;
    const uint32_t index = new_job(bulk), target = target_of(sm, w, copy);
    const uint32_t start = is_release ? sm->config->cluster_barrier : sm->config->bulk_start;
    bulk->jobs[index] = (SmBulkJob){.copy = *copy,
                                    .grid = w->grid,
                                    .bytes = moved_bytes(copy, target != BULK_TO_MEMORY),
                                    .sm = target,
                                    .from = sm->cycle + start,
                                    .delivery = NO_JOB,
                                    .warp = (uint8_t)warp,
                                    .group = is_in_group ? warps_copy_issued(&sm->warps, warp) : 0};
    if (memory && is_of_memory(copy))
        bulk->jobs[index].copy.global = mem_seen_address(memory, copy->global);
    if (holds_warp(copy)) warps_issued(&sm->warps, warp);
    if (copy->kind == ISA_BULK_LOAD) add_deliveries(bulk, sm, index);
    push(bulk, is_release ? &bulk->releasing : &bulk->sending, index);
}

void bulk_begin(SmBulk *bulk, SmContext *sm, int warp) {
    const IsaBulk *copies;
    SmGrid *grid = sm->warps.warp[warp].grid;
    const uint32_t count = grid->source->type->bulk(grid->source, &copies);
    const bool has_unit = sm->config->bulk_requests != 0;
    if (has_unit && !bulk->is_attached) {
        bulk->client = (uint8_t)agent_client(sm_attach(bulk->owner, &operations, bulk));
        bulk->is_attached = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (has_unit) add(bulk, sm, warp, &copies[i]);
        else if (holds_warp(&copies[i])) end(sm, grid, warp, &copies[i]);
    }
}
