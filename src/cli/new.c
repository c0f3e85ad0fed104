/* tyto new: writes a template of a policy, which compiles and runs unchanged. */
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/new/templates.h"

enum { MOST_LETTERS = 64 };

static const struct Kind {
    const char *name, *what, *option, *options, *others, *text;
} kinds[] = {
    {"scheduler", "a warp scheduler", "--scheduler", "--schedulers", "lrr,gto", template_scheduler},
    {"cta-scheduler", "a thread block scheduler", "--cta-scheduler", "--cta-schedulers",
     "round-robin", template_cta_scheduler},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const struct Kind *find_kind(const char *name) {
    const char *names[KINDS];
    for (int i = 0; i < KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(name, names[i]) == 0) return &kinds[i];
    }
    const char *nearest = tyto_nearest(name, names, KINDS);
    say_error("tyto new %s: expected scheduler or cta-scheduler%s%s%s", name, MEANT(nearest));
    return NULL;
}

/* Checks a name, which must be valid as a file name and as the value of an option. */
static bool check_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t length = strlen(name);
    if (length && length <= MOST_LETTERS && strspn(name, letters) == length && name[0] != '-')
        return true;
    say_error(
        "'%s' cannot be the name of a scheduler: use at most %d lower-case letters, digits, - "
        "and _; the file's name is the name with .c",
        name, MOST_LETTERS);
    return false;
}

/* Writes the template with the name filled in. */
static void write_text(const char *text, const char *name, FILE *to) {
    static const char mark[] = "@NAME@";
    for (const char *next; (next = strstr(text, mark)) != NULL; text = next + sizeof mark - 1)
        fprintf(to, "%.*s%s", (int)(next - text), text, name);
    fputs(text, to);
}

/* Writes a file that must not exist yet. */
static bool write_new(const char *path, const char *text, const char *name) {
    FILE *file = fopen(path, "wx");
    if (!file && errno == EEXIST) {
        say_error("%s exists and was not changed; choose another name", path);
        return false;
    }
    bool is_written = file != NULL;
    if (file) write_text(text, name, file);
    is_written = is_written && !ferror(file);
    int error = errno;
    if (file && fclose(file) != 0) is_written = false, error = errno;
    if (is_written) return true;
    say_error("cannot write %s: %s", path, strerror(error));
    if (file) unlink(path);
    return false;
}

static int run_new(Arguments *arguments) {
    const char *name = arguments->operands[1];
    char path[MOST_LETTERS + sizeof ".c"];
    const struct Kind *kind = find_kind(arguments->operands[0]);
    if (!kind || !check_name(name)) return EXIT_USAGE;
    snprintf(path, sizeof path, "%s.c", name);
    if (!write_new(path, kind->text, name)) return EXIT_FAILED;
    printf("%s is %s that runs unchanged. Tyto compiles it whenever it has changed:\n"
           "\n"
           "  tyto run %s ./%s spmv\n"
           "  tyto compare %s %s,./%s spmv\n",
           path, kind->what, kind->option, path, kind->options, kind->others, path);
    return EXIT_DONE;
}

const Command command_new = {
    .name = "new",
    .operands = "scheduler|cta-scheduler NAME",
    .summary = "Write a template for your own scheduler",
    .text =
        "Writes NAME.c, a policy for warps or for thread blocks that runs unchanged. Its comments\n"
        "explain what a policy can do. tyto run --scheduler ./NAME.c compiles it by itself.\n"
        "\n"
        "  tyto new scheduler mine\n"
        "  tyto compare --schedulers lrr,gto,./mine.c spmv\n",
    .lowest_operands = 2,
    .most_operands = 2,
    .run = run_new,
};
