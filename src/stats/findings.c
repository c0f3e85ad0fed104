/* The list of findings, with a map from their places to the list. */
#include "stats/findings.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/demangle.h"
#include "base/map.h"

const char *const finding_kind_names[FINDING_KINDS] = {
    [FINDING_MEMORY] = "memory", [FINDING_RACE] = "race", [FINDING_INIT] = "init",
    [FINDING_SYNC] = "sync",     [FINDING_LEAK] = "leak",
};

struct Findings {
    Finding **items;   /* in the order in which they were found */
    Map *places;       /* key -> item */
    FindingKey last;   /* the place that was noted and is about to be added */
    uint32_t count;    /* number of items */
    uint32_t most;     /* most items to keep */
    uint64_t unlisted; /* occurrences at places that are not kept */
    FindingTold *tell; /* NULL: no listener */
    void *user;        /* argument of `tell` */
};

Findings *findings_new(uint32_t most, FindingTold *tell, void *user) {
    Findings *findings = base_calloc(1, sizeof *findings);
    findings->places = map_new();
    findings->most = most;
    findings->tell = tell;
    findings->user = user;
    return findings;
}

static void free_texts(const Finding *finding) {
    free(finding->text);
    free(finding->kernel);
    free(finding->file);
    free(finding->source);
}

void findings_free(Findings *findings) {
    if (!findings) return;
    for (uint32_t i = 0; i < findings->count; i++) {
        free_texts(findings->items[i]);
        free(findings->items[i]);
    }
    free(findings->items);
    map_free(findings->places);
    free(findings);
}

bool findings_note(Findings *findings, const FindingKey *key) {
    Finding *known = map_get(findings->places, (const char *)key, sizeof *key);
    if (known) known->count++;
    else if (findings->count == findings->most) findings->unlisted++;
    else findings->last = *key;
    return known || findings->count == findings->most;
}

void findings_add(Findings *findings, const Finding *finding) {
    Finding *kept = base_malloc(sizeof *kept);
    *kept = *finding;
    kept->count = 1;
    findings->items =
        base_realloc(findings->items, (findings->count + 1) * sizeof *findings->items);
    findings->items[findings->count++] = kept;
    map_put(findings->places, (const char *)&findings->last, sizeof findings->last, kept);
    if (findings->tell) findings->tell(findings->user, kept);
}

void findings_put(Findings *findings, uint32_t index, const Finding *finding) {
    if (index < findings->count) {
        free_texts(finding);
    } else {
        index = findings->count;
        findings->last = (FindingKey){{(uint64_t)finding->kind, index}};
        findings_add(findings, finding);
    }
    findings->items[index]->count = finding->count;
}

uint32_t findings_count(const Findings *findings) { return findings->count; }
const Finding *finding_at(const Findings *findings, uint32_t index) {
    return findings->items[index];
}

uint64_t findings_total(const Findings *findings) {
    uint64_t total = findings->unlisted;
    for (uint32_t i = 0; i < findings->count; i++)
        total += findings->items[i]->count;
    return total;
}

void findings_summarise(const Findings *findings, Text *out) {
    uint64_t total = findings_total(findings), places[FINDING_KINDS] = {0};
    if (!total) return;
    for (uint32_t i = 0; i < findings->count; i++)
        places[findings->items[i]->kind]++;
    text_printf(out, "%" PRIu64 " error%s at %" PRIu32 " place%s", total, text_plural(total),
                findings->count, text_plural(findings->count));
    const char *before = ": ";
    for (int kind = 0; kind < FINDING_KINDS; kind++) {
        if (!places[kind]) continue;
        text_printf(out, "%s%s %" PRIu64, before, finding_kind_names[kind], places[kind]);
        before = ", ";
    }
    if (findings->unlisted)
        text_printf(out,
                    "; %" PRIu64 " more at places beyond the first %" PRIu32
                    " (--errors N lists more)",
                    findings->unlisted, findings->most);
}

/* ---- JSON ---- */

static void write_text(Json *json, const char *key, const char *value) {
    json_key(json, key);
    if (value) json_string(json, value);
    else json_null(json);
}

static void write_number(Json *json, const char *key, uint64_t value) {
    json_key(json, key);
    if (value) json_uint(json, value);
    else json_null(json);
}

static void write_shape(Json *json, const char *key, const uint32_t shape[3], bool is_known) {
    json_key(json, key);
    if (!is_known) {
        json_null(json);
        return;
    }
    json_array(json);
    for (int i = 0; i < 3; i++)
        json_uint(json, shape[i]);
    json_end_array(json);
}

void findings_write_json(const Findings *findings, Json *json) {
    json_array(json);
    for (uint32_t i = 0; findings && i < findings->count; i++) {
        const Finding *finding = findings->items[i];
        json_object(json);
        write_text(json, "check", finding_kind_names[finding->kind]);
        write_text(json, "what", finding->what);
        write_number(json, "count", finding->count);
        write_text(json, "kernel", finding->kernel);
        if (finding->kernel) demangle_write_json(finding->kernel, json);
        write_text(json, "file", finding->file);
        write_number(json, "line", finding->line);
        write_number(json, "other_line", finding->other_line);
        write_text(json, "source", finding->source);
        write_number(json, "source_line", finding->source_line);
        write_shape(json, "cta", finding->cta, finding->has_thread);
        write_shape(json, "thread", finding->thread, finding->has_thread);
        write_number(json, "address", finding->address);
        write_text(json, "message", finding->text);
        json_end_object(json);
    }
    json_end_array(json);
}
