/* Random small kernels, whatever machine and policies run them: timed and functional runs end with
 * the same bytes in memory and the same number of instructions. */
#include "../gpu/kernel_maker.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char *const machines[] = {"owl", "ccws", "pro", "md", "gtx480", "qv100"};
    static const char *const schedulers[] = {"gto",  "lrr",         "two-level",       "pro",
                                             "ccws", "swl:limit=2", "two-level-active"};
    static const char *const ctas[] = {"round-robin", "limit:ctas=1", "md"};
    static const char *const sets[] = {"gpu.sms=1", "gpu.sms=2", "gpu.sms=3"};
    static const char *const issues[] = {"sm.instructions=ptx", "sm.instructions=sass"};
    static const char *const orders[] = {"sm.compiled_order=no", "sm.compiled_order=yes"};
    static const char *const functional[] = {"--functional", "--quiet", "--memory", "64MiB"};
    MadeKernel kernel = kernel_make(bytes, size);
    unsigned choice = kernel.choice;
    const char *timed[] = {"--quiet",
                           "--memory",
                           "64MiB",
                           "--machine",
                           machines[choice % 6],
                           "--scheduler",
                           schedulers[choice / 5 % 7],
                           "--cta-scheduler",
                           ctas[choice / 35 % 3],
                           "--set",
                           sets[choice / 105 % 3],
                           "--set",
                           issues[choice / 315 % 2],
                           "--set",
                           orders[choice / 630 % 2]};
    Outcome right = kernel_run(&kernel, COUNT(functional), functional);
    if (right.status != TYTO_OK) stop(&kernel, functional, COUNT(functional), &right);
    Outcome outcome = kernel_run(&kernel, COUNT(timed), timed);
    if (!outcome_is_same(&right, &outcome)) stop(&kernel, timed, COUNT(timed), &outcome);
    outcome_free(&right);
    outcome_free(&outcome);
    kernel_free(&kernel);
    return 0;
}
