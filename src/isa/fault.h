/* What went wrong in a launch: the first fault ends it. */
#ifndef TYTO_ISA_FAULT_H
#define TYTO_ISA_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum { ISA_FAULT_TEXT = 4096 };

/* What went wrong in a launch. Filled by the code that detects it; the launch fails with this
 * text. */
typedef struct IsaFault {
    bool is_set;
    int code; /* IsaFaultCode */
    uint32_t pc;
    char text[ISA_FAULT_TEXT]; /* complete message, one or several lines, no trailing newline */
} IsaFault;

typedef enum IsaFaultCode {
    ISA_FAULT_NONE,
    ISA_FAULT_ADDRESS,
    ISA_FAULT_MISALIGNED,
    ISA_FAULT_SPACE,
    ISA_FAULT_TRAP,
    ISA_FAULT_ASSERT,
    ISA_FAULT_STACK,
    ISA_FAULT_CALL,
    ISA_FAULT_BARRIER,
    ISA_FAULT_LIMIT,
    ISA_FAULT_DEADLOCK,
    ISA_FAULT_MEMORY,
    ISA_FAULT_POLICY, /* a scheduling policy violated its contract */
    ISA_FAULT_CODES
} IsaFaultCode;

#endif
