/* tyto cc: builds CUDA C++ for Tyto, with nvcc where it is installed, else with clang.
 *
 * nvcc only gets an option to link the shared runtime. clang needs no CUDA toolkit: it gets a
 * folder of ours instead, in which ptxas, fatbinary and the linker are this command (toolkit.c),
 * and our own headers.
 *
 * clang has no managed variables. Ours are variables of the device whose shadow on the host is the
 * variable itself: it is in its own section, at an address that the linker assigns and the device
 * uses too (cuda/clang/cuda_runtime.h, src/cudart/registry.c). */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/toolchain/cc_options.h"
#include "cli/program.h"

/* The address of a program's code. It is above the addresses by which kernels reach shared, local
 * and parameter memory (memory/memory.h), so that the heap does not overlap them and can be
 * registered. */
#define CODE_START "-Wl,-Ttext-segment=0x10000000"

/* The address of managed variables: within reach of the code, and below the device's own addresses.
 * src/cudart/registry.c expects them there. */
#define MANAGED_SECTION "-Wl,--section-start=tyto_managed=0x60000000"

static const TytoOption options[] = {
    {.name = "--clang", .help = "Use clang even where nvcc is installed."},
    {.name = "--old", .help = "Bring back what CUDA 12 removed: texture references and the like."},
};

static void add_path(CcLine *line, const char *option, const char *folder, const char *name) {
    cc_add(line, "%s%s/%s", option, folder, name);
}

static bool has_word(char **words, const char *wanted) {
    for (; *words; words++)
        if (strcmp(*words, wanted) == 0) return true;
    return false;
}

/* Kernels are optimized unless the words say otherwise, as nvcc does: -O is for the host's code
 * there. */
static bool wants_optimized_kernels(char **words) {
    for (; *words; words++)
        if (strncmp(*words, "-O", 2) == 0 || strncmp(*words, "--optimize", 10) == 0 ||
            strcmp(*words, "-G") == 0 || strcmp(*words, "--device-debug") == 0)
            return false;
    return true;
}

static void add_clang(CcLine *line, const char *folder, bool is_old, char **words) {
    static const char *const fixed[] = {
        "--cuda-include-ptx=all",   "-nocudainc", "-nocudalib", "-Xclang",
        "-target-sdk-version=12.0", "-fdeclspec", "-std=c++17", "-Wno-unused-command-line-argument",
    };
    add_path(line, "--cuda-path=", folder, "toolkit");
    add_path(line, "--ld-path=", folder, "toolkit/bin/ld");
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        cc_add(line, "%s", fixed[i]);
    add_path(line, "-isystem", folder, "clang");
    add_path(line, "-isystem", folder, "include");
    add_path(line, "-isystem", folder, "api");
    if (is_old) add_path(line, "-isystem", folder, "include/old");
    add_path(line, "-isystem", folder, "include/helpers"); /* after a program's own (-I) */
    cc_add(line, "-include");
    cc_add(line, "%s", is_old ? "tyto_old.h" : "cuda_runtime.h");
    add_path(line, "-L", folder, "."); /* before a toolkit's */
    cc_add_for_clang(line, words);
    if (wants_optimized_kernels(words)) {
        cc_add(line, "-Xarch_device");
        cc_add(line, "-O3");
    }
    cc_add(line, "-lcudart");
    add_path(line, "-Wl,-rpath-link,", folder, "..");
    if (has_word(words, "-shared") || has_word(words, "-pie") || has_word(words, "-r")) return;
    cc_add(line, "-no-pie");
    cc_add(line, CODE_START);
    cc_add(line, MANAGED_SECTION);
}

static void add_nvcc(CcLine *line, const char *folder, bool is_old, char **words) {
    cc_add(line, "-cudart");
    cc_add(line, "shared");
    cc_add(line, "-isystem");
    add_path(line, "", folder, "include/helpers");
    if (is_old) {
        add_path(line, "-I", folder, "include/old");
        cc_add(line, "-include");
        cc_add(line, "tyto_old.h");
    }
    cc_add_for_nvcc(line, words);
}

/* Whether to compile with nvcc. An nvcc may be a script that runs `tyto cc` itself: the inner
 * command finds the variable that the outer command has set, and uses clang. */
static bool wants_nvcc(const Arguments *arguments) {
    static const char under_way[] = "TYTO_CC_NVCC";
    if (arguments_has(arguments, "--clang") || getenv(under_way) || !program_exists("nvcc"))
        return false;
    setenv(under_way, "1", 1);
    return true;
}

static int run_cc(Arguments *arguments) {
    static const char *const clangs[] = {"clang++-19", "clang++"};
    bool is_old = arguments_has(arguments, "--old");
    char folder[PATH_MAX];
    if (!program_find_libraries(folder, sizeof folder)) return EXIT_FAILED;
    CcLine line = {0};
    if (wants_nvcc(arguments)) {
        cc_add(&line, "nvcc");
        add_nvcc(&line, folder, is_old, arguments->operands);
        execvp("nvcc", line.words);
    }
    for (int i = 0; i < 2; i++) {
        if (!program_exists(clangs[i])) continue;
        line.count = 0;
        cc_add(&line, "%s", clangs[i]);
        add_clang(&line, folder, is_old, arguments->operands);
        execvp(clangs[i], line.words);
    }
    say_error("found neither nvcc nor clang++-19");
    return EXIT_NOT_FOUND;
}

const Command command_cc = {
    .name = "cc",
    .operands = "FILE... [options of the compiler]",
    .summary = "Build a CUDA C++ program for Tyto",
    .text =
        "Compiles and links with nvcc if it is installed, else with clang 19 and Tyto's own\n"
        "headers, which need no CUDA toolkit. All words except the options below go to the\n"
        "compiler. With clang, nvcc's options become clang's; options that have no effect on the\n"
        "program are left out. -arch and -gencode choose the architecture of the PTX. Start the\n"
        "program with `tyto run`.\n"
        "\n"
        "  tyto cc -O2 -o saxpy saxpy.cu\n"
        "  tyto run ./saxpy\n"
        "  make NVCC='tyto cc --clang'\n"
        "\n"
        "Not supported with clang: kernels that launch kernels, thrust.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes_unknown = true,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_cc,
};
