/* Writers of what policies report (tyto/policy.h, TytoReport). */
#ifndef TYTO_SCHED_REPORT_H
#define TYTO_SCHED_REPORT_H

#include "base/text.h"
#include "tyto/policy.h"

/* A report that becomes members of the JSON object that is open: `name: value`, `name: [values]`. */
TytoReport sched_report_json(Json *json);

/* A report that becomes lines: `name value unit`. */
TytoReport sched_report_text(Text *text);

#endif
