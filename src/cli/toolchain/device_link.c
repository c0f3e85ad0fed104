/* clang's objects for -rdc=true register through a function with a different name in each object
 * (__cudaRegisterLinkedBinary__nv_1a2b3c), which nvlink defines. Here a linker option makes all
 * these names the same function, which each such object contains (cuda/clang/cuda_runtime.h).
 *
 * The linked file has the objects' fat binaries one after another in one section. They go to the
 * driver's linker, as the runtime passes them when the program starts. */
#include "cli/toolchain/device_link.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/toolchain/cc_options.h"
#include "cli/command.h"
#include "cli/toolchain/elf.h"
#include "cli/files.h"
#include "tyto/cuda.h"

#define REGISTER "__cudaRegisterLinkedBinary__nv_"

enum { HEADER_BYTES = 16, LOG_BYTES = 1 << 16 };
#define BINARY_MAGIC UINT32_C(0xba55ed50)

/* ---- The host's side ---- */

static bool has_suffix(const char *word, const char *suffix) {
    size_t length = strlen(word), tail = strlen(suffix);
    return length > tail && strcmp(word + length - tail, suffix) == 0;
}

/* Defines the names in an object, or in an archive of objects. */
static void add_names(CcLine *line, const char *path) {
    size_t size;
    char *bytes = access(path, R_OK) == 0 ? file_read(path, FILE_DATA_MAX, &size) : NULL;
    const char *at = bytes;
    while (at && (at = memmem(at, size - (size_t)(at - bytes), REGISTER, strlen(REGISTER)))) {
        cc_add(line, "--defsym=%s=tyto_register_linked",
               at); /* the name ends with a NUL, as it is in a table of strings */
        at += strlen(REGISTER);
    }
    free(bytes);
}

static int run_linker(char **words) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execvp(words[0], words);
        say_error("cannot run %s: %s", words[0], strerror(errno));
        _exit(EXIT_NOT_FOUND);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* ---- The device's side ---- */

/* The size of the fat binary that starts here, 0: none. */
static size_t binary_size(const char *at, size_t left) {
    uint32_t magic;
    uint64_t size;
    if (left < HEADER_BYTES) return 0;
    memcpy(&magic, at, sizeof magic);
    memcpy(&size, at + 8, sizeof size);
    bool is_whole = magic == BINARY_MAGIC && size <= left - HEADER_BYTES;
    return is_whole ? (size_t)size + HEADER_BYTES : 0;
}

static bool add_all(CUlinkState state, char *section, size_t size) {
    for (size_t at = 0; at < size;) {
        size_t bytes = binary_size(section + at, size - at);
        if (bytes && cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, section + at, bytes, "<program>",
                                   0, NULL, NULL))
            return false;
        at += bytes ? (bytes + 7) / 8 * 8 : 8;
    }
    return true;
}

static bool link_all(char *section, size_t size) {
    static char log[LOG_BYTES];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUcontext context;
    CUlinkState state;
    void *image;
    setenv("TYTO_OPTIONS", "--functional --quiet", 1);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuLinkCreate(2, options, values, &state))
        return false;
    bool is_right = add_all(state, section, size) && cuLinkComplete(state, &image, NULL) == 0;
    if (!is_right) fputs(log, stderr);
    cuLinkDestroy(state);
    return is_right;
}

static bool check(const char *path) {
    size_t size, section_size;
    char *bytes = file_read(path, FILE_DATA_MAX, &size);
    if (!bytes) return false;
    const char *found = elf_find_section(bytes, size, "__nv_relfatbin", &section_size);
    bool is_right = !found || link_all(bytes + (found - bytes), section_size);
    free(bytes);
    return is_right;
}

int device_link_run(int count, char **words) {
    CcLine line = {0};
    const char *out = "a.out";
    bool is_final = true;
    cc_add(&line, "ld");
    for (int i = 0; i < count; i++) {
        cc_add(&line, "%s", words[i]);
        if (strcmp(words[i], "-r") == 0) is_final = false;
        if (strcmp(words[i], "-o") == 0 && i + 1 < count) out = words[i + 1];
    }
    for (int i = 0; i < count && is_final; i++)
        if (has_suffix(words[i], ".o") || has_suffix(words[i], ".a")) add_names(&line, words[i]);
    int status = run_linker(line.words);
    if (status || !is_final || check(out)) return status;
    unlink(out);
    return EXIT_FAILED;
}
