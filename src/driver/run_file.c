/* Layout: a header with the build's version and sizes; the run's texts, each with its NUL; then for
 * each kernel its name and its KernelStats. */
#include "driver/run_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 30 };

typedef struct Header {
    char magic[8];
    char version[16];
    uint64_t kernel_bytes; /* sizeof(KernelStats), to tell other builds */
    CountersShape shape;
    HostStats host;
    int64_t kernel_count;
} Header;

static Header header_of(const RunStats *run) {
    Header header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, "tytorun", sizeof header.magic);
    strncpy(header.version, TYTO_VERSION, sizeof header.version - 1);
    header.kernel_bytes = sizeof(KernelStats);
    header.shape = run->shape;
    header.host = run->host;
    header.kernel_count = run->kernel_count;
    return header;
}

void run_file_write(const RunStats *run, Text *out) {
    const char *texts[] = {run->program, run->machine, run->scheduler, run->cta_scheduler};
    Header header = header_of(run);
    text_add_bytes(out, &header, sizeof header);
    for (int i = 0; i < 4; i++)
        text_add_bytes(out, texts[i], strlen(texts[i]) + 1);
    for (int i = 0; i < run->kernel_count; i++) {
        KernelStats kernel = run->kernels[i];
        text_add_bytes(out, kernel.name, strlen(kernel.name) + 1);
        kernel.name = NULL;
        kernel.ctas = NULL;
        kernel.cta_count = 0;
        text_add_bytes(out, &kernel, sizeof kernel);
    }
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

static bool read_kernels(Rest *rest, int64_t count, RunStats *run) {
    for (int64_t i = 0; i < count; i++) {
        KernelStats stored;
        const char *name = take_text(rest);
        if (!name || !take(rest, &stored, sizeof stored)) return false;
        if ((unsigned)stored.status >= RUN_STATUSES) return false;
        KernelStats *kernel = run_add_kernel(run, name);
        stored.name = kernel->name;
        stored.ctas = NULL;
        *kernel = stored;
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
    RunStats *run =
        run_new(texts[0], texts[1], texts[2], texts[3], header.shape.sms, header.shape.schedulers);
    run->shape = header.shape;
    run->host = header.host;
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
