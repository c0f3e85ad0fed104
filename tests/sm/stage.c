/* The bench that a stage is tested on (see the header). */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sched/view.h"

/* ---- The recording policy ---- */

static int pick_lowest(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    (void)state, (void)view, (void)scheduler;
    return tyto_lowest(ready);
}

static void hear(void *state, const TytoSmView *view, const TytoEvent *event) {
    (void)view;
    StageHeard *heard = state;
    heard->count[event->kind]++;
    heard->last = *event;
}

static void hear_issue(void *state, const TytoSmView *view, const TytoIssue *issue) {
    StageHeard *heard = state;
    if (heard->issued < STAGE_ISSUES)
        heard->issues[heard->issued] =
            (StageIssue){.cycle = view->cycle, .warp = issue->warp, .pc = issue->pc};
    heard->issued++;
}

static void hear_time(void *state, const TytoSmView *view, uint64_t count) {
    (void)view;
    ((StageHeard *)state)->elapsed += count;
}

static const TytoPolicy recorder = {TYTO_POLICY_HEAD,
                                    .name = "recorder",
                                    .summary = "picks the lowest slot",
                                    .state_bytes = sizeof(StageHeard),
                                    .events = TYTO_WANTS(TYTO_EVENTS) - 1,
                                    .pick = pick_lowest,
                                    .issued = hear_issue,
                                    .elapsed = hear_time,
                                    .event = hear};

/* ---- The machine ---- */

static void check(const void *made, Diag *diag) {
    if (!made) fail_msg("%s", diag_text(diag));
}

static void load_machine(Stage *stage, const char *settings) {
    Diag *diag = diag_new();
    stage->machine = machine_load("gtx480", diag);
    check(stage->machine, diag);
    char *copy = strdup(settings);
    for (char *set = strtok(copy, " "); set; set = strtok(NULL, " "))
        if (!machine_set(stage->machine, set, diag)) check(NULL, diag);
    free(copy);
    stage->config = machine_finish(stage->machine, diag);
    check(stage->config, diag);
    diag_free(diag);
}

static void nobody_hears(void *user, const SmCtaEnd *end) { (void)user, (void)end; }

Stage *stage_new(const char *settings, int packets) {
    Arena *arena = arena_new();
    Stage *stage = ARENA_ARRAY(arena, Stage, 1);
    SmContext *sm = &stage->sm;
    load_machine(stage, settings);
    stage->map = machine_address_map(stage->config);
    NocConfig network = noc_config_default(NOC_IDEAL, STAGE_SMS + STAGE_SLICES);
    network.ideal_latency = 1;
    network.injection_flits = 16;
    network.ejection_flits = packets;
    stage->requests = noc_new(&network, NULL);
    network.ejection_flits = 64;
    stage->replies = noc_new(&network, NULL);
    const uint32_t room = stage->config->sm.lsu.fifo;
    inbox_init(&stage->inbox, stage->replies, STAGE_SM,
               ARENA_ARRAY(arena, uint32_t, inbox_places(room)), room);
    stage->policy = (SchedPolicy){.policy = &recorder, .text = "recorder"};
    sm->arena = arena;
    sm->config = &stage->config->sm;
    sm->env = (SmEnvironment){.config = sm->config,
                              .policy = &stage->policy,
                              .map = &stage->map,
                              .requests = stage->requests,
                              .replies = stage->replies,
                              .first_slice_node = STAGE_SMS,
                              .header_bytes = 8,
                              .l2_sector_bytes = stage->config->partition.l2_sector_bytes,
                              .index = STAGE_SM,
                              .node = STAGE_SM,
                              .sms = STAGE_SMS,
                              .wake = &stage->wake};
    sm->listener.cta_finished = nobody_hears;
    stage->grid = (SmGrid){.ops = stage->ops,
                           .infos = stage->infos,
                           .regs = stage->regs,
                           .source = &stage->source.source,
                           .cta_limit = 8};
    interpreter_init(&stage->source, stage->ctas, SM_MAX_CTAS);
    sm->view =
        (TytoSmView){SCHED_VIEW_HEAD, .warp_count = sm_config_warps(sm->config),
                     .cta_count = sm->config->ctas, .schedulers = sm->config->scheduler.count};
    for (uint32_t w = 0; w < sm->view.warp_count; w++)
        sm->view.scheduler_warps[w % sm->view.schedulers] |= UINT64_C(1) << w;
    sched_agent_init(&sm->policy, &stage->policy, &sm->view, NULL);
    sched_agent_start(&sm->policy, &sm->view);
    insts_init(&sm->insts, sm->config, arena);
    warps_init(&sm->warps, sm->config, arena);
    for (int w = 0; w < TYTO_MAX_WARPS; w++)
        sm->warps.warp[w].grid = &stage->grid;
    stage->wake = UINT64_MAX;
    return stage;
}

void stage_free(Stage *stage) {
    interpreter_free(&stage->source);
    sched_agent_free(&stage->sm.policy);
    noc_free(stage->requests);
    noc_free(stage->replies);
    machine_free(stage->machine);
    arena_free(stage->sm.arena);
}

/* ---- Instructions ---- */

void stage_execute(Stage *stage, const IsaLaunch *launch) {
    stage->rows = interpreter_program(launch->program, false);
    interpreter_start(&stage->source,
                      &(IsaContext){.program = launch->program, .launch = launch, .sm = STAGE_SM},
                      &stage->rows);
}

static void add_regs(Stage *stage, const uint8_t *numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        stage->regs[stage->reg_count++] = (IsaReg){.number = numbers[i], .ordinal = numbers[i]};
}

uint32_t stage_program(Stage *stage, const StageInst *inst) {
    uint32_t pc = stage->inst_count++;
    assert_true(pc < STAGE_PROGRAM && stage->reg_count + 8 < STAGE_REGS);
    stage->infos[pc] = (IsaInfo){.regs = stage->reg_count,
                                 .dst_count = inst->dst_count,
                                 .src_count = inst->src_count,
                                 .op_class = (uint8_t)inst->op_class,
                                 .memory = (uint8_t)inst->memory,
                                 .space = (uint8_t)inst->space,
                                 .element_bytes = inst->bytes,
                                 .vector = inst->vector ? inst->vector : 1};
    add_regs(stage, inst->dst, inst->dst_count);
    add_regs(stage, inst->src, inst->src_count);
    stage->ops[pc] = sm_op(stage->sm.config, &stage->infos[pc], stage->regs);
    return pc;
}

uint16_t stage_inst(Stage *stage, uint32_t pc, uint8_t warp) {
    SmContext *sm = &stage->sm;
    uint16_t index = insts_new(&sm->insts);
    const SmOp *op = &stage->ops[pc];
    uint32_t shift = sm->config->collector.adds_warp ? warp : 0;
    uint64_t banks = bits_low_mask((int)sm->config->collector.banks);
    sm->insts.inst[index] = (SmInst){.reads = sm_op_banks(op->reads, shift, banks),
                                     .writes = sm_op_banks(op->writes, shift, banks),
                                     .pc = pc,
                                     .lanes = UINT32_MAX,
                                     .serial = warp,
                                     .read_count = op->read_count,
                                     .memory = SM_NONE,
                                     .next = SM_NONE,
                                     .warp = warp,
                                     .unit = op->unit};
    return index;
}

uint16_t stage_memory_inst(Stage *stage, uint32_t pc, uint8_t warp, SmPath path, uint64_t address,
                           uint16_t count) {
    SmInsts *insts = &stage->sm.insts;
    uint16_t index = stage_inst(stage, pc, warp);
    SmMemory *memory = insts_next_memory(insts);
    *memory = (SmMemory){.count = count,
                         .cycles = 1,
                         .next = memory->next,
                         .access = memory->access,
                         .path = (uint8_t)path,
                         .is_store = stage->infos[pc].memory == ISA_MEMORY_STORE,
                         .is_atomic = stage->infos[pc].memory == ISA_MEMORY_ATOMIC};
    for (uint16_t i = 0; i < count; i++)
        memory->access[i] = (SmAccess){
            .address = address + i * 128u, .sectors = 0xF, .bytes = 128, .lanes = UINT32_MAX};
    insts_attach(insts, &insts->inst[index]);
    return index;
}

/* ---- Time and events ---- */

void stage_cycle(Stage *stage) {
    stage->sm.events.count = 0;
    stage->sm.events.fetched = 0;
    stage->sm.cycle++;
    stage->sm.view.cycle = stage->sm.cycle;
}

bool stage_has_event(const Stage *stage, SmEventKind kind, uint32_t index) {
    const SmEvents *events = &stage->sm.events;
    return events->count == 1 && events->items[0].kind == kind && events->items[0].index == index;
}

bool stage_has_fetched(const Stage *stage, int warp) {
    const SmEvents *events = &stage->sm.events;
    return events->count == 0 && events->fetched == UINT64_C(1) << warp;
}

bool stage_is_silent(const Stage *stage) {
    return !(stage->sm.events.count | stage->sm.events.fetched);
}

const StageHeard *stage_heard(const Stage *stage) { return stage->sm.policy.state; }

/* ---- Networks ---- */

void stage_move(Stage *stage) {
    noc_step(stage->requests);
    noc_step(stage->replies);
}

MemRequest *stage_sent(Stage *stage, const SmPort *port) {
    for (int slice = 0; slice < STAGE_SLICES; slice++) {
        uint32_t handle;
        if (!noc_peek(stage->requests, STAGE_SMS + slice, &handle)) continue;
        noc_pop(stage->requests, STAGE_SMS + slice);
        assert_int_equal(mem_handle_sm(handle), STAGE_SM);
        MemRequest *request = &port->requests[mem_handle_index(handle)];
        assert_int_equal(request->target.index, slice);
        return request;
    }
    return NULL;
}

void stage_reply(Stage *stage, const MemRequest *request, int packets) {
    for (int i = 0; i < packets; i++) {
        assert_true(noc_can_inject(stage->replies, STAGE_SMS, 8));
        noc_inject(stage->replies, STAGE_SMS, STAGE_SM, 8, request->handle);
        stage_move(stage);
    }
}

MemRequest *stage_receive(Stage *stage, SmPort *port) {
    SmInbox *inbox = &stage->inbox;
    MemRequest *line = NULL;
    uint32_t handle;
    if (inbox_has_waiting(inbox) &&
        port_offer(port, &stage->sm, stage->sm.cycle, inbox_peek(inbox), &line))
        inbox_pop(inbox);
    inbox_take(inbox, &handle);
    return line;
}

void stage_deliver(Stage *stage, SmPort *port) {
    for (int i = 0; i < 8; i++) {
        stage_move(stage);
        assert_null(stage_receive(stage, port));
    }
}
