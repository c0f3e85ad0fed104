/* Lists of words (see the header). */
#include "cli/engine/words.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

char *words_copy_text(const char *text) { return strcpy(allocate(strlen(text) + 1, 1), text); }

static void write_word(const char *word, FILE *to) {
    if (*word && !strpbrk(word, " '\\")) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++) {
        if (*word == '\'' || *word == '\\') fputc('\\', to);
        fputc(*word, to);
    }
    fputc('\'', to);
}

char *words_join(const Words *words) {
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    for (int i = 0; to && i < words->count; i++) {
        if (i) fputc(' ', to);
        write_word(words->list[i], to);
    }
    if (to) fclose(to);
    return text ? text : words_copy_text("");
}

void words_add(Words *words, const char *word) {
    const char **longer = realloc((void *)words->list, ((size_t)words->count + 1) * sizeof *longer);
    if (!longer) {
        say_error("out of memory");
        exit(EXIT_FAILED);
    }
    words->list = longer;
    words->list[words->count++] = words_copy_text(word);
}

void words_free(Words *words) {
    for (int i = 0; i < words->count; i++)
        free((char *)(uintptr_t)words->list[i]);
    free((void *)words->list);
    *words = (Words){0};
}

/* Copies the word that begins at *text to `word`, which has room for it; false: a quote is open. */
static bool take_word(const char **text, char *word) {
    char quote = 0;
    for (; **text && (quote || !strchr(" \t\n", **text)); ++*text) {
        char letter = **text;
        if (quote ? letter == quote : letter == '\'' || letter == '"') {
            quote = quote ? 0 : letter;
            continue;
        }
        if (letter == '\\' && quote != '\'' && (*text)[1]) letter = *++*text;
        *word++ = letter;
    }
    *word = '\0';
    return !quote;
}

bool words_split(const char *text, Words *words) {
    char *word = allocate(strlen(text) + 1, 1);
    bool is_right = true;
    *words = (Words){0};
    for (text += strspn(text, " \t\n"); *text && is_right; text += strspn(text, " \t\n")) {
        is_right = take_word(&text, word);
        words_add(words, word);
    }
    free(word);
    return is_right;
}
