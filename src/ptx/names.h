/* Names of a PTX module while it is being read: every identifier is interned once, and then carries
 * what it currently means. Scopes nest; leaving one restores the meanings it hid. */
#ifndef TYTO_PTX_NAMES_H
#define TYTO_PTX_NAMES_H

#include <stdint.h>

#include "base/arena.h"
#include "ptx/ptx.h"

enum { NAMES_MAX_DEPTH = 64 }; /* scopes inside each other; compilers use 3 */

typedef enum BindingKind {
    BINDING_REG,        /* index */
    BINDING_VECTOR_REG, /* index of the first of `count` registers */
    BINDING_RANGE,      /* %r<count>: `count` registers, each created when first named */
    BINDING_MODULE_REG, /* a register outside of functions, created in each that names it */
    BINDING_VAR,
    BINDING_FUNCTION,
    BINDING_SREG,    /* index: a PtxSreg, the first of `count` */
    BINDING_LABEL,   /* index: instruction */
    BINDING_PROTO,   /* .callprototype */
    BINDING_TARGETS, /* .branchtargets or .calltargets */
    BINDING_UNKNOWN /* refusal: of a directive that is not supported; any declaration replaces it */
} BindingKind;

typedef struct Name Name;

/* One meaning of a name. */
typedef struct Binding {
    BindingKind kind;
    int depth;      /* of the scope: 0 module, 1 function body ... */
    int32_t index;  /* by kind; RANGE, MODULE_REG: ordinal of the declaration of its register 0,
                       among the function's or the module's */
    int32_t count;  /* VECTOR_REG, RANGE, SREG */
    PtxType type;   /* RANGE, MODULE_REG */
    uint8_t vector; /* the same: how many registers a name of it stands for, 1 but of .v2 and .v4 */
    int line;       /* of the declaration */
    union {
        PtxVar *var;
        PtxFunction *function;
        PtxPrototype *prototype;
        PtxOperand *targets;
        const char *refusal;
    };
    Name *name;
    struct Binding *hidden;        /* the meaning this one hides */
    struct Binding *next_in_scope; /* what else ends with the scope */
    struct Binding *numbered;      /* of a name with a number: what its prefix had before it */
} Binding;

/* An interned identifier, or an instruction's whole spelling. */
struct Name {
    const char *text; /* NUL-terminated */
    uint32_t length;
    uint32_t hash;
    int32_t number;         /* N of a name that ends in digits, -1 for others ... */
    Name *prefix;           /* ... and the text before them: %r of %r12 */
    Binding *binding;       /* the current meaning, NULL for none */
    Binding *range;         /* the current range with this name as its prefix */
    Binding *numbered;      /* the last that was declared alone with this name as its prefix */
    struct PtxShape *shape; /* of an instruction's spelling once it was looked up (opcode.h) */
};

typedef struct Names {
    Arena *arena; /* of names and bindings */
    Name **slots; /* open addressing, capacity a power of two */
    uint32_t capacity, count;
    int depth;                            /* current scope */
    Binding *scopes[NAMES_MAX_DEPTH + 1]; /* bindings of each open scope */
} Names;

/* `arena` receives the names; it must outlive them and whatever points to their texts. */
void names_init(Names *names, Arena *arena);
void names_free(Names *names);
Name *names_intern(Names *names, const char *text, size_t length);

/* Opens a scope; false when NAMES_MAX_DEPTH are open already. */
bool names_enter(Names *names);
void names_leave(Names *names);

/* Gives `name` a meaning in the current scope. Its fields other than `kind` are the caller's to
 * fill. */
Binding *names_bind(Names *names, Name *name, BindingKind kind, int line);
/* The same in the scope at `depth`, for a register that comes to life from a range there. Nothing
 * deeper may give the name a meaning. */
Binding *names_bind_at(Names *names, Name *name, BindingKind kind, int depth, int line);
/* The meaning of a name, UNKNOWN left out; NULL when it has none. */
static inline Binding *names_meaning(const Name *name) {
    return name->binding && name->binding->kind != BINDING_UNKNOWN ? name->binding : NULL;
}
/* The UNKNOWN that `name`, or the range it would belong to, has as its meaning; NULL for none. */
Binding *names_unknown(const Name *name);
/* Binds a name to a refused directive of the module; `refusal` says why. */
void names_bind_unknown(Names *names, Name *name, const char *refusal, int line);
/* The meaning that `name` has in the current scope itself, ranges included, UNKNOWN left out; NULL
 * when none. */
Binding *names_here(Names *names, Name *name);
/* What was declared in the current scope itself, alone, by a name that %name<count> would have;
 * NULL when nothing was. */
Binding *names_alone(const Names *names, const Name *name, int32_t count);
/* The range that `name` belongs to (%r<100> of %r12), if it lies deeper than the name's own
 * meaning; else NULL. */
Binding *names_range(Names *names, Name *name);

#endif
