/* How a warp or CTA scheduler is chosen: by a name of its kind's table, or by the path of a shared
 * object of the user's, or of the C file that one is made of, with parameters:
 * `name:parameter=value`, `./mine.so:parameter=value`. */
#ifndef TYTO_SCHED_CHOICE_H
#define TYTO_SCHED_CHOICE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "tyto/policy.h"

/* What all policies have in common. */
typedef struct PolicyFace {
    const char *name, *summary;
    const TytoPolicyParameter *parameters;
    uint32_t parameter_count;
    size_t state_bytes;
} PolicyFace;

/* A kind of policy. The constants behind `at` and `face` begin with their version. */
typedef struct PolicyKind {
    const char *title;        /* heading of its list */
    const char *noun;         /* in messages: "warp scheduler" */
    const char *option;       /* of the command */
    const char *header;       /* public, where a policy's type is declared */
    const char *type;         /* that type */
    const char *symbol;       /* that a shared object exports */
    uint32_t size;            /* bytes of that type */
    uint32_t least;           /* bytes of it that every layout of this version has */
    const void *(*at)(int i); /* the i-th of the table; NULL past the end */
    PolicyFace (*face)(const void *policy);
    /* What keeps a policy that has a name, a summary and sound parameters from being used; NULL
     * when nothing does. */
    const char *(*check)(const void *policy);
} PolicyKind;

/* The warp schedulers, and the CTA schedulers. */
extern const PolicyKind sched_kind_warp, sched_kind_cta;

/* A policy as chosen. Cold, never changed. */
typedef struct PolicyChoice {
    const void *policy;   /* the table's, or a copy of the shared object's in today's layout */
    const double *values; /* of its parameters, in their rows' order */
    const char *text;     /* the policy and the values that are not initial ones, as in a command */
    void *library;        /* the shared object, NULL for one from the table */
    uint64_t content;     /* hash of the shared object's bytes; 0: there is none */
} PolicyChoice;

/* Bytes of the path of a shared object that `text` begins with; 0 when it begins with a name of a
 * table. */
size_t choice_path_length(const char *text);

/* Reads `name[:parameter=value,...]`; a name with a `/` or ending in `.so` is a shared object's
 * path. False, with the reasons told to `diag` and nothing left to close, when there is no such
 * policy, parameter or value, or the shared object is none, is of another version, or lacks what a
 * policy must have. Texts and values are owned by `arena`. */
bool choice_read(const PolicyKind *kind, const char *text, Arena *arena, PolicyChoice *choice,
                 Diag *diag);

/* Closes the shared object; its policy must no longer be in use. */
void choice_close(PolicyChoice *choice);

#endif
