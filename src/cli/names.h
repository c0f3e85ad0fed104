/* Lists of schedulers on the command line: "lrr,ccws:a=1,b=2,swl:limit=1..8". */
#ifndef TYTO_CLI_NAMES_H
#define TYTO_CLI_NAMES_H

#include <stdbool.h>

#include "cli/engine/words.h"

/* What the word `all` in a list stands for. */
typedef enum NamesAll { NAMES_NO_ALL, NAMES_ALL_SCHEDULERS, NAMES_ALL_CTA_SCHEDULERS } NamesAll;

typedef struct Names {
    char **list; /* owned */
    int count;
    bool is_cut; /* more were named than may be */
    char *empty; /* a scheduler with a range of no value, "swl:limit=3..1"; owned, NULL: none */
} Names;

/* Cuts `text` into at most `most` schedulers: what has a '=' but no ':' goes on with the one before
 * it; a range, "limit=1..8", is a scheduler for each of its values; "best-swl" is one of them;
 * "all" is every scheduler that comes with Tyto, by its default values. NULL for `text`: a list of
 * one NULL, for what the option is not given. */
Names names_read(const char *text, int most, NamesAll all);
void names_free(Names *names);

/* The schedulers that come with Tyto, in the order of `tyto schedulers`. */
void names_list_schedulers(Words *words);
void names_list_cta_schedulers(Words *words);

/* What a message says of a value, with its text, whose range ends before it begins. */
#define NAMES_EMPTY_RANGE "%s: the range is empty, as it ends before it begins"

#endif
