/* Writers of the lists (see the header). */
#include "sched/listing.h"

#include "sched/choice.h"
#include "sched/spec.h"

static const PolicyKind *const KINDS[] = {&sched_kind_warp, &sched_kind_cta};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static const char VALUE[] = "NAME[:parameter=value,...], or a shared object's path";

static void list_parameter(Text *out, const TytoPolicyParameter *row) {
    text_printf(out, "      %s=", row->name);
    spec_write_value(out, row, row->initial);
    text_add(out, " (");
    spec_write_bounds(out, row);
    text_printf(out, ")\n          %s\n          [%s]\n", row->meaning, row->source);
}

void sched_list(Text *out) {
    const void *policy;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        text_printf(out, "%s%s (%s %s)\n", kind ? "\n" : "", KINDS[kind]->title,
                    KINDS[kind]->option, VALUE);
        for (int i = 0; (policy = KINDS[kind]->at(i)) != NULL; i++) {
            PolicyFace entry = KINDS[kind]->face(policy);
            text_printf(out, "\n  %s\n      %s\n", entry.name, entry.summary);
            for (uint32_t p = 0; p < entry.parameter_count; p++)
                list_parameter(out, &entry.parameters[p]);
        }
    }
}

/* Adds a cell of a table, in which a bar must be escaped. */
static void add_cell(Text *out, const char *cell) {
    for (; *cell; cell++)
        text_printf(out, *cell == '|' ? "\\%c" : "%c", *cell);
}

static void document_parameter(Text *out, const TytoPolicyParameter *row) {
    Text bounds = {0};
    spec_write_bounds(&bounds, row);
    text_printf(out, "| `%s` | ", row->name);
    spec_write_value(out, row, row->initial);
    text_add(out, " | ");
    add_cell(out, text_string(&bounds));
    text_add(out, " | ");
    add_cell(out, row->meaning);
    text_printf(out, " | %s |\n", row->source);
    text_free(&bounds);
}

void sched_document(Text *out) {
    const void *policy;
    text_add(out,
             "# Schedulers\n\nThis page lists every warp and CTA scheduler, with its parameters "
             "and their sources. It is for those who choose a\nscheduler or compare several. It "
             "is made from the tables in `src/sched/`; `tyto schedulers` prints the same.\nTo "
             "write your own, read [writing-a-scheduler.md](writing-a-scheduler.md).\n\nA policy "
             "sees one SM. An SM has one scheduler or several, and each of them asks the policy "
             "for one of its own warps:\nwarp slot w belongs to scheduler w mod their number. "
             "State of the SM (groups of CTAs, PRO's priorities, CCWS's scores,\nthe limit of "
             "`swl`) is kept once, over all warps of the SM. Each scheduler picks the first "
             "of its own warps in that\norder. State of a scheduler (fetch groups, active sets, "
             "the greedy warp) is kept for each scheduler. Sub-cores\n(`sm.subcores`) do not "
             "change this: they only affect which warps can issue.\n\nKernels of several streams "
             "may share the SMs. A warp scheduler keeps its state when CTAs of another kernel "
             "arrive. It\nstarts again only when a kernel begins on an empty machine. Its view "
             "has `warps_per_cta` and `cta_limit` of the first\nkernel, and "
             "`last_cta_dispatched` is set when no kernel has a CTA left. A CTA scheduler has a "
             "state for each kernel, with\nthat kernel's CTAs. CTAs of other kernels also limit "
             "how many of them an SM holds.\n");
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        text_printf(out, "\n## %s\n\n`%s %s`\n", KINDS[kind]->title, KINDS[kind]->option, VALUE);
        for (int i = 0; (policy = KINDS[kind]->at(i)) != NULL; i++) {
            PolicyFace entry = KINDS[kind]->face(policy);
            text_printf(out, "\n### %s\n\n%s.\n", entry.name, entry.summary);
            if (!entry.parameter_count) continue;
            text_add(
                out,
                "\n| parameter | default | values | meaning | source |\n|---|---|---|---|---|\n");
            for (uint32_t p = 0; p < entry.parameter_count; p++)
                document_parameter(out, &entry.parameters[p]);
        }
    }
}
