/* __cxa_demangle of the Itanium C++ ABI (section 3.4), from the C++ library of the host. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *Demangler(const char *mangled, char *buffer, size_t *length, int *status);

/* POSIX has dlsym return an object pointer for a function. */
static Demangler *find_demangler(void) {
    static const char symbol[] = "__cxa_demangle";
    void *found = dlsym(RTLD_DEFAULT, symbol);
    if (!found) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        found = library ? dlsym(library, symbol) : NULL;
    }
    Demangler *demangler;
    memcpy(&demangler, &found, sizeof demangler);
    return demangler;
}

void demangle(const char *name, Text *out) {
    Demangler *demangler = strncmp(name, "_Z", 2) == 0 ? find_demangler() : NULL;
    int status = -1;
    char *plain = demangler ? demangler(name, NULL, NULL, &status) : NULL;
    text_add(out, plain && status == 0 ? plain : name);
    free(plain);
}
