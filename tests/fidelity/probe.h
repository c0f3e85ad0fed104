/* The probes: each measures one number on a machine, in the way in which it was measured on the
 * peer simulator. A row of the page names its probe and what to vary. */
#ifndef TYTO_TESTS_FIDELITY_PROBE_H
#define TYTO_TESTS_FIDELITY_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* A list in memory for probe_chase: node i lies at (i % group) x step + (i / group) x group_step.
 * The last is followed by the first. */
/* Which nodes a list has, where the machine's address map has to be asked: of sectors (or lines)
 * rising through memory, those ... */
typedef enum ProbeNodes {
    PROBE_PLAIN,     /* given by steps, as below */
    PROBE_ROW,       /* in the first one's row */
    PROBE_BANKS,     /* in a bank that none before is in */
    PROBE_CONFLICTS, /* in the first one's bank, and each in another row */
} ProbeNodes;

typedef struct ProbeList {
    ProbeNodes nodes;    /* not PROBE_PLAIN: `step` is the distance of those to choose from */
    uint64_t first;      /* bytes from the buffer's start to node 0 */
    uint32_t count;      /* nodes */
    uint32_t group;      /* nodes a step apart */
    uint64_t step;       /* bytes */
    uint64_t group_step; /* bytes from group to group */
    bool is_in_l2;       /* the host's copy has left it there */
} ProbeList;

typedef struct Probe Probe;
struct Probe {
    double (*measure)(const char *folder, const Probe *probe);
    const char *machine;   /* NULL: gtx480 */
    const char *op;        /* instruction or piece of code under test */
    const char *scheduler; /* NULL: gto */
    uint32_t ctas;         /* of the launch */
    uint32_t threads;      /* of a CTA; 0: a warp */
    uint32_t stride;       /* bytes from lane to lane */
    ProbeList list;
};

/* SM cycles from one instruction to the next that depends on it, one warp. */
double probe_chain(const char *folder, const Probe *probe);
/* SM cycles of a piece of code when many follow each other, `threads` of one CTA. */
double probe_piece(const char *folder, const Probe *probe);
/* The same for 16 of them. */
double probe_16_pieces(const char *folder, const Probe *probe);
/* SM cycles of a barrier when many follow each other. */
double probe_barrier(const char *folder, const Probe *probe);
/* SM cycles of a turn of the smallest loop, one warp. */
double probe_loop(const char *folder, const Probe *probe);
/* SM cycles from a load to one that needs its value as an address: global memory, shared memory. */
double probe_chase(const char *folder, const Probe *probe);
double probe_shared(const char *folder, const Probe *probe);
/* SM cycles by which a store to a cold line makes a kernel of one warp longer. */
double probe_store(const char *folder, const Probe *probe);
/* SM cycles of an empty kernel: nothing cached; instructions in L2 only; instructions in every L1I.
 */
double probe_empty_cold(const char *folder, const Probe *probe);
double probe_empty_l2(const char *folder, const Probe *probe);
double probe_empty_warm(const char *folder, const Probe *probe);

/* Per SM and cycle: warp instructions of a long loop, of the smallest loop; shared memory accesses;
 * L1D accesses. Cycles per SFU instruction and SM. */
double probe_ipc(const char *folder, const Probe *probe);
double probe_loop_ipc(const char *folder, const Probe *probe);
double probe_shared_rate(const char *folder, const Probe *probe);
double probe_l1d_rate(const char *folder, const Probe *probe);
double probe_sfu_cycles(const char *folder, const Probe *probe);
/* Cycles per instruction in a long loop on one SM, with `threads` in a CTA; per access to memory.
 */
double probe_loop_cycles(const char *folder, const Probe *probe);
/* Per cycle, the whole GPU, in a stream of `stride` MiB: read from DRAM; from L2. */
double probe_cold_stream(const char *folder, const Probe *probe);
double probe_warm_stream(const char *folder, const Probe *probe);
/* Per cycle, the whole GPU: bytes read from DRAM in a stream; bytes stored in a stream; sectors
 * read from L2 at random. DRAM ticks per 32 B and channel of the stream of reads. */
double probe_read_stream(const char *folder, const Probe *probe);
double probe_read_ticks(const char *folder, const Probe *probe);
double probe_write_stream(const char *folder, const Probe *probe);
double probe_random_sectors(const char *folder, const Probe *probe);

#endif
