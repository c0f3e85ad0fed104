/* Checks whether a text is JSON (RFC 8259) before it goes into a page. */
#ifndef TYTO_CLI_REPORT_JSON_H
#define TYTO_CLI_REPORT_JSON_H

#include <stddef.h>

/* NULL if the `length` bytes are one JSON value; else the error, and in *at the index of its byte.
 * A NUL must follow the bytes. */
const char *json_fault(const char *text, size_t length, size_t *at);

#endif
