/* Files without a name (O_TMPFILE) get their name in two steps, because a link cannot replace an
 * existing file: first a temporary name, then rename. If nameless files are not supported, the file
 * has the temporary name from the beginning. */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/host.h"
#include "base/text.h"

enum {
    ATTEMPTS = 100, /* names to try */
    MOST_LINKS = 40 /* links to follow, as in Linux */
};

static const char CLAIMED[] = "TYTO_OUTPUT"; /* environment variable: a descriptor's number */

struct OutputFile {
    FILE *stream;   /* writes through write_bytes */
    int descriptor; /* -1: could not be opened */
    char *
        place; /* the file to replace; NULL: written directly (a device, a pipe, standard output) */
    Text side; /* name of the temporary file in the same folder; empty while it is nameless */
    int error; /* errno of the first failure, after which nothing is written; 0: none */
};

/* ---- Writing ---- */

/* A write beyond the file size limit raises a signal that would end the process. Here it must be an
 * error like a full disk. The signal is blocked from the one call to the other, and is consumed if
 * `error`, the errno between them, shows that it was sent. */
static void hold_limit(sigset_t *before) {
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, before);
}

static void release_limit(const sigset_t *before, int error) {
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (error == EFBIG && !sigismember(before, SIGXFSZ))
        sigtimedwait(&limit, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

static ssize_t write_within_limit(int descriptor, const char *bytes, size_t count) {
    sigset_t before;
    hold_limit(&before);
    ssize_t written = write(descriptor, bytes, count);
    release_limit(&before, written < 0 ? errno : 0);
    return written;
}

bool output_file_reserve(int descriptor, uint64_t size_bytes) {
    sigset_t before;
    hold_limit(&before);
    int error = posix_fallocate(descriptor, 0, (off_t)size_bytes);
    release_limit(&before, error);
    return !error;
}

/* The stream's write function. It remembers a failure and drops everything after it. */
static ssize_t write_bytes(void *cookie, const char *bytes, size_t count) {
    OutputFile *file = cookie;
    for (size_t done = 0; done < count && !file->error;) {
        ssize_t written = write_within_limit(file->descriptor, bytes + done, count - done);
        if (written > 0) done += (size_t)written;
        else if (written == 0 || errno != EINTR) file->error = written ? errno : EIO;
    }
    return (ssize_t)count;
}

/* ---- Opening ---- */

/* The temporary name of this attempt, in the folder of `place`. It is short, so that it fits even
 * if the name of `place` is long. */
static void name_beside(const char *place, unsigned attempt, Text *side) {
    const char *slash = strrchr(place, '/');
    text_clear(side);
    text_printf(side, "%.*s.tyto-%ld-%u.tmp", slash ? (int)(slash + 1 - place) : 0, place,
                (long)getpid(), attempt);
}

/* Opens a new file in the folder of `place`, with the next free temporary name. */
static int open_side(const char *place, Text *side) {
    int descriptor = -1;
    for (unsigned attempt = 0; descriptor < 0 && attempt < ATTEMPTS; attempt++) {
        name_beside(place, attempt, side);
        descriptor = open(side->bytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    if (descriptor < 0) text_clear(side);
    return descriptor;
}

/* The path through which a nameless file can be linked. */
static void describe(int descriptor, char path[64]) {
    snprintf(path, 64, "/proc/self/fd/%d", descriptor);
}

/* Opens a nameless file in the folder of `place`; returns -1 if that is not possible. */
static int open_nameless(const char *place) {
    char *copy = strcpy(base_malloc(strlen(place) + 1), place), path[64];
    int descriptor = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    free(copy);
    describe(descriptor, path);
    if (descriptor < 0 || access(path, W_OK) == 0) return descriptor;
    close(descriptor); /* without /proc it could never get a name */
    return -1;
}

/* Opens a file that will replace the old one, with its permissions. `old` is NULL if there is
 * none. */
static void open_beside(OutputFile *file, const struct stat *old) {
    if (old && access(file->place, W_OK) != 0) return;
    file->descriptor = open_nameless(file->place);
    if (file->descriptor < 0) file->descriptor = open_side(file->place, &file->side);
    if (file->descriptor >= 0 && old && fchmod(file->descriptor, old->st_mode & 07777) != 0)
        errno = 0; /* a file system without permissions cannot keep any */
}

/* The target of a symbolic link, which need not exist; NULL if `path` is not a link. The caller
 * frees it. */
static char *follow(const char *path) {
    char target[PATH_MAX];
    const char *slash = strrchr(path, '/');
    ssize_t length = readlink(path, target, sizeof target);
    if (length < 0 || length == sizeof target) return NULL;
    Text place = {0};
    if (*target != '/' && slash) text_add_bytes(&place, path, (size_t)(slash + 1 - path));
    text_add_bytes(&place, target, (size_t)length);
    return place.bytes;
}

/* The absolute path of a name that does not exist yet. */
static char *place_new(const char *path) {
    const char *slash = strrchr(path, '/');
    char *copy = strcpy(base_malloc(strlen(path) + 1), path);
    char *folder = realpath(dirname(copy), NULL);
    free(copy);
    if (!folder) return NULL;
    Text place = {0};
    text_printf(&place, "%s/%s", folder, slash ? slash + 1 : path);
    free(folder);
    return place.bytes;
}

char *output_file_place(const char *path) {
    char *at = strcpy(base_malloc(strlen(path) + 1), path), *place = realpath(path, NULL);
    for (int links = 0; !place && links < MOST_LINKS; links++) {
        char *next = follow(at);
        if (!next) {
            place = place_new(at);
            break;
        }
        free(at);
        at = next;
        place = realpath(at, NULL);
    }
    free(at);
    return place;
}

/* Finds the file that `path` refers to, and opens it. */
static void open_path(OutputFile *file, const char *path) {
    char *place = output_file_place(path); /* a link stays a link */
    struct stat status;
    bool is_there = stat(place ? place : path, &status) == 0;
    file->place = place ? place : strcpy(base_malloc(strlen(path) + 1), path);
    if (!is_there || S_ISREG(status.st_mode)) {
        open_beside(file, is_there ? &status : NULL);
    } else {
        file->descriptor = open(file->place, O_WRONLY | O_CLOEXEC);
        int error = errno;
        free(file->place);
        file->place = NULL;
        errno = error;
    }
}

/* The descriptor for "-": the claimed one if there is one. Its number is in the environment,
 * because programs that are started in place of this process also write to it. */
static int standard_output(void) {
    char *claimed = host_variable(CLAIMED);
    const int descriptor = claimed ? atoi(claimed) : STDOUT_FILENO;
    free(claimed);
    return descriptor;
}

bool output_file_claim(void) {
    char number[16];
    fflush(stdout); /* what was printed so far came from the program */
    int kept = fcntl(STDOUT_FILENO, F_DUPFD, STDERR_FILENO + 1);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return false;
    snprintf(number, sizeof number, "%d", kept);
    return setenv(CLAIMED, number, 1) == 0;
}

bool output_file_is_claimed(void) {
    char *claimed = host_variable(CLAIMED);
    free(claimed);
    return claimed != NULL;
}

OutputFile *output_file_open(const char *path) {
    OutputFile *file = base_calloc(1, sizeof *file);
    file->descriptor = -1;
    if (strcmp(path, "-") == 0) {
        fflush(stdout); /* earlier printf output must precede these bytes */
        file->descriptor = fcntl(standard_output(), F_DUPFD_CLOEXEC, 0);
    } else {
        open_path(file, path);
    }
    if (file->descriptor >= 0)
        file->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = write_bytes});
    if (file->stream) return file;
    int error = errno;
    output_file_abandon(file);
    errno = error;
    return NULL;
}

FILE *output_file_stream(OutputFile *file) { return file->stream; }

/* ---- Closing ---- */

/* Gives a nameless file a temporary name, in the folder of its place. */
static bool name_side(OutputFile *file) {
    char path[64];
    describe(file->descriptor, path);
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        name_beside(file->place, attempt, &file->side);
        if (linkat(AT_FDCWD, path, AT_FDCWD, file->side.bytes, AT_SYMLINK_FOLLOW) == 0) return true;
        if (errno != EEXIST) break;
    }
    text_clear(&file->side);
    return false;
}

/* Moves the written file to its place. */
static bool replace(OutputFile *file, bool is_durable) {
    if (is_durable && fsync(file->descriptor) != 0) return false;
    if (!file->side.length && !name_side(file)) return false;
    if (rename(file->side.bytes, file->place) != 0) return false;
    text_clear(&file->side);
    return true;
}

static bool put_in_place(OutputFile *file, bool is_durable) {
    fflush(file->stream);
    if (!file->error && file->place && !replace(file, is_durable)) file->error = errno;
    int descriptor = file->descriptor;
    file->descriptor = -1;
    if (close(descriptor) != 0 && !file->error) file->error = errno;
    int error = file->error;
    output_file_abandon(file);
    errno = error;
    return !error;
}

bool output_file_close(OutputFile *file) { return put_in_place(file, true); }
bool output_file_close_soon(OutputFile *file) { return put_in_place(file, false); }

void output_file_abandon(OutputFile *file) {
    if (!file) return;
    file->error = ECANCELED; /* discards what the stream still buffers */
    if (file->stream) fclose(file->stream);
    if (file->descriptor >= 0) close(file->descriptor);
    if (file->side.length) unlink(file->side.bytes);
    text_free(&file->side);
    free(file->place);
    free(file);
}

bool output_file_probe(const char *path) {
    struct stat status;
    if (strcmp(path, "-") == 0) return true;
    if (stat(path, &status) == 0 &&
        !S_ISREG(status.st_mode)) { /* opening a pipe would wait for a reader */
        if (S_ISDIR(status.st_mode)) errno = EISDIR;
        return !S_ISDIR(status.st_mode) && access(path, W_OK) == 0;
    }
    OutputFile *file = output_file_open(path);
    output_file_abandon(file);
    return file != NULL;
}
