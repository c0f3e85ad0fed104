/* The variants of this build and which of them the host can run. */
#include "isa/exec/handlers.h"

#include <string.h>

#include "isa/exec/levels.h"

/* src/isa/meson.build defines ISA_LEVELS(X) as X(NAME) for each level that this build has, the best
 * first. */
#define DECLARE(level) extern IsaExec *const isa_exec_table_##level[ISA_DO_COUNT];
ISA_LEVELS(DECLARE)

#define ROW(level) {#level, isa_exec_table_##level},
static const IsaVariant variants[] = {ISA_LEVELS(ROW)};
enum { VARIANT_COUNT = sizeof variants / sizeof variants[0] };

int isa_variant_count(void) { return VARIANT_COUNT; }

const IsaVariant *isa_variant(int index) {
    return isa_host_has(variants[index].name) ? &variants[index] : NULL;
}

const IsaVariant *isa_find_variant(const char *name) {
    for (int i = 0; i < VARIANT_COUNT; ++i) {
        const IsaVariant *variant = isa_variant(i);
        if (variant && (!name || strcmp(name, variant->name) == 0)) return variant;
    }
    return NULL;
}
