/* A table of nvcc's options: their names, whether a value follows, and their form for clang. A
 * value may be a separate word or follow a '='. Words without a row are passed on unchanged;
 * options that both compilers have (-o, -I, -D, -O2, -c, ...) need no row.
 *
 * Source: nvcc --help of CUDA 13.0; clang 19's own help.  */
#include "cli/toolchain/cc_options.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

enum {
    DEFAULT_ARCHITECTURE = 75, /* default: that of Tyto's device without a machine */
    OLDEST_OF_CLANG = 70       /* oldest for clang, because Tyto's devices report 7.0 or more */
};

/* The treatment of an option. */
typedef enum Fate {
    DROPPED,      /* has no effect on the program */
    REPLACED,     /* by the words of `text` */
    PREFIXED,     /* `text` before each comma-separated part of the value */
    ARCHITECTURE, /* chooses the architecture of the PTX */
    FOR_HOST,     /* the parts of the value are options of the host's compiler */
    STANDARD,     /* of C++ */
    LANGUAGE,     /* of the files that follow */
    FOLDER,       /* of headers */
    RELOCATABLE   /* "true": may use definitions of other files */
} Fate;

typedef struct Row {
    const char *name;       /* as in --help, two dashes */
    const char *short_name; /* one dash; NULL: there is none */
    bool has_value;
    Fate fate;
    const char *text; /* for REPLACED (NULL: nothing) and PREFIXED */
} Row;

/* Allows use of definitions in other files; messages name the sources (toolkit.c). */
#define AS_RELOCATABLE " -fgpu-rdc --no-offload-new-driver -Xcuda-fatbinary --named"

static const Row rows[] = {
    {"--gpu-architecture", "-arch", true, ARCHITECTURE, NULL},
    {"--generate-code", "-gencode", true, ARCHITECTURE, NULL},
    {"--gpu-code", "-code", true, DROPPED, NULL},
    {"--compiler-options", "-Xcompiler", true, FOR_HOST, NULL},
    {"--linker-options", "-Xlinker", true, PREFIXED, "-Wl,"},
    {"--ptxas-options", "-Xptxas", true, DROPPED, NULL},
    {"--nvlink-options", "-Xnvlink", true, DROPPED, NULL},
    {"--archive-options", "-Xarchive", true, DROPPED, NULL},
    {"--cudafe-options", "-Xcudafe", true, DROPPED, NULL},
    {"--fatbin-options", "-Xfatbin", true, DROPPED, NULL},
    {"--std", "-std", true, STANDARD, NULL},
    {"--x", "-x", true, LANGUAGE, NULL},
    {"--include-path", "-I", true, FOLDER, "-I"},
    {"--system-include", "-isystem", true, FOLDER, "-isystem"},
    {"--pre-include", NULL, true, PREFIXED, "-include "},
    {"--define-macro", NULL, true, PREFIXED, "-D"},
    {"--undefine-macro", NULL, true, PREFIXED, "-U"},
    {"--library", NULL, true, PREFIXED, "-l"},
    {"--library-path", NULL, true, PREFIXED, "-L"},
    {"--optimize", NULL, true, PREFIXED, "-O"},
    {"--output-file", NULL, true, PREFIXED, "-o"},
    {"--compile", NULL, false, REPLACED, "-c"},
    {"--device-c", "-dc", false, REPLACED, "-c" AS_RELOCATABLE},
    {"--device-w", "-dw", false, REPLACED, "-c"},
    {"--link", "-link", false, DROPPED, NULL},
    {"--cuda", "-cuda", false, DROPPED, NULL}, /* (nvc++'s: "these files are CUDA") */
    {"--ptx", "-ptx", false, REPLACED, "--cuda-device-only -S"},
    {"--preprocess", NULL, false, REPLACED, "-E"},
    {"--shared", NULL, false, REPLACED, "-shared"},
    {"--debug", NULL, false, REPLACED, "-g"},
    {"--device-debug", "-G", false, REPLACED, "-g"},
    {"--generate-line-info", "-lineinfo", false, REPLACED, "-Xarch_device -gline-tables-only"},
    {"--profile", "-pg", false, DROPPED, NULL},
    {"--verbose", NULL, false, REPLACED, "-v"},
    {"--dryrun", "-dryrun", false, REPLACED, "-###"},
    {"--disable-warnings", NULL, false, REPLACED, "-w"},
    {"--relocatable-device-code", "-rdc", true, RELOCATABLE, AS_RELOCATABLE},
    {"--maxrregcount", "-maxrregcount", true, DROPPED, NULL},
    {"--use_fast_math", "-use_fast_math", false, REPLACED,
     "-Xarch_device -fgpu-flush-denormals-to-zero"},
    {"--ftz", "-ftz", true, DROPPED, NULL},
    {"--prec-div", "-prec-div", true, DROPPED, NULL},
    {"--prec-sqrt", "-prec-sqrt", true, DROPPED, NULL},
    {"--fmad", "-fmad", true, DROPPED, NULL},
    {"--default-stream", "-default-stream", true, PREFIXED, "-fgpu-default-stream="},
    {"--compiler-bindir", "-ccbin", true, DROPPED, NULL},
    {"--allow-unsupported-compiler", "-allow-unsupported-compiler", false, DROPPED, NULL},
    {"--cudart", "-cudart", true, DROPPED, NULL},
    {"--cudadevrt", "-cudadevrt", true, DROPPED, NULL},
    {"--expt-relaxed-constexpr", "-expt-relaxed-constexpr", false, DROPPED, NULL},
    {"--extended-lambda", "-extended-lambda", false, DROPPED, NULL},
    {"--expt-extended-lambda", "-expt-extended-lambda", false, DROPPED, NULL},
    {"--machine", NULL, true, DROPPED, NULL},
    {"--m64", NULL, false, DROPPED, NULL},
    {"--keep", "-keep", false, DROPPED, NULL},
    {"--keep-dir", "-keep-dir", true, DROPPED, NULL},
    {"--keep-device-functions", "-keep-device-functions", false, DROPPED, NULL},
    {"--threads", "-t", true, DROPPED, NULL},
    {"--split-compile", "-split-compile", true, DROPPED, NULL},
    {"--dlink-time-opt", "-dlto", false, DROPPED, NULL},
    {"--resource-usage", "-res-usage", false, DROPPED, NULL},
    {"--restrict", "-restrict", false, DROPPED, NULL},
    {"--source-in-ptx", "-src-in-ptx", false, DROPPED, NULL},
    {"--no-compress", "-no-compress", false, DROPPED, NULL},
    {"--compress-mode", "-compress-mode", true, DROPPED, NULL},
    {"--extra-device-vectorization", "-extra-device-vectorization", false, DROPPED, NULL},
    {"--forward-unknown-to-host-compiler", "-forward-unknown-to-host-compiler", false, DROPPED,
     NULL},
    {"--forward-unknown-to-host-linker", "-forward-unknown-to-host-linker", false, DROPPED, NULL},
    {"--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", false, DROPPED, NULL},
    {"--display-error-number", "-err-no", false, DROPPED, NULL},
    {"--no-display-error-number", "-no-err-no", false, DROPPED, NULL},
    {"--diag-suppress", "-diag-suppress", true, DROPPED, NULL},
    {"--diag-error", "-diag-error", true, DROPPED, NULL},
    {"--diag-warn", "-diag-warn", true, DROPPED, NULL},
};

/* The runtime is Tyto's, and shared. */
static const char *const static_libraries[] = {"-lcudart", "-lcudart_static", "-lcudadevrt"};

/* One option of a command line. */
typedef struct Option {
    const Row *row;    /* NULL: a word that is passed on unchanged */
    const char *value; /* NULL: none */
    int words;         /* number of words, with the value */
} Option;

void cc_add(CcLine *line, const char *format, ...) {
    va_list args;
    char word[2 * PATH_MAX];
    va_start(args, format);
    vsnprintf(word, sizeof word, format, args);
    va_end(args);
    if (line->count + 1 >= line->capacity) {
        line->capacity = 2 * line->capacity + 64;
        char **longer = realloc(line->words, (size_t)line->capacity * sizeof *longer);
        if (!longer) {
            say_error("out of memory");
            exit(EXIT_FAILED);
        }
        line->words = longer;
    }
    line->words[line->count++] = strdup(word);
    line->words[line->count] = NULL;
}

/* ---- Reading ---- */

/* Whether `word` is `name`, alone or with "=value". For -I, -isystem and -x the value may follow
 * directly, as in any compiler. */
static bool is_option(const char *word, const Row *row, const char *name, const char **value) {
    size_t length = name ? strlen(name) : 0;
    if (!length || strncmp(word, name, length) != 0) return false;
    *value = NULL;
    if (word[length] == '\0') return true;
    if (!row->has_value) return false;
    bool may_touch = row->fate == FOLDER || row->fate == LANGUAGE;
    if (word[length] != '=' && !(may_touch && name[1] != '-')) return false;
    *value = word + length + (word[length] == '=');
    return true;
}

static Option read_option(char **words) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const Row *row = &rows[i];
        const char *value;
        if (!is_option(words[0], row, row->name, &value) &&
            !is_option(words[0], row, row->short_name, &value))
            continue;
        if (!row->has_value || value) return (Option){row, value, 1};
        if (words[1]) return (Option){row, words[1], 2};
    }
    return (Option){NULL, NULL, 1};
}

/* Adds `text` before each comma-separated part of `list`; a text that ends with a space is a
 * separate word. */
static void add_parts(CcLine *line, const char *text, const char *list) {
    const char *space = strchr(text, ' ');
    while (*list) {
        int length = (int)strcspn(list, ",");
        if (space) cc_add(line, "%.*s", (int)(space - text), text);
        cc_add(line, "%s%.*s", space ? "" : text, length, list);
        list += length + (list[length] == ',');
    }
}

static void add_words(CcLine *line, const char *text) {
    while (text && *text) {
        int length = (int)strcspn(text, " ");
        if (length) cc_add(line, "%.*s", length, text);
        text += length + (text[length] == ' ');
    }
}

/* ---- Architectures ---- */

/* The first number after "sm_" or "compute_" in the value of an option, 0: none ("native"). */
static int architecture_of(const char *value) {
    const char *at = strstr(value, "compute_");
    if (at) return atoi(at + strlen("compute_"));
    at = strstr(value, "sm_");
    return at ? atoi(at + strlen("sm_")) : 0;
}

/* The newest architecture in `known` (ascending) that is not newer than the given one, else the
 * oldest. */
static int nearest_architecture(int wanted, const int *known, int count) {
    int nearest = known[0];
    for (int i = 0; i < count; i++)
        if (known[i] <= wanted) nearest = known[i];
    return nearest;
}

/* Adds the architectures that the words name, each once. */
static void add_clang_architectures(CcLine *line, char **words) {
    static const int known[] = {OLDEST_OF_CLANG, 72, 75, 80, 86, 87, 89, 90};
    enum { KNOWN = sizeof known / sizeof known[0] };
    bool is_wanted[128] = {false};
    bool is_any = false;
    while (*words) {
        Option option = read_option(words);
        int wanted =
            option.row && option.row->fate == ARCHITECTURE ? architecture_of(option.value) : 0;
        if (wanted) is_any = is_wanted[nearest_architecture(wanted, known, KNOWN)] = true;
        words += option.words;
    }
    if (!is_any) is_wanted[DEFAULT_ARCHITECTURE] = true;
    for (int i = 0; i < KNOWN; i++)
        if (is_wanted[known[i]]) cc_add(line, "--cuda-gpu-arch=sm_%d", known[i]);
}

/* The architectures that nvcc supports, oldest first; returns their number, 0: unknown. */
static int list_nvcc_architectures(int *known, int most) {
    FILE *list = popen("nvcc --list-gpu-arch 2>/dev/null", "r");
    int count = 0, number;
    while (list && count < most && fscanf(list, " compute_%d", &number) == 1)
        known[count++] = number;
    if (list) pclose(list);
    return count;
}

/* ---- clang ---- */

/* Whether a folder of headers belongs to a CUDA toolkit. */
static bool is_toolkit(const char *folder) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/crt/host_config.h", folder);
    return access(path, F_OK) == 0;
}

static void add_folder(CcLine *line, const Row *row, const char *folder) {
    if (is_toolkit(folder)) {
        fprintf(stderr, "tyto: cc: left out %s %s: with clang, Tyto's own CUDA headers are used\n",
                row->text, folder);
        return;
    }
    cc_add(line, "%s", row->text);
    cc_add(line, "%s", folder);
}

/* Passes machine options (-m...) to the host's compilation only, because the GPU's would reject
 * them. */
static void add_for_host(CcLine *line, const char *list) {
    while (*list) {
        int length = (int)strcspn(list, ",");
        if (strncmp(list, "-march", 6) == 0 || strncmp(list, "-mtune", 6) == 0 ||
            strncmp(list, "-mcpu", 5) == 0)
            cc_add(line, "-Xarch_host");
        if (length) cc_add(line, "%.*s", length, list);
        list += length + (list[length] == ',');
    }
}

/* Tyto's headers need C++17. */
static void add_standard(CcLine *line, const char *value) {
    static const char *const older[] = {"c++98", "c++03", "c++11", "c++14", "c++0x", "c++1y"};
    for (size_t i = 0; i < sizeof older / sizeof older[0]; i++)
        if (strcmp(value, older[i]) == 0) return;
    cc_add(line, "-std=%s", value);
}

static void add_option(CcLine *line, Option option) {
    const Row *row = option.row;
    switch (row->fate) {
    case DROPPED:
    case ARCHITECTURE: break;
    case REPLACED: add_words(line, row->text); break;
    case PREFIXED: add_parts(line, row->text, option.value); break;
    case FOR_HOST: add_for_host(line, option.value); break;
    case STANDARD: add_standard(line, option.value); break;
    case FOLDER: add_folder(line, row, option.value); break;
    case RELOCATABLE:
        if (strcmp(option.value, "true") == 0) add_words(line, row->text);
        break;
    case LANGUAGE:
        cc_add(line, "-x");
        cc_add(line, "%s", strcmp(option.value, "cu") == 0 ? "cuda" : option.value);
        break;
    }
}

static bool is_static_library(const char *word) {
    for (size_t i = 0; i < sizeof static_libraries / sizeof static_libraries[0]; i++)
        if (strcmp(word, static_libraries[i]) == 0) return true;
    return false;
}

void cc_add_for_clang(CcLine *line, char **words) {
    add_clang_architectures(line, words);
    while (*words) {
        Option option = read_option(words);
        if (option.row) add_option(line, option);
        else if (!is_static_library(*words)) cc_add(line, "%s", *words);
        words += option.words;
    }
}

/* ---- nvcc ---- */

static bool is_named(Option option, const char *name) {
    return option.row && strcmp(option.row->name, name) == 0;
}

void cc_add_for_nvcc(CcLine *line, char **words) {
    int known[64], count = -1;
    for (; *words; words += read_option(words).words) {
        Option option = read_option(words);
        bool is_architecture = option.row && option.row->fate == ARCHITECTURE;
        int wanted = is_architecture ? architecture_of(option.value) : 0;
        if (wanted && count < 0) count = list_nvcc_architectures(known, 64);
        if (wanted && count > 0) {
            int taken = wanted < known[0] ? known[0] : wanted;
            cc_add(line, "-gencode");
            cc_add(line, "arch=compute_%d,code=[sm_%d,compute_%d]", taken, taken, taken);
        } else if (!is_named(option, "--gpu-code") && !is_named(option, "--cudart")) {
            for (int i = 0; i < option.words; i++)
                cc_add(line, "%s", words[i]);
        }
    }
}
