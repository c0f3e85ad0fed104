/* Translates nvcc's options, as in Makefiles, to those of the installed compiler. */
#ifndef TYTO_CLI_TOOLCHAIN_CC_OPTIONS_H
#define TYTO_CLI_TOOLCHAIN_CC_OPTIONS_H

#include <stdbool.h>

/* A growing command line; it ends with NULL. */
typedef struct CcLine {
    char **words;
    int count;
    int capacity;
} CcLine;

void cc_add(CcLine *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds words that were written for nvcc in the form for clang. Leaves out words that clang does not
 * know, with a message if they can have an effect on the program. */
void cc_add_for_clang(CcLine *line, char **words);

/* Adds the same words for nvcc. Older architectures that nvcc does not know become the oldest one
 * that it knows. Each gets PTX in addition to machine code, because Tyto runs only PTX. */
void cc_add_for_nvcc(CcLine *line, char **words);

#endif
