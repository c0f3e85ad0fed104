/* GPGPU-Sim 3.2.2, the simulator of machines pro and md; its source has no option for any of these
 * quirks (docs/machines.md, "The machine of PRO and MD"). */
#include "machine/quirks.h"

#include <stddef.h>

const Quirk quirks_gpgpu_sim_3_2[] = {
    {"cta.resumes_scan", "yes", "3.2.2 source"},
    {"fetch.crosses_lines", "yes", "3.2.2 source"},
    {"fetch.asks_again", "yes", "3.2.2 source"},
    {"scheduler.alternates", "no", "3.2.2 source: the first always first"},
    {"lsu.descends", "yes", "3.2.2 source"},
    {"lsu.acknowledges_stores", "yes", "3.2.2 source"},
    {"lsu.stalls_pipeline", "no", "3.2.2 source: pipelines side by side"},
    {"lsu.enters_at_once", "yes", "3.2.2 source: the collector steps in that unit's cycle"},
    {"l1d.stores_need_way", "yes", "3.2.2 source"},
    {"partition.acknowledges_late", "yes", "3.2.2 source"},
    {"partition.port_moves_victims", "yes", "3.2.2 source"},
    {"dram.groups_lie_together", "yes", "3.2.2 source"},
    {"dram.one_command", "yes", "3.2.2 source"},
    {NULL, NULL, NULL},
};
