#include "every.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dram/queue.h"
#include "machine/machine_file.h"
#include "sched/cta_policy.h"
#include "sched/registry.h"
#include "thin.h"

static void add(Every *list, const char *format, ...) {
    if (list->count == EVERY_MOST) abort();
    va_list values;
    va_start(values, format);
    int length = vsnprintf(list->names[list->count++], EVERY_BYTES, format, values);
    va_end(values);
    if (length < 0 || length >= EVERY_BYTES) abort();
}

void every_add(Every *list, const char *name) { add(list, "%s", name); }

void every_thin(Every *list) {
    const int step = thin_step(), count = list->count;
    if (step == 1) return;
    list->count = 0;
    for (int i = 0; i < count; i += step)
        memmove(list->names[list->count++], list->names[i], EVERY_BYTES);
}

const char *every_at(const Every *list, int i) { return list->names[i % list->count]; }

void every_machine(Every *list) {
    for (int i = 0; i < machine_shipped_count(); i++)
        add(list, "%s", machine_shipped_name(i));
}

static void add_choices(Every *list, const char *policy, const TytoPolicyParameter *parameter) {
    if (parameter->kind != TYTO_CHOICE) return;
    for (int i = 0; parameter->choices[i]; i++)
        add(list, "%s:%s=%s", policy, parameter->name, parameter->choices[i]);
}

void every_scheduler(Every *list) {
    const TytoPolicy *policy;
    for (int i = 0; (policy = sched_policy_at(i)) != NULL; i++)
        add(list, "%s", policy->name);
}

void every_scheduler_choice(Every *list) {
    const TytoPolicy *policy;
    for (int i = 0; (policy = sched_policy_at(i)) != NULL; i++)
        for (size_t p = 0; p < policy->parameter_count; p++)
            add_choices(list, policy->name, &policy->parameters[p]);
}

void every_cta_scheduler(Every *list) {
    const TytoCtaPolicy *policy;
    for (int i = 0; (policy = cta_policy_at(i)) != NULL; i++)
        add(list, "%s", policy->name);
}

void every_cta_scheduler_choice(Every *list) {
    const TytoCtaPolicy *policy;
    for (int i = 0; (policy = cta_policy_at(i)) != NULL; i++)
        for (size_t p = 0; p < policy->parameter_count; p++)
            add_choices(list, policy->name, &policy->parameters[p]);
}

void every_dram_scheduler(Every *list) {
    for (int i = 0; i < DRAM_SCHEDULER_COUNT; i++)
        add(list, "dram.scheduler=%s", dram_scheduler_names[i]);
}
