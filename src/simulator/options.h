/* Options of a simulator: one table (options.def) from which the fields here, the command line,
 * TYTO_OPTIONS, help, the manual page, docs/options.md and the messages about mistakes all derive.
 */
#ifndef TYTO_SIMULATOR_OPTIONS_H
#define TYTO_SIMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "machine/capability.h"
#include "tyto/tyto.h"

/* The values of an option that may be given any number of times, in order. */
typedef struct OptionList {
    const char **items;
    int count;
} OptionList;

/* Which warp's registers are printed, and where. */
typedef struct OptionDump {
    uint32_t line; /* of the PTX text, from 1; 0: none */
    uint32_t cta;  /* linear index of the thread block */
    uint32_t warp; /* in it */
} OptionDump;

/* A compute capability, or none. */
typedef struct OptionCapability {
    bool is_given;
    GpuCapability value;
} OptionCapability;

/* KIND(name, type): how the value of an option is written, and the type of its field. Each has its
 * function in options.c, set_NAME, which takes a pointer of that type. */
#define OPTION_KINDS(KIND)                                                                         \
    KIND(FLAG, bool)         /* no value */                                                        \
    KIND(SIZE, uint64_t)     /* bytes, with an optional suffix KiB, MiB, GiB (K, M, G) */          \
    KIND(COUNT, uint64_t)    /* a whole number */                                                  \
    KIND(TEXT, const char *) /* any words; NULL when there are none */                             \
    KIND(LIST, OptionList)   /* the same, any number of times */                                   \
    KIND(SET, uint64_t)      /* words of a list, between commas: a bit for each */                 \
    KIND(WORD, uint64_t)     /* one word of several: its place among them */                       \
    KIND(DUMP, OptionDump)   /* LINE[:CTA[:WARP]] */                                               \
    KIND(CAPABILITY, OptionCapability) /* a compute capability, 7.5 */                             \
    KIND(RESULT, const char *) /* a file, written when all is done; NULL when none is asked for */ \
    KIND(RECORDING, const char *) /* a file, written while kernels run; NULL likewise */           \
    KIND(TIMELINE, const char *)  /* likewise, in the form that its ending says */

#define OPTION_TYPE(name, type) typedef type OptionType##name;
OPTION_KINDS(OPTION_TYPE)
#undef OPTION_TYPE

/* The options' values: a field of its kind's type for each row of the table. */
/* --code: what the machine says, or one of its SmInstructions, in their order. */
enum { CODE_AUTO, CODE_PTX, CODE_LOWERED, CODE_MACHINE };
/* --clock. */
enum { CLOCK_BOOST, CLOCK_PROFILED };

typedef struct Options {
    Arena *arena;     /* of the strings */
    OptionList given; /* the words of those that were given, names and values in turn */
#define OPTION(kind, group, name, field, ...) OptionType##kind field;
#include "simulator/options.def"
} Options;

/* Options at their defaults. */
Options *options_new(void);
void options_free(Options *options);

/* Sets options from `words` (names and values in turn, also name=value). Later ones win. Every
 * mistake goes to `diag`; `origin` says where the words come from ("TYTO_OPTIONS"), or is NULL. */
bool options_parse(Options *options, const char *origin, int count, const char *const *words,
                   Diag *diag);
/* The same from one string as a shell would split it: blanks separate; '...', "..." and \ quote. */
bool options_parse_string(Options *options, const char *origin, const char *string, Diag *diag);

/* Reports what no single option shows: options that do not go together, and named files that cannot
 * be written. Callers check this before a long run. */
bool options_check(const Options *options, Diag *diag);

/* Whether a file is standard output. */
bool options_write_output(const Options *options);

/* Adds the values of all options but files, a line each. */
void options_write_values(const Options *options, Text *out);

/* Adds those that were given but files, as words of a command line; `without` (NULL: none) ends
 * with NULL. */
void options_write_given(const Options *options, const char *const *without, Text *out);

/* Adds the words of those that were given, each with its NUL; relative paths of files that are
 * written become whole ones. */
void options_write_words(const Options *options, Text *out);
/* The file that the option tyto_option(i) has written; NULL: none. */
const char *options_file(const Options *options, int i);
/* Has none written. */
void options_drop_file(Options *options, int i);

/* Adds the page docs/options.md. */
void options_document(Text *out);

#endif
