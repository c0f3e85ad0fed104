/* Random small kernels on any machine with any policies: timed and functional runs must end with
 * the same bytes in memory and the same number of instructions. */
#include "../every.h"
#include "../engine/kernel_maker.h"

#include <stdio.h>
#include <stdlib.h>

#include "tyto/tyto.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

static void stop(const MadeKernel *kernel, const char *const *options, int count,
                 const Outcome *outcome) {
    fprintf(stderr, "%s\n", text_string(&kernel->ptx));
    for (int i = 0; i < count; i++)
        fprintf(stderr, "%s ", options[i]);
    fprintf(stderr, "grid %u block %u: %s\n", kernel->grid, kernel->block,
            outcome->message ? outcome->message : "another result");
    abort();
}

/* All registered names. */
static struct {
    Every machines, schedulers, cta_schedulers, request_schedulers;
} every;

static void list_all(void) {
    if (every.machines.count) return;
    every_machine(&every.machines);
    every_scheduler(&every.schedulers);
    every_scheduler_choice(&every.schedulers);
    every_cta_scheduler(&every.cta_schedulers);
    every_cta_scheduler_choice(&every.cta_schedulers);
    every_dram_scheduler(&every.request_schedulers);
}

/* A number below `count`; `choice` is the state of the generator. */
static int draw_number(unsigned *choice, int count) {
    *choice = *choice * 1664525 + 1013904223;
    return (int)((*choice >> 8) % (unsigned)count);
}

static const char *draw(unsigned *choice, const Every *list) {
    return list->names[draw_number(choice, list->count)];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    list_all();
    static const char *const sets[] = {"gpu.sms=1", "gpu.sms=2", "gpu.sms=3"};
    static const char *const issues[] = {"sm.instructions=ptx", "sm.instructions=lowered"};
    static const char *const orders[] = {"sm.compiled_order=no", "sm.compiled_order=yes"};
    static const char *const functional[] = {"--functional", "--quiet", "--memory", "64MiB"};
    MadeKernel kernel = kernel_make(bytes, size);
    unsigned choice = kernel.choice;
    const char *timed[] = {"--quiet",
                           "--memory",
                           "64MiB",
                           "--machine",
                           draw(&choice, &every.machines),
                           "--scheduler",
                           draw(&choice, &every.schedulers),
                           "--cta-scheduler",
                           draw(&choice, &every.cta_schedulers),
                           "--set",
                           draw(&choice, &every.request_schedulers),
                           "--set",
                           sets[draw_number(&choice, 3)],
                           "--set",
                           issues[draw_number(&choice, 2)],
                           "--set",
                           orders[draw_number(&choice, 2)]};
    Outcome right = kernel_run(&kernel, COUNT(functional), functional);
    if (right.status != TYTO_OK) stop(&kernel, functional, COUNT(functional), &right);
    Outcome outcome = kernel_run(&kernel, COUNT(timed), timed);
    if (!outcome_is_same(&right, &outcome)) stop(&kernel, timed, COUNT(timed), &outcome);
    outcome_free(&right);
    outcome_free(&outcome);
    kernel_free(&kernel);
    return 0;
}
