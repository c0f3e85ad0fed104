/* A folder is in use while a process holds its lock (flock); the lock ends with the process. Only
 * folders of the same user with a hidden name made by mkdtemp are removed, with the files directly
 * in them. */
#include "cli/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

#define SCRATCH_NAME ".tyto-scratch-XXXXXX"

enum {
    RANDOM_LETTERS = 6, /* of the name, chosen by mkdtemp */
    ATTEMPTS = 10       /* another command may remove a new folder as unused before it is locked */
};

static bool is_scratch_name(const char *name) {
    return strlen(name) == strlen(SCRATCH_NAME) &&
           strncmp(name, SCRATCH_NAME, strlen(SCRATCH_NAME) - RANDOM_LETTERS) == 0;
}

/* A folder that only this user can enter; -1 for anything else. */
static int open_own(int place, const char *name) {
    struct stat status;
    int folder = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & 07777) == 0700)
        return folder;
    close(folder);
    errno = EACCES; /* the same error as when the umask removes the owner's rights */
    return -1;
}

/* Removes all files, because a program that ends during a write leaves files with unknown names. */
static void remove_files(int folder) {
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;)
        unlinkat(folder, entry->d_name, 0);
    if (list) closedir(list);
    else if (again >= 0) close(again);
}

static void remove_unused(const char *place) {
    DIR *list = opendir(place);
    for (struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
        if (!is_scratch_name(entry->d_name)) continue;
        int folder = open_own(dirfd(list), entry->d_name);
        if (folder < 0) continue;
        if (flock(folder, LOCK_EX | LOCK_NB) == 0) {
            remove_files(folder);
            unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
        }
        close(folder);
    }
    if (list) closedir(list);
}

/* Locks the folder. Returns false if another command removed it before the lock. A failed lock is
 * no error: on file systems without locks (some network file systems) no command removes folders.
 */
static bool hold(const Scratch *scratch) {
    struct stat here, named;
    flock(scratch->descriptor, LOCK_EX);
    return fstat(scratch->descriptor, &here) == 0 && stat(scratch->path, &named) == 0 &&
           here.st_ino == named.st_ino && here.st_dev == named.st_dev;
}

bool scratch_open(Scratch *scratch) {
    const char *place = getenv("TMPDIR");
    if (!place || !*place) place = "/tmp";
    remove_unused(place);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int length = snprintf(scratch->path, sizeof scratch->path, "%s/" SCRATCH_NAME, place);
        if (length >= SCRATCH_PATH_BYTES) errno = ENAMETOOLONG;
        if (length >= SCRATCH_PATH_BYTES || !mkdtemp(scratch->path)) break;
        scratch->descriptor = open_own(AT_FDCWD, scratch->path);
        if (scratch->descriptor >= 0 && hold(scratch)) return true;
        if (scratch->descriptor >= 0) close(scratch->descriptor);
        rmdir(scratch->path);
    }
    say_error("cannot make a folder in %s: %s", place, strerror(errno));
    return false;
}

void scratch_close(Scratch *scratch) {
    remove_files(scratch->descriptor);
    rmdir(scratch->path);
    close(scratch->descriptor);
}
