/* Groups of asynchronous copies (copies.h). */
#include "sm/copies.h"

static uint8_t place_of(uint32_t group) { return (uint8_t)(group % SM_COPY_GROUPS); }

static bool wait_for(SmCopies *copies, uint8_t place) {
    if (copies->left[place]) copies->waiting |= (uint8_t)(1u << place);
    return copies->waiting != 0;
}

uint8_t copies_issue(SmCopies *copies) {
    const uint8_t place = place_of(copies->committed);
    copies->left[place]++;
    return place;
}

bool copies_commit(SmCopies *copies) {
    copies->committed++;
    return wait_for(copies, place_of(copies->committed)); /* for the group there before */
}

bool copies_wait(SmCopies *copies, uint32_t pending) {
    for (uint32_t back = pending + 1; back < SM_COPY_GROUPS; back++)
        wait_for(copies, place_of(copies->committed - back));
    return copies->waiting != 0;
}

bool copies_wait_all(SmCopies *copies) {
    for (uint32_t place = 0; place < SM_COPY_GROUPS; place++)
        wait_for(copies, (uint8_t)place);
    return copies->waiting != 0;
}

bool copies_done(SmCopies *copies, uint8_t place) {
    if (--copies->left[place] || !copies->waiting) return false;
    copies->waiting &= (uint8_t)~(1u << place);
    return copies->waiting == 0;
}
