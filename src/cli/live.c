/* The server is a separate process: the run writes snapshots into a file in a private folder, and
 * the server reads them. So nothing that a client sends to the server can reach the run. The
 * program cannot wait for the server, as the server is not its child. The server is not attached to
 * the terminal, and keeps none of the program's files open. */
#include "cli/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/live/server.h"
#include "cli/scratch.h"

enum { MOST_DESCRIPTORS = 65536 }; /* most descriptors to close one by one */

typedef struct Live {
    LiveServer server;
    Scratch scratch;
    char state[PATH_MAX + 16];
} Live;

static bool read_port(const char *text, int *port) {
    char *end;
    *port = 0;
    if (!text) return true;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < 1 || value > 65535) {
        say_error("--live=%s: not a port, 1 to 65535", text);
        return false;
    }
    *port = (int)value;
    return true;
}

static bool make_token(char token[LIVE_TOKEN_LETTERS + 1]) {
    unsigned char bytes[LIVE_TOKEN_LETTERS / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Listens on 127.0.0.1; *port becomes the port that is used. Returns -1 with errno set on failure.
 */
static int listen_at(int *port) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)*port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 16) == 0 &&
        getsockname(listener, (struct sockaddr *)&at, &size) == 0) {
        *port = ntohs(at.sin_port);
        return listener;
    }
    int error = errno;
    close(listener);
    errno = error;
    return -1;
}

/* ---- The server's process ---- */

/* Closes everything that belongs to the run, and leaves its session. */
static void leave_run(const Live *live) {
    int keep[] = {live->server.listener, live->server.program, live->scratch.descriptor};
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    long most = sysconf(_SC_OPEN_MAX);
    setsid();
    for (int i = 0; i < 3 && nothing >= 0; i++)
        dup2(nothing, i);
    for (int i = 3; i < most && i < MOST_DESCRIPTORS; i++)
        if (i != keep[0] && i != keep[1] && i != keep[2]) close(i);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

/* Runs in a child of the run. The child starts the server and exits, so that no process of the run
 * is the server's parent. */
static _Noreturn void become_server(Live *live, pid_t run) {
    char state[sizeof live->state];
    live->server.program = (int)syscall(SYS_pidfd_open, run, 0);
    if (live->server.program < 0) _exit(EXIT_FAILED);
    pid_t server = fork();
    if (server) _exit(server < 0 ? EXIT_FAILED : EXIT_DONE);
    snprintf(state, sizeof state, "%s", live->state);
    live->server.state = state;
    leave_run(live);
    live_serve(&live->server);
    scratch_close(&live->scratch);
    _exit(EXIT_DONE);
}

static bool start_server(Live *live) {
    int status;
    pid_t run = getpid();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) become_server(live, run);
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
        WEXITSTATUS(status) == EXIT_DONE)
        return true;
    say_error("--live: cannot start its server");
    return false;
}

/* ---- The run ---- */

/* Makes the run write its snapshots to `path`. */
static void add_option(Arguments *arguments, const char *path) {
    arguments->simulator[arguments->simulator_count++] = "--snapshot";
    arguments->snapshot = strcpy(allocate(strlen(path) + 1, 1), path);
    arguments->simulator[arguments->simulator_count++] = arguments->snapshot;
}

static bool open_site(Live *live, const char *port) {
    LiveSite *site = &live->server.site;
    live->server.listener = listen_at(&site->port);
    if (live->server.listener < 0) {
        say_error("--live%s%s: cannot listen on 127.0.0.1: %s", port ? "=" : "", port ? port : "",
                  strerror(errno));
        return false;
    }
    if (make_token(site->token)) return true;
    say_error("--live: cannot get random numbers from the system: %s", strerror(errno));
    return false;
}

/* Whether --live is given and its conditions hold; *is_right is false after a message. */
static bool is_wanted(const Arguments *arguments, bool *is_right) {
    *is_right = true;
    if (!arguments_has(arguments, "--live")) return false;
    for (int i = 0; i < arguments->given_count; i++) {
        const char *name = arguments->given[i]->name;
        if (strcmp(name, "--functional") != 0 && strcmp(name, "--snapshot") != 0) continue;
        say_error(strcmp(name, "--snapshot") == 0 ? "--live has its own snapshot; leave out %s"
                                                  : "--live needs timing; leave out %s",
                  name);
        *is_right = false;
    }
    return *is_right;
}

int live_start(Arguments *arguments) {
    const char *port = arguments_value(arguments, "--live");
    bool is_right;
    if (!is_wanted(arguments, &is_right)) return is_right ? EXIT_DONE : EXIT_USAGE;
    Live *live = allocate(1, sizeof *live);
    if (!read_port(port, &live->server.site.port)) {
        free(live);
        return EXIT_USAGE;
    }
    is_right = open_site(live, port) && scratch_open(&live->scratch);
    if (is_right) {
        char folder[PATH_MAX]; /* the program may change its own folder */
        snprintf(live->state, sizeof live->state, "%s/state.json",
                 realpath(live->scratch.path, folder) ? folder : live->scratch.path);
        is_right = start_server(live);
        if (!is_right) scratch_close(&live->scratch);
        else close(live->scratch.descriptor); /* the server holds it */
    }
    if (is_right) {
        fprintf(stderr, "tyto: live at http://127.0.0.1:%d/%s/\n", live->server.site.port,
                live->server.site.token);
        add_option(arguments, live->state);
        close(live->server.listener);
    }
    free(live);
    return is_right ? EXIT_DONE : EXIT_FAILED;
}
