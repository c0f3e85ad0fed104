/* Compares machines with the peer simulator. Checks that their page is up to date and that every
 * figure is close enough. TYTO_BLESS=1 rewrites the page. usage: fidelity PAGE ROOT; PAGE is
 * fidelity (machine gtx480) or fidelity-modern (qv100, rtx3070) */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "calibration.h"
#include "rows.h"
#include "rows_modern.h"

/* The result of the comparison. */
typedef struct Tally {
    int within, explained, failed; /* within the limit; beyond it with a reason; without one */
} Tally;

/* Counts a figure, which needs a reason if it exceeds the allowed difference. Returns the verdict
 * for the table. */
static const char *judge(Tally *tally, bool is_within, bool has_reason, const char *what) {
    if (is_within) tally->within++;
    else if (has_reason) tally->explained++;
    else tally->failed++;
    if (!is_within && !has_reason)
        fprintf(stderr, "%s: differs too much from the peer's, without a reason\n", what);
    return is_within ? "yes" : "**no**";
}

/* ---- The small measurements ---- */

static void add_row(Text *out, const char *folder, const Section *section, const Row *row,
                    Tally *tally) {
    double ours = row->probe.measure(folder, &row->probe), difference = ours - row->theirs;
    /* The displayed, rounded figures are compared. */
    double unit = pow(10, section->digits);
    difference = round(difference * unit) / unit;
    bool is_within = fabs(difference) <= section->absolute ||
                     fabs(difference) <= section->relative * row->theirs;
    const char *verdict = judge(tally, is_within, row->note != NULL, row->what);
    text_printf(out, "| %s | %.*f | %.*f | %+.*f | %s |\n", row->what, section->digits, row->theirs,
                section->digits, ours, section->digits, difference, verdict);
}

static void add_section(Text *out, const char *folder, const Section *section, Tally *tally) {
    text_printf(out, "## %s\n\n%s\n\n", section->title, section->text);
    text_add(out, "| | theirs | ours | difference | within |\n|---|---:|---:|---:|---|\n");
    for (int i = 0; i < section->count; i++)
        add_row(out, folder, section, &section->rows[i], tally);
    text_add(out, "\n");
    for (int i = 0; i < section->count; i++) {
        const Row *row = &section->rows[i];
        if (row->note)
            text_printf(out, "%c%s: %s\n\n", toupper(row->what[0]), row->what + 1, row->note);
    }
}

/* ---- The calibration kernels ---- */

/* The difference relative to the peer's figure; two figures of 0 agree. */
static double relative(uint64_t theirs, uint64_t ours) {
    if (theirs == ours) return 0;
    return theirs ? ((double)ours - (double)theirs) / (double)theirs : INFINITY;
}

/* Whether a figure is within the allowed difference, or the peer's lies within the bounds of
 * ours. */
static bool is_close(const Calibration *run, const CalibrationResult *result, int i,
                     double allowed) {
    double difference = relative(run->theirs[i], result->ours[i]);
    return fabs(difference) <= allowed ||
           (result->low[i] <= run->theirs[i] && run->theirs[i] <= result->high[i]);
}

static void add_figure(Text *out, const Calibration *run, const CalibrationResult *result, int i,
                       Tally *tally) {
    const CalibrationFigure *figure = &calibration_figures[i];
    const char *verdict = "";
    double allowed = run->machine ? figure->modern : figure->allowed;
    if (run->theirs[i] == CALIBRATION_UNKNOWN) {
        text_printf(out, "| %s | | %" PRIu64 " | | | |\n", figure->what, result->ours[i]);
        return;
    }
    if (allowed > 0)
        verdict = judge(tally, is_close(run, result, i, allowed), run->note != NULL, figure->what);
    text_printf(out, "| %s | %" PRIu64 " | %" PRIu64 " | ", figure->what, run->theirs[i],
                result->ours[i]);
    if (result->low[i] < result->high[i])
        text_printf(out, "%" PRIu64 " to %" PRIu64, result->low[i], result->high[i]);
    text_printf(out, " | %+.1f%% | %s |\n", 100 * relative(run->theirs[i], result->ours[i]),
                verdict);
}

static void add_run(Text *out, const char *folder, const Calibration *run, Tally *tally) {
    CalibrationResult result = calibration_run(folder, run);
    if (!result.is_right) {
        fprintf(stderr, "%s, %s: wrong result\n", run->kernel, run->scheduler);
        tally->failed++;
    }
    text_printf(out, "### %s%s%s, %s%s%s%s\n\n", run->machine ? run->machine : "",
                run->machine ? ": " : "", run->kernel, run->scheduler,
                run->setting ? ", `--set " : "", run->setting ? run->setting : "",
                run->setting ? "`" : "");
    text_add(out,
             "| | theirs | ours | bounds | difference | within |\n|---|---:|---:|---:|---:|---|\n");
    for (int i = run->setting ? CALIBRATION_DRAM : 0; i < CALIBRATION_FIGURES; i++)
        add_figure(out, run, &result, i, tally);
    text_printf(out, "\n%s%s", run->note ? run->note : "", run->note ? "\n\n" : "");
}

/* ---- The page ---- */

static const char introduction[] =
    "# Against GPGPU-Sim\n"
    "\n"
    "This page is generated: `make fidelity` repeats all measurements. The test `fidelity`\n"
    "fails if the page is out of date, or if a figure exceeds the allowed difference without\n"
    "a reason.\n"
    "\n"
    "Machine `gtx480` is GPGPU-Sim 4.2's stock GTX480 model. *Theirs* was measured on that\n"
    "simulator, *ours* in Tyto, both with small PTX kernels (`tests/fidelity/kernels/`).\n"
    "Cycles are of the 700 MHz SM clock. The allowed difference is 2 cycles or 5% for\n"
    "latencies, 5% for rates, and for whole kernels 10% of the cycles and 5% of the L1D and\n"
    "DRAM counts. Behaviour that is right on hardware is not changed for a match: if we\n"
    "differ on purpose, the reason is below the table.\n"
    "\n";

static const char calibration_text[] =
    "## Whole kernels\n"
    "\n"
    "`vecadd` adds 1,048,576 floats in 4096 CTAs of 256 threads. `reduction` sums as many, with\n"
    "a tree in shared memory for each CTA. `matmul` multiplies 256 x 256 matrices in tiles of\n"
    "16 x 16. Registers per thread are 12, 9 and 35, as ptxas allocated them for the peer\n"
    "(`--registers N`). DRAM reads have 32 bytes, write commands up to 64. Figures without a\n"
    "verdict are only shown: a load that finds its line in flight is a pending hit, the same\n"
    "load a little later a hit, and a little earlier a miss.\n"
    "\n"
    "matmul's figures depend on the order in which CTAs are dispatched to the SMs. The bounds\n"
    "are those of four runs, after zero to three empty kernels. Each empty kernel lets the next\n"
    "kernel start one SM later. The peer's figure is one such run, so ours is also within the\n"
    "allowed difference if theirs lies between the bounds.\n"
    "\n";

static const char modern_introduction[] =
    "# Volta and Ampere against GPGPU-Sim\n"
    "\n"
    "This page is generated: `make fidelity` repeats all measurements. The test\n"
    "`fidelity_modern` fails if the page is out of date, or if a figure exceeds the allowed\n"
    "difference without a reason.\n"
    "\n"
    "Machines `qv100` and `rtx3070` are GPGPU-Sim 4.2's stock QV100 and RTX3070 models. *Theirs*\n"
    "was measured on that simulator, *ours* in Tyto, both with small PTX kernels\n"
    "(`tests/fidelity/kernels/`). Cycles are of the SM clock. The allowed difference is 2 cycles\n"
    "or 5% for latencies, 5% for rates, and for whole kernels 5% of the cycles and of the L1D,\n"
    "L2 and DRAM counts. If we differ on purpose, the reason is below the table.\n"
    "\n";

static const char modern_calibration_text[] =
    "## Whole kernels\n"
    "\n"
    "The programs of the page on [gtx480](fidelity.md), with the same registers per thread. "
    "Cycles\n"
    "include a launch latency of 5000. Accesses are of sectors of 32 bytes. Figures that the\n"
    "peer's runs did not record are left empty. matmul's bounds are those of four runs, each\n"
    "starting on another SM.\n"
    "\n";

typedef struct Page {
    const char *name; /* docs/NAME.md */
    const char *introduction, *calibration_text;
    const Section *sections;
    const int *section_count;
    const Calibration *calibrations;
    const int *calibration_count;
} Page;

static const Page pages[] = {
    {"fidelity", introduction, calibration_text, sections, &section_count, calibrations,
     &calibration_count},
    {"fidelity-modern", modern_introduction, modern_calibration_text, modern_sections,
     &modern_section_count, modern_calibrations, &modern_calibration_count},
};

static void write_page(Text *out, const Page *page, const char *folder, Tally *tally) {
    text_add(out, page->introduction);
    for (int i = 0; i < *page->section_count; i++)
        add_section(out, folder, &page->sections[i], tally);
    text_add(out, page->calibration_text);
    for (int i = 0; i < *page->calibration_count; i++)
        add_run(out, folder, &page->calibrations[i], tally);
    text_printf(out,
                "## Total\n\n%d figures are within the allowed difference. %d are not, each for "
                "the reason given.\n",
                tally->within, tally->explained);
}

static bool is_up_to_date(const char *path, const Text *page) {
    size_t length;
    char *stored = text_read_file(path, 1 << 20, &length);
    bool is_same = stored && !strcmp(stored, text_string(page));
    if (!is_same) fprintf(stderr, "%s is out of date: make fidelity\n", path);
    free(stored);
    return is_same;
}

int main(int argc, char **argv) {
    const Page *page = NULL;
    for (size_t i = 0; argc == 3 && i < sizeof pages / sizeof *pages; i++)
        if (!strcmp(pages[i].name, argv[1])) page = &pages[i];
    if (!page) {
        fprintf(stderr, "usage: fidelity fidelity|fidelity-modern ROOT\n");
        return 2;
    }
    char folder[1024], path[1024];
    snprintf(folder, sizeof folder, "%s/tests/fidelity", argv[2]);
    snprintf(path, sizeof path, "%s/docs/%s.md", argv[2], page->name);
    Text text = {0};
    Tally tally = {0};
    write_page(&text, page, folder, &tally);
    if (getenv("TYTO_BLESS") && !text_write_file(path, text.bytes, text.length)) {
        perror(path);
        return 1;
    }
    if (!is_up_to_date(path, &text)) tally.failed++;
    text_free(&text);
    printf("%d passed, %d failed\n", tally.within + tally.explained, tally.failed);
    return tally.failed ? 1 : 0;
}
