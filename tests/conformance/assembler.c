/* PTX to machine code by ptxas (see the header). */
#include "assembler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

enum { FILE_MAX = 1 << 26 };

char *assembler_retarget(const char *ptx, const char *target) {
    const char *line = strstr(ptx, ".target"), *rest = strchr(line, '\n');
    const size_t before = (size_t)(line - ptx);
    char *text = malloc(before + strlen(target) + strlen(rest) + sizeof ".target ");
    memcpy(text, ptx, before);
    sprintf(text + before, ".target %s%s", target, rest);
    return text;
}

static int run(const char *architecture, const char *level, const char *from, const char *to,
               const char *log) {
    const pid_t child = fork();
    if (child == 0) {
        char arch[32];
        snprintf(arch, sizeof arch, "-arch=%s", architecture);
        if (!freopen(log, "w", stdout) || !freopen(log, "a", stderr)) _exit(126);
        execlp("ptxas", "ptxas", arch, level, from, "-o", to, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

bool assembler_is_there(void) { return system("ptxas --version >/dev/null 2>&1") == 0; }

/* Instructions that only one architecture supports are assembled for that architecture. */
static const char *specific(const char *architecture, const char *ptx) {
    const bool is_specific = strstr(ptx, "wgmma.") || strstr(ptx, "setmaxnreg.");
    return is_specific && strcmp(architecture, "sm_90") == 0 ? "sm_90a" : architecture;
}

void *assembler_run(const char *architecture, const char *level, const char *ptx, size_t *size,
                    char **messages) {
    architecture = specific(architecture, ptx);
    char folder[] = "/tmp/conformance-XXXXXX", from[64], to[64], log[64];
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
    snprintf(from, sizeof from, "%s/in.ptx", folder);
    snprintf(to, sizeof to, "%s/out.cubin", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    char *text = assembler_retarget(ptx, architecture);
    FILE *file = fopen(from, "w");
    if (file) {
        fputs(text, file);
        fclose(file);
    }
    free(text);
    size_t length;
    const bool is_made = run(architecture, level, from, to, log) == 0;
    void *cubin = is_made ? text_read_file(to, FILE_MAX, size) : NULL;
    if (!cubin && messages) *messages = text_read_file(log, FILE_MAX, &length);
    unlink(from), unlink(to), unlink(log);
    rmdir(folder);
    return cubin;
}
