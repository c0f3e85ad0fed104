/* Parses requests of HTTP/1.1 (RFC 9112), as far as a read-only page needs: one request for each
 * connection, without a body.
 *
 * A page of another site can make a browser send requests here, but does not know the token. A site
 * whose name resolves to 127.0.0.1 sends its own name as the host, so it is refused. */
#include "cli/live/request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const live_statuses[LIVE_WISHES] = {
    [LIVE_PAGE] = "200 OK",
    [LIVE_STATE] = "200 OK",
    [LIVE_BAD] = "400 Bad Request",
    [LIVE_FOREIGN] = "403 Forbidden",
    [LIVE_ABSENT] = "404 Not Found",
    [LIVE_METHOD] = "405 Method Not Allowed",
    [LIVE_LARGE] = "431 Request Header Fields Too Large",
};

/* A part of the request. */
typedef struct Span {
    const char *at;
    size_t length;
} Span;

static bool is_text(Span span, const char *text) {
    return span.length == strlen(text) && memcmp(span.at, text, span.length) == 0;
}

/* Cuts off the text before `end`; false: there is no `end`. */
static bool cut(Span *rest, const char *end, Span *out) {
    const char *found = memmem(rest->at, rest->length, end, strlen(end));
    if (!found) return false;
    *out = (Span){rest->at, (size_t)(found - rest->at)};
    rest->length -= out->length + strlen(end);
    rest->at = found + strlen(end);
    return true;
}

static Span trim(Span span) {
    while (span.length && (*span.at == ' ' || *span.at == '\t')) {
        span.at++;
        span.length--;
    }
    while (span.length && (span.at[span.length - 1] == ' ' || span.at[span.length - 1] == '\t'))
        span.length--;
    return span;
}

static bool is_own_host(const LiveSite *site, Span host) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    char text[64];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s:%d", names[i], site->port);
        if (is_text(host, text)) return true;
    }
    return false;
}

static bool is_own_origin(const LiveSite *site, Span origin) {
    static const char scheme[] = "http://";
    size_t length = sizeof scheme - 1;
    return origin.length > length && memcmp(origin.at, scheme, length) == 0 &&
           is_own_host(site, (Span){origin.at + length, origin.length - length});
}

/* Checks the header's fields: there must be one host, ours, and no other origin. */
static LiveWish check_fields(const LiveSite *site, Span fields) {
    Span line, name;
    int hosts = 0;
    while (fields.length) {
        if (!cut(&fields, "\r\n", &line)) return LIVE_BAD;
        if (!cut(&line, ":", &name) || !name.length) return LIVE_BAD;
        Span value = trim(line);
        bool is_host = name.length == 4 && strncasecmp(name.at, "host", 4) == 0;
        bool is_origin = name.length == 6 && strncasecmp(name.at, "origin", 6) == 0;
        if (is_host && (hosts++ || !is_own_host(site, value))) return LIVE_FOREIGN;
        if (is_origin && !is_own_origin(site, value)) return LIVE_FOREIGN;
    }
    return hosts ? LIVE_PAGE : LIVE_BAD;
}

/* Compares in constant time, so that the duration does not reveal the first wrong letter. */
static bool is_token(const LiveSite *site, Span span) {
    unsigned difference = 0;
    if (span.length != LIVE_TOKEN_LETTERS) return false;
    for (size_t i = 0; i < LIVE_TOKEN_LETTERS; i++)
        difference |= (unsigned char)(span.at[i] ^ site->token[i]);
    return difference == 0;
}

static LiveWish find_path(const LiveSite *site, Span path) {
    Span empty, token;
    if (!cut(&path, "/", &empty) || empty.length) return LIVE_ABSENT;
    if (!cut(&path, "/", &token) || !is_token(site, token)) return LIVE_ABSENT;
    if (!path.length) return LIVE_PAGE;
    return is_text(path, "state.json") ? LIVE_STATE : LIVE_ABSENT;
}

LiveWish live_wish(const LiveSite *site, const char *request, size_t length, bool *is_head) {
    Span all = {request, length}, header, line, method, path;
    *is_head = false;
    if (memchr(request, '\0', length)) return LIVE_BAD;
    if (!memmem(request, length, "\r\n\r\n", 4))
        return length < LIVE_REQUEST_MAX ? LIVE_WAIT : LIVE_LARGE;
    if (!cut(&all, "\r\n\r\n", &header)) return LIVE_BAD;
    header.length += 2; /* includes the end of its last line */
    if (!cut(&header, "\r\n", &line)) return LIVE_BAD;
    if (!cut(&line, " ", &method) || !cut(&line, " ", &path)) return LIVE_BAD;
    if (!is_text(line, "HTTP/1.1") && !is_text(line, "HTTP/1.0")) return LIVE_BAD;
    LiveWish fields = check_fields(site, header);
    if (fields != LIVE_PAGE) return fields;
    *is_head = is_text(method, "HEAD");
    if (!*is_head && !is_text(method, "GET")) return LIVE_METHOD;
    return find_path(site, path);
}
