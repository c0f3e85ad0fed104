/* Numbers for people (see the header). */
#include "stats/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void format_count(char field[static FORMAT_BYTES], uint64_t value) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) field[at++] = ',';
        field[at++] = digits[i];
    }
    field[at] = 0;
}

void format_value(char field[static FORMAT_BYTES], double value, int decimals) {
    if (!isfinite(value)) {
        strcpy(field, "-");
        return;
    }
    double scale = pow(10, decimals), rounded = round(fabs(value) * scale);
    if (rounded >= 1e15) {
        snprintf(field, FORMAT_BYTES, "%.3g", value);
        return;
    }
    uint64_t units = (uint64_t)rounded, one = (uint64_t)scale;
    int at =
        snprintf(field, FORMAT_BYTES, "%s%" PRIu64, value < 0 && units ? "-" : "", units / one);
    if (decimals)
        snprintf(field + at, FORMAT_BYTES - (size_t)at, ".%0*" PRIu64, decimals, units % one);
}

void format_ratio_value(char field[static FORMAT_BYTES], double value, RatioId id) {
    bool is_share = !strcmp(ratio_rows[id].unit, "share");
    format_value(field, is_share ? 100 * value : value, is_share ? 1 : 2);
    if (is_share && isfinite(value)) strcat(field, "%");
}

void format_ratio(char field[static FORMAT_BYTES], const Counters *counters, RatioId id) {
    format_ratio_value(field, counters_ratio(counters, id), id);
}
