/* Lists machines and schedulers as text. */
#include "tyto/tyto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulator/caller.h"
#include "machine/machine_file.h"
#include "machine/machine_totals.h"
#include "partition/partition.h"
#include "sched/cost.h"
#include "sched/listing.h"

int tyto_machine_count(void) { return machine_shipped_count(); }

const char *tyto_machine_name(int i) {
    CALLER_CHECK_INDEX("machine", i, machine_shipped_count());
    return machine_shipped_name(i);
}

char *tyto_machine_title(int i) {
    CALLER_CHECK_INDEX("machine", i, machine_shipped_count());
    Diag *diag = diag_new();
    Machine *machine = machine_load(machine_shipped_name(i), diag);
    const MachineConfig *config = machine ? machine_finish(machine, diag) : NULL;
    char *title = strdup(config ? config->title : "");
    machine_free(machine);
    diag_free(diag);
    return title;
}

char *tyto_machines_text(void) {
    Text out = {0};
    machine_add_heading(&out);
    for (int i = 0; i < machine_shipped_count(); i++) {
        Diag *diag = diag_new();
        Machine *machine = machine_load(machine_shipped_name(i), diag);
        const MachineConfig *config = machine ? machine_finish(machine, diag) : NULL;
        if (config) machine_add_line(config, &out);
        machine_free(machine);
        diag_free(diag);
    }
    return out.bytes;
}

char *tyto_machine_text(const char *name, int set_count, const char *const *sets, char *message,
                        size_t size_bytes) {
    Diag *diag = diag_new();
    Text out = {0};
    Machine *machine = machine_load(name, diag);
    for (int i = 0; machine && i < set_count; i++)
        machine_set(machine, sets[i], diag);
    if (diag_error_count(diag) == 0 && machine_finish(machine, diag)) machine_print(machine, &out);
    else if (size_bytes) snprintf(message, size_bytes, "%s", diag_text(diag));
    machine_free(machine);
    diag_free(diag);
    return out.bytes;
}

static TytoMachineSizes cost_machine(const MachineConfig *config) {
    return (TytoMachineSizes){.sms = config->sms,
                              .warps = sm_config_warps(&config->sm),
                              .ctas = config->sm.ctas,
                              .schedulers = config->sm.scheduler.count,
                              .l1d_lines = config->sm.l1d.size_bytes / config->sm.l1d.line_bytes,
                              .l1d_line_bytes = config->sm.l1d.line_bytes,
                              .channels = config->partitions,
                              .banks = config->dram.banks,
                              .row_bytes = config->dram.row_bytes,
                              .prefetch_bytes =
                                  partition_prefetch_bytes(&config->partition, &config->dram),
                              .queue = config->dram.queue_entries};
}

char *tyto_cost_text(const char *scheduler, const char *name, int set_count,
                     const char *const *sets, char *message, size_t size_bytes) {
    Diag *diag = diag_new();
    Text out = {0};
    SchedPolicy *policy = sched_policy_new(scheduler, diag);
    Machine *machine = machine_load(name, diag);
    for (int i = 0; machine && i < set_count; i++)
        machine_set(machine, sets[i], diag);
    const MachineConfig *config = diag_error_count(diag) ? NULL : machine_finish(machine, diag);
    if (config) {
        TytoMachineSizes sizes = cost_machine(config);
        sched_cost_text(policy, &sizes, &out);
    } else if (size_bytes) {
        snprintf(message, size_bytes, "%s", diag_text(diag));
    }
    machine_free(machine);
    sched_policy_free(policy);
    diag_free(diag);
    return out.bytes;
}

char *tyto_schedulers_text(void) {
    Text out = {0};
    sched_list(&out);
    return out.bytes;
}
