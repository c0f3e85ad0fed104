/* Reads lists of schedulers (see the header). */
#include "cli/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* All limits, as the CCWS paper finds its best one (section 5.1). */
static const char BEST_SWL[] = "swl:limit=1..32";

/* The "1..32" of "swl:limit=1..32". */
typedef struct Range {
    const char *text, *end; /* the start of the range, and the text after it */
    long first, last;       /* values */
} Range;

static bool find_range(const char *scheduler, Range *range) {
    for (const char *at = strchr(scheduler, '='); at; at = strchr(at + 1, '=')) {
        char *end;
        range->text = at + 1;
        range->first = strtol(at + 1, &end, 10);
        if (end == at + 1 || strncmp(end, "..", 2)) continue;
        range->last = strtol(end + 2, &end, 10);
        range->end = end;
        return true;
    }
    return false;
}

/* Adds a scheduler. A range adds one for each of its values, so two ranges add every pair. */
static void add(Names *names, const char *scheduler, int most) {
    Range range;
    if (!find_range(scheduler, &range)) {
        names->is_cut |= names->count == most;
        if (names->count < most) names->list[names->count++] = strdup(scheduler);
        return;
    }
    if (range.first > range.last && !names->empty) names->empty = strdup(scheduler);
    for (long i = range.first; i <= range.last && !names->is_cut; i++) {
        size_t size = strlen(scheduler) + 24;
        char *one = allocate(size, 1);
        snprintf(one, size, "%.*s%ld%s", (int)(range.text - scheduler), scheduler, i, range.end);
        add(names, one, most);
        free(one);
    }
}

/* ---- The word "all" ---- */

/* Adds the names in the list of schedulers, up to `end`: lines of one word, after two blanks. */
static void list_names(const char *text, const char *end, Words *words) {
    for (const char *line = text; line && (!end || line < end); line = strchr(line, '\n')) {
        char name[64];
        int length = 0;
        line += *line == '\n';
        if (sscanf(line, "  %63[a-z0-9-]%n", name, &length) == 1 && line[length] == '\n' &&
            strspn(line, " ") == 2)
            words_add(words, name);
    }
}

void names_list_schedulers(Words *words) {
    char *text = tyto_schedulers_text();
    list_names(text, strstr(text, "CTA schedulers"), words);
    free(text);
}

void names_list_cta_schedulers(Words *words) {
    char *text = tyto_schedulers_text();
    list_names(strstr(text, "CTA schedulers"), NULL, words);
    free(text);
}

static void add_all(Names *names, int most, NamesAll all) {
    Words words = {0};
    if (all == NAMES_ALL_SCHEDULERS) names_list_schedulers(&words);
    else names_list_cta_schedulers(&words);
    for (int i = 0; i < words.count; i++)
        add(names, words.list[i], most);
    words_free(&words);
}

/* ---- A list ---- */

static void add_one(Names *names, const char *scheduler, int most, NamesAll all) {
    if (all != NAMES_NO_ALL && !strcmp(scheduler, "all")) add_all(names, most, all);
    else add(names, strcmp(scheduler, "best-swl") ? scheduler : BEST_SWL, most);
}

Names names_read(const char *text, int most, NamesAll all) {
    Names names = {.list = allocate((size_t)most + 1, sizeof *names.list)};
    names.count = !text; /* the NULL */
    while (text && *text) {
        size_t length = strcspn(text, ",");
        for (const char *next = text + length; *next; next = text + length) {
            size_t more = strcspn(next + 1, ",");
            if (!memchr(next + 1, '=', more) || memchr(next + 1, ':', more)) break;
            length += 1 + more;
        }
        char *scheduler = strndup(text, length);
        if (length) add_one(&names, scheduler, most, all);
        free(scheduler);
        text += length + (text[length] == ',');
    }
    return names;
}

void names_free(Names *names) {
    for (int i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
    free(names->empty);
}
