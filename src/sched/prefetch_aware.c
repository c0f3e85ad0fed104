/* Prefetch-aware scheduling: two-level scheduling with fetch groups (sched/fetch_groups.h) whose
 * warps are not adjacent, so that consecutive warps, which tend to read consecutive lines, are in
 * different groups. The misses of one group then predict what the next groups will read, early
 * enough to prefetch it. When enough lines of a block of consecutive lines have missed, its other
 * lines are prefetched, once while the table holds the block.
 *
 * A group's lines are also in other DRAM banks than those of a group of consecutive warps; the
 * grouping alone achieves this. Source: A. Jog et al., "Orchestrated Scheduling and Prefetching for
 * GPGPUs", ISCA 2013. The paper's text was not available to us: its constants are quoted from other
 * papers. The table of blocks is ours: direct-mapped. */
#include "sched/policies.h"

#include "base/bits.h"
#include "sched/fetch_groups.h"

enum { GROUP, PREFETCH, LINES, DEMANDED, ENTRIES };

static const char *const SWITCHES[] = {"no", "yes", NULL};
#define SOURCE "Jog et al. (ISCA 2013), as others quote it"
static const TytoPolicyParameter PARAMETERS[] = {
    [GROUP] = {"group", TYTO_INTEGER, 8, 1, TYTO_MAX_WARPS, NULL, "warps in a fetch group", SOURCE},
    [PREFETCH] = {"prefetch", TYTO_CHOICE, 1, 0, 1, SWITCHES,
                  "whether lines are prefetched, or warps only grouped", SOURCE},
    [LINES] = {"lines", TYTO_INTEGER, 4, 2, 32, NULL, "lines of a block: 512 bytes of 128 each",
               SOURCE},
    [DEMANDED] = {"demanded", TYTO_INTEGER, 2, 1, 32, NULL,
                  "lines of a block that must have missed before the others are prefetched",
                  SOURCE},
    [ENTRIES] = {"entries", TYTO_INTEGER, 64, 1, 4096, NULL, "blocks that are remembered", "ours"},
};

/* A block with a line that missed. */
typedef struct Block {
    uint64_t number;   /* its address divided by its size, plus 1; 0: none */
    uint32_t demanded; /* lines that have missed, one bit each; all ones after the prefetch */
} Block;

typedef struct PrefetchAware {
    FetchGroups groups;
    uint64_t line_bytes;
    uint32_t lines, demanded, entries;
    bool prefetches;
    uint64_t asked, refused; /* prefetches since the kernel's start: accepted, refused */
    Block *blocks;           /* stored behind this struct: `entries` blocks */
} PrefetchAware;

static size_t extra_bytes(const TytoSmView *view, const double *values) {
    (void)view;
    return (size_t)values[ENTRIES] * sizeof(Block);
}

static void start(void *state, const TytoSmView *view, const double *values) {
    PrefetchAware *s = state;
    fetch_groups_start_apart(&s->groups, view, (int)values[GROUP]);
    s->line_bytes = view->line_bytes;
    s->prefetches = values[PREFETCH] != 0;
    s->lines = (uint32_t)values[LINES];
    s->demanded = (uint32_t)values[DEMANDED];
    s->entries = (uint32_t)values[ENTRIES];
    s->blocks = (Block *)(void *)((char *)state + bits_align_up(sizeof *s, 64));
}

static int pick(void *state, const TytoSmView *view, int scheduler, uint64_t ready) {
    return fetch_groups_pick(state, view, scheduler, ready, 0);
}

static void issued(void *state, const TytoSmView *view, const TytoIssue *issue) {
    (void)view;
    fetch_groups_issued(state, issue);
}

/* Prefetches all sectors of a line, or the line if it has none. */
static void prefetch_line(PrefetchAware *s, const TytoSmView *view, uint64_t address) {
    for (uint64_t at = 0; at < s->line_bytes; at += view->fill_bytes) {
        if (tyto_prefetch(view, address + at, 0)) s->asked++;
        else s->refused++;
    }
}

static void prefetch_rest(PrefetchAware *s, const TytoSmView *view, const Block *block) {
    const uint64_t first = (block->number - 1) * s->lines;
    for (uint32_t i = 0; i < s->lines; i++)
        if (!(block->demanded >> i & 1)) prefetch_line(s, view, (first + i) * s->line_bytes);
}

static void missed(PrefetchAware *s, const TytoSmView *view, uint64_t address) {
    const uint64_t line = address / s->line_bytes, number = line / s->lines + 1;
    Block *block = &s->blocks[number % s->entries];
    if (block->number != number) *block = (Block){.number = number};
    block->demanded |= UINT32_C(1) << (line % s->lines);
    if ((uint32_t)bits_count32(block->demanded) < s->demanded) return;
    prefetch_rest(s, view, block);
    block->demanded = (uint32_t)bits_low_mask((int)s->lines);
}

static void event(void *state, const TytoSmView *view, const TytoEvent *event) {
    PrefetchAware *s = state;
    if (event->kind == TYTO_EVENT_WARP_FINISHED) fetch_groups_finished(&s->groups, event->warp);
    else if (s->prefetches && !event->is_pending) missed(s, view, event->address);
}

static void report(void *state, const TytoSmView *view, const TytoReport *out) {
    (void)view;
    const PrefetchAware *s = state;
    out->value(out->context, "prefetches_asked", "requests", (double)s->asked);
    out->value(out->context, "prefetches_refused", "requests", (double)s->refused);
}

static void storage(const double *values, const TytoMachineSizes *m, const TytoStorage *out) {
    const uint32_t block = m->l1d_line_bytes * (uint32_t)values[LINES];
    const uint64_t tag = 48 - tyto_bits_for(block); /* of 48-bit addresses */
    if (values[PREFETCH] == 0) return;
    out->bits(out->context, "blocks: a tag, and a bit for each line", "ours",
              (uint64_t)values[ENTRIES] * (tag + (uint64_t)values[LINES]), 0);
}

const TytoPolicy sched_prefetch_aware = {
    TYTO_POLICY_HEAD,
    .name = "prefetch-aware",
    .summary = "two-level with groups of distant warps, and prefetch of lines near their misses",
    .parameters = PARAMETERS,
    .parameter_count = sizeof PARAMETERS / sizeof *PARAMETERS,
    .state_bytes = sizeof(PrefetchAware),
    .events = TYTO_WANTS(TYTO_EVENT_WARP_FINISHED) | TYTO_WANTS(TYTO_EVENT_L1D_MISS),
    .needs = TYTO_NEEDS_PREFETCH,
    .extra_bytes = extra_bytes,
    .start = start,
    .pick = pick,
    .issued = issued,
    .event = event,
    .report = report,
    .storage = storage,
};
