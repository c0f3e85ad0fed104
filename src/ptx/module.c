/* A finished module: looking things up in it, and giving it back. */
#include "ptx/ptx.h"

#include <string.h>

bool ptx_is_builtin(const char *function_name) {
    static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(function_name, names[i])) return true;
    }
    return false;
}

void ptx_module_free(PtxModule *module) {
    if (module) arena_free(module->arena);
}

PtxVar *ptx_find_var(const PtxModule *module, const char *name) {
    for (int i = 0; i < module->var_count; i++) {
        if (!strcmp(module->vars[i]->name, name)) return module->vars[i];
    }
    return NULL;
}
