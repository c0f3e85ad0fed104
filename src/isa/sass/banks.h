/* Constant banks of machine code, as one launch sees them. Bank 0 holds what the driver passes to
 * the kernel, and its parameters. Other banks hold constants of the compiler and __constant__
 * variables. */
#ifndef TYTO_ISA_SASS_BANKS_H
#define TYTO_ISA_SASS_BANKS_H

#include "isa/launch.h"

/* The banks of a launch, and the rows of its program's constants with their words filled in. Zeroed
 * memory is an empty object. It can be filled several times. */
typedef struct IsaBanks {
    IsaBank bank[ISA_BANKS];
    uint8_t *bytes; /* of all banks */
    size_t byte_capacity;
    uint8_t *rows; /* target of IsaLaunch.constants */
    size_t row_capacity;
} IsaBanks;

/* Fills in the banks for a launch of machine code and sets the launch's pointers to them. The
 * launch's other fields must be set. `memory` holds the __constant__ variables. Does nothing for
 * PTX. */
void isa_banks_fill(IsaBanks *banks, IsaLaunch *launch, struct DeviceMemory *memory);
void isa_banks_free(IsaBanks *banks);

#endif
