/* Comma-separated values (see the header). */
#include "stats/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void csv_add_string(Text *out, const char *value) {
    if (!value[strcspn(value, ",\"\r\n")]) {
        text_add(out, value);
        return;
    }
    text_add(out, "\"");
    for (; *value; value++) {
        if (*value == '"') text_add(out, "\"");
        text_add_bytes(out, value, 1);
    }
    text_add(out, "\"");
}

void csv_add_uint(Text *out, uint64_t value) { text_printf(out, "%" PRIu64, value); }

void csv_add_double(Text *out, double value) {
    if (!isfinite(value)) return;
    Json json; /* its number format is also that of CSV */
    json_begin(&json, out);
    json_double(&json, value);
}

void csv_add_names(Text *out) {
    for (CounterId id = 0; id < COUNTER_COUNT; id++)
        text_printf(out, ",%s", counter_rows[id].name);
    for (RatioId id = 0; id < RATIO_COUNT; id++)
        text_printf(out, ",%s", ratio_rows[id].name);
}

void csv_add_counters(Text *out, const Counters *counters) {
    for (CounterId id = 0; id < COUNTER_COUNT; id++)
        text_printf(out, ",%" PRIu64, counters_get(counters, id));
    for (RatioId id = 0; id < RATIO_COUNT; id++) {
        text_add(out, ",");
        csv_add_double(out, counters_ratio(counters, id));
    }
}
