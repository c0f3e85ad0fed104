/* A finished module: lookup and deallocation. */
#include "ptx/ptx.h"

#include <string.h>

static const char *const builtin_names[] = {
#define BUILTIN(constant, name) name,
#include "ptx/builtins.def"
#undef BUILTIN
};

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether a function's name is that of a builtin. */
static bool is_name_of(const char *builtin, const char *name) {
    static const char today[] = "__cudaCDP2";
    bool is_today = begins_with(name, today) && begins_with(builtin, "cuda");
    const char *rest = is_today ? name + strlen(today) : name;
    const char *wanted = is_today ? builtin + strlen("cuda") : builtin;
    size_t length = strlen(wanted);
    if (strncmp(rest, wanted, length) != 0) return false;
    return !rest[length] || (begins_with(builtin, "cuda") && !strcmp(rest + length, "_ptsz"));
}

PtxBuiltin ptx_find_builtin(const char *function_name) {
    int i = 0;
    while (i < PTX_BUILTIN_COUNT && !is_name_of(builtin_names[i], function_name))
        i++;
    return (PtxBuiltin)i;
}

bool ptx_is_builtin(const char *function_name) {
    return ptx_find_builtin(function_name) != PTX_BUILTIN_COUNT;
}

bool ptx_is_device_runtime(const char *function_name) {
    return (begins_with(function_name, "cuda") || begins_with(function_name, "__cuda")) &&
           ptx_is_builtin(function_name);
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
