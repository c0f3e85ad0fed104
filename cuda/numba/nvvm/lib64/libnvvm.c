/* libnvvm.so for Numba: a wrapper of the CUDA toolkit's own library that accepts old modules.
 *
 * Numba 0.56 writes NVVM IR 1.6, and the libnvvm of CUDA 13 only accepts 2.x, although Numba's text
 * is valid in both. The wrapper puts the library's version into text modules of an older version.
 * The file libdevice.10.bc next to it stands for the toolkit's file of that name.
 *
 * The toolkit is in TYTO_CUDA_HOME, which `tyto run` sets. Source: libNVVM API and NVVM IR
 * specification ("NVVM IR version", metadata nvvmir.version).   */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/text.h"

typedef struct Program *Nvvm; /* nvvmProgram */

enum { NVVM_ERROR_PROGRAM_CREATION_FAILURE = 2, MAX_LIBDEVICE_BYTES = 1 << 26 };

/* The start of our libdevice.10.bc. */
static const char libdevice_mark[] = "the toolkit's libdevice";

/* Functions that are passed on unchanged: ROW(function, parameters, arguments). */
/* clang-format off */
#define NVVM_FUNCTIONS(ROW) \
    ROW(nvvmVersion, (int *major, int *minor), (major, minor)) \
    ROW(nvvmIRVersion, (int *major, int *minor, int *debug_major, int *debug_minor), \
        (major, minor, debug_major, debug_minor)) \
    ROW(nvvmCreateProgram, (Nvvm *program), (program)) \
    ROW(nvvmDestroyProgram, (Nvvm *program), (program)) \
    ROW(nvvmCompileProgram, (Nvvm program, int count, const char **options), \
        (program, count, options)) \
    ROW(nvvmVerifyProgram, (Nvvm program, int count, const char **options), \
        (program, count, options)) \
    ROW(nvvmGetCompiledResultSize, (Nvvm program, size_t *size), (program, size)) \
    ROW(nvvmGetCompiledResult, (Nvvm program, char *text), (program, text)) \
    ROW(nvvmGetProgramLogSize, (Nvvm program, size_t *size), (program, size)) \
    ROW(nvvmGetProgramLog, (Nvvm program, char *text), (program, text))
/* Functions that take a module. */
#define NVVM_ADDERS(ROW) \
    ROW(nvvmAddModuleToProgram, (Nvvm program, const char *module, size_t size, const char *name), \
        (program, module, size, name)) \
    ROW(nvvmLazyAddModuleToProgram, (Nvvm program, const char *module, size_t size, const char *name), \
        (program, module, size, name))
/* clang-format on */

/* The toolkit's library. It is global, because the interface has no argument that could hold it. */
static struct {
    pthread_once_t once;
    char folder[PATH_MAX]; /* the toolkit */
    bool is_there;
#define ROW(function, parameters, arguments) int(*function) parameters;
    NVVM_FUNCTIONS(ROW)
    NVVM_ADDERS(ROW)
#undef ROW
} real = {.once = PTHREAD_ONCE_INIT};

static void *open_in_toolkit(void) {
    static const char *const places[] = {"nvvm/lib64", "nvvm/lib", "lib64", "lib"};
    static const char *const names[] = {"libnvvm.so", "libnvvm.so.4", "libnvvm.so.3"};
    for (size_t i = 0; i < 12; i++) {
        char path[PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s/%s", real.folder, places[i / 3], names[i % 3]);
        void *library = dlopen(path, RTLD_NOW);
        if (library) return library;
    }
    return NULL;
}

static void find_library(void) {
    const char *folder = getenv("TYTO_CUDA_HOME");
    snprintf(real.folder, sizeof real.folder, "%s", folder ? folder : "/usr/local/cuda");
    void *library = open_in_toolkit();
    if (!library) {
        fprintf(
            stderr,
            "tyto: error: there is no libnvvm in %s, and Numba cannot compile without it; name the "
            "folder of a CUDA toolkit in CUDA_HOME\n",
            real.folder);
        return;
    }
    real.is_there = true;
#define ROW(function, parameters, arguments)                                                       \
    *(void **)(void *)&real.function = dlsym(library, #function);                                  \
    real.is_there &= real.function != NULL;
    NVVM_FUNCTIONS(ROW)
    NVVM_ADDERS(ROW)
#undef ROW
}

static bool is_there(void) {
    pthread_once(&real.once, find_library);
    return real.is_there;
}

#define ROW(function, parameters, arguments)                                                       \
    EXPORT int function parameters;                                                                \
    int function parameters {                                                                      \
        return is_there() ? real.function arguments : NVVM_ERROR_PROGRAM_CREATION_FAILURE;         \
    }
NVVM_FUNCTIONS(ROW)
#undef ROW

/* ---- Modules ---- */

/* The end of the next `word` in the text at `at`; NULL: none. */
static const char *past(const char *at, const char *word) {
    const char *found = at ? strstr(at, word) : NULL;
    return found ? found + strlen(word) : NULL;
}

/* The operands of the version in a module's text, "i32 1, i32 6, ..." up to a brace; NULL: none, as
 * in bitcode. */
static const char *find_version(const char *text) {
    const char *node = past(past(text, "!nvvmir.version = !{"), "!");
    if (!node) return NULL;
    char definition[64];
    snprintf(definition, sizeof definition, "\n!%.*s = !{", (int)strspn(node, "0123456789"), node);
    return past(text, definition);
}

/* Adds the module to `out`, with the library's IR version if its own is older. */
static void add_module(const char *module, size_t size, Text *out) {
    Text text = {0};
    text_add_bytes(&text, module, size);
    int version[4] = {0};
    const char *operands = find_version(text_string(&text));
    const char *end = operands ? strchr(operands, '}') : NULL;
    int major;
    bool is_old = end && sscanf(operands, " i32 %d", &major) == 1 &&
                  nvvmIRVersion(&version[0], &version[1], &version[2], &version[3]) == 0 &&
                  major < version[0];
    if (is_old) {
        text_add_bytes(out, module, (size_t)(operands - text.bytes));
        text_printf(out, " i32 %d, i32 %d, i32 %d, i32 %d ", version[0], version[1], version[2],
                    version[3]);
        text_add(out, end);
    } else {
        text_add_bytes(out, module, size);
    }
    text_free(&text);
}

/* Adds the toolkit's libdevice. */
static void add_libdevice(Text *out) {
    char path[PATH_MAX + 64];
    size_t size;
    snprintf(path, sizeof path, "%s/nvvm/libdevice/libdevice.10.bc", real.folder);
    char *bytes = text_read_file(path, MAX_LIBDEVICE_BYTES, &size);
    if (bytes) text_add_bytes(out, bytes, size);
    else fprintf(stderr, "tyto: error: %s cannot be read\n", path);
    free(bytes);
}

static int hand_on(int (*add)(Nvvm, const char *, size_t, const char *), Nvvm program,
                   const char *module, size_t size, const char *name) {
    size_t mark = sizeof libdevice_mark - 1;
    Text text = {0};
    if (size >= mark && memcmp(module, libdevice_mark, mark) == 0) add_libdevice(&text);
    else add_module(module, size, &text);
    int status = add(program, text_string(&text), text.length, name);
    text_free(&text);
    return status;
}

#define ROW(function, parameters, arguments)                                                       \
    EXPORT int function parameters;                                                                \
    int function parameters {                                                                      \
        if (!is_there()) return NVVM_ERROR_PROGRAM_CREATION_FAILURE;                               \
        return hand_on(real.function, program, module, size, name);                                \
    }
NVVM_ADDERS(ROW)
#undef ROW
