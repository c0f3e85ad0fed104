/* The probes: each measures one number on a machine, in the same way as on the peer simulator. A
 * row of the page names its probe and the variables. */
#ifndef TYTO_TESTS_FIDELITY_PROBE_H
#define TYTO_TESTS_FIDELITY_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* A list in memory for probe_chase. Node i is at (i % group) x step + (i / group) x group_step; the
 * last node points to the first. */
/* Which sectors (or lines), in rising order, are nodes. All but PROBE_PLAIN use the machine's
 * address map. */
typedef enum ProbeNodes {
    PROBE_PLAIN,     /* given by steps (see ProbeList) */
    PROBE_ROW,       /* in the row of the first node */
    PROBE_BANKS,     /* in a bank without an earlier node */
    PROBE_CONFLICTS, /* in the bank of the first node, each in another row */
} ProbeNodes;

typedef struct ProbeList {
    ProbeNodes nodes;    /* unless PROBE_PLAIN, `step` is the distance of candidates */
    uint64_t first;      /* bytes from the buffer's start to node 0 */
    uint32_t count;      /* nodes */
    uint32_t group;      /* nodes at distance `step` */
    uint64_t step;       /* bytes */
    uint64_t group_step; /* bytes from group to group */
    bool is_in_l2;       /* a copy from the host has left it in L2 */
} ProbeList;

typedef struct Probe Probe;
struct Probe {
    double (*measure)(const char *folder, const Probe *probe);
    const char *machine;   /* NULL: gtx480 */
    const char *op;        /* instruction or piece of code under test */
    const char *scheduler; /* NULL: gto */
    uint32_t ctas;         /* CTAs of the launch */
    uint32_t threads;      /* threads of a CTA; 0: one warp */
    uint32_t stride;       /* bytes from lane to lane */
    ProbeList list;
};

/* SM cycles from an instruction to the next, dependent one, in one warp. */
double probe_chain(const char *folder, const Probe *probe);
/* SM cycles of a piece of code in a long sequence of such pieces, with `threads` in one CTA. */
double probe_piece(const char *folder, const Probe *probe);
/* The same for 16 pieces. */
double probe_16_pieces(const char *folder, const Probe *probe);
/* SM cycles of a barrier in a long sequence. */
double probe_barrier(const char *folder, const Probe *probe);
/* SM cycles of a turn of the smallest loop, in one warp. */
double probe_loop(const char *folder, const Probe *probe);
/* SM cycles from a load to the next load that uses its value as an address: global memory, shared
 * memory. */
double probe_chase(const char *folder, const Probe *probe);
double probe_shared(const char *folder, const Probe *probe);
/* SM cycles by which a store to a cold line extends a kernel of one warp. */
double probe_store(const char *folder, const Probe *probe);
/* SM cycles of an empty kernel with nothing cached, with instructions only in L2, and with
 * instructions in every L1I. */
double probe_empty_cold(const char *folder, const Probe *probe);
double probe_empty_l2(const char *folder, const Probe *probe);
double probe_empty_warm(const char *folder, const Probe *probe);

/* Per SM and cycle: warp instructions in a long loop and in the smallest loop, shared memory
 * accesses, L1D accesses. Then cycles per SFU instruction and SM. */
double probe_ipc(const char *folder, const Probe *probe);
double probe_loop_ipc(const char *folder, const Probe *probe);
double probe_shared_rate(const char *folder, const Probe *probe);
double probe_l1d_rate(const char *folder, const Probe *probe);
double probe_sfu_cycles(const char *folder, const Probe *probe);
/* Cycles per instruction in a long loop on one SM, with `threads` in a CTA; or per memory
 * access. */
double probe_loop_cycles(const char *folder, const Probe *probe);
/* Bytes per cycle for the whole GPU, in a stream of `stride` MiB: from DRAM, and from L2. */
double probe_cold_stream(const char *folder, const Probe *probe);
double probe_warm_stream(const char *folder, const Probe *probe);
/* Per cycle for the whole GPU: bytes read from DRAM in a stream, bytes stored in a stream, sectors
 * read from L2 at random. probe_read_ticks: DRAM ticks per 32 B and channel in the stream of
 * reads. */
double probe_read_stream(const char *folder, const Probe *probe);
double probe_read_ticks(const char *folder, const Probe *probe);
double probe_write_stream(const char *folder, const Probe *probe);
double probe_random_sectors(const char *folder, const Probe *probe);

#endif
