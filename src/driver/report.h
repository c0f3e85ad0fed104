/* What a run says of itself: a line for each kernel, a summary, and the JSON object of design
 * "Metrics". */
#ifndef TYTO_DRIVER_REPORT_H
#define TYTO_DRIVER_REPORT_H

#include "base/text.h"
#include "driver/simulator.h"

/* One line on one launch, with its newline. */
void report_add_kernel(const TytoSimulator *simulator, int i, Text *out);
/* One line on the whole run; nothing when nothing was launched. */
void report_add_summary(const TytoSimulator *simulator, Text *out);
/* The whole run as one JSON object. What differs from run to run stands under "host" alone. */
void report_add_json(const TytoSimulator *simulator, const char *program, Text *out);

#endif
