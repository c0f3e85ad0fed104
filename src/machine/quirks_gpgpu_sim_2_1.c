/* GPGPU-Sim 2.1, the simulator of machine owl: one pipeline of consecutive stages, through which a
 * warp passes as a whole. The source is that of 2.1.1b and later (docs/machines.md, "The machine of
 * OWL"); values from the paper itself are marked. */
#include "machine/quirks.h"

#include <stddef.h>

const Quirk quirks_gpgpu_sim_2_1[] = {
    {"cta.resumes_scan", "no", "2.1: from the first SM on"},
    {"shared.lone_broadcasts", "yes", "2.1: one address of several lanes, or different banks"},
    {"lsu.descends", "no", "2.1: in the order of the lanes"},
    {"lsu.row_stages", "5", "OWL table 1; 2.1: a cycle for each access that returns"},
    {"lsu.acknowledges_stores", "no", "2.1: no unit waits for a store"},
    {"lsu.textures_in_order", "yes", "2.1"},
    {"lsu.stalls_pipeline", "yes", "OWL table 1: stages in a row stop behind a full memory stage"},
    {"lsu.loads_block", "yes", "OWL section 2.1: the warp leaves until its data arrive"},
    {"noc.replies_have_header", "no", "2.1: a reply is as long as its line"},
    {"partition.write_backs_first", "yes", "2.1"},
    {"l2.store_mshrs", "yes", "2.1"},
    {"dram.one_command", "yes", "2.1"},
    {"dram.forgets_writes", "yes", "2.1: tCDLR and tWR are read, and never waited for"},
    {NULL, NULL, NULL},
};
