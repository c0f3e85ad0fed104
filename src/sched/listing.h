/* The lists of warp and CTA schedulers with their parameters, generated from their rows. */
#ifndef TYTO_SCHED_LISTING_H
#define TYTO_SCHED_LISTING_H

#include "base/text.h"

/* The text that `tyto schedulers` prints. */
void sched_list(Text *out);

/* The content of docs/schedulers.md. */
void sched_document(Text *out);

#endif
