/* Writers of policies' reports (see the header). */
#include "sched/report.h"

#include <inttypes.h>

static void add_number(Text *text, double value) {
    Json json;
    text_add(text, " ");
    json_begin(&json, text);
    json_double(&json, value);
}

void sched_csv_start(FILE *file) {
    Text names = {0};
    run_add_origin_names(&names);
    fprintf(file, "kernel,cycle,sm,name,index,value,unit,%s\n", text_string(&names));
    text_free(&names);
}

void sched_csv_end(FILE *file, const RunStats *run) {
    Text origin = {0};
    run_add_origin_fields(run, &origin);
    fprintf(file, ",,,origin,,,,%s\n", text_string(&origin));
    text_free(&origin);
}

/* One comma for each of the origin's columns. */
#define COMMA(name, meaning) ","
static const char no_origin[] = RUN_ORIGIN(COMMA);
#undef COMMA

static void csv_line(const SchedCsv *csv, const char *name, const char *index, double value,
                     const char *unit) {
    Text number = {0};
    add_number(&number, value);
    fprintf(csv->file, "\"%s\",%" PRIu64 ",", csv->kernel, csv->cycle);
    if (csv->sm != SCHED_CSV_CTAS) fprintf(csv->file, "%d", csv->sm);
    fprintf(csv->file, ",%s,%s,%s,\"%s\"%s\n", name, index, text_string(&number) + 1, unit,
            no_origin);
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

TytoReport sched_report_csv(SchedCsv *csv) {
    return (TytoReport){sizeof(TytoReport), csv, csv_value, csv_list};
}
