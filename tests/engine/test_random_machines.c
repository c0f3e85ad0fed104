/* Random machines: whatever values a file contains, the machine is refused with a reason, or runs
 * kernels to their end with the right result.
 *
 * usage: test_random_machines [NUMBER [FIRST]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_file.h"
#include "machine/machine_rows.h"
#include "kernel_maker.h"
#include "random_bytes.h"
#include "tyto/tyto.h"

enum {
    MOST_CHANGES = 6,
    GEOMETRY = 3,
    KERNELS = 4,
    WORD_BYTES = 160,
    MOST_OPTIONS = 8 + 2 * (MOST_CHANGES + GEOMETRY)
};

/* Excludes rows whose values are texts with their own grammar, and those that would switch off
 * deadlock detection. */
static bool is_drawn(const MachineRow *row) {
    return row->type != MACHINE_STRING && row->type != MACHINE_LIST &&
           strncmp(row->key, "watchdog.", 9) != 0;
}

/* A value within the row's bounds: often a bound, a power of two, or a value near a bound. */
static uint32_t draw_number(uint64_t *state, const MachineRow *row) {
    uint64_t span = (uint64_t)row->high - row->low + 1, near = span < 16 ? span : 16;
    switch (random_next(state) % 6) {
    case 0: return row->low;
    case 1: return row->high;
    case 2: return row->low + (uint32_t)(random_next(state) % near);
    case 3: return row->low + (uint32_t)(random_next(state) % span);
    default: break;
    }
    uint64_t power = UINT64_C(1) << random_next(state) % 32;
    return power < row->low ? row->low : power > row->high ? row->high : (uint32_t)power;
}

static void draw_value(uint64_t *state, const MachineRow *row, char word[WORD_BYTES]) {
    static const char *const units[MACHINE_TYPES] = {
        [MACHINE_BYTES] = " B", [MACHINE_FREQUENCY] = " kHz"};
    uint32_t number = draw_number(state, row);
    if (row->type == MACHINE_BOOL)
        snprintf(word, WORD_BYTES, "%s=%s", row->key, number & 1 ? "yes" : "no");
    else if (row->type == MACHINE_CHOICE)
        snprintf(word, WORD_BYTES, "%s=%s", row->key, row->choices[number % (row->high + 1)]);
    else
        snprintf(word, WORD_BYTES, "%s=%u%s", row->key, number,
                 units[row->type] ? units[row->type] : "");
}

/* Related rows are next to each other, so half of the changes are near the previous one. */
static const MachineRow *draw_row(uint64_t *state, const MachineRow *near) {
    int count;
    const MachineRow *rows = machine_rows(&count), *row;
    do {
        int64_t at = (int64_t)(random_next(state) % (uint64_t)count);
        if (near && random_next(state) % 2)
            at = near - rows + (int64_t)(random_next(state) % 13) - 6;
        row = &rows[at < 0 ? 0 : at >= count ? count - 1 : at];
    } while (!is_drawn(row));
    return row;
}

/* A random machine, as options. */
typedef struct Draw {
    char words[MOST_CHANGES + GEOMETRY][WORD_BYTES];
    const char *options[MOST_OPTIONS];
    int count;
} Draw;

/* A cache with a consistent size, sets and ways; independent random values would rarely be
 * consistent. */
static void draw_geometry(uint64_t *state, char words[GEOMETRY][WORD_BYTES]) {
    static const char *const caches[] = {"l1i", "l1d", "l1c", "l1t", "l2"};
    const char *cache = caches[random_next(state) % 5];
    uint32_t ways = 1 + (uint32_t)(random_next(state) % 64), sets = UINT32_C(1)
                                                                    << random_next(state) % 7;
    uint32_t line = UINT32_C(16) << random_next(state) % 5;
    snprintf(words[0], WORD_BYTES, "%s.ways=%u", cache, ways);
    snprintf(words[1], WORD_BYTES, "%s.line=%u B", cache, line);
    snprintf(words[2], WORD_BYTES, "%s.size=%u B", cache, ways * sets * line);
}

static void add_sets(Draw *draw, int first, int count) {
    for (int i = first; i < first + count; i++) {
        draw->options[draw->count++] = "--set";
        draw->options[draw->count++] = draw->words[i];
    }
}

static void draw_machine(uint64_t number, Draw *draw) {
    uint64_t state = number;
    int changes = 1 + (int)(random_next(&state) % MOST_CHANGES);
    const MachineRow *row = NULL;
    draw->count = 0;
    draw->options[draw->count++] = "--quiet";
    draw->options[draw->count++] = "--memory";
    draw->options[draw->count++] = "16MiB";
    draw->options[draw->count++] = "--machine";
    draw->options[draw->count++] =
        machine_shipped_name((int)(random_next(&state) % (uint64_t)machine_shipped_count()));
    draw->options[draw->count++] = "--set";
    draw->options[draw->count++] = "gpu.sms=2";
    for (int i = 0; i < changes; i++) {
        row = draw_row(&state, row);
        draw_value(&state, row, draw->words[i]);
    }
    add_sets(draw, 0, changes);
    if (random_next(&state) % 3) return;
    draw_geometry(&state, draw->words + changes);
    add_sets(draw, changes, GEOMETRY);
}

static void tell(uint64_t number, const Draw *draw, const char *what) {
    printf("machine %llu:", (unsigned long long)number);
    for (int i = 3; i < draw->count; i++)
        printf(" %s%s%s", strchr(draw->options[i], ' ') ? "'" : "", draw->options[i],
               strchr(draw->options[i], ' ') ? "'" : "");
    printf("\n  %s\n", what);
    fflush(stdout);
}

/* The kernels, and their right outcomes. */
typedef struct Kernels {
    MadeKernel kernels[KERNELS];
    Outcome right[KERNELS];
} Kernels;

static void make_kernels(Kernels *made) {
    static const char *const options[] = {"--functional", "--quiet", "--memory", "16MiB"};
    for (int i = 0; i < KERNELS; i++) {
        uint8_t bytes[RANDOM_BYTES];
        made->kernels[i] = kernel_make(bytes, random_bytes((uint64_t)i + 1000, bytes));
        made->right[i] = kernel_run(&made->kernels[i], 4, options);
    }
}

/* Whether the machine runs the kernel correctly. A launch that does not fit may be refused with a
 * reason. */
static bool runs_right(const Draw *draw, const MadeKernel *kernel, const Outcome *right,
                       char why[512]) {
    Outcome outcome = kernel_run(kernel, draw->count, draw->options);
    bool is_right = outcome_is_same(right, &outcome) || outcome.status == TYTO_BAD_LAUNCH;
    snprintf(why, 512, "%s", outcome.message ? outcome.message : "another result");
    outcome_free(&outcome);
    return is_right;
}

int main(int argc, char **argv) {
    int number = argc > 1 ? atoi(argv[1]) : 100, first = argc > 2 ? atoi(argv[2]) : 0, failed = 0,
        accepted = 0;
    Kernels made;
    make_kernels(&made);
    for (int i = first; i < first + number; i++) {
        Draw draw;
        char why[4096];
        draw_machine((uint64_t)i, &draw);
        fprintf(stderr, "machine %d\n", i); /* the last number is the one that hangs or crashes */
        if (tyto_check_options(draw.count, draw.options, why, sizeof why) != TYTO_OK) {
            if (!*why) tell((uint64_t)i, &draw, "refused without a reason");
            failed += !*why;
            continue;
        }
        int kernel = i % KERNELS;
        accepted++;
        if (runs_right(&draw, &made.kernels[kernel], &made.right[kernel], why)) continue;
        tell((uint64_t)i, &draw, why);
        failed++;
    }
    for (int i = 0; i < KERNELS; i++) {
        kernel_free(&made.kernels[i]);
        outcome_free(&made.right[i]);
    }
    fprintf(stderr, "%d of %d machines were accepted\n", accepted, number);
    printf("%d passed, %d failed\n", number - failed, failed);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
