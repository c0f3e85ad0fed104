/* Layout: a header with the build's version and sizes; the run's texts, each with its NUL; then for
 * each kernel its name, its KernelStats, a byte that says whether it was timed, and if so its
 * KernelTiming and its KernelFigures. */
#include "driver/run_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30 };

typedef struct Header {
    char magic[8];
    char version[16];
    uint64_t kernel_bytes; /* of a timed kernel's records, to tell other builds */
    CountersShape shape;
    uint64_t peak_memory_bytes;
    int64_t kernel_count;
} Header;

static Header header_of(const RunStats *run) {
    Header header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, "tytorun", sizeof header.magic);
    strncpy(header.version, TYTO_VERSION, sizeof header.version - 1);
    header.kernel_bytes = sizeof(KernelStats) + sizeof(KernelTiming) + sizeof(KernelFigures);
    header.shape = run->shape;
    header.peak_memory_bytes = run->peak_memory_bytes;
    header.kernel_count = run->kernel_count;
    return header;
}

static void write_kernel(const KernelStats *kernel, Text *out) {
    KernelStats stored = *kernel;
    uint8_t is_timed = kernel->timing != NULL;
    stored.name = NULL;
    stored.timing = NULL;
    text_add_bytes(out, kernel->name, strlen(kernel->name) + 1);
    text_add_bytes(out, &stored, sizeof stored);
    text_add_bytes(out, &is_timed, sizeof is_timed);
    if (!is_timed) return;
    KernelTiming timing = *kernel->timing;
    KernelFigures figures = run_figures(kernel->timing);
    timing.figures = (Pack){0};
    timing.ctas = NULL;
    timing.cta_count = 0;
    text_add_bytes(out, &timing, sizeof timing);
    text_add_bytes(out, &figures, sizeof figures);
}

void run_file_write(const RunStats *run, Text *out) {
    const char *texts[] = {run->program, run->machine, run->scheduler, run->cta_scheduler};
    Header header = header_of(run);
    text_add_bytes(out, &header, sizeof header);
    for (int i = 0; i < 4; i++)
        text_add_bytes(out, texts[i], strlen(texts[i]) + 1);
    for (int i = 0; i < run->kernel_count; i++)
        write_kernel(&run->kernels[i], out);
}

/* What is still to be read. */
typedef struct Rest {
    const char *at, *end;
} Rest;

static bool take(Rest *rest, void *out, size_t size) {
    if ((size_t)(rest->end - rest->at) < size) return false;
    memcpy(out, rest->at, size);
    rest->at += size;
    return true;
}

/* A text up to its NUL, which stays where it is; NULL when there is none. */
static const char *take_text(Rest *rest) {
    const char *text = rest->at;
    const char *nul = memchr(text, '\0', (size_t)(rest->end - text));
    if (nul) rest->at = nul + 1;
    return nul ? text : NULL;
}

static bool read_kernel(Rest *rest, RunStats *run) {
    KernelStats stored;
    KernelTiming timing;
    KernelFigures figures;
    uint8_t is_timed;
    const char *name = take_text(rest);
    if (!name || !take(rest, &stored, sizeof stored) || !take(rest, &is_timed, sizeof is_timed))
        return false;
    if ((unsigned)stored.status >= RUN_STATUSES) return false;
    if (is_timed && !(take(rest, &timing, sizeof timing) && take(rest, &figures, sizeof figures)))
        return false;
    KernelStats *kernel = run_add_kernel(run, name);
    stored.name = kernel->name;
    stored.timing = NULL;
    *kernel = stored;
    if (!is_timed) return true;
    timing.figures = (Pack){0};
    timing.ctas = NULL;
    timing.cta_count = 0;
    *run_add_timing(kernel) = timing;
    run_set_figures(kernel->timing, &figures);
    return true;
}

static bool read_kernels(Rest *rest, int64_t count, RunStats *run) {
    for (int64_t i = 0; i < count; i++) {
        if (!read_kernel(rest, run)) return false;
    }
    return rest->at == rest->end;
}

static RunStats *parse(Rest rest) {
    Header header;
    const char *texts[4];
    RunStats nothing = {0};
    Header expected = header_of(&nothing);
    if (!take(&rest, &header, sizeof header) ||
        memcmp(&header, &expected, offsetof(Header, shape)) != 0)
        return NULL;
    for (int i = 0; i < 4; i++) {
        texts[i] = take_text(&rest);
        if (!texts[i]) return NULL;
    }
    RunStats *run = run_new(texts[0]);
    run_set_machine(run, texts[1], texts[2], texts[3], header.shape.sms, header.shape.schedulers);
    run->shape = header.shape;
    run->peak_memory_bytes = header.peak_memory_bytes;
    if (read_kernels(&rest, header.kernel_count, run)) return run;
    run_free(run);
    return NULL;
}

RunStats *run_file_read(const char *path, Diag *diag) {
    size_t length;
    char *bytes = text_read_file(path, FILE_BYTES_MAX, &length);
    if (!bytes) {
        diag_error(diag, path, 0, 0, "cannot be read: %s", strerror(errno));
        return NULL;
    }
    RunStats *run = parse((Rest){bytes, bytes + length});
    if (!run) diag_error(diag, path, 0, 0, "not a statistics file of this version of Tyto");
    free(bytes);
    return run;
}
