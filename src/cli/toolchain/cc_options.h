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

/* Adds words that were written for nvcc as clang takes them. What clang does not know and nothing
 * of a program depends on is left out, without a word; what is left out else is told. */
void cc_add_for_clang(CcLine *line, char **words);

/* Adds the same words for nvcc. Architectures that it does not know, older ones, become the oldest
 * that it does, and each gets PTX beside machine code: Tyto runs nothing else. */
void cc_add_for_nvcc(CcLine *line, char **words);

#endif
