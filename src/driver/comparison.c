/* Runs side by side: the public functions on which tyto compare stands. */
#include "tyto/tyto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "driver/run_file.h"
#include "stats/report.h"

struct TytoComparison {
    RunStats **runs; /* owned */
    int count;       /* of runs */
};

TytoComparison *tyto_comparison_new(void) { return base_calloc(1, sizeof(TytoComparison)); }

void tyto_comparison_free(TytoComparison *comparison) {
    if (!comparison) return;
    for (int i = 0; i < comparison->count; i++)
        run_free(comparison->runs[i]);
    free(comparison->runs);
    free(comparison);
}

TytoStatus tyto_comparison_add(TytoComparison *comparison, const char *path, char *message,
                               size_t size_bytes) {
    Diag *diag = diag_new();
    RunStats *run = run_file_read(path, diag);
    if (run) {
        comparison->runs = base_realloc(comparison->runs,
                                        ((size_t)comparison->count + 1) * sizeof *comparison->runs);
        comparison->runs[comparison->count++] = run;
    } else if (size_bytes) {
        snprintf(message, size_bytes, "%s", diag_text(diag));
    }
    diag_free(diag);
    return run ? TYTO_OK : TYTO_BAD_FILE;
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
    Json json;
    json_begin(&json, &out);
    run_write_comparison_json(runs_of(comparison), comparison->count, &json);
    text_add(&out, "\n");
    return out.bytes;
}

char *tyto_comparison_csv(const TytoComparison *comparison) {
    Text out = {0};
    run_write_csv(runs_of(comparison), comparison->count, &out);
    return out.bytes ? out.bytes : strdup("");
}
