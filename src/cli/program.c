/* Finds workloads, and sets up the environment in which a program on Tyto starts. */
#include "cli/program.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/toolchain/elf.h"

/* The path of this executable; "" if it is unknown. */
static void find_own_path(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}

/* The folder of this executable; all other files are found relative to it. "" if it is unknown. */
static void find_own_folder(char *folder, size_t size) {
    find_own_path(folder, size);
    char *slash = strrchr(folder, '/');
    if (slash) *slash = '\0';
}

/* The first of `places` (relative to this executable's folder) that holds `name`; false: none. */
static bool find_beside(const char *const places[], int count, const char *name, char *path,
                        size_t size) {
    char folder[PATH_MAX];
    find_own_folder(folder, sizeof folder);
    for (int i = 0; i < count; i++) {
        int length = snprintf(path, size, "%s/%s/%s", folder, places[i], name);
        if (length > 0 && (size_t)length < size && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* The folders of Tyto's CUDA libraries: in the build folder, and in an installation. */
static const char *const library_places[] = {"cuda", TYTO_BIN_TO_LIB "/tyto"};

/* ---- Workloads ---- */

void program_find_workloads(char *folder, size_t size) {
    static const char *const places[] = {"workloads", TYTO_BIN_TO_LIBEXEC "/tyto"};
    const char *chosen = getenv("TYTO_WORKLOAD_DIR");
    if (chosen) snprintf(folder, size, "%s", chosen);
    else if (!find_beside(places, 2, ".", folder, size)) folder[0] = '\0';
}

/* A workload is a program with its PTX in the same folder. */
static bool is_workload(const char *folder, const char *name) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
    if (length >= (int)sizeof path || access(path, R_OK) != 0) return false;
    path[strlen(path) - strlen(".ptx")] = '\0';
    return access(path, X_OK) == 0;
}

/* Whether a plain name is that of a workload. */
static bool find_workload(const char *name, char *path, size_t size) {
    char folder[PATH_MAX];
    program_find_workloads(folder, sizeof folder);
    if (strchr(name, '/') || !folder[0] || !is_workload(folder, name)) return false;
    return snprintf(path, size, "%s/%s", folder, name) < (int)size;
}

/* The workload whose name is most similar to `name`; NULL: none is similar. The caller frees it. */
static char *nearest_workload(const char *name) {
    char folder[PATH_MAX], *nearest = NULL;
    struct dirent **entries;
    program_find_workloads(folder, sizeof folder);
    int total = folder[0] ? scandir(folder, &entries, NULL, alphasort) : -1;
    if (total < 0) return NULL;
    const char **names = allocate((size_t)total, sizeof *names);
    int count = 0;
    for (int i = 0; i < total; i++) {
        if (is_workload(folder, entries[i]->d_name)) names[count++] = entries[i]->d_name;
    }
    const char *found = tyto_nearest(name, names, count);
    if (found) nearest = strdup(found);
    for (int i = 0; i < total; i++)
        free(entries[i]);
    free(entries);
    free(names);
    return nearest;
}

/* The end of a message about a file that is not a program: the command that accepts it; else "". */
static const char *what_takes(const char *name) {
    const char *ending = strrchr(name, '.');
    if (ending && strcmp(ending, ".cu") == 0) return "; it is source code, use tyto cc";
    if (ending && strcmp(ending, ".ptx") == 0) return "; it is PTX, use tyto launch";
    return "";
}

/* The message that there is no such program, and which one was probably meant. The caller frees it.
 */
static char *explain_not_found(const char *name) {
    char *nearest = nearest_workload(name), *text = NULL;
    const char *taken = what_takes(name);
    bool is_path = strchr(name, '/') != NULL, is_here = access(name, F_OK) == 0;
    int length =
        is_path             ? asprintf(&text, "there is no program %s", name)
        : is_here && *taken ? asprintf(&text, "'%s' is not a program%s", name, taken)
        : nearest ? asprintf(&text, "there is no workload and no program '%s'; did you mean '%s'?",
                             name, nearest)
        : is_here ? asprintf(&text,
                             "there is no workload and no program '%s'; write ./%s for a file in "
                             "this folder",
                             name, name)
                  : asprintf(&text,
                             "there is no workload and no program '%s'; tyto workloads lists those "
                             "that come with Tyto",
                             name);
    free(nearest);
    return length < 0 ? NULL : text;
}

static void say_not_found(const char *name) {
    char *text = explain_not_found(name);
    say_error("%s", text ? text : name);
    free(text);
}

/* ---- Other files ---- */

bool program_find_self(char *path, size_t size) {
    find_own_path(path, size);
    if (!*path) say_error("cannot find the file of this command");
    return *path;
}

/* Asks the loader for the library's path, which works in the build folder and in an installation.
 */
bool program_find_library(char *path, size_t size) {
    Dl_info info;
    bool is_found = dladdr((void *)(uintptr_t)tyto_version, &info) && info.dli_fname &&
                    snprintf(path, size, "%s", info.dli_fname) < (int)size;
    if (!is_found) say_error("cannot find Tyto's library");
    return is_found;
}

bool program_find_data(const char *variable, const char *folder, const char *name, char *path,
                       size_t size) {
    char installed[PATH_MAX];
    const char *chosen = getenv(variable);
    if (chosen)
        return snprintf(path, size, "%s/%s", chosen, name) < (int)size && access(path, F_OK) == 0;
    snprintf(installed, sizeof installed, "%s/tyto/%s", TYTO_BIN_TO_DATA, folder);
    const char *const places[] = {folder, installed};
    return find_beside(places, 2, name, path, size);
}

/* ---- Environment ---- */

/* Quotes a word for TYTO_OPTIONS. */
static void write_quoted(const char *word, FILE *to) {
    fputs(" '", to);
    for (; *word; word++) {
        if (*word == '\'') fputs("'\\''", to);
        else fputc(*word, to);
    }
    fputc('\'', to);
}

/* The absolute path of a result's file, because the program may change its folder before the file
 * is written. The caller frees it. */
static char *make_whole(const char *path) {
    char folder[PATH_MAX];
    if (*path == '/' || strcmp(path, "-") == 0 || !getcwd(folder, sizeof folder))
        return words_copy_text(path);
    size_t size = strlen(folder) + strlen(path) + sizeof "/";
    char *whole = allocate(size, 1);
    snprintf(whole, size, "%s/%s", folder, path);
    return whole;
}

void program_export_options(int count, const char *const *words) {
    const char *before = getenv("TYTO_OPTIONS");
    char *all = NULL;
    size_t length;
    FILE *to = open_memstream(&all, &length);
    if (!to) {
        say_error("out of memory");
        exit(EXIT_FAILED);
    }
    if (before) fputs(before, to);
    for (int i = 0; i < count; i++) {
        const TytoOption *option = option_find(words[i]);
        write_quoted(words[i], to);
        if (!option || !option->argument || i + 1 == count) continue;
        char *value = option->traits & TYTO_OPTION_FILE ? make_whole(words[++i])
                                                        : words_copy_text(words[++i]);
        write_quoted(value, to);
        free(value);
    }
    fclose(to);
    setenv("TYTO_OPTIONS", all, 1);
    free(all);
}

bool program_find_libraries(char *folder, size_t size) {
    if (!find_beside(library_places, 2, "libcuda.so.1", folder, size)) {
        say_error("Tyto's libcuda.so.1 is not next to this command; is the installation complete?");
        return false;
    }
    *strrchr(folder, '/') = '\0';
    return true;
}

/* Tells Numba which driver to use; otherwise it searches the system's folders. */
static void export_driver(const char *folder) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/libcuda.so.1", folder) < (int)sizeof path)
        setenv("NUMBA_CUDA_DRIVER", path, 1);
}

/* Puts the folder of libcuda.so.1 first, then its parent, which contains Tyto's library. */
bool program_export_library(void) {
    char path[PATH_MAX];
    if (!program_find_libraries(path, sizeof path)) return false;
    const char *before = getenv("LD_LIBRARY_PATH");
    size_t size = 2 * strlen(path) + (before ? strlen(before) : 0) + sizeof ":/..:";
    char *all = allocate(size, 1);
    snprintf(all, size, "%s:%s/..%s%s", path, path, before && *before ? ":" : "",
             before ? before : "");
    setenv("LD_LIBRARY_PATH", all, 1);
    setenv("TYTO_COMMAND", "1", 1); /* tells the library that the command started the program */
    free(all);
    export_driver(path);
    return true;
}

/* ---- Starting ---- */

/* The file that execvp would run for `name`; false: none. */
static bool find_executable(const char *name, char *path, size_t size) {
    const char *folders = strchr(name, '/') ? NULL : getenv("PATH");
    if (!folders) return snprintf(path, size, "%s", name) < (int)size;
    while (*folders) {
        int length = (int)strcspn(folders, ":");
        if (snprintf(path, size, "%.*s/%s", length, folders, name) < (int)size &&
            access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool find_any(const char *name, char *path, size_t size, bool *is_workload) {
    *is_workload = find_workload(name, path, size);
    return *is_workload || (find_executable(name, path, size) && access(path, F_OK) == 0);
}

bool program_find(const char *name, char *path, size_t size, bool *is_workload) {
    if (find_any(name, path, size, is_workload)) return true;
    say_not_found(name);
    return false;
}

char *program_find_problem(const char *name) {
    char path[PATH_MAX];
    bool is_workload;
    return find_any(name, path, sizeof path, &is_workload) ? NULL : explain_not_found(name);
}

bool program_is_workload(const char *name) {
    char path[PATH_MAX];
    return find_workload(name, path, sizeof path);
}

bool program_exists(const char *name) {
    char path[PATH_MAX];
    return find_executable(name, path, sizeof path);
}

static void tell_of_absent(const char *name, ElfFacts facts) {
    for (int i = 0; elf_absent_libraries[i].file; i++) {
        if (facts.absent >> i & 1)
            fprintf(stderr,
                    "tyto: warning: %s links %s (%s), which Tyto lacks: its functions will fail "
                    "(docs/libraries.md)\n",
                    name, elf_absent_libraries[i].file, elf_absent_libraries[i].name);
    }
}

/* Prints how to link a program with a shared runtime, or with Tyto's own static runtime. */
static void tell_how_to_link(void) {
    char libraries[PATH_MAX];
    fputs("    nvcc -cudart shared ...\n"
          "    cmake -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared ...\n",
          stderr);
    if (!find_beside(library_places, 2, "libcudart_static.a", libraries, sizeof libraries)) return;
    *strrchr(libraries, '/') = '\0';
    char *folder = realpath(libraries, NULL);
    fprintf(stderr,
            "or with Tyto's own, without other changes to the command:\n"
            "    nvcc -L%s ...\n",
            folder ? folder : libraries);
    free(folder);
}

/* Whether Tyto can replace the runtime of a program; if not, prints how to link the program. */
static bool check_libraries(const char *name) {
    char path[PATH_MAX];
    if (!find_executable(name, path, sizeof path)) return true;
    ElfFacts facts = elf_look(path);
    tell_of_absent(name, facts);
    if (!facts.has_kernels || facts.asks_for_runtime) return true;
    if (facts.has_loader && facts.names_runtime) return true;
    say_error("%s holds CUDA's static runtime (the default of nvcc and CMake) and %s, so its calls "
              "do not reach Tyto. Link it without -s or -static and do not strip it, or link it "
              "with the shared runtime:",
              name, facts.has_loader ? "no symbol table that names it" : "no shared libraries");
    tell_how_to_link();
    return false;
}

/* ---- Programs with a static runtime ---- */

/* Adds a word to an environment variable of words between colons, unless it is there. */
static void add_word(const char *variable, const char *word) {
    const char *before = getenv(variable);
    if (before && strstr(before, word)) return;
    bool is_first = !before || !*before;
    size_t size = (before ? strlen(before) : 0) + strlen(word) + sizeof ":";
    char *all = allocate(size, 1);
    snprintf(all, size, "%s%s%s", is_first ? "" : before, is_first ? "" : ":", word);
    setenv(variable, all, 1);
    free(all);
}

/* Makes the loader redirect such programs, and their children, to Tyto's runtime
 * (src/cudart/redirect/). The loader splits the variable at blanks and colons; a path that contains
 * them is found by LD_LIBRARY_PATH. */
static void export_redirect(void) {
    static const char name[] = "libtyto-redirect.so";
    char path[PATH_MAX];
    if (!find_beside(library_places, 2, name, path, sizeof path)) return;
    add_word("LD_PRELOAD", strpbrk(path, " \t\n:") ? name : path);
    add_word("ASAN_OPTIONS", "verify_asan_link_order=0"); /* allows the runtime to be loaded before
                                                             a sanitizer's library */
}

static bool is_python(const char *name) {
    const char *slash = strrchr(name, '/');
    const char *last = slash ? slash + 1 : name;
    size_t length = strlen(last);
    return strncmp(last, "python", 6) == 0 || (length > 3 && strcmp(last + length - 3, ".py") == 0);
}

/* Makes Numba use Tyto's replacement of the toolkit in which it finds its compiler (cuda/numba/).
 */
static void export_toolkit(void) {
    static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
    char folder[PATH_MAX];
    if (!find_beside(library_places, 2, "numba", folder, sizeof folder)) return;
    for (int i = 0; i < 2 && !getenv("TYTO_CUDA_HOME"); i++) {
        if (getenv(names[i])) setenv("TYTO_CUDA_HOME", getenv(names[i]), 0);
    }
    setenv("CUDA_HOME", folder, 1);
}

int program_exec(char **words) {
    char workload[PATH_MAX];
    const char *name = words[0];
    bool is_ours = find_workload(name, workload, sizeof workload);
    if (!is_ours && !check_libraries(name)) return EXIT_CANNOT_RUN;
    if (is_python(name)) export_toolkit();
    if (!is_ours) export_redirect();
    fflush(NULL);
    signal(SIGXFSZ, SIG_DFL); /* main ignores it */
    execvp(is_ours ? workload : name, words);
    if (errno == ENOENT) {
        say_not_found(name);
        return EXIT_NOT_FOUND;
    }
    say_error("cannot run %s: %s%s", name, strerror(errno), what_takes(name));
    return EXIT_CANNOT_RUN;
}
