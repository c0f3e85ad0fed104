/* The bench for testing a stage of the SM: a context on a machine that the test configures, with
 * ideal networks, a policy that records what it receives, and instructions that are rows of a
 * table, not PTX. There is no GPU; time advances when the test says so. */
#ifndef TYTO_TESTS_SM_STAGE_H
#define TYTO_TESTS_SM_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/machine_file.h"
#include "issue_stream/interpreter.h"
#include "sm/context.h"
#include "sm/inbox.h"
#include "sm/port.h"

enum { STAGE_PROGRAM = 32, STAGE_REGS = 256, STAGE_SLICES = 12, STAGE_SM = 1, STAGE_SMS = 4 };

/* An instruction under test: registers by number, which is also their ordinal. */
typedef struct StageInst {
    IsaClass op_class;
    IsaMemoryKind memory;
    PtxSpace space;
    uint8_t bytes, vector; /* of an element; elements of a lane, 0: 1 */
    uint8_t dst_count, src_count;
    uint8_t dst[4], src[4];
} StageInst;

enum { STAGE_ISSUES = 256 };

/* An instruction that was issued. */
typedef struct StageIssue {
    uint64_t cycle;
    int warp;
    uint32_t pc;
} StageIssue;

/* What the recording policy has received. */
typedef struct StageHeard {
    uint32_t count[TYTO_EVENTS];
    TytoEvent last;
    uint32_t issued;
    StageIssue issues[STAGE_ISSUES]; /* the first ones */
    uint64_t elapsed;
} StageHeard;

typedef struct Stage {
    SmContext sm;
    SmGrid grid;        /* of all warps */
    Interpreter source; /* stage_execute() chooses its instructions */
    IsaCta ctas[SM_MAX_CTAS];
    WarpProgram rows;
    Machine *machine;
    const MachineConfig *config;
    AddressMap map;
    Noc *requests, *replies;
    SmInbox inbox;
    SchedPolicy policy;
    uint64_t wake;
    uint32_t inst_count, reg_count;
    SmOp ops[STAGE_PROGRAM];
    IsaInfo infos[STAGE_PROGRAM];
    IsaInst program[STAGE_PROGRAM];
    IsaReg regs[STAGE_REGS];
} Stage;

/* gtx480 with `settings` (key=value, separated by blanks, may be "") applied. The network takes one
 * cycle, and accepts no packet while `packets` are under way to one slice. */
Stage *stage_new(const char *settings, int packets);
void stage_free(Stage *stage);

/* Makes the grid belong to this launch, whose program is the stage's. */
void stage_execute(Stage *stage, const IsaLaunch *launch);
/* Adds an instruction to the program; returns its pc. */
uint32_t stage_program(Stage *stage, const StageInst *inst);
/* Puts an instruction of a warp under way; returns its index. */
uint16_t stage_inst(Stage *stage, uint32_t pc, uint8_t warp);
/* The same for the load/store unit, with `count` accesses of 128 bytes from `address` on. */
uint16_t stage_memory_inst(Stage *stage, uint32_t pc, uint8_t warp, SmPath path, uint64_t address,
                           uint16_t count);

/* Begins the next cycle; the events of the last one are cleared. */
void stage_cycle(Stage *stage);
/* Whether exactly this event was posted in the cycle; whether exactly this warp was fetched for;
 * whether nothing was posted. */
bool stage_has_event(const Stage *stage, SmEventKind kind, uint32_t index);
bool stage_has_fetched(const Stage *stage, int warp);
bool stage_is_silent(const Stage *stage);
const StageHeard *stage_heard(const Stage *stage);

/* Advances the networks by one cycle. */
void stage_move(Stage *stage);
/* The next packet that has arrived at any slice; NULL if there is none. */
MemRequest *stage_sent(Stage *stage, const SmPort *port);
/* Sends `packets` replies to a request on their way to the SM. */
void stage_reply(Stage *stage, const MemRequest *request, int packets);
/* The SM's part of a cycle in which replies arrive: the result of port_offer for the oldest one
 * that waits, NULL if there is none. */
MemRequest *stage_receive(Stage *stage, SmPort *port);
/* Moves the networks and replies until `port` has them for its load/store unit. */
void stage_deliver(Stage *stage, SmPort *port);

#endif
