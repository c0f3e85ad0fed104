/* Selection of a warp or CTA scheduler: by a name of its kind's table, or by the path of the user's
 * shared object, or of the C file that one is compiled from. Parameters may follow:
 * `name:parameter=value`, `./mine.so:parameter=value`. */
#ifndef TYTO_SCHED_CHOICE_H
#define TYTO_SCHED_CHOICE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "tyto/policy.h"

/* The fields that all policies have in common. */
typedef struct PolicyFace {
    const char *name, *summary;
    const TytoPolicyParameter *parameters;
    uint32_t parameter_count;
    size_t state_bytes;
} PolicyFace;

/* A kind of policy. The constants that `at` and `face` return begin with their version. */
typedef struct PolicyKind {
    const char *title;        /* heading of its list */
    const char *noun;         /* in messages: "warp scheduler" */
    const char *option;       /* of the command */
    const char *header;       /* public header that declares a policy's type */
    const char *type;         /* that type */
    const char *symbol;       /* that a shared object exports */
    uint32_t size;            /* bytes of that type */
    uint32_t least;           /* bytes of it that every layout of this version has */
    const void *(*at)(int i); /* the i-th policy of the table; NULL past the end */
    PolicyFace (*face)(const void *policy);
    /* The reason why a policy with a name, a summary and valid parameters cannot be used; NULL:
     * none. */
    const char *(*check)(const void *policy);
} PolicyKind;

/* The warp schedulers, and the CTA schedulers. */
extern const PolicyKind sched_kind_warp, sched_kind_cta;

/* A chosen policy. Rarely accessed and never changed. */
typedef struct PolicyChoice {
    const void *policy;   /* from the table, or a copy of the shared object's in the current
                             layout */
    const double *values; /* values of its parameters, in the order of the rows */
    const char *text;     /* the policy and the values that differ from the defaults, as on the
                             command line */
    void *library;        /* the shared object; NULL: the policy is from the table */
    uint64_t content;     /* hash of the shared object's bytes; 0: none */
} PolicyChoice;

/* Length of the path of a shared object at the start of `text`; 0: it starts with a name of a
 * table. */
size_t choice_path_length(const char *text);

/* Reads `name[:parameter=value,...]`. A name with a `/` or ending in `.so` or `.c` is a path.
 * Returns false, with the reasons in `diag` and nothing left to close, in these cases: there is no
 * such policy, parameter or value, or the file is not a shared object, has another version, or
 * lacks something that a policy must have. Texts and values are owned by `arena`. */
bool choice_read(const PolicyKind *kind, const char *text, Arena *arena, PolicyChoice *choice,
                 Diag *diag);

/* Closes the shared object; its policy must not be in use any more. */
void choice_close(PolicyChoice *choice);

#endif
