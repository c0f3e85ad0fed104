/* Compares runs: the public functions that tyto compare uses. */
#include "tyto/tyto.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "stats/report.h"
#include "stats/run_read.h"

struct TytoComparison {
    RunStats **runs; /* owned */
    char **texts;    /* the runs' JSON objects; owned */
    int count;       /* number of runs */
};

TytoComparison *tyto_comparison_new(void) { return base_calloc(1, sizeof(TytoComparison)); }

void tyto_comparison_free(TytoComparison *comparison) {
    if (!comparison) return;
    for (int i = 0; i < comparison->count; i++) {
        run_free(comparison->runs[i]);
        free(comparison->texts[i]);
    }
    free(comparison->runs);
    free(comparison->texts);
    free(comparison);
}

TytoStatus tyto_comparison_add(TytoComparison *comparison, const char *json) {
    RunStats *run = run_read_json(json);
    if (!run || !run_is_timed(run)) {
        run_free(run);
        return TYTO_BAD_FILE;
    }
    size_t count = (size_t)comparison->count++ + 1, length = strlen(json);
    comparison->runs = base_realloc(comparison->runs, count * sizeof *comparison->runs);
    comparison->texts = base_realloc(comparison->texts, count * sizeof *comparison->texts);
    while (length && json[length - 1] == '\n')
        length--;
    char *text = base_malloc(length + 1);
    memcpy(text, json, length);
    text[length] = '\0';
    comparison->runs[count - 1] = run;
    comparison->texts[count - 1] = text;
    return TYTO_OK;
}

static const RunStats *const *runs_of(const TytoComparison *comparison) {
    return (const RunStats *const *)comparison->runs;
}

char *tyto_comparison_text(const TytoComparison *comparison) {
    Text out = {0};
    report_comparison(runs_of(comparison), comparison->count, &out);
    return out.bytes ? out.bytes : strdup("");
}

char *tyto_comparison_json(const TytoComparison *comparison) {
    Text out = {0};
    text_add(&out, "{\"runs\": [");
    for (int i = 0; i < comparison->count; i++)
        text_printf(&out, "%s\n%s", i ? "," : "", comparison->texts[i]);
    text_add(&out, "\n]}\n");
    return out.bytes;
}

char *tyto_comparison_csv(const TytoComparison *comparison) {
    Text out = {0};
    run_write_csv(runs_of(comparison), comparison->count, &out);
    return out.bytes ? out.bytes : strdup("");
}
