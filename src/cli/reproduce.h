/* The experiments that come with Tyto. */
#ifndef TYTO_CLI_REPRODUCE_H
#define TYTO_CLI_REPRODUCE_H

#include "cli/engine/words.h"

/* Adds their names, and what else tyto reproduce takes in the place of one. */
void reproduce_list(Words *words);

#endif
