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

/* A cell of a table ends at a bar. */
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
             "# Schedulers\n\nThis page is made from the schedulers' own tables "
             "(`src/sched/`); `tyto schedulers` prints the same.\nTo write one of your own: "
             "[writing-a-scheduler.md](writing-a-scheduler.md).\n\n"
             "On every machine a policy sees one SM with one scheduler or several, each of "
             "which asks for one of its own warps:\nwarp slot w belongs to scheduler w mod "
             "their number. What a scheme defines over an SM (groups of CTAs, PRO's\n"
             "priorities, CCWS's scores, the limit of `swl`) is kept once, over all warps of "
             "the SM, and each scheduler picks the\nfirst of its own in that order. What a "
             "scheme defines over a scheduler's warps (fetch groups, active sets, the\n"
             "greedy warp) is kept for each. Sub-cores (`sm.subcores`) change nothing of "
             "this: they decide which warps can go.\n\n"
             "Kernels of several streams may share the SMs. A warp scheduler goes on with the "
             "state it has when CTAs of another kernel\ncome: it starts over only when a kernel "
             "begins on a machine without any. Its view has the first kernel's\n"
             "`warps_per_cta` and `cta_limit`, and `last_cta_dispatched` when no kernel has a "
             "CTA left. A CTA scheduler has a state for\neach kernel, with that kernel's CTAs; "
             "how many of them an SM holds is also bounded by what other kernels' CTAs leave "
             "free.\n");
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
