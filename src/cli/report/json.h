/* Whether a text is JSON (RFC 8259), told before it goes into a page. */
#ifndef TYTO_CLI_REPORT_JSON_H
#define TYTO_CLI_REPORT_JSON_H

#include <stddef.h>

/* NULL when the `length` bytes are one JSON value; else what is wrong at *at, the index of the
 * byte. A NUL must follow the bytes. */
const char *json_fault(const char *text, size_t length, size_t *at);

#endif
