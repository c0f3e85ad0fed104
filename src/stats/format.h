/* Formats numbers for people, independently of the locale. */
#ifndef TYTO_STATS_FORMAT_H
#define TYTO_STATS_FORMAT_H

#include <stdint.h>

#include "stats/counters.h"

enum { FORMAT_BYTES = 64 };

/* Formats 1234567 as 1,234,567. */
void format_count(char field[static FORMAT_BYTES], uint64_t value);
/* Formats with `decimals` decimals and a decimal point; "-" for NaN. */
void format_value(char field[static FORMAT_BYTES], double value, int decimals);
/* Formats a ratio according to its unit: shares in percent. */
void format_ratio_value(char field[static FORMAT_BYTES], double value, RatioId id);
void format_ratio(char field[static FORMAT_BYTES], const Counters *counters, RatioId id);

#endif
