/* A process with one poll loop and a few connections; each gets one answer and is closed. The
 * server drops a client that sends too slowly, too much or nothing. If all places are in use, other
 * clients wait in the kernel's queue. */
#include "cli/live/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/report/page.h"

enum {
    CLIENTS = 16,        /* at once */
    PATIENCE_MS = 5000,  /* for a request to arrive and its answer to be sent */
    FAREWELL_MS = 3000,  /* after the end of the program, for pages to fetch its last state */
    STATE_MAX = 64 << 20 /* bytes of a snapshot */
};

typedef struct Client {
    int socket;    /* -1: the place is free */
    int64_t until; /* time in milliseconds when it is dropped */
    char request[LIVE_REQUEST_MAX];
    size_t received;     /* bytes of request */
    char *answer;        /* owned; NULL: only a part of the request has arrived */
    size_t length, sent; /* bytes of the answer */
    bool takes_last;     /* the answer is the state after the program's end */
} Client;

typedef struct Server {
    const LiveServer *given;
    Client clients[CLIENTS];
    bool has_ended; /* the program */
    int64_t until;  /* time in milliseconds when the server ends, once the program has ended */
} Server;

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- Answers ---- */

static const char no_state[] = "{\"live\": {\"state\": \"starting\"}}\n";

/* The last snapshot; the caller frees it. NULL: no memory. */
static char *read_state(const char *path, size_t *length) {
    FILE *file = fopen(path, "rbe");
    char *text = NULL;
    size_t done = 0;
    if (!file) {
        *length = sizeof no_state - 1;
        return strdup(no_state);
    }
    if (fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        if (size >= 0 && size <= STATE_MAX && (text = malloc((size_t)size + 1)) != NULL)
            done = fread(text, 1, (size_t)size, file);
    }
    fclose(file);
    if (text) text[done] = '\0';
    *length = done;
    return text;
}

static char *make_page(const char *path, size_t *length) {
    ReportDocument document = {.path = "run"};
    document.text = read_state(path, &document.length);
    char *page = document.text ? report_page_text(&document, 1, true, length) : NULL;
    free(document.text);
    return page;
}

/* The whole answer; NULL: no memory. */
static char *make_answer(const Server *server, LiveWish wish, bool is_head, size_t *length) {
    const char *type = wish == LIVE_STATE  ? "application/json"
                       : wish == LIVE_PAGE ? "text/html; charset=utf-8"
                                           : "text/plain";
    char *body = NULL, *answer = NULL;
    size_t size = 0;
    if (wish == LIVE_PAGE) body = make_page(server->given->state, &size);
    else if (wish == LIVE_STATE) body = read_state(server->given->state, &size);
    else if (asprintf(&body, "%s\n", live_statuses[wish]) >= 0) size = strlen(body);
    FILE *to = body ? open_memstream(&answer, length) : NULL;
    if (to) {
        fprintf(to,
                "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
                "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
                "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
                live_statuses[wish], type, size, wish == LIVE_METHOD ? "Allow: GET, HEAD\r\n" : "");
        if (!is_head) fwrite(body, 1, size, to);
        if (fclose(to) != 0) {
            free(answer);
            answer = NULL;
        }
    }
    free(body);
    return answer;
}

/* ---- Clients ---- */

static void drop(Client *client) {
    close(client->socket);
    free(client->answer);
    *client = (Client){.socket = -1};
}

static Client *free_place(Server *server) {
    for (int i = 0; i < CLIENTS; i++)
        if (server->clients[i].socket < 0) return &server->clients[i];
    return NULL;
}

static void take_client(Server *server) {
    int socket = accept4(server->given->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) return;
    Client *client = free_place(server);
    *client = (Client){.socket = socket, .until = now_ms() + PATIENCE_MS};
}

/* Receives more of the request, and makes the answer when the request is complete. */
static void receive(Server *server, Client *client) {
    bool is_head;
    ssize_t count = recv(client->socket, client->request + client->received,
                         sizeof client->request - client->received, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        drop(client);
        return;
    }
    client->received += (size_t)count;
    LiveWish wish = live_wish(&server->given->site, client->request, client->received, &is_head);
    if (wish == LIVE_WAIT) return;
    client->answer = make_answer(server, wish, is_head, &client->length);
    client->takes_last = server->has_ended && wish == LIVE_STATE;
    client->until = now_ms() + PATIENCE_MS;
    if (!client->answer) drop(client);
}

static void send_answer(Server *server, Client *client) {
    ssize_t count = send(client->socket, client->answer + client->sent,
                         client->length - client->sent, MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) client->sent += (size_t)count;
    if (count > 0 && client->sent < client->length) return;
    if (client->takes_last && count > 0) server->until = now_ms();
    shutdown(client->socket, SHUT_RDWR);
    drop(client);
}

static void look_after(Server *server, Client *client, short events) {
    if (events & (POLLIN | POLLHUP | POLLERR) && !client->answer) receive(server, client);
    else if (events & (POLLOUT | POLLHUP | POLLERR) && client->answer) send_answer(server, client);
    if (client->socket >= 0 && now_ms() >= client->until) drop(client);
}

/* ---- The loop ---- */

enum { LISTENER, PROGRAM, FIRST_CLIENT };

static void fill(const Server *server, struct pollfd polls[FIRST_CLIENT + CLIENTS]) {
    bool has_room = false;
    for (int i = 0; i < CLIENTS; i++) {
        const Client *client = &server->clients[i];
        has_room |= client->socket < 0;
        polls[FIRST_CLIENT + i] =
            (struct pollfd){.fd = client->socket, .events = client->answer ? POLLOUT : POLLIN};
    }
    polls[LISTENER] =
        (struct pollfd){.fd = has_room ? server->given->listener : -1, .events = POLLIN};
    polls[PROGRAM] =
        (struct pollfd){.fd = server->has_ended ? -1 : server->given->program, .events = POLLIN};
}

static bool has_clients(const Server *server) {
    for (int i = 0; i < CLIENTS; i++)
        if (server->clients[i].socket >= 0) return true;
    return false;
}

void live_serve(const LiveServer *given) {
    Server *server = allocate(1, sizeof *server);
    struct pollfd polls[FIRST_CLIENT + CLIENTS];
    server->given = given;
    for (int i = 0; i < CLIENTS; i++)
        server->clients[i].socket = -1;
    while (!server->has_ended || now_ms() < server->until) {
        bool is_busy = has_clients(server) || server->has_ended;
        fill(server, polls);
        if (poll(polls, FIRST_CLIENT + CLIENTS, is_busy ? 100 : -1) < 0 && errno != EINTR) break;
        if (polls[PROGRAM].revents) {
            server->has_ended = true;
            server->until = now_ms() + FAREWELL_MS;
        }
        for (int i = 0; i < CLIENTS; i++)
            if (server->clients[i].socket >= 0)
                look_after(server, &server->clients[i], polls[FIRST_CLIENT + i].revents);
        if (polls[LISTENER].revents & POLLIN) take_client(server);
    }
    for (int i = 0; i < CLIENTS; i++)
        if (server->clients[i].socket >= 0) drop(&server->clients[i]);
    free(server);
}
