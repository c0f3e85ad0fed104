/* Comma-separated values (RFC 4180), the same under every locale. */
#ifndef TYTO_STATS_CSV_H
#define TYTO_STATS_CSV_H

#include <stdint.h>

#include "base/text.h"
#include "stats/counters.h"

/* A field, quoted where it must be. Separators are the caller's, here and below. */
void csv_add_string(Text *out, const char *value);
void csv_add_uint(Text *out, uint64_t value);
/* Nothing at all for a value that is not a number. */
void csv_add_double(Text *out, double value);

/* The names, and then the values, of all counters and ratios; a comma before each. */
void csv_add_names(Text *out);
void csv_add_counters(Text *out, const Counters *counters);

#endif
