/* Names of a PTX module while it is being read. Every identifier is interned once and has its
 * current meaning. Scopes nest; leaving a scope restores the meanings that it has hidden. */
#ifndef TYTO_PTX_NAMES_H
#define TYTO_PTX_NAMES_H

#include <stdint.h>

#include "base/arena.h"
#include "ptx/ptx.h"

enum { NAMES_MAX_DEPTH = 64 }; /* maximum nesting of scopes; compilers use 3 */

typedef enum BindingKind {
    BINDING_REG,        /* index */
    BINDING_VECTOR_REG, /* index of the first of `count` registers */
    BINDING_RANGE,      /* %r<count>: `count` registers, each created at its first use */
    BINDING_MODULE_REG, /* a register outside of functions, created in each function that uses it */
    BINDING_VAR,
    BINDING_FUNCTION,
    BINDING_SREG,    /* index: a PtxSreg, the first of `count` */
    BINDING_LABEL,   /* index: instruction */
    BINDING_PROTO,   /* .callprototype */
    BINDING_TARGETS, /* .branchtargets or .calltargets */
    BINDING_UNKNOWN  /* refusal: part of a directive that is not supported; any declaration replaces
                      * it */
} BindingKind;

typedef struct Name Name;

/* One meaning of a name. */
typedef struct Binding {
    BindingKind kind;
    int depth;      /* of the scope: 0 module, 1 function body ... */
    int32_t index;  /* depends on kind; RANGE, MODULE_REG: ordinal of register 0 of the declaration,
                     * in the function or in the module */
    int32_t count;  /* VECTOR_REG, RANGE, SREG */
    PtxType type;   /* RANGE, MODULE_REG */
    uint8_t vector; /* RANGE, MODULE_REG: registers per name; 1 except for .v2 and .v4 */
    int line;       /* line of the declaration */
    union {
        PtxVar *var;
        PtxFunction *function;
        PtxPrototype *prototype;
        PtxOperand *targets;
        const char *refusal;
    };
    Name *name;
    struct Binding *hidden;        /* the meaning that this one hides */
    struct Binding *next_in_scope; /* next binding that ends with the scope */
    struct Binding *numbered;      /* for a name with a number: the previous value of its prefix's
                                    * `numbered` */
} Binding;

/* An interned identifier, or an instruction's whole spelling. */
struct Name {
    const char *text; /* NUL-terminated */
    uint32_t length;
    uint32_t hash;
    int32_t number;         /* N of a name that ends in digits; -1 for others ... */
    Name *prefix;           /* ... and the text before them: %r of %r12 */
    Binding *binding;       /* the current meaning, NULL for none */
    Binding *range;         /* the current range with this name as its prefix */
    Binding *numbered;      /* the last name with this prefix that was declared on its own */
    struct PtxShape *shape; /* shape of an instruction's spelling after its lookup (opcode.h) */
};

typedef struct Names {
    Arena *arena; /* of names and bindings */
    Name **slots; /* open addressing, capacity a power of two */
    uint32_t capacity, count;
    int depth;                            /* current scope */
    Binding *scopes[NAMES_MAX_DEPTH + 1]; /* bindings of each open scope */
} Names;

/* `arena` holds the names; it must outlive them and all pointers to their texts. */
void names_init(Names *names, Arena *arena);
void names_free(Names *names);
Name *names_intern(Names *names, const char *text, size_t length);

/* Opens a scope. Returns false if NAMES_MAX_DEPTH scopes are open. */
bool names_enter(Names *names);
void names_leave(Names *names);

/* Gives `name` a meaning in the current scope. The caller sets the fields other than `kind`. */
Binding *names_bind(Names *names, Name *name, BindingKind kind, int line);
/* The same in the scope at `depth`, for a register that is created from a range of that scope. The
 * name must not have a meaning in a deeper scope. */
Binding *names_bind_at(Names *names, Name *name, BindingKind kind, int depth, int line);
/* The meaning of a name, except UNKNOWN; NULL if it has none. */
static inline Binding *names_meaning(const Name *name) {
    return name->binding && name->binding->kind != BINDING_UNKNOWN ? name->binding : NULL;
}
/* The UNKNOWN binding of `name`, or of the range that it would belong to; NULL if there is none. */
Binding *names_unknown(const Name *name);
/* Binds a name to a refused directive of the module; `refusal` has the reason. */
void names_bind_unknown(Names *names, Name *name, const char *refusal, int line);
/* The meaning that `name` has in the current scope itself, including ranges, except UNKNOWN; NULL
 * if it has none. */
Binding *names_here(Names *names, Name *name);
/* A name of %name<count> that was declared on its own in the current scope itself; NULL if there is
 * none. */
Binding *names_alone(const Names *names, const Name *name, int32_t count);
/* The range that `name` belongs to (%r<100> for %r12), if it is declared in a deeper scope than the
 * name's own meaning; otherwise NULL. */
Binding *names_range(Names *names, Name *name);

#endif
