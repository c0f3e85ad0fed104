/* Compares the forms that ran with the table of instruction forms. */
#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "ptx/opcode.h"

#include "form.h"

/* ---- Canonical spellings ---- */

/* Words that do not change the result of an instruction. Each must run with some spelling of its
 * opcode, but not in every combination. */
static bool is_advice(const char *word) {
    static const char *const words[] = {
        "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster",
        "gpu",  "sys",      "ca",      "cg",      "cs",      "lu",      "cv",   "wb",  "wt",
        "nc",   "unified",  "uni",     "sc",      "gl",      "aligned", "mask", NULL};
    if (strncmp(word, "L1::", 4) == 0 || strncmp(word, "L2::", 4) == 0) return true;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

/* The short name of a space with several names. */
static const char *plain_name(const char *word) {
    if (strncmp(word, "param::", 7) == 0) return "param";
    if (strncmp(word, "shared::", 8) == 0) return "shared"; /* every CTA is its own cluster */
    return word;
}

static int compare_words(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The opcode, its modifiers in alphabetical order, its types in their order. */
static void canonical(const char *spelling, char out[FORM_TEXT_BYTES]) {
    Form form;
    form_parse(&form, spelling);
    const char *words[FORM_MAX_WORDS];
    size_t count = 0;
    for (int i = 1; i < form.word_count; i++) {
        const char *word = form_word(&form, i);
        if (!is_advice(word) && !type_named(word)) words[count++] = plain_name(word);
    }
    qsort(words, count, sizeof *words, compare_words);
    size_t at = (size_t)snprintf(out, FORM_TEXT_BYTES, "%s", form_word(&form, 0));
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(out + at, FORM_TEXT_BYTES - at, ".%s", words[i]);
    for (int i = 0; i < form.type_count; i++)
        at += (size_t)snprintf(out + at, FORM_TEXT_BYTES - at, ".%s", form.types[i]->name);
}

struct Map *coverage_new(void) { return map_new(); }
void coverage_free(struct Map *set) { map_free(set); }

/* Returns true if the key was not in the set. */
static bool put(struct Map *set, const char *key) {
    bool is_new = !map_has(set, key, strlen(key));
    if (is_new) map_put(set, key, strlen(key), NULL);
    return is_new;
}

bool coverage_add(struct Map *set, const char *spelling) {
    char key[FORM_TEXT_BYTES];
    Form form;
    form_parse(&form, spelling);
    for (int i = 1; i < form.word_count; i++) {
        snprintf(key, sizeof key, "%.40s %.60s", form_word(&form, 0), form_word(&form, i));
        put(set, key); /* the key that counts a single word */
    }
    canonical(spelling, key);
    return put(set, key);
}

/* ---- Spellings that the table of forms contains, but that are not allowed ---- */

typedef struct Exclusion {
    const char *pattern;
    const char *why;
} Exclusion;

#define ORDERED    ".lt,.le,.gt,.ge"
#define UNSIGNED   ".lo,.ls,.hi,.hs"
#define UNORDERED  ".equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan"
#define COMBINE    "{.and,.or,.xor}"
#define COMPARISON "(.eq,.ne," ORDERED "," UNSIGNED "," UNORDERED ")"
#define FLOATS     ".f32,.f64,.f16,.f16x2,.bf16,.bf16x2"
#define INTEGERS   ".b16,.b32,.b64,.u16,.u32,.u64,.s16,.s32,.s64"
#define SET        "(.u16,.s16,.u32,.s32,.f16,.f16x2,.bf16,.bf16x2,.f32)"

static const char *const exclusions[] = {
    /* comparisons of bits have no order, comparisons of integers no NaN; .lo and the like are only
     * for unsigned types */
    "setp(" ORDERED "," UNSIGNED ")" COMBINE "{.ftz}(.b16,.b32,.b64)",
    "setp(" UNORDERED ")" COMBINE "{.ftz}(" INTEGERS ")",
    "setp(" UNSIGNED ")" COMBINE "{.ftz}(.s16,.s32,.s64," FLOATS ")",
    "set(" ORDERED "," UNSIGNED ")" COMBINE "{.ftz}" SET "(.b16,.b32,.b64)",
    "set(" UNORDERED ")" COMBINE "{.ftz}" SET "(" INTEGERS ")",
    "set(" UNSIGNED ")" COMBINE "{.ftz}" SET "(.s16,.s32,.s64," FLOATS ")",
    /* .ftz applies only to .f32 and .f16 */
    "setp" COMPARISON COMBINE ".ftz(" INTEGERS ",.f64,.bf16,.bf16x2)",
    "set" COMPARISON COMBINE ".ftz" SET "(" INTEGERS ",.f64,.bf16,.bf16x2)",
    /* results and sources cannot be halves of different types */
    "set" COMPARISON COMBINE "{.ftz}(.f16,.f16x2)(.bf16,.bf16x2)",
    "set" COMPARISON COMBINE "{.ftz}(.bf16,.bf16x2)(.f16,.f16x2)",
};

static void exclude(void *user, const char *spelling) {
    char key[FORM_TEXT_BYTES];
    canonical(spelling, key);
    put(user, key);
}

/* ---- The check ---- */

typedef struct Check {
    struct Map *ran, *excluded, *missing;
} Check;

static void check_spelling(void *user, const char *spelling) {
    Check *check = user;
    char key[FORM_TEXT_BYTES];
    canonical(spelling, key);
    size_t length = strlen(key);
    if (!map_has(check->excluded, key, length) && !map_has(check->ran, key, length))
        put(check->missing, key);
}

/* One part of a pattern: a word, or the alternatives in brackets. */
typedef struct Group {
    char open; /* '(', '{', or NUL */
    char words[32][FORM_TEXT_BYTES / 4];
    int count;
} Group;

/* Returns the rest of the pattern after the group; NULL at the end of the pattern. */
static const char *next_group(const char *pattern, Group *group) {
    group->open = *pattern == '.' ? '\0' : *pattern++;
    group->count = 0;
    while (*pattern == '.') {
        size_t length = strcspn(++pattern, ".,(){}#");
        snprintf(group->words[group->count++], sizeof *group->words, "%.*s", (int)length, pattern);
        pattern += strcspn(pattern, ".,(){}");
        if (!group->open) break;
        pattern += *pattern == ',' || *pattern == ')' || *pattern == '}';
        if (pattern[-1] != ',') break;
    }
    return pattern;
}

/* Appends a group to a pattern, without words of advice. */
static void add_group(const Group *group, char *pattern) {
    int kept = 0;
    char *end = pattern + strlen(pattern);
    for (int i = 0; i < group->count; i++) {
        if (is_advice(group->words[i])) continue;
        const char *separator = kept++ ? "," : group->open ? "(" : "";
        end += sprintf(end, "%s.%s", separator, group->words[i]);
    }
    if (!kept || !group->open) return;
    if (group->open == '(' && kept == group->count) {
        strcpy(end, ")");
        return;
    }
    end = strrchr(pattern, '(');
    *end = '{';
    strcat(end, "}");
}

/* Each word of the form must have run, and each spelling without words of advice. */
static void check_form(Check *check, const PtxForm *form) {
    char pattern[1024] = "", key[FORM_TEXT_BYTES];
    Group group;
    for (const char *rest = form->modifiers; *rest;) {
        rest = next_group(rest, &group);
        for (int i = 0; i < group.count; i++) {
            snprintf(key, sizeof key, "%s %s", form->name, group.words[i]);
            size_t length = strlen(key);
            if (!map_has(check->ran, key, length) && !map_has(check->excluded, key, length))
                put(check->missing, key);
        }
        add_group(&group, pattern);
    }
    form_expand(form->name, pattern, check_spelling, check);
}

int coverage_check(struct Map *set) {
    Check check = {set, map_new(), map_new()};
    for (size_t i = 0; i < sizeof exclusions / sizeof *exclusions; i++)
        form_expand("", exclusions[i], exclude, check.excluded);
    int form_count;
    const PtxForm *forms = ptx_forms(&form_count);
    for (int i = 0; i < form_count; i++)
        check_form(&check, &forms[i]);
    int missing = (int)map_count(check.missing);
    for (int i = 0; i < missing; i++)
        fprintf(stderr, "not covered: %s\n", map_key(check.missing, (size_t)i));
    map_free(check.missing);
    map_free(check.excluded);
    return missing;
}
