/* Requests to the page of a run under way: what a request asks for, and whether it is allowed. */
#ifndef TYTO_CLI_LIVE_REQUEST_H
#define TYTO_CLI_LIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LIVE_TOKEN_LETTERS = 32, /* of 4 random bits each */
    LIVE_REQUEST_MAX = 8192  /* bytes of a request; browsers send some hundred */
};

/* The address of the page. */
typedef struct LiveSite {
    int port;                           /* on 127.0.0.1 */
    char token[LIVE_TOKEN_LETTERS + 1]; /* hexadecimal; paths begin with it */
} LiveSite;

typedef enum LiveWish {
    LIVE_WAIT,    /* only a part of the request has arrived */
    LIVE_PAGE,    /* /TOKEN/ */
    LIVE_STATE,   /* /TOKEN/state.json */
    LIVE_BAD,     /* not a request */
    LIVE_FOREIGN, /* it was sent to another host's name, or by another site's page */
    LIVE_ABSENT,  /* there is no such page, or the token is wrong */
    LIVE_METHOD,  /* neither GET nor HEAD */
    LIVE_LARGE,   /* too long */
    LIVE_WISHES
} LiveWish;

/* What the request of `length` bytes asks for; *is_head: the answer has no body. Reads nothing
 * beyond these bytes. */
LiveWish live_wish(const LiveSite *site, const char *request, size_t length, bool *is_head);

/* The status line of an answer, "404 Not Found". */
extern const char *const live_statuses[LIVE_WISHES];

#endif
