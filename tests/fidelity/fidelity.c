/* Measures machine gtx480 against the peer simulator, and checks that docs/fidelity.md is up to
 * date and that every figure is as close as it should be. TYTO_BLESS=1 rewrites the page. usage:
 * fidelity ROOT */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "calibration.h"
#include "rows.h"

/* How the comparison went. */
typedef struct Tally {
    int within, explained,
        failed; /* figures within what is allowed; beyond it with a reason; without */
} Tally;

/* Counts a figure that may be beyond what is allowed only for a `reason`; what the table says of
 * it. */
static const char *judge(Tally *tally, bool is_within, bool has_reason, const char *what) {
    if (is_within) tally->within++;
    else if (has_reason) tally->explained++;
    else tally->failed++;
    if (!is_within && !has_reason)
        fprintf(stderr, "%s: too far from the peer's, for no reason given\n", what);
    return is_within ? "yes" : "**no**";
}

/* ---- The small measurements ---- */

static void add_row(Text *out, const char *folder, const Section *section, const Row *row,
                    Tally *tally) {
    double ours = row->probe.measure(folder, &row->probe), difference = ours - row->theirs;
    /* What the table shows is what is judged. */
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

/* The difference as a share of theirs; figures that are both 0 agree. */
static double relative(uint64_t theirs, uint64_t ours) {
    if (theirs == ours) return 0;
    return theirs ? ((double)ours - (double)theirs) / (double)theirs : INFINITY;
}

/* Whether a figure is as close as is allowed, or theirs lies within what ours scatters over. */
static bool is_close(const Calibration *run, const CalibrationResult *result, int i) {
    double difference = relative(run->theirs[i], result->ours[i]);
    return fabs(difference) <= calibration_figures[i].allowed ||
           (result->low[i] <= run->theirs[i] && run->theirs[i] <= result->high[i]);
}

static void add_figure(Text *out, const Calibration *run, const CalibrationResult *result, int i,
                       Tally *tally) {
    const CalibrationFigure *figure = &calibration_figures[i];
    const char *verdict = "";
    if (figure->allowed > 0)
        verdict = judge(tally, is_close(run, result, i), run->note != NULL, figure->what);
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
    text_printf(out, "### %s, %s%s%s%s\n\n", run->kernel, run->scheduler,
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
    "This page is generated: `make fidelity` measures everything on it anew. The test\n"
    "`fidelity` fails when the page is not what would be generated, or a figure leaves what\n"
    "is allowed without a reason.\n"
    "\n"
    "Machine `gtx480` is GPGPU-Sim 4.2's stock GTX480 model. *Theirs* was measured on that\n"
    "simulator, *ours* here, both with small PTX kernels (`tests/fidelity/kernels/`); cycles\n"
    "are of the 700 MHz SM clock. Allowed are 2 cycles or 5% for latencies, 5% for rates, and\n"
    "for whole kernels 10% of the cycles and 5% of the L1D and DRAM counts. What is right on\n"
    "hardware is not given up for a match: where we differ on purpose, the reason stands\n"
    "below the table.\n"
    "\n";

static const char calibration_text[] =
    "## Whole kernels\n"
    "\n"
    "`vecadd` adds 1,048,576 floats in 4096 CTAs of 256 threads; `matmul` multiplies 256 x\n"
    "256 matrices in tiles of 16 x 16. Registers per thread are 12 and 35, as ptxas allocated\n"
    "them for the peer (`--registers N`). DRAM reads are of 32 bytes, write commands of up to\n"
    "64. Figures without a verdict are only shown: a load that finds its line on the way is a\n"
    "pending hit, the same load a little later a hit, and a little earlier a miss.\n"
    "\n"
    "matmul's figures scatter with the order in which CTAs come to the SMs. Their bounds are\n"
    "over four runs, after none to three empty kernels, each of which lets the next kernel\n"
    "begin one SM further. The peer's figure is one such run: ours is within also when theirs\n"
    "lies between the bounds.\n"
    "\n";

static void write_page(Text *out, const char *folder, Tally *tally) {
    text_add(out, introduction);
    for (int i = 0; i < section_count; i++)
        add_section(out, folder, &sections[i], tally);
    text_add(out, calibration_text);
    for (int i = 0; i < calibration_count; i++)
        add_run(out, folder, &calibrations[i], tally);
    text_printf(out,
                "## In all\n\n%d figures are within what is allowed, %d are not, each for the "
                "reason given.\n",
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
    if (argc != 2) {
        fprintf(stderr, "usage: fidelity ROOT\n");
        return 2;
    }
    char folder[1024], path[1024];
    snprintf(folder, sizeof folder, "%s/tests/fidelity", argv[1]);
    snprintf(path, sizeof path, "%s/docs/fidelity.md", argv[1]);
    Text page = {0};
    Tally tally = {0};
    write_page(&page, folder, &tally);
    if (getenv("TYTO_BLESS") && !text_write_file(path, page.bytes, page.length)) {
        perror(path);
        return 1;
    }
    if (!is_up_to_date(path, &page)) tally.failed++;
    text_free(&page);
    printf("%d passed, %d failed\n", tally.within + tally.explained, tally.failed);
    return tally.failed ? 1 : 0;
}
