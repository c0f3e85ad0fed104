/* Names, paths and shared objects of policies (see the header). */
#include "sched/choice.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "sched/adopt.h"
#include "sched/compile.h"
#include "sched/plugin_exit.h"
#include "sched/spec.h"

enum {
    MAX_POLICIES = 64,        /* most policies of a table; only messages use this */
    MAX_BYTES = 1 << 28,      /* most bytes of a shared object; rejects endless files */
    MAX_STATE_BYTES = 1 << 30 /* most bytes of a policy's state for one SM; rejects nonsense
                                 sizes */
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

/* The length of the text up to a file name's `ending` that is followed by the end or by parameters;
 * 0: none. */
static size_t length_to(const char *text, const char *ending) {
    size_t length = strlen(ending);
    const char *end = strstr(text, ending);
    while (end && end[length] && end[length] != ':')
        end = strstr(end + 1, ending);
    return end ? (size_t)(end - text) + length : 0;
}

size_t choice_path_length(const char *text) {
    size_t object = length_to(text, ".so"), source = length_to(text, ".c");
    if (object || source) return object ? object : source;
    const char *slash = strrchr(text, '/');
    return slash ? (size_t)(slash - text) + strcspn(slash, ":") : 0;
}

/* The reason why a loaded policy cannot be used; NULL: none. */
static const char *check_loaded(const PolicyKind *kind, const void *policy) {
    PolicyFace face = kind->face(policy);
    if (!face.name || !*face.name) return "its policy has no name";
    if (!face.summary) return "its policy has no summary";
    if (face.state_bytes > MAX_STATE_BYTES) return "its policy wants a state of more than 1 GiB";
    const char *fault = spec_check_rows(face.parameters, face.parameter_count);
    return fault ? fault : kind->check(policy);
}

/* The policy of the symbol, in the current layout. Returns NULL, with the reason, if it cannot be
 * used. Nothing after the version may be read before the version has been checked. */
static const void *take_symbol(const PolicyKind *kind, const char *path, const void *policy,
                               Arena *arena, Diag *diag) {
    const char *fault = NULL;
    const void *taken = NULL;
    if (!policy)
        diag_error(diag, path, 0, 0, "has no symbol `%s` (a const %s): it is not a %s",
                   kind->symbol, kind->type, kind->noun);
    else if (*(const uint32_t *)policy != TYTO_POLICY_VERSION)
        diag_error(diag, path, 0, 0,
                   "is built for version %u of %s, this is version %d: rebuild it with the headers "
                   "of this Tyto",
                   *(const uint32_t *)policy, kind->header, TYTO_POLICY_VERSION);
    else if (!(taken = adopt_policy(kind, policy, arena, &fault)) ||
             (fault = check_loaded(kind, taken)) != NULL)
        diag_error(diag, path, 0, 0, "%s", fault);
    else return taken;
    return NULL;
}

/* Whether a segment ends after the end of the file, for example because the disk was full when the
 * file was written. The loader would map it and crash on access. The loader reports all other
 * errors of a file. */
static bool is_cut_short(const char *bytes, size_t length) {
    Elf64_Ehdr head;
    if (length < sizeof head) return false;
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    for (size_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr segment;
        size_t from = i * sizeof segment;
        if (head.e_phoff > length || length - head.e_phoff < from + sizeof segment) return true;
        memcpy(&segment, bytes + head.e_phoff + from, sizeof segment);
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_offset > length || segment.p_filesz > length - segment.p_offset) return true;
    }
    return false;
}

/* Hashes the file's bytes, which identify the object regardless of its name. Returns false after a
 * message. */
static bool hash_content(const char *path, uint64_t *hash, Diag *diag) {
    size_t length;
    char *bytes = text_read_file(path, MAX_BYTES, &length);
    const char *why = !bytes ? strerror(errno) : is_cut_short(bytes, length) ? "cut short" : NULL;
    if (why) diag_error(diag, path, 0, 0, "is no shared object that can be loaded: %s", why);
    else *hash = hash_add(HASH_START, bytes, length);
    free(bytes);
    return !why;
}

/* The object that the thread is loading; NULL: none. An object may end the process before it has
 * provided a policy, and an exit handler gets no argument that could tell it so. */
static _Thread_local const char *loading;

static void on_exit_called(void) {
    if (!loading) return;
    fprintf(stderr, "tyto: error: %s: calls exit while it is loaded\n", loading);
    fflush(NULL);
    _exit(1);
}

static void *open_object(const char *path, const char *object) {
    static atomic_flag is_exit_heard = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_exit_heard)) atexit(on_exit_called);
    loading = path;
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    loading = NULL;
    if (library) plugin_exit_redirect(library);
    return library;
}

/* Loads the policy of a shared object, which is returned in *library; `path` is for messages. */
static const void *load(const PolicyKind *kind, const char *path, const char *object, Arena *arena,
                        void **library, Diag *diag) {
    *library = open_object(path, object);
    if (!*library) {
        diag_error(diag, path, 0, 0, "is no shared object that can be loaded: %s", dlerror());
        return NULL;
    }
    const void *policy = take_symbol(kind, path, dlsym(*library, kind->symbol), arena, diag);
    if (policy) return policy;
    dlclose(*library);
    *library = NULL;
    return NULL;
}

/* The same for a C file. Its content hash is that of the compiled object, because this is what
 * runs. */
static const void *load_source(const PolicyKind *kind, const char *path, Arena *arena,
                               PolicyChoice *choice, Diag *diag) {
    Compiled compiled;
    const void *policy = NULL;
    if (!compile_begin(path, &compiled, diag)) return NULL;
    const char *object = text_string(&compiled.path);
    if (hash_content(object, &choice->content, diag))
        policy = load(kind, path, object, arena, &choice->library, diag);
    compile_end(&compiled);
    return policy;
}

/* ---- A choice ---- */

bool choice_read(const PolicyKind *kind, const char *text, Arena *arena, PolicyChoice *choice,
                 Diag *diag) {
    size_t path = choice_path_length(text), length = path ? path : strcspn(text, ":");
    const char *name = arena_strndup(arena, text, length);
    *choice = (PolicyChoice){0};
    if (!path) choice->policy = find(kind, name, diag);
    else if (compile_is_source(name)) choice->policy = load_source(kind, name, arena, choice, diag);
    else if (hash_content(name, &choice->content, diag))
        choice->policy = load(kind, name, name, arena, &choice->library, diag);
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
