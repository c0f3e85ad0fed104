/* Names, paths and shared objects of policies (see the header). */
#include "sched/choice.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "sched/spec.h"

enum {
    MAX_POLICIES = 64,        /* of a table; only messages need to know */
    MAX_BYTES = 1 << 28,      /* of a shared object, against files that never end */
    MAX_STATE_BYTES = 1 << 30 /* of a policy for one SM, against sizes that are none */
};

static const void *find(const PolicyKind *kind, const char *name, Diag *diag) {
    const char *names[MAX_POLICIES];
    const void *policy;
    int count = 0;
    for (; count < MAX_POLICIES && (policy = kind->at(count)) != NULL; count++) {
        names[count] = kind->face(policy).name;
        if (!strcmp(names[count], name)) return policy;
    }
    spec_unknown(kind->noun, name, names, count, diag);
    return NULL;
}

/* ---- Shared objects ---- */

size_t choice_path_length(const char *text) {
    const char *end = strstr(text, ".so");
    while (end && end[3] && end[3] != ':')
        end = strstr(end + 1, ".so");
    if (end) return (size_t)(end - text) + 3;
    const char *slash = strrchr(text, '/');
    return slash ? (size_t)(slash - text) + strcspn(slash, ":") : 0;
}

/* What keeps a loaded policy from being used; NULL when nothing does. */
static const char *check_loaded(const PolicyKind *kind, const void *policy) {
    PolicyFace face = kind->face(policy);
    if (!face.name || !*face.name) return "its policy has no name";
    if (!face.summary) return "its policy has no summary";
    if (face.state_bytes > MAX_STATE_BYTES) return "its policy wants a state of more than 1 GiB";
    const char *fault = spec_check_rows(face.parameters, face.parameter_count);
    return fault ? fault : kind->check(policy);
}

/* Whether the symbol is a policy that can be used. Nothing past the version may be looked at before
 * the version is known to be right. */
static bool check_symbol(const PolicyKind *kind, const char *path, const void *policy, Diag *diag) {
    const char *fault = NULL;
    if (!policy)
        diag_error(diag, path, 0, 0, "has no symbol `%s` (a const %s): it is no %s", kind->symbol,
                   kind->type, kind->noun);
    else if (*(const uint32_t *)policy != TYTO_POLICY_VERSION)
        diag_error(diag, path, 0, 0,
                   "is built for version %u of %s, this is version %d: build it again",
                   *(const uint32_t *)policy, kind->header, TYTO_POLICY_VERSION);
    else if ((fault = check_loaded(kind, policy)) != NULL)
        diag_error(diag, path, 0, 0, "%s", fault);
    else return true;
    return false;
}

/* The hash of the shared object's bytes: what it is, whatever it is called. False after a message.
 */
static bool hash_content(const char *path, uint64_t *hash, Diag *diag) {
    size_t length;
    char *bytes = text_read_file(path, MAX_BYTES, &length);
    if (bytes) *hash = hash_add(HASH_START, bytes, length);
    else
        diag_error(diag, path, 0, 0, "is no shared object that can be loaded: %s", strerror(errno));
    free(bytes);
    return bytes != NULL;
}

/* The policy of the shared object, which is handed over in *library. */
static const void *load(const PolicyKind *kind, const char *path, void **library, Diag *diag) {
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library) {
        diag_error(diag, path, 0, 0, "is no shared object that can be loaded: %s", dlerror());
        return NULL;
    }
    const void *policy = dlsym(*library, kind->symbol);
    if (check_symbol(kind, path, policy, diag)) return policy;
    dlclose(*library);
    *library = NULL;
    return NULL;
}

/* ---- A choice ---- */

bool choice_read(const PolicyKind *kind, const char *text, Arena *arena, PolicyChoice *choice,
                 Diag *diag) {
    size_t path = choice_path_length(text), length = path ? path : strcspn(text, ":");
    const char *name = arena_strndup(arena, text, length);
    *choice = (PolicyChoice){0};
    if (path && !hash_content(name, &choice->content, diag)) return false;
    choice->policy = path ? load(kind, name, &choice->library, diag) : find(kind, name, diag);
    if (!choice->policy) return false;
    PolicyFace face = kind->face(choice->policy);
    const SpecOwner owner = {face.name, face.parameters, face.parameter_count};
    choice->values = spec_read(&owner, text + length, arena, diag);
    if (!choice->values) {
        choice_close(choice);
        return false;
    }
    choice->text = spec_write(&owner, name, choice->values, arena);
    return true;
}

void choice_close(PolicyChoice *choice) {
    if (choice->library) dlclose(choice->library);
    choice->library = NULL;
}
