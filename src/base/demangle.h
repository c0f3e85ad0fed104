/* C++ names as people write them. */
#ifndef TYTO_BASE_DEMANGLE_H
#define TYTO_BASE_DEMANGLE_H

#include "base/text.h"

/* Adds `name`, demangled when it is a C++ name and the host has a C++ library; else as it is. That
 * library is opened when the first name asks for it, so that Tyto does not depend on it; a program
 * in C++ has it anyway. */
void demangle(const char *name, Text *out);
/* The same without what the function returns and takes: "space::kernel<float>". Of a name that is
 * then longer than DEMANGLE_SHORT_BYTES the outermost arguments of templates become "...". For
 * listings; several functions may have one short name. */
void demangle_short(const char *name, Text *out);

/* The member "demangled" of a JSON object that holds a `name`: the whole name in the source. None
 * where `name` is that itself. */
void demangle_write_json(const char *name, Json *json);

enum { DEMANGLE_SHORT_BYTES = 100 };

#endif
