/* Prunes results (see the header). */
#include "cli/report/prune.h"

#include <stdbool.h>
#include <string.h>

/* The keys of a launch that the page reads (sections.js). */
static const char *const of_launch[] = {"kernel",
                                        "demangled",
                                        "status",
                                        "timed",
                                        "grid",
                                        "block",
                                        "overlapped",
                                        "occupancy",
                                        "of_peak",
                                        "advice",
                                        "cycles",
                                        "thread_instructions",
                                        "dram_bus_ticks",
                                        "dram_ticks",
                                        "scheduler_cycles",
                                        "ipc",
                                        "lanes_active",
                                        "l1d_miss_rate",
                                        "l2_miss_rate",
                                        "accesses_per_request",
                                        "needed_access_share"};
/* Keys that the page does not read. */
static const char *const of_none[] = {"histograms", "spread", "warp_states"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_among(const char *key, size_t length, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && memcmp(names[i], key, length) == 0) return true;
    return false;
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Returns the end of the string that begins here. */
static const char *skip_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

static const char *copy(const char *from, const char *until, FILE *to) {
    if (to) fwrite(from, 1, (size_t)(until - from), to);
    return until;
}

static const char *take_value(const char *at, bool are_launches, FILE *to);

/* Writes the members of an object or array except those that the page does not need; with NULL for
 * `to`, skips all of them. */
static const char *take_members(const char *at, bool is_launch, bool are_launches, FILE *to) {
    const bool is_object = *at == '{';
    const char close = is_object ? '}' : ']';
    const char *key = NULL;
    bool is_open = false;
    if (to) fputc(*at, to);
    for (at = skip_blanks(at + 1); *at && *at != close; at = skip_blanks(at)) {
        FILE *out = to;
        bool is_kernels = false;
        if (is_object) {
            key = at;
            at = skip_string(at);
            const size_t length = (size_t)(at - key) - 2;
            if (is_among(key + 1, length, of_none, COUNT(of_none)) ||
                (is_launch && !is_among(key + 1, length, of_launch, COUNT(of_launch))))
                out = NULL;
            is_kernels = length == strlen("kernels") && memcmp(key + 1, "kernels", length) == 0;
        }
        if (out && is_open) fputc(',', out);
        is_open |= out != NULL;
        if (is_object) {
            copy(key, at, out);
            if (out) fputc(':', out);
            at = skip_blanks(skip_blanks(at) + 1); /* the colon */
            at = take_value(at, is_kernels, out);
        } else {
            at = *at == '{' ? take_members(at, are_launches, false, out)
                            : take_value(at, false, out);
        }
        at = skip_blanks(at);
        if (*at == ',') at++;
    }
    if (to) fputc(close, to);
    return *at ? at + 1 : at;
}

/* Writes a value; `are_launches`: if it is an array, its objects are launches. */
static const char *take_value(const char *at, bool are_launches, FILE *to) {
    if (*at == '{' || *at == '[') return take_members(at, false, are_launches, to);
    const char *end = *at == '"' ? skip_string(at) : at + strcspn(at, ",]} \t\r\n");
    return copy(at, end == at && *at ? at + 1 : end, to);
}

void prune_write(const char *json, FILE *to) { take_value(skip_blanks(json), false, to); }
