/* A run shown while it goes on: the page of tyto report, served to this host's own browsers. */
#ifndef TYTO_CLI_LIVE_H
#define TYTO_CLI_LIVE_H

#include "cli/command.h"

/* The row of --live[=PORT] in a command's options. */
#define LIVE_OPTION                                                                                \
    {"--live",                                                                                     \
     "[=PORT]",                                                                                    \
     NULL,                                                                                         \
     "Show the run in a browser while it goes on: serve its page on 127.0.0.1, at a free port "    \
     "or PORT, and print the address.",                                                            \
     NULL,                                                                                         \
     0}

/* If --live is given: starts the server, which ends after this process does, and adds the option
 * that makes the run write what it shows. EXIT_DONE, or after a message what to exit with. */
int live_start(Arguments *arguments);

#endif
