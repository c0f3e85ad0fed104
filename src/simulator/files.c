/* Files of commands, written in the same way as the simulator's own. */
#include "tyto/tyto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/output_file.h"
#include "base/text.h"

bool tyto_claim_output(void) { return output_file_claim(); }

bool tyto_can_write(const char *path) { return output_file_probe(path); }

static bool is_one_place(const char *a, const char *b) {
    if (strcmp(a, b) == 0) return true;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
    char *first = output_file_place(a), *second = output_file_place(b);
    bool is_one = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return is_one;
}

const char *tyto_common_output(const char *a, const char *b) {
    struct stat status;
    if (!is_one_place(a, b)) return NULL;
    if (strcmp(a, "-") == 0) return "standard output";
    return stat(a, &status) != 0 || S_ISREG(status.st_mode) ? a : NULL;
}

TytoStatus tyto_write_file(const char *path, const void *bytes, size_t length, char *message,
                           size_t size) {
    if (text_write_file(path, bytes, length)) return TYTO_OK;
    if (size) snprintf(message, size, "%s", strerror(errno));
    return TYTO_BAD_FILE;
}
