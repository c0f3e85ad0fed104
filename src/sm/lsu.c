/* Load/store unit: takes one memory instruction at a time, hands its accesses to shared memory, the
 * caches or the network, and brings results back through the write-back port. */
#include "sm/sm_internal.h"

static void pipe_init(SmPipe *pipe, uint32_t capacity, Arena *arena) {
    sm_queue_init(&pipe->queue, capacity, arena);
    pipe->due = ARENA_ARRAY(arena, uint64_t, pipe->queue.mask + 1);
}

static void pipe_push(SmPipe *pipe, uint16_t inst, uint64_t due) {
    pipe->due[(pipe->queue.head + pipe->queue.count) & pipe->queue.mask] = due;
    sm_queue_push(&pipe->queue, inst);
}

static uint64_t pipe_next(const SmPipe *pipe) {
    return pipe->queue.count ? pipe->due[pipe->queue.head] : UINT64_MAX;
}

void lsu_init(Sm *sm) {
    pipe_init(&sm->shared_pipe, SM_INSTS, sm->arena);
    pipe_init(&sm->texture_pipe, SM_RETURN_PLACES, sm->arena);
    for (int r = 0; r < SM_RETURNS; r++)
        sm_queue_init(&sm->returns[r], SM_RETURN_PLACES, sm->arena);
    sm_queue_init(&sm->chosen, SM_INSTS, sm->arena);
    read_cache_init(sm, &sm->l1c, &sm->config->l1c, MEM_CLIENT_L1C);
    read_cache_init(sm, &sm->l1t, &sm->config->l1t, MEM_CLIENT_L1T);
    l1d_init(sm);
    sm->latch = SM_NONE;
}

/* ---- Write-back ---- */

void lsu_access_done(Sm *sm, uint16_t inst, SmReturn way) {
    sm_queue_push(&sm->returns[way], inst);
    sm->returns_waiting |= 1u << way;
}

/* Ways with something for the write-back port, bit each. */
static uint32_t returns(const Sm *sm) {
    return sm->returns_waiting | (uint32_t)mshr_has_ready(&sm->l1d_mshr) << SM_RETURN_L1D;
}

static uint16_t peek_return(const Sm *sm, int way) {
    return way == SM_RETURN_L1D ? (uint16_t)mshr_peek(&sm->l1d_mshr)
                                : sm_queue_peek(&sm->returns[way]);
}

static void pop_return(Sm *sm, int way) {
    if (way == SM_RETURN_L1D) {
        mshr_pop(&sm->l1d_mshr);
        sm->l1d_freed |= SM_FREED_MSHR;
        return;
    }
    sm_queue_pop(&sm->returns[way]);
    if (!sm->returns[way].count) sm->returns_waiting &= ~(1u << way);
}

/* Whether the load's registers can be written in this cycle: its banks were not written already. */
static bool can_write(const Sm *sm, uint16_t inst) {
    return inst == SM_NONE ||
           !(collector_banks_of(sm, &sm->insts_in_flight[inst]) & sm->bank_written);
}

/* Loads chosen in the last cycle write their registers; then the port chooses again. */
static void write_back(Sm *sm) {
    while (sm->chosen.count) {
        uint16_t inst = sm_queue_pop(&sm->chosen);
        sm->bank_written |= collector_banks_of(sm, &sm->insts_in_flight[inst]);
        sm_inst_complete(sm, inst);
    }
    if (!returns(sm)) return;
    uint32_t ports = sm->config->lsu.writeback_ports;
    for (int i = 1; i <= SM_RETURNS && ports; i++) {
        int way = (int)(sm->last_return + (uint32_t)i) % SM_RETURNS;
        if (!(returns(sm) >> way & 1)) continue;
        uint16_t inst = peek_return(sm, way);
        if (!can_write(sm, inst)) continue;
        pop_return(sm, way);
        sm->last_return = (uint32_t)way;
        ports--;
        if (inst == SM_NONE) continue; /* fetched for a store: nobody waits */
        SmInst *in_flight = &sm->insts_in_flight[inst];
        if (--in_flight->remaining == 0 && in_flight->memory == SM_NONE)
            sm_queue_push(&sm->chosen, inst);
    }
}

static inline void drain_pipe(Sm *sm, SmPipe *pipe, SmReturn way) {
    while (pipe_next(pipe) <= sm->cycle)
        lsu_access_done(sm, sm_queue_pop(&pipe->queue), way);
}

/* ---- The latch ---- */

bool lsu_accept(Sm *sm, uint16_t inst) {
    if (sm->latch != SM_NONE) return false;
    const SmMemory *memory = &sm->memory_insts[sm->insts_in_flight[inst].memory];
    sm->latch = inst;
    sm->latch_from = sm->cycle + 1;
    sm->latch_until = sm->cycle + memory->cycles;
    return true;
}

/* The instruction has handed on all its accesses. Stores, and loads whose data are all there, end
 * here. */
static void leave_latch(Sm *sm, uint16_t inst) {
    SmInst *in_flight = &sm->insts_in_flight[inst];
    sm->memory_insts[in_flight->memory].next = sm->free_memory;
    sm->free_memory = in_flight->memory;
    in_flight->memory = SM_NONE;
    sm->latch = SM_NONE;
    if (in_flight->remaining == 0) sm_inst_complete(sm, inst);
}

static void access_shared(Sm *sm, uint16_t inst, SmMemory *memory) {
    if (sm->cycle < sm->latch_until) return;
    sm->counters.shared_instructions++;
    sm->counters.shared_cycles += memory->cycles;
    histogram_add(&sm->histograms, HISTOGRAM_shared_conflicts, memory->cycles);
    /* The pipe's stages count from this cycle; its end is seen one cycle before the port chooses.
     */
    if (!memory->is_store)
        pipe_push(&sm->shared_pipe, inst, sm->cycle + sm->config->shared.latency - 1);
    leave_latch(sm, inst);
}

/* One access to the constant or texture cache; false when it must be tried again. */
static bool access_read_cache(Sm *sm, uint16_t inst, SmReadCache *cache, const SmAccess *access,
                              uint64_t *accesses, uint64_t *misses) {
    int32_t entry;
    int warp = sm->insts_in_flight[inst].warp;
    ReadResult result = read_cache_access(sm, cache, access->address, inst, warp, &entry);
    if (result == READ_REFUSED) return false;
    ++*accesses;
    if (result == READ_WAIT) ++*misses;
    else if (cache->config->latency)
        pipe_push(&sm->texture_pipe, inst, sm->cycle + cache->config->latency);
    else sm->insts_in_flight[inst].remaining--;
    return true;
}

/* A load past the L1D, or an atomic, straight to the network. */
static bool access_bypass(Sm *sm, uint16_t inst, const SmMemory *memory, const SmAccess *access) {
    SmInst *in_flight = &sm->insts_in_flight[inst];
    SmSend send = {.access = *access,
                   .waiting = memory->is_store ? in_flight->warp : inst,
                   .op = memory->is_atomic  ? MEM_OP_ATOMIC
                         : memory->is_store ? MEM_OP_WRITE
                                            : MEM_OP_READ,
                   .client = memory->is_store ? MEM_CLIENT_STORE : MEM_CLIENT_BYPASS,
                   .warp = in_flight->warp};
    return port_send(sm, &send);
}

static bool try_access(Sm *sm, uint16_t inst, SmMemory *memory) {
    const SmAccess *access = &memory->access[memory->done];
    Counters *c = &sm->counters;
    switch ((SmPath)memory->path) {
    case SM_PATH_CONST:
        return access_read_cache(sm, inst, &sm->l1c, access, &c->l1c_accesses, &c->l1c_misses);
    case SM_PATH_TEXTURE:
        return access_read_cache(sm, inst, &sm->l1t, access, &c->l1t_accesses, &c->l1t_misses);
    case SM_PATH_L1D:
        if (!l1d_can_enter(sm)) return false;
        l1d_enter(sm, access, inst, memory->is_store, memory->is_local);
        c->coalesced_accesses++;
        return true;
    case SM_PATH_BYPASS:
        if (!access_bypass(sm, inst, memory, access)) return false;
        c->coalesced_accesses++;
        return true;
    default: return true;
    }
}

static void step_latch(Sm *sm) {
    uint16_t inst = sm->latch;
    if (inst == SM_NONE || sm->cycle < sm->latch_from) return;
    SmMemory *memory = &sm->memory_insts[sm->insts_in_flight[inst].memory];
    if (memory->path == SM_PATH_SHARED) {
        access_shared(sm, inst, memory);
        return;
    }
    uint32_t tries = sm->config->lsu.accesses_per_cycle;
    while (memory->done < memory->count && tries-- && try_access(sm, inst, memory))
        memory->done++;
    if (memory->done == memory->count) leave_latch(sm, inst);
}

/* ---- The cycle ---- */

void lsu_step(Sm *sm) {
    write_back(sm);
    drain_pipe(sm, &sm->shared_pipe, SM_RETURN_SHARED);
    drain_pipe(sm, &sm->texture_pipe, SM_RETURN_TEXTURE);
    port_handle_reply(sm);
    send_queue_step(sm, MEM_CLIENT_L1T);
    send_queue_step(sm, MEM_CLIENT_L1C);
    if (send_queue_step(sm, MEM_CLIENT_L1D)) sm->l1d_freed |= SM_FREED_PLACE;
    l1d_step(sm);
    step_latch(sm);
}

/* Whether the latch can only go on after the L1D has taken something back from below. */
static bool is_latch_stuck(const Sm *sm) {
    const SmMemory *memory = &sm->memory_insts[sm->insts_in_flight[sm->latch].memory];
    return memory->path == SM_PATH_L1D && sm->refusal && !l1d_can_enter(sm);
}

bool lsu_has_work(const Sm *sm) {
    if (sm->chosen.count || sm->unit_count) return true;
    if (send_queue_has_any(sm, MEM_CLIENT_L1C) || send_queue_has_any(sm, MEM_CLIENT_L1T))
        return true;
    if (sm->returns_waiting || l1d_has_work(sm)) return true;
    return sm->latch != SM_NONE && !is_latch_stuck(sm);
}

uint64_t lsu_next_event(const Sm *sm) {
    uint64_t next = l1d_next_event(sm);
    if (pipe_next(&sm->shared_pipe) < next) next = pipe_next(&sm->shared_pipe);
    if (pipe_next(&sm->texture_pipe) < next) next = pipe_next(&sm->texture_pipe);
    return next;
}
