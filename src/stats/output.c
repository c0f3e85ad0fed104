/* Writes a finished document to its destination (see the header). */
#include "stats/output.h"

#include <errno.h>
#include <string.h>

void output_failed(const char *path, Diag *diag) {
    const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
    diag_error(diag, name, 0, 0, "cannot be written: %s", strerror(errno));
}

bool output_write(const char *path, const Text *text, Diag *diag) {
    if (text_write_file(path, text_string(text), text->length)) return true;
    output_failed(path, diag);
    return false;
}
