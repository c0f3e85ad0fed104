/* GPGPU-Sim 4.2, the simulator of machines gtx480, qv100 and rtx3070, and the default. `read`: from
 * its source; `measured`: with kernels that ran in it (docs/fidelity.md); `default`: the model's
 * own value, which none of the kernels on that page contradicts. */
#include "machine/quirks.h"

#include <stddef.h>

const Quirk quirks_gpgpu_sim_4_2[] = {
    /* thread blocks and instructions */
    {"cta.resumes_scan", "yes", "4.2, measured"},
    {"fetch.crosses_lines", "yes", "4.2, measured: its accesses to the L1I"},
    {"fetch.asks_again", "no", "default"},
    {"scheduler.alternates", "yes", "4.2, read"},
    /* shared memory: a pass reads any words of different banks, each for all lanes that need it */
    {"shared.lone_broadcasts", "no", "default"},
    {"shared.one_broadcast", "no", "default"},
    /* load/store unit: parallel pipelines, with their own write-back ports */
    {"lsu.descends", "yes", "4.2, read"},
    {"lsu.row_stages", "0", "default"},
    {"lsu.enters_at_once", "no", "default"},
    {"lsu.acknowledges_stores", "yes", "4.2, measured"},
    {"lsu.textures_in_order", "no", "default"},
    {"lsu.stalls_pipeline", "no", "4.2, read"},
    {"lsu.loads_block", "no", "default"},
    {"l1d.stores_need_way", "no", "default"},
    /* network, L2 and DRAM */
    {"noc.replies_have_header", "yes", "default"},
    {"partition.acknowledges_late", "no", "default"},
    {"partition.port_moves_victims", "no", "default"},
    {"partition.write_backs_first", "no", "default"},
    {"l2.store_mshrs", "no", "default"},
    {"dram.groups_lie_together", "no", "default"},
    {"dram.one_command", "no", "default"},
    {"dram.forgets_writes", "no", "default"},
    {NULL, NULL, NULL},
};
