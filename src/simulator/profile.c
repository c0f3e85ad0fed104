/* The profile of a simulator's launches, in the public interface. */
#include <stdlib.h>

#include "simulator/caller.h"
#include "simulator/record.h"
#include "simulator/simulator.h"

int tyto_profile_column_count(void) { return PROFILE_COLUMN_COUNT; }

TytoProfileColumn tyto_profile_column(int i) {
    CALLER_CHECK_INDEX("profile column", i, PROFILE_COLUMN_COUNT);
    const ProfileColumnRow *row = &profile_columns[i];
    return (TytoProfileColumn){.name = row->name,
                               .unit = row->unit,
                               .meaning = row->meaning,
                               .is_cause = row->sentence != NULL};
}

int tyto_profile_count(TytoSimulator *simulator) {
    simulator_lock(simulator);
    int count = simulator->run->profile ? (int)simulator->run->profile->count : 0;
    simulator_unlock(simulator);
    return count;
}

/* Kernel i of the profile of a simulator whose lock is held. */
static const ProfileKernel *kernel_at(const TytoSimulator *simulator, const char *function, int i) {
    const Profile *profile = simulator->run->profile;
    caller_check_index(function, "profiled kernel", i, profile ? (int)profile->count : 0);
    return &profile->kernels[i];
}

TytoProfileKernel tyto_profile_kernel(TytoSimulator *simulator, int i) {
    simulator_lock(simulator);
    const ProfileKernel *kernel = kernel_at(simulator, __func__, i);
    TytoProfileKernel shown = {.kernel = kernel->name,
                               .module = kernel->module,
                               .launches = kernel->launches,
                               .lines = (int)kernel->line_count};
    simulator_unlock(simulator);
    return shown;
}

TytoProfileLine tyto_profile_line(TytoSimulator *simulator, int kernel, int i) {
    simulator_lock(simulator);
    const ProfileKernel *of = kernel_at(simulator, __func__, kernel);
    CALLER_CHECK_INDEX("line", i, (int)of->line_count);
    const ProfileLine *line = &of->lines[i];
    TytoProfileLine shown = {.line = line->line,
                             .text = line->text,
                             .function = line->function,
                             .source = line->source,
                             .source_line = line->source_line,
                             .values = line->counts.of};
    simulator_unlock(simulator);
    return shown;
}
