/* Finds experiments (see the header). */
#include "cli/experiment/catalogue.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/program.h"

static const char ending[] = EXPERIMENT_ENDING;
static const char variable[] = "TYTO_EXPERIMENT_DIR", folder_name[] = "experiments";

static bool has_ending(const char *name) {
    size_t length = strlen(name);
    return length > sizeof ending - 1 && strcmp(name + length - (sizeof ending - 1), ending) == 0;
}

static int is_experiment(const struct dirent *entry) { return has_ending(entry->d_name); }

bool catalogue_list(Words *ids) {
    char folder[PATH_MAX];
    struct dirent **entries;
    bool is_found = program_find_data(variable, folder_name, ".", folder, sizeof folder);
    int count = is_found ? scandir(folder, &entries, is_experiment, alphasort) : -1;
    if (count < 0)
        say_error("the experiments are not next to this command; is the installation complete?");
    for (int i = 0; i < count; i++) {
        entries[i]->d_name[strlen(entries[i]->d_name) - (sizeof ending - 1)] = '\0';
        words_add(ids, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return count >= 0;
}

static void say_unknown(const char *id) {
    Words ids = {0};
    if (!catalogue_list(&ids)) return;
    const char *nearest = tyto_nearest(id, ids.list, ids.count);
    if (nearest) say_error("there is no experiment '%s'; did you mean '%s'?", id, nearest);
    else say_error("there is no experiment '%s'; tyto reproduce list shows them all", id);
    words_free(&ids);
}

/* The file of an experiment that comes with Tyto; false: none. */
static bool find_file(const char *id, char path[PATH_MAX]) {
    char name[NAME_MAX];
    snprintf(name, sizeof name, "%.200s%s", id, ending);
    return program_find_data(variable, folder_name, name, path, PATH_MAX);
}

/* ---- Repeated numbers ---- */

/* Whether another experiment has this id, in this one's folder or among Tyto's. */
static bool is_there(const Experiment *experiment, const char *id) {
    char beside[PATH_MAX];
    const char *path = fields_path(experiment->file), *slash = strrchr(path, '/');
    if (strchr(id, '/') || strcmp(id, experiment->id) == 0) return false;
    snprintf(beside, sizeof beside, "%.*s%.200s%s", slash ? (int)(slash + 1 - path) : 0, path, id,
             ending);
    return access(beside, R_OK) == 0 || find_file(id, beside);
}

/* Checks the experiments in which repeated claims are counted; a wrong name would lose a claim. */
static void check_repeats(const Experiment *experiment) {
    Words ids = {0};
    for (int i = 0; i < experiment->published.count; i++) {
        const char *of = experiment->published.list[i].repeats;
        if (!of || is_there(experiment, of)) continue;
        if (!ids.count) catalogue_list(&ids);
        fields_say_unknown(experiment->file, "other experiment", of, ids.list, ids.count);
    }
    words_free(&ids);
}

/* ---- One experiment ---- */

static Experiment *read_checked(const char *path, bool allows_plugins) {
    Experiment *experiment = experiment_read(path, allows_plugins);
    if (!experiment) return NULL;
    check_repeats(experiment);
    if (!fields_mistakes(experiment->file)) return experiment;
    experiment_free(experiment);
    return NULL;
}

Experiment *catalogue_find(const char *id, bool allows_plugins) {
    char path[PATH_MAX];
    if (strchr(id, '/') || has_ending(id)) return read_checked(id, allows_plugins);
    if (find_file(id, path)) return read_checked(path, allows_plugins);
    say_unknown(id);
    return NULL;
}
