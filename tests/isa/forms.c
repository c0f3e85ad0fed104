#include "forms.h"

#include <stdio.h>
#include <string.h>

/* Expands the first (a|b) of the line, one choice after another, and continues with the rest. */
static int expand(const char *line, FormVisit *visit, void *user) {
    const char *open = strchr(line, '(');
    if (!open) {
        visit(line, user);
        return 1;
    }
    const char *close = strchr(open, ')');
    int count = 0;
    for (const char *choice = open + 1; choice <= close;) {
        const char *end = choice;
        while (end < close && *end != '|')
            ++end;
        char next[FORM_LENGTH];
        snprintf(next, sizeof next, "%.*s%.*s%s", (int)(open - line), line, (int)(end - choice),
                 choice, close + 1);
        count += expand(next, visit, user);
        choice = end + 1;
    }
    return count;
}

int forms_walk(const char *path, FormVisit *visit, void *user) {
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    int count = 0;
    char line[FORM_LENGTH];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || !line[0]) continue;
        strcat(line, ";");
        count += expand(line, visit, user);
    }
    fclose(file);
    return count;
}
