/* C++ names as people write them. */
#ifndef TYTO_BASE_DEMANGLE_H
#define TYTO_BASE_DEMANGLE_H

#include "base/text.h"

/* Adds `name`, demangled when it is a C++ name and the host has a C++ library; else as it is. That
 * library is opened when the first name asks for it, so that Tyto does not depend on it; a program
 * in C++ has it anyway. */
void demangle(const char *name, Text *out);

#endif
