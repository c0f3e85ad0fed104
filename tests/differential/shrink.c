/* Drops runs of statements, from long runs to single statements. For a loop or branch it also tries
 * to drop only the statements around its contents. */
#include "shrink.h"

#include <string.h>

typedef struct Shrinking {
    Comparison *comparison;
    const char *level;
    Program *program;
    Verdict verdict; /* the verdict to preserve */
    bool has_changed;
} Shrinking;

/* Whether the run contains each loop or branch completely or not at all. */
static bool is_balanced(const Body *body, int first, int last) {
    int depth = 0;
    for (int i = first; i <= last; i++) {
        const StatementKind kind = body->statements[i].kind;
        if (body->statements[i].is_dropped) continue;
        if (kind == STATEMENT_OPEN) depth++;
        if (kind != STATEMENT_SIMPLE && depth == 0) return false;
        if (kind == STATEMENT_CLOSE) depth--;
    }
    return depth == 0;
}

/* Drops the statements with `is_dropped` set, if the verdict stays the same. */
static bool try_without(Shrinking *shrinking, Body *body, const bool *is_dropped) {
    bool was_dropped[PROGRAM_STATEMENTS], changes = false;
    for (int i = 0; i < body->count; i++) {
        was_dropped[i] = body->statements[i].is_dropped;
        changes |= is_dropped[i] && !was_dropped[i];
        body->statements[i].is_dropped |= is_dropped[i];
    }
    if (!changes) return false;
    if (compare_one(shrinking->comparison, shrinking->level, shrinking->program) ==
        shrinking->verdict) {
        shrinking->has_changed = true;
        return true;
    }
    for (int i = 0; i < body->count; i++)
        body->statements[i].is_dropped = was_dropped[i];
    return false;
}

static void drop_run(Shrinking *shrinking, Body *body, int first, int last) {
    bool is_dropped[PROGRAM_STATEMENTS] = {false};
    if (!is_balanced(body, first, last)) return;
    memset(is_dropped + first, true, (size_t)(last - first + 1));
    try_without(shrinking, body, is_dropped);
}

/* Drops a whole loop or branch, else only the statements around its contents. */
static void drop_structure(Shrinking *shrinking, Body *body, int open) {
    bool is_dropped[PROGRAM_STATEMENTS] = {false};
    const int close = program_find_close(body, open);
    memset(is_dropped + open, true, (size_t)(close - open + 1));
    if (try_without(shrinking, body, is_dropped)) return;
    int depth = 0;
    for (int i = open; i <= close; i++) {
        const StatementKind kind = body->statements[i].kind;
        depth += kind == STATEMENT_OPEN;
        is_dropped[i] = kind != STATEMENT_SIMPLE && depth == 1;
        depth -= kind == STATEMENT_CLOSE;
    }
    try_without(shrinking, body, is_dropped);
}

static void shrink_body(Shrinking *shrinking, Body *body) {
    for (int length = body->count; length > 0; length /= 2)
        for (int first = 0; first < body->count; first += length) {
            const int last = first + length - 1;
            drop_run(shrinking, body, first, last < body->count ? last : body->count - 1);
        }
    for (int i = 0; i < body->count; i++)
        if (body->statements[i].kind == STATEMENT_OPEN && !body->statements[i].is_dropped)
            drop_structure(shrinking, body, i);
}

void shrink(Comparison *comparison, const char *level, Program *program, Verdict verdict) {
    Shrinking shrinking = {comparison, level, program, verdict, true};
    while (shrinking.has_changed) {
        shrinking.has_changed = false;
        for (int b = 0; b < PROGRAM_BODIES; b++)
            shrink_body(&shrinking, &program->bodies[b]);
    }
}
