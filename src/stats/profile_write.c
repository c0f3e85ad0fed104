/* Writes the profile of a run as JSON, as text, and as the tables of its page. */
#include "stats/profile.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/columns.h"
#include "base/demangle.h"
#include "stats/format.h"

/* ---- JSON ---- */

static void write_text(Json *json, const char *key, const char *value) {
    json_key(json, key);
    if (value) json_string(json, value);
    else json_null(json);
}

static void write_number(Json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_uint(json, value);
}

/* Adds the counts that are not 0. */
static void write_counts(Json *json, const ProfileCounts *counts) {
    for (int i = 0; i < PROFILE_COLUMN_COUNT; i++)
        if (counts->of[i]) write_number(json, profile_columns[i].name, counts->of[i]);
}

static void write_lines(Json *json, const ProfileKernel *kernel) {
    json_key(json, "instructions");
    json_array(json);
    for (uint32_t i = 0; i < kernel->line_count; i++) {
        const ProfileLine *line = &kernel->lines[i];
        json_object(json);
        write_number(json, "pc", line->pc);
        write_number(json, "line", line->line);
        write_text(json, "text", line->text);
        write_text(json, "function", line->function);
        write_text(json, "source", line->source);
        if (line->source) write_number(json, "source_line", line->source_line);
        write_counts(json, &line->counts);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_sources(Json *json, const ProfileKernel *kernel, const SourceFiles *files) {
    uint32_t count;
    ProfileSource *sources = profile_sources(kernel, files, &count);
    json_key(json, "sources");
    json_array(json);
    for (uint32_t i = 0; i < count; i++) {
        json_object(json);
        write_text(json, "source", sources[i].file);
        write_number(json, "source_line", sources[i].line);
        write_text(json, "text", sources[i].text);
        write_counts(json, &sources[i].counts);
        json_end_object(json);
    }
    json_end_array(json);
    profile_sources_free(sources, count);
}

static void write_stands(Json *json, const ProfileKernel *kernel) {
    json_key(json, "standing");
    json_array(json);
    for (uint32_t i = 0; i < kernel->wait_count; i++) {
        json_object(json);
        write_number(json, "pc", kernel->waits[i].pc);
        write_text(json, "cause", profile_columns[kernel->waits[i].cause].name);
        write_number(json, "warps", kernel->waits[i].warps);
        json_end_object(json);
    }
    json_end_array(json);
}

void profile_write_json(const Profile *profile, Json *json) {
    json_array(json);
    for (uint32_t i = 0; i < profile->count; i++) {
        const ProfileKernel *kernel = &profile->kernels[i];
        json_object(json);
        write_text(json, "kernel", kernel->name);
        write_text(json, "module", kernel->module);
        write_number(json, "launches", kernel->launches);
        write_lines(json, kernel);
        write_sources(json, kernel, &profile->files);
        write_stands(json, kernel);
        json_key(json, "nobody");
        json_object(json);
        write_counts(json, &kernel->nobody);
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
}

/* ---- Text ---- */

enum {
    TOP_LINES = 10, /* places shown for a kernel */
    TOP_CAUSES = 2, /* causes named for a place */
    WRAPPED_COLUMNS =
        20, /* columns of a line's text on a terminal that has no room for the figures */
    NO_VALUE = -1
};

/* A row of the table: a source line, or an instruction without one. */
typedef struct Place {
    const char *file;
    uint32_t line;
    const char *text;
    ProfileCounts counts;
} Place;

static int by_cycles(const void *left, const void *right) {
    const Place *a = left, *b = right;
    uint64_t x = profile_cycles(&a->counts), y = profile_cycles(&b->counts);
    if (x != y) return x < y ? 1 : -1;
    int files = strcmp(a->file, b->file);
    return files ? files : (a->line > b->line) - (a->line < b->line);
}

/* `part` of `whole` in tenths of a percent; NO_VALUE if `whole` is 0. */
static int64_t permille(uint64_t part, uint64_t whole) {
    if (!whole) return NO_VALUE;
    return (int64_t)(((unsigned __int128)part * 1000 + whole / 2) / whole);
}

static void add_share(Text *out, int width, uint64_t part, uint64_t whole) {
    int64_t tenths = permille(part, whole);
    if (tenths == NO_VALUE) text_printf(out, "%*s", width, "-");
    else text_printf(out, "%*" PRId64 ".%" PRId64 "%%", width - 3, tenths / 10, tenths % 10);
}

/* Formats a mean with one decimal. */
static void add_mean(Text *out, int width, uint64_t sum, uint64_t count) {
    int64_t permille_of = permille(sum, count);
    if (permille_of == NO_VALUE) {
        text_printf(out, "%*s", width, "-");
        return;
    }
    int64_t tenths = (permille_of + 50) / 100;
    text_printf(out, "%*" PRId64 ".%" PRId64, width - 2, tenths / 10, tenths % 10);
}

/* Adds the causes with the most cycles: "memory 61%, lsu 20%". */
static void add_causes(Text *out, const ProfileCounts *counts) {
    uint64_t all = profile_cycles(counts);
    ProfileCounts left = *counts;
    Text causes = {0};
    for (int shown = 0; shown < TOP_CAUSES; shown++) {
        int most = 0;
        for (int i = 1; i < PROFILE_CAUSE_COUNT; i++)
            if (left.of[i] > left.of[most]) most = i;
        int64_t percent = (permille(left.of[most], all) + 5) / 10;
        if (!left.of[most] || percent < 1) break;
        text_printf(&causes, "%s%s %" PRId64 "%%", shown ? ", " : "",
                    profile_columns[most].name + strlen("cycles_"), percent);
        left.of[most] = 0;
    }
    text_printf(out, "  %-26s", text_string(&causes));
    text_free(&causes);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Adds a line with its blanks reduced to single ones, truncated to `columns` columns. */
static void add_text(Text *out, const char *text, int columns) {
    bool is_blank = true;
    int taken;
    for (size_t length; *text; text += length) {
        bool was_blank = is_blank;
        is_blank = (unsigned char)*text <= ' ' || *text == 0x7F;
        length = columns_of_first(text, &taken);
        if (is_blank && was_blank) continue;
        if (taken > columns) return;
        text_add_bytes(out, is_blank ? " " : text, length);
        columns -= taken;
    }
}

/* The columns that the figures of a place leave for the line's text; `columns` is 0 for no
 * limit. */
static int columns_left(const Text *line, int columns) {
    int left = columns - columns_of(text_string(line));
    if (!columns) return INT_MAX;
    return left > 0 ? left : WRAPPED_COLUMNS;
}

static void add_count(Text *out, int width, uint64_t value) {
    char field[FORMAT_BYTES];
    format_count(field, value);
    text_printf(out, "%*s", width, field);
}

static void add_place(Text *report, const Place *place, uint64_t all, int columns) {
    Text line = {0}, *out = &line;
    const uint64_t *of = place->counts.of;
    uint64_t l1d = of[PROFILE_l1d_hits] + of[PROFILE_l1d_pending_hits] + of[PROFILE_l1d_misses];
    uint64_t l2 = of[PROFILE_l2_hits] + of[PROFILE_l2_pending_hits] + of[PROFILE_l2_misses];
    add_share(out, 8, profile_cycles(&place->counts), all);
    add_causes(out, &place->counts);
    add_count(out, 11, of[PROFILE_issues]);
    add_mean(out, 7, of[PROFILE_lanes], of[PROFILE_issues]);
    add_mean(out, 10, of[PROFILE_latency_cycles], of[PROFILE_completed]);
    add_share(out, 9, of[PROFILE_l1d_hits], l1d);
    add_share(out, 8, of[PROFILE_l2_hits], l2);
    add_mean(out, 7, of[PROFILE_accesses], of[PROFILE_requests]);
    add_share(out, 8, of[PROFILE_least_accesses], of[PROFILE_accesses]);
    text_printf(out, "  %s", base_name(place->file));
    if (place->line) text_printf(out, ":%" PRIu32, place->line);
    if (place->text) {
        text_add(out, "  ");
        add_text(out, place->text, columns_left(out, columns));
    }
    text_printf(report, "%s\n", text_string(&line));
    text_free(&line);
}

/* Collects all places of a kernel: source lines, and instructions that have none. */
static Place *places_of(const ProfileKernel *kernel, const ProfileSource *sources,
                        uint32_t source_count, uint32_t *count) {
    Place *places = base_calloc(source_count + kernel->line_count + 1, sizeof *places);
    uint32_t found = 0;
    for (uint32_t i = 0; i < source_count; i++)
        places[found++] =
            (Place){sources[i].file, sources[i].line, sources[i].text, sources[i].counts};
    for (uint32_t i = 0; i < kernel->line_count; i++) {
        const ProfileLine *line = &kernel->lines[i];
        if (line->source) continue;
        places[found++] = (Place){kernel->module, line->line, line->text, line->counts};
    }
    qsort(places, found, sizeof *places, by_cycles);
    *count = found;
    return places;
}

/* Lists files that exist but are not shown, each once. The lines of one file are adjacent. */
static void add_outside(const ProfileSource *sources, uint32_t count, Text *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (!sources[i].is_outside || (i && strcmp(sources[i - 1].file, sources[i].file) == 0))
            continue;
        text_printf(out,
                    "%s is not shown: it is not below the folder of the program or the working "
                    "folder; --source-path FOLDER allows it\n",
                    sources[i].file);
    }
}

static void report_kernel(const ProfileKernel *kernel, const SourceFiles *files, int columns,
                          Text *out) {
    uint32_t source_count, count;
    ProfileSource *sources = profile_sources(kernel, files, &source_count);
    Place *places = places_of(kernel, sources, source_count, &count);
    ProfileCounts total = profile_total(kernel);
    uint64_t all = profile_cycles(&total);
    text_add(out, "\nwhere the warps of ");
    demangle(kernel->name, out);
    text_add(out, " were: ");
    add_count(out, 0, all);
    text_printf(out, " warp cycle%s at %" PRIu32 " line%s", text_plural(all), count,
                text_plural(count));
    if (count > TOP_LINES) text_printf(out, ", the first %d of them", TOP_LINES);
    text_printf(out, "\n%8s  %-26s%11s%7s%10s%9s%8s%7s%8s  %s\n", "share", "doing what", "issues",
                "lanes", "latency", "L1D hit", "L2 hit", "acc.", "needed", "line");
    for (uint32_t i = 0; i < count && i < TOP_LINES; i++)
        add_place(out, &places[i], all, columns);
    add_outside(sources, source_count, out);
    free(places);
    profile_sources_free(sources, source_count);
}

void profile_report(const Profile *profile, int columns, Text *out) {
    for (uint32_t i = 0; i < profile->count; i++)
        report_kernel(&profile->kernels[i], &profile->files, columns, out);
}

/* ---- The page ---- */

static const char page[] =
    "# Profile\n"
    "\n"
    "Generated from the tables of `src/stats/profile.h`.\n"
    "\n"
    "    tyto run --profile --machine ccws spmv --size 8192\n"
    "\n"
    "`--profile` reports on each instruction of the PTX: what the counters count there in the "
    "whole "
    "run, and how long warps waited there and\n"
    "why. It reports the same on each line of the source that the PTX names (`.loc`: nvcc writes "
    "it with `-lineinfo`, clang with\n"
    "`-gline-tables-only`). The report ends with the lines at which they waited longest. If the "
    "file of the source can be read, the text of\n"
    "the line follows; a terminal shows as much of it as it has room for. Only regular files of at "
    "most 16 MiB "
    "below the folder of the program or\n"
    "PTX file, below the working folder and below each `--source-path FOLDER` are read, and no "
    "hidden ones below these: PTX may name\n"
    "any file, and a profile is shared. The page of `tyto report` lists the files that it holds "
    "lines of.\n"
    "\n"
    "\n"
    "| heading | of the line |\n"
    "|---|---|\n"
    "| share | warp cycles spent there, of all of the kernel |\n"
    "| doing what | the two causes with most of them, names as below |\n"
    "| issues, lanes | instructions issued, once per warp; mean lanes that took part |\n"
    "| latency | mean SM cycles from issue until the results were there |\n"
    "| L1D hit, L2 hit | share of lookups that found the data |\n"
    "| acc., needed | global and local accesses per instruction that made some; the share of them "
    "that "
    "the data would need side by side: 100% is coalesced |\n"
    "\n"
    "`--json` has all of it under `profile`, `--profile-json FILE` in a file of its own, and "
    "`tyto_profile` of the\n"
    "[library](library.md) as numbers. An object for each kernel holds `kernel`, `module` (the "
    "file "
    "of its PTX), `launches`, and\n"
    "\n"
    "| key | holds |\n"
    "|---|---|\n"
    "| `instructions` | for each that was issued: `pc`, its `line` in the PTX, `text`, `function`, "
    "`source` and `source_line`, the causes and counts below; what is 0 is left out |\n"
    "| `sources` | the same added up for each line of the source, with its `text`; instructions of "
    "no line, such as some that load parameters, are in none |\n"
    "| `standing` | where a launch ended early (a limit, Ctrl-C, a deadlock): `warps` that waited "
    "before `pc`, with the `cause`; the message on stderr says the same |\n"
    "| `nobody` | what no instruction caused: fetches of instructions, write-backs of dirty lines "
    "|\n"
    "\n"
    "A warp waits before the instruction that it issues next; when it issues, it is at that "
    "instruction; once it has\n"
    "exited, at its exit. Each resident warp of each cycle is thus in one place for one cause, and "
    "the causes of all lines add up\n"
    "to `warp_cycles`. These and the sums below are checked after every run; `completed` and the "
    "lookups of L2 hold once nothing\n"
    "is under way, so not of a launch that ended early.\n"
    "\n"
    "A profile changes no other number, and is the same in every run. Host instructions of `spmv "
    "--size 4096` on `gtx480`, by\n"
    "callgrind: 5.6% more with `--profile` than without. Constant and texture caches are left "
    "out.\n"
    "\n"
    "## Causes of warp cycles\n"
    "\n";

void profile_document(Text *out) {
    text_add(out, page);
    text_add(out, "| cause, in warp cycles | a warp is there because |\n|---|---|\n");
    for (int i = 0; i < PROFILE_CAUSE_COUNT; i++)
        text_printf(out, "| `%s` | %s |\n", profile_columns[i].name, profile_columns[i].meaning);
    text_add(out, "\n## What is counted of it\n\n"
                  "| count | unit | meaning | adds up to |\n|---|---|---|---|\n");
    for (int i = PROFILE_CAUSE_COUNT; i < PROFILE_COLUMN_COUNT; i++) {
        const ProfileColumnRow *row = &profile_columns[i];
        text_printf(out, "| `%s` | %s | %s | ", row->name, row->unit, row->meaning);
        if (row->sum >= 0) text_printf(out, "`%s` ", counter_rows[row->sum].name);
        text_add(out, "|\n");
    }
}
