/* Writers of the lists (see the header). */
#include "sched/listing.h"

#include <stdbool.h>

#include "sched/cta_policy.h"
#include "sched/registry.h"
#include "sched/spec.h"

/* What the two kinds of scheduler have in common. */
typedef struct Entry {
    const char *name, *summary;
    const TytoPolicyParameter *parameters;
    uint32_t parameter_count;
} Entry;

typedef bool EntryAt(int i, Entry *entry); /* false past the end */

static bool warp_entry(int i, Entry *entry) {
    const TytoPolicy *p = sched_policy_at(i);
    if (p) *entry = (Entry){p->name, p->summary, p->parameters, p->parameter_count};
    return p != NULL;
}

static bool cta_entry(int i, Entry *entry) {
    const CtaPolicy *p = cta_policy_at(i);
    if (p) *entry = (Entry){p->name, p->summary, p->parameters, p->parameter_count};
    return p != NULL;
}

static const struct {
    const char *title, *option;
    EntryAt *at;
} KINDS[] = {
    {"Warp schedulers", "--scheduler NAME[:parameter=value,...], or a shared object's path",
     warp_entry},
    {"CTA schedulers", "--cta-scheduler NAME[:parameter=value,...]", cta_entry},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static void list_parameter(Text *out, const TytoPolicyParameter *row) {
    text_printf(out, "      %s=", row->name);
    spec_write_value(out, row, row->initial);
    text_add(out, " (");
    spec_write_bounds(out, row);
    text_printf(out, ")\n          %s\n          [%s]\n", row->meaning, row->source);
}

void sched_list(Text *out) {
    Entry entry;
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        text_printf(out, "%s%s (%s)\n", kind ? "\n" : "", KINDS[kind].title, KINDS[kind].option);
        for (int i = 0; KINDS[kind].at(i, &entry); i++) {
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
    Entry entry;
    text_add(out, "# Schedulers\n\nThis page is made from the schedulers' own tables "
                  "(`src/sched/`); `tyto schedulers` prints the same.\nTo write one of your own: "
                  "[writing-a-scheduler.md](writing-a-scheduler.md).\n");
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        text_printf(out, "\n## %s\n\n`%s`\n", KINDS[kind].title, KINDS[kind].option);
        for (int i = 0; KINDS[kind].at(i, &entry); i++) {
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
