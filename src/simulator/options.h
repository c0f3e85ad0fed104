/* Options of a simulator. The fields here, the command line, TYTO_OPTIONS, the help, the manual
 * page, docs/options.md and error messages are all derived from one table (options.def). */
#ifndef TYTO_SIMULATOR_OPTIONS_H
#define TYTO_SIMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "machine/capability.h"
#include "tyto/tyto.h"

/* The values of an option that may be repeated, in order. */
typedef struct OptionList {
    const char **items;
    int count;
} OptionList;

/* Which warp's registers are printed, and where. */
typedef struct OptionDump {
    uint32_t line; /* line of the PTX text, from 1; 0: none */
    uint32_t cta;  /* linear index of the thread block */
    uint32_t warp; /* index of the warp in the thread block */
} OptionDump;

/* An optional compute capability. */
typedef struct OptionCapability {
    bool is_given;
    GpuCapability value;
} OptionCapability;

/* KIND(name, type): the form of an option's value, and the type of its field. For each kind,
 * options.c has a function set_NAME, which takes a pointer to this type. */
#define OPTION_KINDS(KIND)                                                                         \
    KIND(FLAG, bool)         /* no value */                                                        \
    KIND(SIZE, uint64_t)     /* bytes, with an optional suffix KiB, MiB, GiB (K, M, G) */          \
    KIND(COUNT, uint64_t)    /* a whole number */                                                  \
    KIND(TEXT, const char *) /* any words; NULL if there are none */                               \
    KIND(LIST, OptionList)   /* the same, can be repeated */                                       \
    KIND(SET, uint64_t)      /* words of a list, separated by commas: a bit for each */            \
    KIND(WORD, uint64_t)     /* one word of a list: its index */                                   \
    KIND(DUMP, OptionDump)   /* LINE[:CTA[:WARP]] */                                               \
    KIND(CAPABILITY, OptionCapability) /* a compute capability, 7.5 */                             \
    KIND(RESULT, const char *)         /* a file, written at the end; NULL: not wanted */          \
    KIND(RECORDING, const char *)      /* a file, written while kernels run; NULL likewise */      \
    KIND(TIMELINE, const char *)       /* likewise, in the format of its file name extension */

#define OPTION_TYPE(name, type) typedef type OptionType##name;
OPTION_KINDS(OPTION_TYPE)
#undef OPTION_TYPE

/* Values of --code: what the machine says, or one of SmInstructions, in their order. */
enum { CODE_AUTO, CODE_PTX, CODE_LOWERED, CODE_MACHINE };
/* Values of --clock. */
enum { CLOCK_BOOST, CLOCK_PROFILED };

typedef struct Options {
    Arena *arena;     /* memory of strings */
    OptionList given; /* the words of the options that were given, names and values in turn */
#define OPTION(kind, group, name, field, ...) OptionType##kind field;
#include "simulator/options.def"
} Options;

/* Creates options with default values. */
Options *options_new(void);
void options_free(Options *options);

/* Sets options from `words`: names and values in turn, or name=value. Later ones override earlier
 * ones. Returns false with all errors in `diag`. `origin` says where the words come from
 * ("TYTO_OPTIONS"), or is NULL. */
bool options_parse(Options *options, const char *origin, int count, const char *const *words,
                   Diag *diag);
/* The same for one string, which is split as by a shell: blanks separate; '...', "..." and \
 * quote. */
bool options_parse_string(Options *options, const char *origin, const char *string, Diag *diag);

/* Reports errors that no single option has: options that cannot be combined, and files that cannot
 * be written. Call it before a long run. */
bool options_check(const Options *options, Diag *diag);

/* Whether an option writes a file to standard output. */
bool options_write_output(const Options *options);

/* Adds the values of all options except files, one per line. */
void options_write_values(const Options *options, Text *out);

/* Adds the options that were given, except files, as words of a command line, but not those in
 * `without` (ends with NULL; NULL: none). */
void options_write_given(const Options *options, const char *const *without, Text *out);

/* Adds the words of the options that were given, each ending with NUL. Relative paths of files that
 * are written become absolute. */
void options_write_words(const Options *options, Text *out);
/* The file that the option tyto_option(i) writes; NULL: none. */
const char *options_file(const Options *options, int i);
/* Makes that option write no file. */
void options_drop_file(Options *options, int i);

/* Adds the text of docs/options.md. */
void options_document(Text *out);

#endif
