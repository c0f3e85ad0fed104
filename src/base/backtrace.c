/* Frames from backtrace(3), named by dladdr(3). */
#include "base/backtrace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>

enum { MOST_FRAMES = 64, MOST_LINES = 8 };

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Skips frames of Tyto, of the libraries that replace CUDA's, and of the C library. */
static bool is_skipped(const Dl_info *frame, const Dl_info *own) {
    static const char *const libraries[] = {"libcuda", "libc.so", "ld-linux"};
    if (frame->dli_fbase == own->dli_fbase) return true;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(name_of(frame->dli_fname), libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

void backtrace_add(Text *out) {
    void *frames[MOST_FRAMES];
    int count = backtrace(frames, MOST_FRAMES), lines = 0;
    Dl_info own, frame;
    if (!dladdr((void *)(uintptr_t)backtrace_add, &own)) return;
    for (int i = 1; i < count && lines < MOST_LINES; i++) {
        const char *address = (const char *)frames[i] - 1; /* in the call, not after it */
        if (!dladdr(address, &frame) || !frame.dli_fname || is_skipped(&frame, &own)) continue;
        lines++;
        text_add(out, "\n    host: ");
        if (frame.dli_sname)
            text_printf(out, "%s+0x%tx in ", frame.dli_sname,
                        address - (const char *)frame.dli_saddr);
        text_printf(out, "%s(+0x%tx)", name_of(frame.dli_fname),
                    address - (const char *)frame.dli_fbase);
    }
}
