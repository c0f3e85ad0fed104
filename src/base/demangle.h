/* Demangling of C++ names. */
#ifndef TYTO_BASE_DEMANGLE_H
#define TYTO_BASE_DEMANGLE_H

#include "base/text.h"

/* Adds `name`, demangled if it is a C++ name and the host has a C++ library, otherwise unchanged.
 * The library is opened when the first name needs it, so that Tyto does not depend on it; a C++
 * program has it anyway. */
void demangle(const char *name, Text *out);
/* The same without the function's return type and parameters: "space::kernel<float>". If the name
 * is then longer than DEMANGLE_SHORT_BYTES, the outermost template arguments are replaced by "...".
 * For listings; several functions may have the same short name. */
void demangle_short(const char *name, Text *out);

/* Writes the member "demangled" of a JSON object that contains a `name`: the complete name in the
 * source. Writes nothing if `name` is already that name. */
void demangle_write_json(const char *name, Json *json);

enum { DEMANGLE_SHORT_BYTES = 100 };

#endif
