/* Requests to the page of a run in progress: any bytes get an answer, and nothing past the end is
 * read. Only requests with the right host and token get the page. */
#include "cli/live/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const LiveSite site = {8080, "0123456789abcdef0123456789abcdef"};
    char *request = malloc(size ? size : 1); /* without spare bytes */
    bool is_head;
    memcpy(request, bytes, size);
    LiveWish wish = live_wish(&site, request, size, &is_head);
    bool is_let_in = wish == LIVE_PAGE || wish == LIVE_STATE;
    bool knows = memmem(request, size, site.token, LIVE_TOKEN_LETTERS) &&
                 (memmem(request, size, "127.0.0.1:8080", 14) ||
                  memmem(request, size, "localhost:8080", 14));
    if (is_let_in && !knows) abort();
    if (wish != LIVE_WAIT && !live_statuses[wish]) abort();
    free(request);
    return 0;
}
