/* Putting a finished document where the user wants it, see the header. */
#include "stats/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool write_stdout(const Text *text) {
    size_t written = fwrite(text_string(text), 1, text->length, stdout);
    return written == text->length && !fflush(stdout);
}

bool output_write(const char *path, const Text *text, Diag *diag) {
    bool is_stdout = !strcmp(path, "-");
    bool is_written =
        is_stdout ? write_stdout(text) : text_write_file(path, text_string(text), text->length);
    if (is_written) return true;
    diag_error(diag, is_stdout ? "standard output" : path, 0, 0, "cannot be written: %s",
               strerror(errno));
    return false;
}
