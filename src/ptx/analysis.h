/* What is computed of a function once it has been read: control flow, liveness, registers. */
#ifndef TYTO_PTX_ANALYSIS_H
#define TYTO_PTX_ANALYSIS_H

#include "base/diag.h"
#include "ptx/ptx.h"

/* Analyses every function of the module. False, with an error, when one is too large. */
bool ptx_analyse(PtxModule *module, Diag *diag);

#endif
