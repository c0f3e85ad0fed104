/* The simulator of machine ccws, which its authors released (github.com/tgrogers/ccws-2012). Its
 * version is between GPGPU-Sim 3.0.2 and 3.1.0; the paper states 3.1.0. Its source has no option
 * for any of these quirks (docs/machines.md, "The machine of CCWS"). */
#include "machine/quirks.h"

#include <stddef.h>

const Quirk quirks_gpgpu_sim_3_1[] = {
    {"cta.resumes_scan", "yes", "released source"},
    {"fetch.crosses_lines", "yes", "released source"},
    {"fetch.asks_again", "yes", "released source"},
    {"scheduler.alternates", "no", "there is one"},
    {"shared.one_broadcast", "yes", "released source"},
    {"lsu.descends", "yes", "released source"},
    {"lsu.acknowledges_stores", "yes", "released source"},
    {"lsu.stalls_pipeline", "no", "released source: pipelines side by side"},
    {"lsu.enters_at_once", "yes", "released source: the collector steps in that unit's cycle"},
    {"l1d.stores_need_way", "yes", "released source"},
    {"partition.acknowledges_late", "yes", "released source"},
    {"dram.one_command", "yes", "released source"},
    {NULL, NULL, NULL},
};
