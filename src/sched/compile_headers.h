/* The headers that a policy includes as <tyto/...>. They are embedded in the library, so that a
 * policy is always compiled with the headers of the library that will call it. */
#ifndef TYTO_SCHED_COMPILE_HEADERS_H
#define TYTO_SCHED_COMPILE_HEADERS_H

typedef struct CompileHeader {
    const char *name; /* "policy.h" */
    const char *text;
} CompileHeader;
extern const CompileHeader compile_headers[]; /* ends with a NULL name */

#endif
