/* A kernel's name in the source is extracted from its mangled name (Itanium C++ ABI, section 5.1).
 * Kernels are functions, possibly in namespaces, possibly templates, so only these forms occur. */
#include "simulator/selection.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { MOST_NAMES_TOLD = 8 }; /* most launched kernels listed in a warning */

typedef struct Pattern {
    const char *text;  /* a name, possibly with * and ? */
    uint64_t launches; /* launches that matched it, timed or not */
} Pattern;

struct Selection {
    Arena *arena;      /* memory of the patterns */
    Pattern *patterns; /* patterns, in the order given */
    int count;         /* number of patterns; 0: every kernel */
    uint64_t skip;     /* number of matching launches still to run without timing */
    uint64_t matching; /* launches so far */
};

Selection *selection_new(const char *names, uint64_t skip, Diag *diag) {
    Arena *arena = arena_new();
    Selection *selection = ARENA_NEW(arena, Selection);
    *selection = (Selection){.arena = arena, .skip = skip};
    if (!names) return selection;
    selection->patterns = ARENA_ARRAY(arena, Pattern, strlen(names) + 1);
    while (true) {
        char *text = arena_strdup(arena, names);
        size_t length = strcspn(names, ",");
        text[length] = '\0';
        if (length == 0) {
            diag_error(diag, NULL, 0, 0, "--kernels: a name is empty; write NAME or NAME,NAME,...");
            selection_free(selection);
            return NULL;
        }
        selection->patterns[selection->count++].text = text;
        if (names[length] == '\0') return selection;
        names += length + 1;
    }
}

void selection_free(Selection *selection) {
    if (selection) arena_free(selection->arena);
}

/* ---- Names ---- */

/* Adds the name of a kernel in the source, "space::kernel", without template arguments and
 * parameters. A name that is not mangled is added as it is. */
static void add_source_name(const char *kernel, Text *out) {
    const char *at = kernel;
    if (strncmp(at, "_Z", 2) != 0) {
        text_add(out, kernel);
        return;
    }
    at += 2;
    if (*at == 'N') at++;
    if (*at == 'L') at++; /* internal linkage */
    while (*at >= '1' && *at <= '9') {
        char *name;
        unsigned long length = strtoul(at, &name, 10);
        if (length > strlen(name)) break;
        if (out->length) text_add(out, "::");
        text_add_bytes(out, name, length);
        at = name + length;
        if (*at == 'L') at++;
    }
    if (!out->length) text_add(out, kernel);
}

/* The last part of a::b::kernel. */
static const char *last_part(const char *name) {
    for (const char *next; (next = strstr(name, "::")) != NULL;)
        name = next + 2;
    return name;
}

bool selection_is_named(const char *kernel, const char *name) {
    Text own = {0};
    add_source_name(kernel, &own);
    const char *const names[] = {kernel, text_string(&own), last_part(text_string(&own))};
    bool is_one = false;
    for (int i = 0; i < 3; i++)
        is_one |= fnmatch(name, names[i], 0) == 0;
    text_free(&own);
    return is_one;
}

/* ---- Launches ---- */

bool selection_takes(const Selection *selection, const char *kernel) {
    bool is_named = selection->count == 0;
    for (int i = 0; i < selection->count && !is_named; i++)
        is_named = selection_is_named(kernel, selection->patterns[i].text);
    return is_named && selection->matching >= selection->skip;
}

void selection_count(Selection *selection, const char *kernel) {
    bool is_named = selection->count == 0;
    for (int i = 0; i < selection->count; i++) {
        if (!selection_is_named(kernel, selection->patterns[i].text)) continue;
        selection->patterns[i].launches++;
        is_named = true;
    }
    selection->matching += is_named;
}

/* ---- At the end ---- */

static const char *nearest_name(const char *pattern, const Map *names) {
    int count = (int)map_count(names);
    const char **words = base_calloc((size_t)count + 1, sizeof *words);
    for (int i = 0; i < count; i++)
        words[i] = map_key(names, (size_t)i);
    const char *nearest = diag_nearest(pattern, words, count);
    free(words);
    return nearest;
}

/* Warns about a pattern that matched nothing. Suggests a similar name, or else lists the names that
 * were launched. */
static void warn_unused(const char *pattern, const Map *names, Diag *diag) {
    Text text = {0};
    size_t count = map_count(names), told = count < MOST_NAMES_TOLD ? count : MOST_NAMES_TOLD;
    const char *nearest = nearest_name(pattern, names);
    if (nearest) {
        text_printf(&text, "did you mean '%s'?", nearest);
    } else {
        text_add(&text, count ? "launched were" : "the program launched none");
        for (size_t i = 0; i < told; i++)
            text_printf(&text, "%s %s", i ? "," : "", map_key(names, i));
        if (count > told) text_printf(&text, " and %zu more", count - told);
    }
    diag_warning(diag, "tyto", 0, 0, "--kernels %s: no kernel of this name was launched; %s",
                 pattern, text_string(&text));
    text_free(&text);
}

/* The source names of all launched kernels, each once, in the order of their first launches. */
static Map *source_names(const Map *launched) {
    Map *names = map_new();
    for (size_t i = 0; i < map_count(launched); i++) {
        Text name = {0};
        add_source_name(map_key(launched, i), &name);
        map_put(names, text_string(&name), name.length, NULL);
        text_free(&name);
    }
    return names;
}

void selection_check(const Selection *selection, const Map *launched, Diag *diag) {
    Map *names = source_names(launched);
    for (int i = 0; i < selection->count; i++) {
        if (!selection->patterns[i].launches) warn_unused(selection->patterns[i].text, names, diag);
    }
    if (selection->skip && selection->matching && selection->matching <= selection->skip)
        diag_warning(diag, "tyto", 0, 0,
                     "--skip %llu: the program made only %llu launch%s%s, so none was timed",
                     (unsigned long long)selection->skip, (unsigned long long)selection->matching,
                     selection->matching == 1 ? "" : "es",
                     selection->count ? " of the kernels named" : "");
    map_free(names);
}
