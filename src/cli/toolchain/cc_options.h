/* The options of nvcc, as Makefiles have them, in the words of the compiler that is there. */
#ifndef TYTO_CLI_TOOLCHAIN_CC_OPTIONS_H
#define TYTO_CLI_TOOLCHAIN_CC_OPTIONS_H

#include <stdbool.h>

/* A command line that grows; it ends with NULL. */
typedef struct CcLine {
    char **words;
    int count;
    int capacity;
} CcLine;

void cc_add(CcLine *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds words that were written for nvcc as clang takes them. A word that clang does not know is
 * left out: silently where no program depends on it, else with a message. */
void cc_add_for_clang(CcLine *line, char **words);

/* Adds the same words for nvcc. Older architectures that nvcc does not know become the oldest one
 * that it knows. Each gets PTX in addition to machine code, as Tyto runs nothing else. */
void cc_add_for_nvcc(CcLine *line, char **words);

#endif
