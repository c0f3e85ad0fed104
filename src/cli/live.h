/* Shows a run while it is under way: serves the page of tyto report to browsers on this host. */
#ifndef TYTO_CLI_LIVE_H
#define TYTO_CLI_LIVE_H

#include "cli/command.h"

/* The row of --live[=PORT] in a command's options. */
#define LIVE_OPTION                                                                                \
    {"--live",                                                                                     \
     "[=PORT]",                                                                                    \
     NULL,                                                                                         \
     "Show the run in a browser while it is under way: serve its page on 127.0.0.1, at a free "    \
     "port "                                                                                       \
     "or PORT, and print the address.",                                                            \
     NULL,                                                                                         \
     0}

/* If --live is given: starts the server, which ends after this process, and adds the option that
 * makes the run write snapshots. Returns EXIT_DONE, or an exit status after a message. */
int live_start(Arguments *arguments);

#endif
