/* The profile of a run: recording, summing and checking. */
#include "stats/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { COUNTER_none = -1 };

/* clang-format off */
const ProfileColumnRow profile_columns[PROFILE_COLUMN_COUNT] = {
#define CAUSE(name, sentence, meaning) {"cycles_" #name, "warp cycles", meaning, sentence, COUNTER_none, false},
    PROFILE_CAUSES(CAUSE)
#undef CAUSE
#define COLUMN(name, unit, sum, at_end, meaning) {#name, unit, meaning, NULL, (int)COUNTER_##sum, at_end},
    PROFILE_COUNTS(COLUMN)
#undef COLUMN
};
/* clang-format on */

/* ---- Counts ---- */

void profile_add(ProfileCounts *sum, const ProfileCounts *counts) {
    for (int i = 0; i < PROFILE_COLUMN_COUNT; i++)
        sum->of[i] += counts->of[i];
}

bool profile_is_empty(const ProfileCounts *counts) {
    uint64_t any = 0;
    for (int i = 0; i < PROFILE_COLUMN_COUNT; i++)
        any |= counts->of[i];
    return !any;
}

uint64_t profile_cycles(const ProfileCounts *counts) {
    uint64_t cycles = 0;
    for (int i = 0; i < PROFILE_CAUSE_COUNT; i++)
        cycles += counts->of[i];
    return cycles;
}

/* ---- Recording ---- */

static char *copy_of(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(base_malloc(size), text, size);
}

Profile *profile_new(void) { return base_calloc(1, sizeof(Profile)); }

static void free_kernel(ProfileKernel *kernel) {
    for (uint32_t i = 0; i < kernel->line_count; i++) {
        free(kernel->lines[i].text);
        free(kernel->lines[i].function);
        free(kernel->lines[i].source);
    }
    free(kernel->lines);
    free(kernel->waits);
    free(kernel->name);
    free(kernel->module);
}

void profile_free(Profile *profile) {
    if (!profile) return;
    for (uint32_t i = 0; i < profile->count; i++)
        free_kernel(&profile->kernels[i]);
    free(profile->kernels);
    source_files_free(&profile->files);
    free(profile);
}

ProfileKernel *profile_kernel(Profile *profile, uint64_t key, const char *name,
                              const char *module) {
    for (uint32_t i = 0; i < profile->count; i++)
        if (profile->kernels[i].key == key) return &profile->kernels[i];
    if (profile->count == profile->capacity) {
        profile->capacity = profile->capacity ? 2 * profile->capacity : 4;
        profile->kernels =
            base_realloc(profile->kernels, profile->capacity * sizeof *profile->kernels);
    }
    ProfileKernel *kernel = &profile->kernels[profile->count++];
    *kernel = (ProfileKernel){
        .name = copy_of(name), .module = copy_of(module), .key = key, .is_complete = true};
    return kernel;
}

ProfileLine *profile_line(ProfileKernel *kernel, uint32_t pc, bool *is_new) {
    uint32_t low = 0, high = kernel->line_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kernel->lines[middle].pc < pc) low = middle + 1;
        else high = middle;
    }
    *is_new = low == kernel->line_count || kernel->lines[low].pc != pc;
    if (!*is_new) return &kernel->lines[low];
    if (kernel->line_count == kernel->line_capacity) {
        kernel->line_capacity = kernel->line_capacity ? 2 * kernel->line_capacity : 64;
        kernel->lines = base_realloc(kernel->lines, kernel->line_capacity * sizeof *kernel->lines);
    }
    memmove(&kernel->lines[low + 1], &kernel->lines[low],
            (kernel->line_count++ - low) * sizeof *kernel->lines);
    kernel->lines[low] = (ProfileLine){.pc = pc};
    return &kernel->lines[low];
}

void profile_add_wait(ProfileKernel *kernel, const ProfileWait *wait) {
    for (uint32_t i = 0; i < kernel->wait_count; i++) {
        ProfileWait *known = &kernel->waits[i];
        if (known->pc != wait->pc || known->cause != wait->cause) continue;
        known->warps += wait->warps;
        return;
    }
    kernel->waits = base_realloc(kernel->waits, (kernel->wait_count + 1) * sizeof *kernel->waits);
    kernel->waits[kernel->wait_count++] = *wait;
}

/* ---- Sums ---- */

ProfileCounts profile_total(const ProfileKernel *kernel) {
    ProfileCounts total = kernel->nobody;
    for (uint32_t i = 0; i < kernel->line_count; i++)
        profile_add(&total, &kernel->lines[i].counts);
    return total;
}

static bool check_sum(const ProfileKernel *kernel, const char *what, uint64_t sum,
                      CounterId counter, Text *why) {
    uint64_t counted = counters_get(&kernel->counters, counter);
    if (sum == counted) return true;
    text_printf(why, "profile of %s: the %s of its lines are %" PRIu64 ", not %s = %" PRIu64 "\n",
                kernel->name, what, sum, counter_rows[counter].name, counted);
    return false;
}

static bool check_kernel(const ProfileKernel *kernel, Text *why) {
    ProfileCounts total = profile_total(kernel);
    bool is_good =
        check_sum(kernel, "warp cycles", profile_cycles(&total), COUNTER_warp_cycles, why);
    for (int i = 0; i < PROFILE_COLUMN_COUNT; i++) {
        const ProfileColumnRow *row = &profile_columns[i];
        if (row->sum == (int)COUNTER_none || (row->at_end && !kernel->is_complete)) continue;
        is_good &= check_sum(kernel, row->name, total.of[i], (CounterId)row->sum, why);
    }
    /* An issue occupies its scheduler until the next pick (scheduler.issue_interval), and the warp
     * may be gone by then. */
    uint64_t issuing = total.of[PROFILE_cycles_issued];
    if (!kernel->is_complete || issuing < counters_get(&kernel->counters, COUNTER_issued))
        return is_good;
    return check_sum(kernel, "issuing cycles", issuing, COUNTER_issued, why) && is_good;
}

bool profile_check(const Profile *profile, Text *why) {
    bool is_good = true;
    for (uint32_t i = 0; i < profile->count; i++)
        is_good &= check_kernel(&profile->kernels[i], why);
    return is_good;
}

/* ---- Lines of the source ---- */

static int by_place(const void *left, const void *right) {
    const ProfileSource *a = left, *b = right;
    int files = strcmp(a->file, b->file);
    return files ? files : (a->line > b->line) - (a->line < b->line);
}

/* Merges adjacent entries of one place; returns how many remain. */
static uint32_t join(ProfileSource *sources, uint32_t count) {
    uint32_t joined = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (joined && by_place(&sources[joined - 1], &sources[i]) == 0)
            profile_add(&sources[joined - 1].counts, &sources[i].counts);
        else sources[joined++] = sources[i];
    }
    return joined;
}

static char *trimmed(const char *line) {
    line += strspn(line, " \t");
    size_t length = strcspn(line, "\r\n");
    while (length && strchr(" \t", line[length - 1]))
        length--;
    char *copy = base_malloc(length + 1);
    memcpy(copy, line, length);
    copy[length] = '\0';
    text_show_controls(copy);
    return copy;
}

/* Fills in the texts of all lines of the first line's file, which are adjacent and sorted; returns
 * how many they are. */
static uint32_t add_texts(const SourceFiles *files, ProfileSource *sources, uint32_t count) {
    bool is_outside;
    char *text = source_files_read(files, sources[0].file, &is_outside);
    const char *at = text;
    uint32_t line = 1, i = 0;
    for (; i < count && strcmp(sources[i].file, sources[0].file) == 0; i++) {
        while (at && line < sources[i].line) {
            at = strchr(at, '\n');
            if (at) at++;
            line++;
        }
        if (at && *at) sources[i].text = trimmed(at);
        sources[i].is_outside = is_outside;
    }
    free(text);
    return i;
}

ProfileSource *profile_sources(const ProfileKernel *kernel, const SourceFiles *files,
                               uint32_t *count) {
    ProfileSource *sources = base_calloc(kernel->line_count + 1, sizeof *sources);
    uint32_t found = 0;
    for (uint32_t i = 0; i < kernel->line_count; i++) {
        const ProfileLine *line = &kernel->lines[i];
        if (line->source)
            sources[found++] = (ProfileSource){
                .file = line->source, .line = line->source_line, .counts = line->counts};
    }
    qsort(sources, found, sizeof *sources, by_place);
    *count = join(sources, found);
    for (uint32_t i = 0; i < *count;)
        i += add_texts(files, &sources[i], *count - i);
    return sources;
}

void profile_sources_free(ProfileSource *sources, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        free(sources[i].text);
    free(sources);
}
