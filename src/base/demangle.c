/* Uses __cxa_demangle of the Itanium C++ ABI (section 3.4), from the host's C++ library. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef char *Demangler(const char *mangled, char *buffer, size_t *length, int *status);

/* POSIX lets dlsym return an object pointer for a function. */
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

/* Start of the parameters in a demangled function name: the parenthesis that matches the last
 * character, or the end if there are none. */
static size_t parameters_of(const char *text, size_t length) {
    int depth = 0;
    if (!length || text[length - 1] != ')') return length;
    for (size_t i = length; i-- > 0;) {
        depth += text[i] == ')';
        depth -= text[i] == '(';
        if (depth == 0) return i;
    }
    return length;
}

/* Start of the name: after the last space in text[0, end) that is outside brackets. */
static size_t name_of(const char *text, size_t end) {
    int depth = 0;
    for (size_t i = end; i-- > 0;) {
        depth += strchr(")>}]", text[i]) != NULL;
        depth -= strchr("(<{[", text[i]) != NULL;
        if (depth == 0 && text[i] == ' ') return i + 1;
    }
    return 0;
}

/* The same, without the text inside the outermost angle brackets. */
static void add_without_arguments(const char *name, size_t length, Text *out) {
    int depth = 0;
    for (size_t i = 0; i < length; i++) {
        depth -= name[i] == '>';
        if (depth == 0) text_add_bytes(out, name + i, 1);
        depth += name[i] == '<';
        if (depth == 1 && name[i] == '<') text_add(out, "...");
    }
}

void demangle_short(const char *name, Text *out) {
    Text whole = {0};
    demangle(name, &whole);
    const char *text = text_string(&whole);
    bool is_plain = strcmp(text, name) == 0; /* not a C++ name, or no C++ library */
    size_t end = is_plain ? whole.length : parameters_of(text, whole.length);
    size_t start = is_plain ? 0 : name_of(text, end);
    if (end - start > DEMANGLE_SHORT_BYTES && !is_plain)
        add_without_arguments(text + start, end - start, out);
    else text_add_bytes(out, text + start, end - start);
    text_free(&whole);
}

void demangle_write_json(const char *name, Json *json) {
    Text plain = {0};
    demangle(name, &plain);
    if (strcmp(text_string(&plain), name) != 0) {
        json_key(json, "demangled");
        json_string(json, text_string(&plain));
    }
    text_free(&plain);
}
