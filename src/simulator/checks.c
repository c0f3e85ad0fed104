/* Findings of the host, and the text about all findings. */
#include "simulator/checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backtrace.h"
#include "engine/launch/gpu_checks.h"

static bool is_on(const Options *options, FindingKind kind) { return options->checks >> kind & 1; }

GpuChecks checks_of(const Options *options) {
    return (GpuChecks){.races = is_on(options, FINDING_RACE),
                       .init = is_on(options, FINDING_INIT),
                       .sync = is_on(options, FINDING_SYNC),
                       .leaks = is_on(options, FINDING_LEAK),
                       .reports_faults = options->on_fault != 0};
}

static void tell(void *user, const Finding *finding) {
    (void)user;
    fprintf(stderr, "tyto: %s: %s\n", finding_kind_names[finding->kind], finding->text);
}

Findings *checks_findings(const Options *options) {
    return findings_new((uint32_t)options->most_errors, tell, NULL);
}

/* ---- Findings of the host ---- */

/* The hash that identifies a place in the host program: of the words of its backtrace. FNV-1a
 * (Fowler, Noll, Vo). */
static uint64_t hash_of(const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* Adds a finding with `text`, which is taken over, followed by the text of a place. */
static void add(const TytoSimulator *simulator, FindingKind kind, const char *what,
                uint64_t address, uint64_t place, Text *text) {
    FindingKey key = {{(uint64_t)kind, 0, place, hash_of(what)}};
    if (findings_note(simulator->run->findings, &key)) {
        text_free(text);
        return;
    }
    Finding finding = {.kind = kind, .what = what, .text = text->bytes, .address = address};
    *text = (Text){0};
    findings_add(simulator->run->findings, &finding);
}

static bool wants_sites(const TytoSimulator *simulator) {
    return is_on(simulator->options, FINDING_LEAK) || is_on(simulator->options, FINDING_INIT);
}

void checks_allocated(const TytoSimulator *simulator, uint64_t address) {
    if (!wants_sites(simulator) || !address) return;
    Text site = {0};
    backtrace_add(&site);
    mem_set_site(simulator_memory(simulator), address, text_string(&site));
    text_free(&site);
}

static void report_block(const TytoSimulator *simulator, const MemBlock *block, FindingKind kind,
                         const char *what, const char *words) {
    Text text = {0};
    text_add(&text, "the ");
    mem_describe_block(block, &text);
    text_printf(&text, " %s", words);
    uint64_t place = hash_of(block->site);
    if (*block->site) text_printf(&text, "; it was allocated at%s", block->site);
    else place = block->start;
    add(simulator, kind, what, block->start, place, &text);
}

void checks_releasing(const TytoSimulator *simulator, uint64_t address, bool is_leaked) {
    const MemBlock *block = mem_find(simulator_memory(simulator), address);
    if (!wants_sites(simulator) || !block || !block->site) return;
    if (is_on(simulator->options, FINDING_INIT) && block->written && !block->is_used)
        report_block(simulator, block, FINDING_INIT, "unused allocation",
                     "was never read or written");
    if (is_on(simulator->options, FINDING_LEAK) && is_leaked)
        report_block(simulator, block, FINDING_LEAK, "leak", "was never freed");
}

void checks_copying(const TytoSimulator *simulator, uint64_t address, uint64_t size) {
    DeviceMemory *memory = simulator_memory(simulator);
    if (!is_on(simulator->options, FINDING_INIT) || !mem_is_valid(memory, address, size)) return;
    uint64_t at = mem_first_unwritten(memory, address, size);
    if (at == size) return;
    Text text = {0}, site = {0};
    text_printf(&text, "uninitialised copy of %" PRIu64 " byte%s at 0x%" PRIx64 ": ", size,
                text_plural(size), address);
    mem_describe(memory, address + at, &text);
    text_add(&text, " was never written");
    backtrace_add(&site);
    text_add(&text, text_string(&site));
    add(simulator, FINDING_INIT, "uninitialised copy", address + at,
        site.length ? hash_of(text_string(&site)) : address, &text);
    text_free(&site);
}

/* Reports blocks of device malloc, grouped by the place in the kernel that allocated them. */
static void report_heap(const TytoSimulator *simulator) {
    GpuHeapBlock block = {0};
    while (gpu_next_heap_block(simulator->gpu, &block)) {
        Text text = {0};
        text_printf(&text,
                    "the %" PRIu64 "-byte device malloc block at 0x%" PRIx64
                    " was never freed; it was allocated at%s",
                    block.size_bytes, block.address,
                    block.site ? block.site->text : " no known place");
        FindingKey key = {{FINDING_LEAK, 1, block.site ? block.site->number : block.address}};
        if (findings_note(simulator->run->findings, &key)) {
            text_free(&text);
            continue;
        }
        Finding finding = {.kind = FINDING_LEAK,
                           .what = "device heap leak",
                           .text = text.bytes,
                           .address = block.address};
        if (block.site) {
            finding.kernel = strdup(block.site->kernel);
            finding.file = strdup(block.site->file);
            finding.line = block.site->line;
        }
        findings_add(simulator->run->findings, &finding);
    }
}

void checks_end(const TytoSimulator *simulator) {
    const MemBlock *block;
    uint64_t end = 0;
    if (wants_sites(simulator))
        for (; (block = mem_next(simulator_memory(simulator), end)) != NULL; end = block->end)
            checks_releasing(simulator, block->start, true);
    if (is_on(simulator->options, FINDING_LEAK)) report_heap(simulator);
}

bool checks_summarise(const TytoSimulator *simulator, Text *out) {
    if (!findings_total(simulator->run->findings)) return false;
    findings_summarise(simulator->run->findings, out);
    return true;
}
