/* tyto cc: builds CUDA C++ for Tyto, with nvcc where it is installed, else with clang.
 *
 * nvcc only has to be told to link the shared runtime. clang needs no CUDA toolkit: it is given a
 * folder of ours as one, in which ptxas and fatbinary are this command (toolkit.c), and our own
 * headers. */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/program.h"

static const TytoOption options[] = {
    {.name = "--clang", .help = "Use clang even where nvcc is installed."},
    {.name = "--old", .help = "Bring back what CUDA 12 removed: texture references and the like."},
};

/* nvcc's options that clang does not know, and how many words follow them. Architectures are left
 * to Tyto, which runs PTX for sm_75; so are they for nvcc in old sources, whose Makefiles name
 * those that it knows no more. */
static const struct {
    const char *prefix;
    int values; /* words that follow, unless the option holds a '=' */
    bool is_architecture;
} dropped[] = {
    {"-arch", 1, true},
    {"--gpu-architecture", 1, true},
    {"-gencode", 1, true},
    {"--generate-code", 1, true},
    {"-code", 1, true},
    {"-cudart", 1, false},
    {"--cudart", 1, false},
    {"-lineinfo", 0, false},
    {"--generate-line-info", 0, false},
    {"-maxrregcount", 1, false},
};

/* A command line that grows; it ends with NULL. */
typedef struct Line {
    char **words;
    int count;
} Line;

static void add(Line *line, const char *word) {
    line->words[line->count++] = strdup(word);
    line->words[line->count] = NULL;
}

static void add_path(Line *line, const char *option, const char *folder, const char *name) {
    char word[2 * PATH_MAX];
    snprintf(word, sizeof word, "%s%s/%s", option, folder, name);
    add(line, word);
}

/* How many of the words an option that is to be dropped takes, of all kinds or of architectures
 * only; 0: it is none. */
static int words_to_drop(char **words, bool only_architectures) {
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++) {
        size_t length = strlen(dropped[i].prefix);
        if (only_architectures && !dropped[i].is_architecture) continue;
        if (strncmp(words[0], dropped[i].prefix, length) != 0) continue;
        if (words[0][length] == '=') return 1;
        if (words[0][length] == '\0') return 1 + (words[1] ? dropped[i].values : 0);
    }
    return 0;
}

static void add_given(Line *line, char **words) {
    while (*words) {
        int count = words_to_drop(words, false);
        if (count == 0 && strcmp(words[0], "-Xcompiler") == 0 && words[1]) count = 1;
        else if (count == 0) add(line, *words);
        words += count ? count : 1;
    }
}

static void add_clang(Line *line, const char *folder, bool is_old, char **words) {
    static const char *const fixed[] = {
        "--cuda-gpu-arch=sm_75",
        "--cuda-include-ptx=all",
        "-nocudainc",
        "-nocudalib",
        "-Xclang",
        "-target-sdk-version=12.0",
        "-fdeclspec",
        "-std=c++17",
        "-Wno-unused-command-line-argument",
    };
    add_path(line, "--cuda-path=", folder, "toolkit");
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(line, fixed[i]);
    add_path(line, "-isystem", folder, "clang");
    add_path(line, "-isystem", folder, "include");
    add_path(line, "-isystem", folder, "api");
    if (is_old) add_path(line, "-isystem", folder, "include/old");
    add(line, "-include");
    add(line, is_old ? "tyto_old.h" : "cuda_runtime.h");
    add_given(line, words);
    add_path(line, "-L", folder, ".");
    add(line, "-lcudart");
    add_path(line, "-Wl,-rpath-link,", folder, "..");
}

static void add_nvcc(Line *line, const char *folder, bool is_old, char **words) {
    add(line, "-cudart");
    add(line, "shared");
    if (is_old) {
        add_path(line, "-I", folder, "include/old");
        add(line, "-include");
        add(line, "tyto_old.h");
    }
    while (*words) {
        int count = is_old ? words_to_drop(words, true) : 0;
        if (count == 0) add(line, *words);
        words += count ? count : 1;
    }
}

static int run_cc(Arguments *arguments) {
    static const char *const clangs[] = {"clang++-19", "clang++"};
    bool is_old = arguments_has(arguments, "--old");
    char folder[PATH_MAX];
    if (!program_find_libraries(folder, sizeof folder)) return EXIT_FAILED;
    Line line = {.words = allocate((size_t)arguments->operand_count + 32, sizeof(char *))};
    if (!arguments_has(arguments, "--clang") && program_exists("nvcc")) {
        add(&line, "nvcc");
        add_nvcc(&line, folder, is_old, arguments->operands);
        execvp("nvcc", line.words);
    }
    for (int i = 0; i < 2; i++) {
        if (!program_exists(clangs[i])) continue;
        line.count = 0;
        add(&line, clangs[i]);
        add_clang(&line, folder, is_old, arguments->operands);
        execvp(clangs[i], line.words);
    }
    say_error("there is neither nvcc nor clang++-19 to compile with");
    return EXIT_NOT_FOUND;
}

const Command command_cc = {
    .name = "cc",
    .operands = "FILE... [options of the compiler]",
    .summary = "Build a CUDA C++ program for Tyto",
    .text =
        "Compiles and links with nvcc where it is installed, else with clang 19 and headers of\n"
        "Tyto's own, which need no CUDA toolkit. All words but the options below go to the\n"
        "compiler; options of nvcc that clang does not know are left out for it. The program is\n"
        "started by `tyto run`.\n"
        "\n"
        "  tyto cc -O2 -o saxpy saxpy.cu\n"
        "  tyto run ./saxpy\n"
        "\n"
        "Not with clang: cooperative groups, managed variables, surfaces, thrust.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .takes_unknown = true,
    .lowest_operands = 1,
    .most_operands = -1,
    .run = run_cc,
};
