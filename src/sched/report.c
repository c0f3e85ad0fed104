/* Writers of policies' reports (see the header). */
#include "sched/report.h"

#include <inttypes.h>

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
    for (size_t i = 0; i < count; i++)
        json_double(context, values[i]);
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
    for (size_t i = 0; i < count; i++)
        add_number(context, values[i]);
    text_printf(context, " (%s)\n", unit);
}

static void text_value(void *context, const char *name, const char *unit, double value) {
    text_values(context, name, unit, &value, 1);
}

TytoReport sched_report_text(Text *text) { return (TytoReport){text, text_value, text_values}; }

void sched_csv_start(FILE *file) { fputs("kernel,cycle,sm,name,index,value,unit\n", file); }

static void csv_line(const SchedCsv *csv, const char *name, const char *index, double value,
                     const char *unit) {
    Text number = {0};
    add_number(&number, value);
    fprintf(csv->file, "\"%s\",%" PRIu64 ",", csv->kernel, csv->cycle);
    if (csv->sm != SCHED_CSV_CTAS) fprintf(csv->file, "%d", csv->sm);
    fprintf(csv->file, ",%s,%s,%s,\"%s\"\n", name, index, text_string(&number) + 1, unit);
    text_free(&number);
}

static void csv_value(void *context, const char *name, const char *unit, double value) {
    csv_line(context, name, "", value, unit);
}

static void csv_list(void *context, const char *name, const char *unit, const double *values,
                     size_t count) {
    char index[24];
    for (size_t i = 0; i < count; i++) {
        snprintf(index, sizeof index, "%zu", i);
        csv_line(context, name, index, values[i], unit);
    }
}

TytoReport sched_report_csv(SchedCsv *csv) { return (TytoReport){csv, csv_value, csv_list}; }
