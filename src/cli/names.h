/* Lists of schedulers on the command line: "lrr,ccws:a=1,b=2,swl:limit=1..8". */
#ifndef TYTO_CLI_NAMES_H
#define TYTO_CLI_NAMES_H

#include <stdbool.h>

#include "cli/engine/words.h"

/* The schedulers that the word `all` in a list means. */
typedef enum NamesAll { NAMES_NO_ALL, NAMES_ALL_SCHEDULERS, NAMES_ALL_CTA_SCHEDULERS } NamesAll;

typedef struct Names {
    char **list; /* owned */
    int count;
    bool is_cut; /* more names than allowed */
    char *empty; /* a scheduler with an empty range, "swl:limit=3..1"; owned, NULL: none */
} Names;

/* Splits `text` into at most `most` schedulers. A part with a '=' but no ':' continues the
 * scheduler before it. A range, "limit=1..8", is a scheduler for each of its values; "best-swl" is
 * such a range. "all" is every scheduler that comes with Tyto, with default values. If `text` is
 * NULL (the option is not given), the list has one item, NULL. */
Names names_read(const char *text, int most, NamesAll all);
void names_free(Names *names);

/* The schedulers that come with Tyto, in the order of `tyto schedulers`. */
void names_list_schedulers(Words *words);
void names_list_cta_schedulers(Words *words);

/* The message about a value whose range ends before it begins; %s is its text. */
#define NAMES_EMPTY_RANGE "%s: the range is empty, as it ends before it begins"

#endif
