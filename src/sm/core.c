/* The list of cores: the only file outside a core that includes its headers. */
#include "sm/core.h"

#include "sm/classic/classic.h"
#include "sm/modern/modern.h"

#define CORE(constant, core, name) [SM_CORE_##constant] = &sm_core_##core,
static const SmCore *const cores[SM_CORE_COUNT] = {SM_CORES(CORE)};

const SmCore *sm_core_of(SmCoreKind kind) { return cores[kind]; }
