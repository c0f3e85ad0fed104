/* Asynchronous copies of a warp: which groups of them still have data to come, and whether the warp
 * waits for some. At most SM_COPY_GROUPS groups are under way: the one after that has the warp
 * wait for the oldest, as a GPU waits for a free scoreboard entry. */
#ifndef TYTO_SM_COPIES_H
#define TYTO_SM_COPIES_H

#include <stdbool.h>
#include <stdint.h>

/* PTX sets no bound. Programs keep two to four groups under way (CUTLASS's stages); no GPU's number
 * is published. */
enum { SM_COPY_GROUPS = 8 };

/* Zeroed memory is a warp without copies. */
typedef struct SmCopies {
    uint32_t committed;            /* groups so far; the next copy joins the one after them */
    uint16_t left[SM_COPY_GROUPS]; /* copies whose data are still to come, by group modulo this */
    uint8_t waiting;               /* groups that the warp waits for, bit per place in `left` */
} SmCopies;

/* A copy issues. The place of its group, to be given back to copies_done. */
uint8_t copies_issue(SmCopies *copies);
/* The copies so far become a group. True when the warp has to wait. */
bool copies_commit(SmCopies *copies);
/* Until at most `pending` groups are under way; true when the warp has to wait. */
bool copies_wait(SmCopies *copies, uint32_t pending);
/* Until every copy is there, those in no group among them. */
bool copies_wait_all(SmCopies *copies);
/* A copy's data are there. True when the warp need not wait any longer. */
bool copies_done(SmCopies *copies, uint8_t place);

#endif
