/* Comma-separated values (RFC 4180), identical in every locale. */
#ifndef TYTO_STATS_CSV_H
#define TYTO_STATS_CSV_H

#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"

/* Adds a field, quoted if necessary. The caller adds separators, here and below. */
void csv_add_string(Text *out, const char *value);
void csv_add_uint(Text *out, uint64_t value);
/* Adds a number; nothing if it is NaN. */
void csv_add_double(Text *out, double value);

/* Adds the names, or the values, of all counters and ratios, with a comma before each. */
void csv_add_names(Text *out);
void csv_add_counters(Text *out, const Counters *counters);

#endif
