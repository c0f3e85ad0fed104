/* All memory partitions of a machine between two ideal networks, and SMs that only send and count.
 * The partition tests and benchmark send their requests through it. */
#ifndef TYTO_TESTS_PARTITION_RIG_H
#define TYTO_TESTS_PARTITION_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/machine_file.h"
#include "partition/partition.h"

enum { RIG_SMS = 4, RIG_REQUESTS = 2048 /* under way per SM */ };

typedef struct Rig {
    Machine *machine;
    MachineConfig config;
    AddressMap map;
    Noc *requests, *replies;
    Partition **partitions;
    MemRequest *pools[RIG_SMS];
    uint32_t *free[RIG_SMS];         /* stack of unused requests of each SM */
    uint32_t *replies_left[RIG_SMS]; /* replies still expected, by index of the request */
    uint32_t free_count[RIG_SMS];
    uint64_t cycle, tick;    /* the next L2 cycle and DRAM tick */
    uint64_t sent, answered; /* sectors sent, reply packets received */
    uint64_t reply_hash;     /* over every reply's request and cycle of arrival */
    uint64_t last_push;      /* L2 cycle in which the request of the last reply left its network */
    uint64_t last_arrived;   /* the record of that request */
    MemRequest last;         /* its record */
    uint64_t random;
    bool is_jumping;  /* skip the cycles and ticks in which nothing can happen, ... */
    uint64_t horizon; /* ... up to this cycle */
} Rig;

/* What a test changes in the partitions beyond the machine file. */
typedef struct RigOptions {
    bool is_l2_perfect, never_sleeps;
    DramPrefetchConfig prefetch;
} RigOptions;

/* Creates the rig for a machine by its name, with `settings` ("l2.mshrs=2", terminated by NULL)
 * applied. On errors it prints them and ends the process. */
Rig *rig_new(const char *machine, const char *const *settings, const RigOptions *options);
void rig_free(Rig *rig);

/* Sends a request from an SM. Returns false if its network is full or all its records are in use.
 * `sectors` as in MemRequest. */
bool rig_send(Rig *rig, uint32_t sm, MemOp op, uint64_t address, uint32_t sectors);
/* The same, with the whole record given: address, sectors, op, written, client, cta and, for a
 * write, bytes. 0 bytes means all bytes of its sectors. */
bool rig_send_request(Rig *rig, uint32_t sm, const MemRequest *request);

/* Runs one L2 cycle, with the ticks before it: first the partitions, then the networks and the
 * SMs. */
void rig_step(Rig *rig);
void rig_work(Rig *rig);
void rig_move(Rig *rig);
void rig_run(Rig *rig, uint64_t cycles);
/* Runs until every request is answered, for at most `limit` cycles; returns false if that is not
 * enough. */
bool rig_drain(Rig *rig, uint64_t limit);
/* Sends one request and runs until it is answered. Returns the cycles from the moment it leaves the
 * request network until its last reply enters the reply network. */
uint64_t rig_latency(Rig *rig, MemOp op, uint64_t address, uint32_t sectors);

/* The settled counters of all partitions together. */
Counters rig_counters(Rig *rig);
uint64_t rig_random(Rig *rig);

#endif
