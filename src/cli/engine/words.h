/* Lists of words: command lines, options, names. */
#ifndef TYTO_CLI_ENGINE_WORDS_H
#define TYTO_CLI_ENGINE_WORDS_H

#include <stdbool.h>

typedef struct Words {
    const char **list;
    int count;
} Words;

/* A copy of a text. The caller frees the texts that this and the functions below return. */
char *words_copy_text(const char *text);
/* Joins words with blanks. Quotes words that are empty or contain blanks or quotes, so that two
 * different lists never become the same text. */
char *words_join(const Words *words);
/* Splits a text into words as a shell does, but without expansions: blanks separate words, and
 * single quotes, double quotes and backslashes quote. False: a quote is open. The caller frees the
 * words with words_free. */
bool words_split(const char *text, Words *words);
/* Adds a copy of a word to a list that owns its words. */
void words_add(Words *words, const char *word);
/* Frees a list and its words. */
void words_free(Words *words);

#endif
