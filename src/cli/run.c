/* tyto run: starts a workload or a program with Tyto's library in the place of CUDA's driver.
 *
 * The program replaces this process, so its status, its signals and its terminal are its own. The
 * options travel in TYTO_OPTIONS; the library in the program reports at its end. */
#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of this executable, from which everything else is found; "" when it is unknown. */
static void find_own_folder(char *folder, size_t size) {
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
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

/* ---- Workloads ---- */

/* The folder of the workloads; "" when it is not there. */
static void find_workloads(char *folder, size_t size) {
    static const char *const places[] = {"workloads", TYTO_BIN_TO_LIBEXEC "/tyto"};
    const char *chosen = getenv("TYTO_WORKLOAD_DIR");
    if (chosen) snprintf(folder, size, "%s", chosen);
    else if (!find_beside(places, 2, ".", folder, size)) folder[0] = '\0';
}

/* A workload is a program with its PTX beside it. */
static bool is_workload(const char *folder, const char *name) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s.ptx", folder, name);
    if (length >= (int)sizeof path || access(path, R_OK) != 0) return false;
    path[strlen(path) - strlen(".ptx")] = '\0';
    return access(path, X_OK) == 0;
}

/* A plain name is a workload when there is one of that name. */
static bool find_workload(const char *name, char *path, size_t size) {
    char folder[PATH_MAX];
    find_workloads(folder, sizeof folder);
    if (strchr(name, '/') || !folder[0] || !is_workload(folder, name)) return false;
    return snprintf(path, size, "%s/%s", folder, name) < (int)size;
}

/* The workload whose name is most like `name`; NULL when none is. The caller frees it. */
static char *nearest_workload(const char *name) {
    char folder[PATH_MAX], *nearest = NULL;
    struct dirent **entries;
    find_workloads(folder, sizeof folder);
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

static void say_not_found(const char *name) {
    char *nearest = nearest_workload(name);
    if (strchr(name, '/')) say_error("there is no program %s", name);
    else if (nearest)
        say_error("there is no workload and no program '%s'; did you mean '%s'?", name, nearest);
    else
        say_error("there is no workload and no program '%s'; write ./%s for a file in this folder",
                  name, name);
    free(nearest);
}

/* ---- Environment ---- */

/* Appends a word so that the reader of TYTO_OPTIONS gets it back whole. */
static char *append_quoted(char *to, const char *word) {
    *to++ = ' ';
    *to++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') to = stpcpy(to, "'\\''");
        else *to++ = *word;
    }
    *to++ = '\'';
    return to;
}

static void export_options(const Arguments *arguments) {
    const char *before = getenv("TYTO_OPTIONS");
    size_t size = (before ? strlen(before) : 0) + 1;
    for (int i = 0; i < arguments->simulator_count; i++)
        size += 4 * strlen(arguments->simulator[i]) + 3;
    char *words = allocate(size, 1);
    char *end = stpcpy(words, before ? before : "");
    for (int i = 0; i < arguments->simulator_count; i++)
        end = append_quoted(end, arguments->simulator[i]);
    *end = '\0';
    setenv("TYTO_OPTIONS", words, 1);
    free(words);
}

/* Puts the folder of our libcuda.so.1 before all others, and the library's own, its parent, after
 * it. */
static bool export_library(void) {
    static const char *const places[] = {"cuda", TYTO_BIN_TO_LIB "/tyto"};
    char path[PATH_MAX];
    if (!find_beside(places, 2, "libcuda.so.1", path, sizeof path)) {
        say_error("libcuda.so.1 of Tyto is not beside this command; is the installation complete?");
        return false;
    }
    *strrchr(path, '/') = '\0';
    const char *before = getenv("LD_LIBRARY_PATH");
    size_t size = 2 * strlen(path) + (before ? strlen(before) : 0) + sizeof ":/..:";
    char *all = allocate(size, 1);
    snprintf(all, size, "%s:%s/..%s%s", path, path, before && *before ? ":" : "",
             before ? before : "");
    setenv("LD_LIBRARY_PATH", all, 1);
    free(all);
    return true;
}

/* ---- The command ---- */

static int run_run(Arguments *arguments) {
    char workload[PATH_MAX];
    const char *name = arguments->operands[0];
    bool is_ours = find_workload(name, workload, sizeof workload);
    if (!export_library()) return EXIT_FAILED;
    export_options(arguments);
    fflush(NULL);
    execvp(is_ours ? workload : name, arguments->operands);
    if (errno == ENOENT) {
        say_not_found(name);
        return EXIT_NOT_FOUND;
    }
    say_error("cannot run %s: %s", name, strerror(errno));
    return EXIT_CANNOT_RUN;
}

const Command command_run = {
    .name = "run",
    .operands = "WORKLOAD|PROGRAM [arguments]",
    .summary = "Run a workload, or any program on CUDA's driver API",
    .text =
        "A WORKLOAD is one of those that come with Tyto: vecadd, matmul, reduction, bfs, spmv,\n"
        "histogram, transpose. A PROGRAM is found as by the shell. What follows its name is the\n"
        "program's own; `tyto run matmul --help` shows the workload's arguments.\n"
        "\n"
        "The program finds Tyto's libcuda.so.1 in the place of the driver's, so nothing has to\n"
        "be rebuilt. Started by other means, it takes the same options from the environment\n"
        "variable TYTO_OPTIONS.\n"
        "\n"
        "  tyto run --verbose matmul --size 128\n"
        "  tyto run --check-uninitialised --json out.json ./my-program input.txt\n",
    .has_simulator = true,
    .ends_at_operand = true,
    .lowest_operands = 1,
    .run = run_run,
};
