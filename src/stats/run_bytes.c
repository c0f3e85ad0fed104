/* Copies the structs as they are in memory, each followed by what it points to. */
#include "stats/run_bytes.h"

#include <string.h>

#include "base/arena.h"

static void add_block(const void *block, size_t bytes, Text *out) {
    text_add_bytes(out, &bytes, sizeof bytes);
    if (bytes) text_add_bytes(out, block, bytes);
}

void run_add_kernel_bytes(const KernelStats *kernel, Text *out) {
    const KernelTiming *timing = kernel->timing;
    add_block(kernel, sizeof *kernel, out);
    add_block(kernel->name, strlen(kernel->name) + 1, out);
    if (!timing) return;
    add_block(timing, sizeof *timing, out);
    add_block(timing->figures.bytes, timing->figures.size, out);
    add_block(timing->ctas, timing->ctas ? timing->cta_count * sizeof *timing->ctas : 0, out);
}

/* The unread bytes. */
typedef struct Rest {
    const char *at;
    size_t length;
} Rest;

/* The next block; NULL if there is no complete one. */
static const char *next_block(Rest *rest, size_t *bytes) {
    if (rest->length < sizeof *bytes) return NULL;
    memcpy(bytes, rest->at, sizeof *bytes);
    const char *block = rest->at + sizeof *bytes;
    if (*bytes > rest->length - sizeof *bytes) return NULL;
    rest->length -= sizeof *bytes + *bytes;
    rest->at = block + *bytes;
    return block;
}

/* Reads a block of a known size. */
static bool read_block(Rest *rest, void *to, size_t size) {
    size_t bytes;
    const char *block = next_block(rest, &bytes);
    if (!block || bytes != size) return false;
    memcpy(to, block, size);
    return true;
}

/* Copies the next block, *bytes long; NULL if it is empty. */
static bool copy_block(Rest *rest, void *copy, size_t *bytes) {
    const char *block = next_block(rest, bytes);
    void *made = block && *bytes ? memcpy(base_malloc(*bytes), block, *bytes) : NULL;
    memcpy(copy, &made, sizeof made);
    return block;
}

static bool take_timing(Rest *rest, KernelStats *kernel) {
    KernelTiming read;
    size_t bytes;
    if (!read_block(rest, &read, sizeof read)) return false;
    KernelTiming *timing = run_add_timing(kernel);
    timing->ctas_per_sm = read.ctas_per_sm;
    timing->occupancy = read.occupancy;
    if (!copy_block(rest, &timing->figures.bytes, &timing->figures.size) ||
        !copy_block(rest, &timing->ctas, &bytes))
        return false;
    timing->cta_count = bytes / sizeof *timing->ctas;
    return true;
}

bool run_take_kernel_bytes(RunStats *run, const char *bytes, size_t length) {
    Rest rest = {bytes, length};
    KernelStats read;
    size_t size;
    const char *name = read_block(&rest, &read, sizeof read) ? next_block(&rest, &size) : NULL;
    if (!name || !size || name[size - 1]) return false;
    const bool is_timed = read.timing != NULL;
    KernelStats *kernel = run_add_kernel(run, name);
    read.name = kernel->name;
    read.timing = NULL;
    *kernel = read;
    if (kernel->status != RUN_COMPLETE) run->shape.is_complete = false;
    return !is_timed || take_timing(&rest, kernel);
}
