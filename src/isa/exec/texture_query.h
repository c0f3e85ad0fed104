/* What a kernel asks about a texture or surface. PTX has txq and suq for it. Machine code has TXQ
 * for the extent alone, and reads everything else from a table of the driver's in device memory:
 * entry `handle` of the table whose address is in constant bank 0. */
#ifndef TYTO_ISA_EXEC_TEXTURE_QUERY_H
#define TYTO_ISA_EXEC_TEXTURE_QUERY_H

#include "memory/texture.h"
#include "ptx/ptx.h"

struct DeviceMemory;

/* Bytes of an entry. A relocation tells machine code; the vendor's size is not published. */
enum { ISA_TEXTURE_ENTRY_BYTES = 64 };

/* The answer to one query (PTX_SUB_TXQ_...) about a level; 0 for a level that is not there. */
uint32_t texture_answer(const MemTexture *texture, PtxSub query, uint32_t level);

/* Writes the entries of the handles below `entries`, of textures and surfaces, at the device
 * address `table`. Entries of handles that are free are zeros. */
void isa_describe_textures(struct DeviceMemory *memory, uint64_t table, uint32_t entries);

#endif
