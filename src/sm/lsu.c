/* The load/store unit (see the header). */
#include "sm/lsu.h"

#include "sm/l1d_policy.h"

enum { RETURN_PLACES = 65536 /* accesses that wait for the write-back port, per source */ };

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

/* ---- The linear pipeline ---- */

/* Writes back the instructions that are due by `cycle`. */
static void row_advance(SmRow *row, uint64_t cycle) {
    for (; row->count; row->count--) {
        uint64_t due = row->due[row->head];
        if (due < row->free_at) due = row->free_at;
        if (due > cycle) break;
        row->free_at = due + row->interval;
        row->head = (uint8_t)((row->head + 1) % SM_MAX_STAGES);
    }
}

/* The last stage accepts what memory returned, before an instruction that gets there in this
 * cycle. */
static void row_take_return(SmRow *row, uint64_t cycle) {
    row_advance(row, cycle - 1);
    if (row->free_at < cycle) row->free_at = cycle;
    row->free_at += row->interval;
    row->next_return = cycle + row->interval;
}

void lsu_note_issue(SmLsu *lsu, uint64_t cycle) {
    SmRow *row = &lsu->row;
    row->due[(row->head + row->count++) % SM_MAX_STAGES] =
        cycle + (uint64_t)row->stages * row->interval;
    lsu->is_row_full = row->count == row->stages;
}

/* Makes the caches share their MSHRs if the machine is so configured. With textures in order, the
 * texture cache's shared MSHRs are taken and freed together with the entries of `order`. */
static void share_mshrs(SmLsu *lsu, SmL1d *l1d, const SmConfig *config) {
    lsu->mshrs_free = config->lsu.mshrs;
    lsu->shares_mshrs = config->lsu.mshrs != 0;
    if (!lsu->shares_mshrs) return;
    mshr_share(&l1d->mshr, &lsu->mshrs_free);
    mshr_share(&lsu->l1c.mshr, &lsu->mshrs_free);
    if (!lsu->order.capacity) mshr_share(&lsu->l1t.mshr, &lsu->mshrs_free);
}

void lsu_init(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port) {
    pipe_init(&lsu->shared_pipe, SM_INSTS, sm->arena);
    pipe_init(&lsu->texture_pipe, RETURN_PLACES, sm->arena);
    pipe_init(&lsu->constant_pipe, RETURN_PLACES, sm->arena);
    for (int r = 0; r < SM_RETURNS; r++)
        sm_queue_init(&lsu->returns[r], RETURN_PLACES, sm->arena);
    sm_queue_init(&lsu->chosen, SM_INSTS, sm->arena);
    read_cache_init(&lsu->l1c, sm, port, &sm->config->l1c, MEM_CLIENT_L1C);
    read_cache_init(&lsu->l1t, sm, port, &sm->config->l1t, MEM_CLIENT_L1T);
    texture_order_init(&lsu->order, sm->config, sm->arena);
    share_mshrs(lsu, l1d, sm->config);
    lsu->has_l15c = sm->config->lsu.has_l15c;
    if (lsu->has_l15c) {
        read_cache_init(&lsu->l15c, sm, port, &sm->config->l15c, MEM_CLIENT_L1C);
        read_levels_init(&lsu->constants, &lsu->l1c, 1, &lsu->l15c, sm->arena);
    }
    lsu->has_row = sm->config->lsu.row_stages != 0;
    lsu->sends = (uint8_t)sm->config->lsu.sends_per_cycle;
    lsu->row = (SmRow){.stages = (uint8_t)sm->config->lsu.row_stages,
                       .interval = (uint8_t)sm->config->scheduler.issue_interval};
    lsu->enters_at_once = sm->config->lsu.enters_at_once;
    lsu->latch = SM_NONE;
    lsu->bank = SM_NO_BANK;
    lsu->shared_from = lsu->next_due = UINT64_MAX;
}

void lsu_start_kernel(SmLsu *lsu) {
    read_cache_start_kernel(&lsu->l1c);
    read_cache_start_kernel(&lsu->l1t);
    if (lsu->has_l15c) read_cache_start_kernel(&lsu->l15c);
}

/* ---- Write-back ---- */

/* Queues an access whose data have arrived for the write-back port. */
static void access_done(SmLsu *lsu, uint16_t inst, SmReturn way) {
    sm_queue_push(&lsu->returns[way], inst);
    lsu->returns_waiting |= 1u << way;
}

/* Sources that have something for the write-back port, one bit each. */
static uint32_t returns(const SmLsu *lsu, const SmL1d *l1d, uint64_t cycle) {
    return lsu->returns_waiting | (uint32_t)l1d_has_return(l1d) << SM_RETURN_L1D |
           (uint32_t)(lsu->shared_from <= cycle) << SM_RETURN_SHARED;
}

static uint16_t peek_return(const SmLsu *lsu, const SmL1d *l1d, uint32_t way) {
    if (way == SM_RETURN_SHARED) return sm_queue_peek(&lsu->shared_pipe.queue);
    if (way == SM_RETURN_TEXTURE && lsu->order.capacity)
        return texture_order_item(&lsu->order, 0)->inst;
    return way == SM_RETURN_L1D ? l1d_peek_return(l1d) : sm_queue_peek(&lsu->returns[way]);
}

static void pop_return(SmLsu *lsu, SmL1d *l1d, uint32_t way) {
    if (way == SM_RETURN_SHARED) {
        sm_queue_pop(&lsu->shared_pipe.queue);
        lsu->shared_from = pipe_next(&lsu->shared_pipe);
        return;
    }
    if (way == SM_RETURN_L1D) {
        l1d_pop_return(l1d);
        return;
    }
    if (way == SM_RETURN_TEXTURE && lsu->order.capacity) {
        texture_order_pop(&lsu->order);
        lsu->mshrs_free += lsu->shares_mshrs;
        l1d_hear_of_mshr(l1d);
        if (!texture_order_is_ready(&lsu->order)) lsu->returns_waiting &= ~(1u << way);
        return;
    }
    sm_queue_pop(&lsu->returns[way]);
    if (!lsu->returns[way].count) lsu->returns_waiting &= ~(1u << way);
}

static bool can_write(const SmInst *inst, const SmBankWrites *writes) {
    return bank_writes_can(writes, inst->warp, inst->writes);
}

/* Loads chosen in the last cycle write their registers. A load whose register bank was already
 * written in this cycle waits. */
static void write_chosen(SmLsu *lsu, SmContext *sm, const SmBankWrites *writes) {
    bool waits_at_write = sm->config->lsu.waits_at_write;
    do {
        uint16_t inst = sm_queue_peek(&lsu->chosen);
        const SmInst *done = &sm->insts.inst[inst];
        if (waits_at_write && !can_write(done, writes)) return;
        sm_queue_pop(&lsu->chosen);
        bank_writes_add(writes, done->warp, done->writes);
        events_post(&sm->events, SM_EVENT_INST_DONE, inst);
    } while (lsu->chosen.count);
}

/* The write-back port chooses among the sources that have loads waiting. It skips a load whose
 * register bank was already written in this cycle. With waits_at_write it chooses the load all the
 * same, and the chosen load waits for its bank. */
static void choose(SmLsu *lsu, SmContext *sm, SmL1d *l1d, const SmBankWrites *writes,
                   uint32_t waiting) {
    bool waits_at_write = sm->config->lsu.waits_at_write;
    uint32_t ports = sm->config->lsu.writeback_ports, way = lsu->last_return;
    do {
        uint32_t after = waiting & ~1u << way;
        way = (uint32_t)bits_lowest32(after ? after : waiting);
        waiting &= ~(1u << way);
        uint16_t inst = peek_return(lsu, l1d, way);
        bool is_for_nobody = inst == SM_NONE; /* requested for a store */
        if (!is_for_nobody && !waits_at_write && !can_write(&sm->insts.inst[inst], writes))
            continue;
        pop_return(lsu, l1d, way);
        if (lsu->has_row && way != SM_RETURN_SHARED) {
            row_take_return(&lsu->row, sm->cycle);
            waiting &= 1u << SM_RETURN_SHARED;
        }
        lsu->last_return = (uint8_t)way;
        ports--;
        if (!is_for_nobody && insts_access_done(&sm->insts, inst))
            sm_queue_push(&lsu->chosen, inst);
    } while (waiting && ports);
}

/* Writes chosen loads and chooses others. While chosen loads wait for their banks, the port chooses
 * no other. */
static void write_back(SmLsu *lsu, SmContext *sm, SmL1d *l1d, const SmBankWrites *writes) {
    if (lsu->chosen.count) write_chosen(lsu, sm, writes);
    uint32_t waiting = returns(lsu, l1d, sm->cycle);
    if (lsu->has_row && sm->cycle < lsu->row.next_return) waiting &= 1u << SM_RETURN_SHARED;
    if (waiting && !lsu->chosen.count) choose(lsu, sm, l1d, writes, waiting);
}

static inline void drain_pipe(SmLsu *lsu, SmPipe *pipe, uint64_t cycle, SmReturn way) {
    while (pipe_next(pipe) <= cycle)
        access_done(lsu, sm_queue_pop(&pipe->queue), way);
}

/* The first cycle in which something is due in the pipes of the read-only caches or between the
 * constant caches. */
static uint64_t first_due(const SmLsu *lsu) {
    const uint64_t due[] = {pipe_next(&lsu->texture_pipe), pipe_next(&lsu->constant_pipe),
                            read_levels_next(&lsu->constants)};
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < sizeof due / sizeof *due; i++)
        if (due[i] < first) first = due[i];
    return first;
}

/* ---- Replies ---- */

/* A line has arrived at a read-only cache: queues everything that waited for it for the write-back
 * port. */
static void line_filled(SmLsu *lsu, SmReadCache *cache, SmReturn way) {
    while (mshr_has_ready(&cache->mshr))
        access_done(lsu, (uint16_t)mshr_pop(&cache->mshr), way);
}

static void constants_arrived(SmLsu *lsu, SmL1d *l1d, uint64_t line) {
    if (lsu->has_l15c) read_levels_line_arrived(&lsu->constants, line);
    else read_cache_fill(&lsu->l1c, line);
    line_filled(lsu, &lsu->l1c, SM_RETURN_CONST);
    l1d_hear_of_mshr(l1d);
}

static void texture_arrived(SmLsu *lsu, SmL1d *l1d, uint64_t line) {
    read_cache_fill(&lsu->l1t, line);
    if (!lsu->order.capacity) {
        line_filled(lsu, &lsu->l1t, SM_RETURN_TEXTURE);
        l1d_hear_of_mshr(l1d);
        return;
    }
    while (mshr_has_ready(&lsu->l1t.mshr))
        mshr_pop(&lsu->l1t.mshr);
    texture_order_arrived(&lsu->order, line);
    lsu->returns_waiting |= (uint32_t)texture_order_is_ready(&lsu->order) << SM_RETURN_TEXTURE;
}

static void bypass_arrived(SmLsu *lsu, SmContext *sm, const MemRequest *request) {
    if (request->op == MEM_OP_ATOMIC) events_post(&sm->events, SM_EVENT_ATOMIC_DONE, request->warp);
    access_done(lsu, (uint16_t)request->waiting, SM_RETURN_BYPASS);
}

static void acknowledged(SmContext *sm, const MemRequest *request) {
    if (request->waiting != SM_NO_WARP)
        events_post(&sm->events, SM_EVENT_STORE_DONE, request->waiting);
}

/* Moves on everything in the pipes and between the constant caches that is due. */
static void take_due(SmLsu *lsu, const SmContext *sm, SmL1d *l1d, SmPort *port) {
    drain_pipe(lsu, &lsu->texture_pipe, sm->cycle, SM_RETURN_TEXTURE);
    drain_pipe(lsu, &lsu->constant_pipe, sm->cycle, SM_RETURN_CONST);
    if (lsu->has_l15c && read_levels_step(&lsu->constants, sm, port)) {
        line_filled(lsu, &lsu->l1c, SM_RETURN_CONST);
        l1d_hear_of_mshr(l1d);
    }
    lsu->next_due = first_due(lsu);
}

/* Handles one reply; there must be one. (Not inlined, so that the code that every cycle runs has
 * more registers.) */
__attribute__((noinline)) static void handle_reply(SmLsu *lsu, SmContext *sm, SmL1d *l1d,
                                                   SmPort *port) {
    MemRequest *request = port_take_reply(port);
    if (!request) return;
    switch ((MemClient)request->client) {
    case MEM_CLIENT_L1D: l1d_line_arrived(l1d, sm, port, request); break;
    case MEM_CLIENT_L1C: constants_arrived(lsu, l1d, port_line_of(request)); break;
    case MEM_CLIENT_L1T: texture_arrived(lsu, l1d, port_line_of(request)); break;
    case MEM_CLIENT_BYPASS: bypass_arrived(lsu, sm, request); break;
    case MEM_CLIENT_STORE: acknowledged(sm, request); break;
    case MEM_CLIENT_L1I:
    case MEM_CLIENT_AGENT: break; /* handled by port_offer */
    }
    if (context_is_profiled(sm)) sm_profile_answered(sm->profile, request, sm->cycle);
    port_finish(port, sm, request);
}

/* ---- The latch ---- */

bool lsu_accept(SmLsu *lsu, const SmContext *sm, uint16_t inst) {
    if (!lsu_is_free(lsu)) return false;
    lsu->latch = inst;
    lsu->bank = SM_NO_BANK;
    lsu->latch_from = sm->cycle + 1;
    lsu->latch_until = sm->cycle + insts_memory_of(&sm->insts, inst)->cycles;
    return true;
}

/* Empties the latch after the instruction has sent all its accesses. Stores, and loads whose data
 * have all arrived, complete here. */
static void leave_latch(SmLsu *lsu, SmContext *sm, uint16_t inst) {
    lsu->latch = SM_NONE;
    if (insts_handed_on(&sm->insts, inst)) events_post(&sm->events, SM_EVENT_INST_DONE, inst);
}

/* The stages of the pipe count from this cycle. A load reaches the end of the pipe one cycle before
 * the port can choose it. */
static void enter_shared_pipe(SmLsu *lsu, const SmContext *sm, uint16_t inst) {
    uint32_t latency = sm->config->shared.latency;
    pipe_push(&lsu->shared_pipe, inst, sm->cycle + (latency > 2 ? latency : 2));
    lsu->shared_from = pipe_next(&lsu->shared_pipe);
}

static void access_shared(SmLsu *lsu, SmContext *sm, uint16_t inst, const SmMemory *memory) {
    if (sm->cycle < lsu->latch_until) return;
    const uint32_t depth = sm->config->shared.depth;
    if (depth && !memory->is_store && lsu->shared_pipe.queue.count >= depth) return;
    sm->counters.shared_instructions++;
    sm->counters.shared_cycles += memory->cycles;
    sm->counters.least_shared_cycles += memory->least;
    histogram_add(&sm->histograms, HISTOGRAM_shared_conflicts, memory->cycles);
    if (context_is_profiled(sm)) sm_profile_shared(sm->profile, sm->insts.inst[inst].pc, memory);
    if (!memory->is_store) enter_shared_pipe(lsu, sm, inst);
    leave_latch(lsu, sm, inst);
}

/* One access to the constant or texture cache; READ_REFUSED: it must be retried. */
static ReadResult access_read_cache(SmLsu *lsu, SmContext *sm, SmPort *port, SmReadCache *cache,
                                    SmPipe *pipe, const SmAccess *access, uint64_t *accesses,
                                    uint64_t *misses) {
    uint16_t inst = lsu->latch;
    int warp = sm->insts.inst[inst].warp;
    ReadResult result = sm->env.is_l1_perfect ? READ_HIT
                                              : read_cache_access(cache, sm, port, access->address,
                                                                  access->pc, inst, warp);
    if (result == READ_REFUSED) return result;
    ++*accesses;
    if (result == READ_WAIT) ++*misses;
    else if (cache->config->latency) pipe_push(pipe, inst, sm->cycle + cache->config->latency);
    else insts_access_done(&sm->insts, inst); /* completes when it leaves the latch */
    lsu->next_due = first_due(lsu);
    return result;
}

/* The same for the texture cache; returns false if the access must be retried. If misses complete
 * in order, each miss needs an MSHR of its own. */
static bool access_texture(SmLsu *lsu, SmContext *sm, SmPort *port, const SmAccess *access) {
    SmTextureOrder *order = &lsu->order;
    Counters *c = &sm->counters;
    const uint64_t line = access->address & ~(uint64_t)(lsu->l1t.fill_bytes - 1);
    const bool is_full = order->capacity && (order->count == order->capacity ||
                                             (lsu->shares_mshrs && !lsu->mshrs_free));
    if (is_full && !sm->env.is_l1_perfect && !read_cache_has(&lsu->l1t, line)) return false;
    ReadResult result = access_read_cache(lsu, sm, port, &lsu->l1t, &lsu->texture_pipe, access,
                                          &c->l1t_accesses, &c->l1t_misses);
    if (order->capacity && result == READ_WAIT) {
        texture_order_push(order, line, lsu->latch);
        lsu->mshrs_free -= lsu->shares_mshrs;
    }
    return result != READ_REFUSED;
}

/* Sends a load that bypasses the L1D, an atomic, or an access to another SM directly to the
 * network. */
static bool access_bypass(SmContext *sm, SmPort *port, uint16_t inst, const SmMemory *memory,
                          const SmAccess *access) {
    uint8_t warp = sm->insts.inst[inst].warp;
    SmSend send = {.access = *access,
                   .waiting = memory->advice     ? SM_NO_WARP
                              : memory->is_store ? warp
                                                 : inst,
                   .op = memory->is_atomic  ? MEM_OP_ATOMIC
                         : memory->is_store ? MEM_OP_WRITE
                                            : MEM_OP_READ,
                   .client = memory->is_store ? MEM_CLIENT_STORE : MEM_CLIENT_BYPASS,
                   .warp = warp,
                   .advice = memory->advice};
    if (memory->path == SM_PATH_BYPASS) return port_send(port, sm, &send);
    return port_send_to(port, sm, &send,
                        endpoint_sm((uint32_t)(access->address >> SM_REMOTE_SHIFT)));
}

/* Counts a global or local instruction, when its first access is sent. */
static void count_request(SmContext *sm, const SmMemory *memory, const SmAccess *access) {
    sm->counters.memory_requests++;
    sm->counters.least_accesses += memory->least;
    if (!context_is_profiled(sm)) return;
    sm_profile_count(sm->profile, access->pc, PROFILE_requests, 1);
    sm_profile_count(sm->profile, access->pc, PROFILE_least_accesses, memory->least);
}

/* Counts an access of a global or local instruction that was sent. */
static void count_access(SmContext *sm, const SmMemory *memory, const SmAccess *access) {
    if (!memory->done) count_request(sm, memory, access);
    sm->counters.coalesced_accesses++;
    if (context_is_profiled(sm)) sm_profile_count(sm->profile, access->pc, PROFILE_accesses, 1);
}

/* Moves the next access into the L1D if its bank has room. */
static inline bool enter_l1d(SmLsu *lsu, SmContext *sm, SmL1d *l1d, const SmMemory *memory) {
    const SmAccess *access = &memory->access[memory->done];
    if (!l1d_can_enter(l1d, access->address)) {
        lsu->bank = (uint8_t)l1d_bank_of(l1d, access->address);
        return false;
    }
    lsu->bank = SM_NO_BANK;
    l1d_enter(l1d, sm, lsu->latch, memory, access);
    count_access(sm, memory, access);
    return true;
}

/* The same for accesses that take another path. Returns false if the access must be retried. */
static bool try_access(SmLsu *lsu, SmContext *sm, SmPort *port, SmMemory *memory) {
    const SmAccess *access = &memory->access[memory->done];
    uint16_t inst = lsu->latch;
    Counters *c = &sm->counters;
    switch ((SmPath)memory->path) {
    case SM_PATH_CONST:
        if (sm->config->lsu.constants_hit || (lsu->has_l15c && memory->is_parameter)) {
            c->l1c_accesses++;
            insts_access_done(&sm->insts, inst); /* completes when it leaves the latch */
            return true;
        }
        return access_read_cache(lsu, sm, port, &lsu->l1c, &lsu->constant_pipe, access,
                                 &c->l1c_accesses, &c->l1c_misses) != READ_REFUSED;
    case SM_PATH_TEXTURE: return access_texture(lsu, sm, port, access);
    case SM_PATH_BYPASS:
    case SM_PATH_REMOTE:
        if (!access_bypass(sm, port, inst, memory, access)) return false;
        count_access(sm, memory, access);
        return true;
    default: return true;
    }
}

/* Moves accesses into the L1D in order, at most one per bank. Stops at the first access whose bank
 * already got one or has no room. */
static void enter_banks(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmMemory *memory) {
    uint32_t entered = 0;
    for (; memory->done < memory->count; memory->done++) {
        uint32_t bank = l1d_bank_of(l1d, memory->access[memory->done].address);
        if (entered >> bank & 1 || !enter_l1d(lsu, sm, l1d, memory)) return;
        entered |= 1u << bank;
    }
}

/* Tries an access directly from the latch, which keeps it until the L1D accepts it. This is the
 * refused access, if there is one, or the next one. */
static void access_l1d(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port, SmMemory *memory) {
    if (!lsu->looks_up) {
        if (!enter_l1d(lsu, sm, l1d, memory)) return;
        lsu->bank = (uint8_t)l1d_bank_of(l1d, memory->access[memory->done].address);
        l1d_look_up(l1d, sm, port, lsu->bank);
    }
    lsu->looks_up = !l1d_can_enter(l1d, memory->access[memory->done].address);
    if (lsu->looks_up) return;
    lsu->bank = SM_NO_BANK;
    memory->done++;
}

static void step_latch(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port) {
    uint16_t inst = lsu->latch;
    SmMemory *memory = insts_memory_of(&sm->insts, inst);
    if (memory->path == SM_PATH_SHARED) {
        access_shared(lsu, sm, inst, memory);
        return;
    }
    uint32_t tries = sm->config->lsu.accesses_per_cycle;
    lsu->is_refused = false;
    if (memory->path != SM_PATH_L1D) {
        while (memory->done < memory->count && tries-- && !lsu->is_refused)
            if (try_access(lsu, sm, port, memory)) memory->done++;
            else lsu->is_refused = true;
    } else if (!l1d->config->latency) {
        do
            access_l1d(lsu, sm, l1d, port, memory);
        while (!lsu->looks_up && memory->done < memory->count && --tries);
    } else if (l1d->bank_count > 1) {
        enter_banks(lsu, sm, l1d, memory);
    } else {
        while (memory->done < memory->count && tries-- && enter_l1d(lsu, sm, l1d, memory))
            memory->done++;
    }
    if (memory->done == memory->count) leave_latch(lsu, sm, inst);
}

/* Whether the latch holds an instruction that may try an access, and the bank that had no room for
 * it now has some. */
static bool can_go_on(const SmLsu *lsu, const SmContext *sm, const SmL1d *l1d) {
    if (lsu_is_free(lsu) | (sm->cycle < lsu->latch_from)) return false;
    return lsu->bank == SM_NO_BANK || l1d->banks[lsu->bank].count < l1d->capacity;
}

/* ---- The cycle ---- */

/* Sends the oldest misses of each cache, as many per cycle as the machine allows. */
static inline void send_misses(const SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port) {
    uint32_t left = lsu->sends;
    do {
        port_step_misses(port, sm, MEM_CLIENT_L1T);
        port_step_misses(port, sm, MEM_CLIENT_L1C);
        l1d_send_miss(l1d, sm, port);
    } while (--left);
}

void lsu_step(SmLsu *lsu, SmContext *sm, SmL1d *l1d, SmPort *port, const SmBankWrites *writes) {
    write_back(lsu, sm, l1d, writes);
    if (lsu->has_row) {
        row_advance(&lsu->row, sm->cycle);
        lsu->is_row_full = lsu->row.count == lsu->row.stages;
    }
    if (lsu->next_due <= sm->cycle) take_due(lsu, sm, l1d, port);
    if (l1d->hits_from <= sm->cycle) l1d_end_hits(l1d, sm);
    if (port_has_reply(port)) handle_reply(lsu, sm, l1d, port);
    if (port->misses_waiting) send_misses(lsu, sm, l1d, port);
    l1d_step(l1d, sm, port);
    if (__builtin_expect(l1d->has_asks, false)) l1d_policy_send(l1d, sm, port);
    if (can_go_on(lsu, sm, l1d)) step_latch(lsu, sm, l1d, port);
}

uint64_t lsu_next_event(const SmLsu *lsu, const SmL1d *l1d) {
    uint64_t next = l1d_next_event(l1d), here = lsu_next_due(lsu);
    return here < next ? here : next;
}
