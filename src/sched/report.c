/* Writers of policies' reports (see the header). */
#include "sched/report.h"

static void json_value(void *context, const char *name, const char *unit, double value) {
    (void)unit;
    json_key(context, name);
    json_double(context, value);
}

static void json_list(void *context, const char *name, const char *unit, const double *values,
                      size_t count) {
    (void)unit;
    json_key(context, name);
    json_array(context);
    for (size_t i = 0; i < count; i++) json_double(context, values[i]);
    json_end_array(context);
}

TytoReport sched_report_json(Json *json) { return (TytoReport){json, json_value, json_list}; }

static void add_number(Text *text, double value) {
    Json json;
    text_add(text, " ");
    json_begin(&json, text);
    json_double(&json, value);
}

static void text_values(void *context, const char *name, const char *unit, const double *values,
                        size_t count) {
    text_add(context, name);
    for (size_t i = 0; i < count; i++) add_number(context, values[i]);
    text_printf(context, " (%s)\n", unit);
}

static void text_value(void *context, const char *name, const char *unit, double value) {
    text_values(context, name, unit, &value, 1);
}

TytoReport sched_report_text(Text *text) { return (TytoReport){text, text_value, text_values}; }
