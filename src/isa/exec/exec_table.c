/* The table of one variant: handler numbers to functions. */
#include "isa/exec/exec.h"

extern IsaExec *const ISA_PASTE(isa_exec, table, ISA_VARIANT)[ISA_DO_COUNT];

IsaExec *const ISA_PASTE(isa_exec, table, ISA_VARIANT)[ISA_DO_COUNT] = {[ISA_DO_NONE] = NULL,
#define HANDLER(name) [ISA_DO_##name] = ISA_EXEC(name),
#include "isa/exec/handlers.def"
#define HANDLER(name) [ISA_DO_##name] = isa_exec_##name,
                                                                        ISA_COMMON_HANDLERS(HANDLER)
#undef HANDLER
};
