/* Files of the command's, written as the simulator writes its own. */
#include "tyto/tyto.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/output_file.h"
#include "base/text.h"

bool tyto_claim_output(void) { return output_file_claim(); }

bool tyto_can_write(const char *path) { return output_file_probe(path); }

TytoStatus tyto_write_file(const char *path, const void *bytes, size_t length, char *message,
                           size_t size) {
    if (text_write_file(path, bytes, length)) return TYTO_OK;
    if (size) snprintf(message, size, "%s", strerror(errno));
    return TYTO_BAD_FILE;
}
