/* The simulators' tables, and the values that a table omits. */
#include "machine/quirks.h"

#include <stddef.h>
#include <string.h>

#define TABLE(name, text) quirks_##name,
#define NAME(name, text)  text,
static const Quirk *const tables[] = {QUIRK_SIMULATORS(TABLE)};
const char *const quirk_simulator_names[] = {QUIRK_SIMULATORS(NAME)};

const Quirk *quirk_at(QuirkSimulator simulator, int i) {
    const Quirk *quirk = &tables[QUIRK_SIMULATOR_gpgpu_sim_4_2][i];
    if (!quirk->key) return NULL;
    for (const Quirk *own = tables[simulator]; own->key; own++)
        if (!strcmp(own->key, quirk->key)) return own;
    return quirk;
}
