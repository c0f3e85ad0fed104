/* Counts of cache sets (see the header). */
#include "stats/sets.h"

#include <stdlib.h>

#include "base/arena.h"

Sets sets_new(uint32_t units, uint32_t of_unit) {
    return (Sets){.units = units,
                  .of_unit = of_unit,
                  .counts = base_calloc((size_t)units * of_unit, sizeof(SetCounts))};
}

void sets_free(Sets *sets) {
    free(sets->counts);
    *sets = (Sets){0};
}

static size_t count_of(const Sets *sets) { return (size_t)sets->units * sets->of_unit; }

bool sets_are_used(const Sets *sets) {
    for (size_t i = 0; i < count_of(sets); i++)
        if (sets->counts[i].accesses) return true;
    return false;
}

Sets sets_added(const Sets *sets) {
    Sets added = sets_new(1, sets->of_unit);
    for (size_t i = 0; i < count_of(sets); i++) {
        SetCounts *sum = &added.counts[i % sets->of_unit];
#define ADD(prefix, name, words) sum->name += sets->counts[i].name;
        SET_COUNTS(ADD, )
#undef ADD
    }
    return added;
}

bool sets_have(CounterId counter) {
#define IS_COUNT(prefix, name, words)    || counter == COUNTER_##prefix##_##name
#define IS_OF_CACHE(kind, prefix, title) SET_COUNTS(IS_COUNT, prefix)
    return false SET_CACHES(IS_OF_CACHE);
#undef IS_OF_CACHE
#undef IS_COUNT
}
