/* The server of a run's page: a separate process, independent of the run. */
#ifndef TYTO_CLI_LIVE_SERVER_H
#define TYTO_CLI_LIVE_SERVER_H

#include "cli/live/request.h"

/* What the server shows, and its sockets. */
typedef struct LiveServer {
    LiveSite site;
    int listener;      /* bound and listening */
    int program;       /* a pidfd of the process that is run */
    const char *state; /* the file of snapshots; does not exist before the first sample */
} LiveServer;

/* Answers requests until the program has ended and its last state has been fetched, or until no
 * request has come for a few seconds after the end. */
void live_serve(const LiveServer *server);

#endif
