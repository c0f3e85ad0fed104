/* Asynchronous copies of a warp: which groups of copies are still waiting for data, and whether the
 * warp waits for any of them. At most SM_COPY_GROUPS groups are in flight. When a warp commits
 * another one, it waits for the oldest, as a GPU waits for a free scoreboard entry. */
#ifndef TYTO_SM_COPIES_H
#define TYTO_SM_COPIES_H

#include <stdbool.h>
#include <stdint.h>

/* PTX sets no limit. Programs keep two to four groups in flight (CUTLASS's stages). No GPU's limit
 * is published. */
enum { SM_COPY_GROUPS = 8 };

/* All bits zero is a warp without copies. */
typedef struct SmCopies {
    uint32_t committed;            /* groups committed; the next copy joins the one after them */
    uint16_t left[SM_COPY_GROUPS]; /* copies that wait for data, by group modulo the array's size */
    uint8_t waiting;               /* groups that the warp waits for, one bit per index of `left` */
} SmCopies;

/* Records that a copy issued. Returns the place of its group, to be passed to copies_done. */
uint8_t copies_issue(SmCopies *copies);
/* Makes a group of the copies since the last commit. Returns true if the warp must wait. */
bool copies_commit(SmCopies *copies);
/* Waits until at most `pending` groups are in flight. Returns true if the warp must wait. */
bool copies_wait(SmCopies *copies, uint32_t pending);
/* Waits for all copies, including those without a group. Returns true if the warp must wait. */
bool copies_wait_all(SmCopies *copies);
/* Records that a copy's data have arrived. Returns true if this ends the warp's wait. */
bool copies_done(SmCopies *copies, uint8_t place);

#endif
