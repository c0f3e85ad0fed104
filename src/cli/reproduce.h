/* The experiments that come with Tyto. */
#ifndef TYTO_CLI_REPRODUCE_H
#define TYTO_CLI_REPRODUCE_H

#include "cli/engine/words.h"

/* Adds their ids, and the other words that tyto reproduce accepts instead of an id. */
void reproduce_list(Words *words);

#endif
