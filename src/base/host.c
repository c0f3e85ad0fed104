/* Time, memory and processors of the host. The peak memory is read from /proc, because getrusage's
 * value includes the process that started this one: a fork of a large program counts as large. */
#include "base/host.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"

enum { ENVIRONMENT_MAX = 1 << 24 }; /* bytes; Linux has 2 MiB at most by default */

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double host_wall_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }

double host_cpu_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t host_peak_memory_bytes(void) {
    uint64_t kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (status) {
        char line[256];
        while (kib == 0 && fgets(line, sizeof line, status))
            sscanf(line, "VmHWM: %" SCNu64 " kB", &kib);
        fclose(status);
    }
    if (kib == 0) { /* a host without /proc */
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        kib = (uint64_t)usage.ru_maxrss;
    }
    return kib * 1024;
}

uint64_t host_children_peak_memory_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* Linux keeps the environment that the program was started with, even if the program changes it. */
static char *find_initial(const char *name) {
    size_t length, name_length = strlen(name);
    char *all = text_read_file("/proc/self/environ", ENVIRONMENT_MAX, &length), *found = NULL;
    for (const char *at = all; at && at < all + length && !found; at += strlen(at) + 1) {
        if (strncmp(at, name, name_length) == 0 && at[name_length] == '=')
            found = strdup(at + name_length + 1);
    }
    free(all);
    return found;
}

char *host_variable(const char *name) {
    const char *now = getenv(name);
    return now ? strdup(now) : find_initial(name);
}

uint32_t host_processors(void) {
    cpu_set_t set; /* of 1024 processors: a larger host returns an error */
    long count = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
    if (count < 1) count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

int host_columns(int file) {
    struct winsize size;
    return isatty(file) && ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
