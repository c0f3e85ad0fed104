/* The server of a run's page: a process of its own, which the run knows nothing of. */
#ifndef TYTO_CLI_LIVE_SERVER_H
#define TYTO_CLI_LIVE_SERVER_H

#include "cli/live/request.h"

/* What it shows, and how long. */
typedef struct LiveServer {
    LiveSite site;
    int listener;      /* bound and listening */
    int program;       /* a pidfd of the process that is run */
    const char *state; /* the file of snapshots; none as long as there is no sample */
} LiveServer;

/* Answers until the program has ended and its last state has been fetched, or no request has come
 * for a few seconds. */
void live_serve(const LiveServer *server);

#endif
