/* Lists of schedulers on the command line: "lrr,ccws:a=1,b=2,swl:limit=1..8". */
#ifndef TYTO_CLI_NAMES_H
#define TYTO_CLI_NAMES_H

#include <stdbool.h>

typedef struct Names {
    char **list; /* owned */
    int count;
    bool is_cut; /* more were named than may be */
    char *empty; /* a scheduler with a range of no value, "swl:limit=3..1"; owned, NULL: none */
} Names;

/* Cuts `text` into at most `most` schedulers: what has a '=' but no ':' goes on with the one before
 * it; a range, "limit=1..8", is a scheduler for each of its values; "best-swl" is one of them. NULL
 * for `text`: a list of one NULL, for what the option is not given. */
Names names_read(const char *text, int most);
void names_free(Names *names);

/* What a message says of a value, with its text, whose range ends before it begins. */
#define NAMES_EMPTY_RANGE "%s: the range is empty, as it ends before it begins"

#endif
