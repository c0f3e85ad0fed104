/* Lists of words: command lines, options, names. */
#ifndef TYTO_CLI_ENGINE_WORDS_H
#define TYTO_CLI_ENGINE_WORDS_H

#include <stdbool.h>

typedef struct Words {
    const char **list;
    int count;
} Words;

/* A text of one's own. The caller frees it, here and below. */
char *words_copy_text(const char *text);
/* Joins words with blanks. A word that is empty or contains blanks or quotes gets quotes, so that
 * two different lists never become the same text. */
char *words_join(const Words *words);
/* Takes a text apart as a shell does, without any of its expansions: blanks separate, single and
 * double quotes and backslashes keep. False: a quote is open. Words that are owned (words_free). */
bool words_split(const char *text, Words *words);
/* Adds a copy of a word to a list whose words are owned. */
void words_add(Words *words, const char *word);
/* Frees a list and its words. */
void words_free(Words *words);

#endif
