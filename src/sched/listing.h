/* The lists of warp and CTA schedulers with their parameters, made from their rows. */
#ifndef TYTO_SCHED_LISTING_H
#define TYTO_SCHED_LISTING_H

#include "base/text.h"

/* As `tyto schedulers` prints it. */
void sched_list(Text *out);

/* As docs/schedulers.md holds it. */
void sched_document(Text *out);

#endif
