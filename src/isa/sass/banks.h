/* Constant banks of machine code, as one launch sees them. Bank 0 holds what the driver tells the
 * kernel and its parameters; others are constants of the compiler and __constant__ variables. */
#ifndef TYTO_ISA_SASS_BANKS_H
#define TYTO_ISA_SASS_BANKS_H

#include "isa/launch.h"

/* The banks of a launch, and the rows of its program's constants with their words filled in. Zeroed
 * memory is an empty one, which can be filled again and again. */
typedef struct IsaBanks {
    IsaBank bank[ISA_BANKS];
    uint8_t *bytes; /* of all banks */
    size_t byte_capacity;
    uint8_t *rows; /* what IsaLaunch.constants points to */
    size_t row_capacity;
} IsaBanks;

/* Fills in the banks for a launch of machine code, whose other fields are set, and has it point to
 * them. `memory` holds the __constant__ variables. Does nothing for PTX. */
void isa_banks_fill(IsaBanks *banks, IsaLaunch *launch, struct DeviceMemory *memory);
void isa_banks_free(IsaBanks *banks);

#endif
