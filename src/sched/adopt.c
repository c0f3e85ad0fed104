/* Layouts of policies (see the header). */
#include "sched/adopt.h"

#include <string.h>

#include "tyto/cta_policy.h"

enum {
    MAX_BYTES = 1 << 16, /* of a struct; rejects nonsense sizes */
    MAX_ROWS = 1 << 12   /* of parameters; rejects nonsense counts */
};

/* The fields that both kinds of policy begin with. */
typedef struct Head {
    uint32_t version, size, parameter_bytes, parameter_count;
    const char *name, *summary;
    const TytoPolicyParameter *parameters;
} Head;

#define IS_HEAD_OF(type)                                                                           \
    _Static_assert(offsetof(type, size) == offsetof(Head, size) &&                                 \
                       offsetof(type, parameter_bytes) == offsetof(Head, parameter_bytes) &&       \
                       offsetof(type, parameter_count) == offsetof(Head, parameter_count) &&       \
                       offsetof(type, parameters) == offsetof(Head, parameters),                   \
                   "policies of both kinds are taken over alike")
IS_HEAD_OF(TytoPolicy);
IS_HEAD_OF(TytoCtaPolicy);

static bool is_zero(const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i]) return false;
    return true;
}

/* Whether a struct of `given` bytes has at least the bytes that every layout has. */
static bool can_read(size_t given, size_t least) {
    return given >= least && given <= MAX_BYTES && given % sizeof(void *) == 0;
}

/* Copies a struct into the current layout. Returns false if it sets fields that this version does
 * not have. */
static bool copy(void *to, size_t known, const void *from, size_t given) {
    memset(to, 0, known);
    memcpy(to, from, given < known ? given : known);
    return given <= known || is_zero((const char *)from + known, given - known);
}

/* Copies the rows into the current layout. */
static const TytoPolicyParameter *copy_rows(const Head *head, Arena *arena) {
    const size_t known = sizeof(TytoPolicyParameter);
    TytoPolicyParameter *rows = ARENA_ARRAY(arena, TytoPolicyParameter, head->parameter_count);
    const char *from = (const char *)head->parameters;
    for (uint32_t i = 0; i < head->parameter_count; i++)
        if (!copy(&rows[i], known, from + (size_t)i * head->parameter_bytes, head->parameter_bytes))
            return NULL;
    return rows;
}

static const char NEWER[] =
    "uses what a later Tyto offers (its policy sets fields that this one does not know)";

void *adopt_policy(const PolicyKind *kind, const void *policy, Arena *arena, const char **why) {
    const Head *given = policy;
    if (!can_read(given->size, kind->least)) {
        *why = "states a size of its policy that no layout of this version has "
               "(begin it with TYTO_POLICY_HEAD or TYTO_CTA_POLICY_HEAD)";
        return NULL;
    }
    Head *head = arena_alloc(arena, kind->size);
    *why = copy(head, kind->size, policy, given->size) ? NULL : NEWER;
    if (*why || !head->parameters || !head->parameter_count) return *why ? NULL : head;
    if (!can_read(head->parameter_bytes, sizeof(TytoPolicyParameter)) ||
        head->parameter_count > MAX_ROWS)
        *why = "states a size or number of parameter rows that no layout of this version has";
    else if (!(head->parameters = copy_rows(head, arena))) *why = NEWER;
    return *why ? NULL : head;
}
