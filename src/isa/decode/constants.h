/* The constant pool: one row (128 bytes) per 32-bit immediate of a program and two rows per 64-bit
 * immediate. Every lane of a row has the value. The pool holds each value once. */
#ifndef TYTO_ISA_DECODE_CONSTANTS_H
#define TYTO_ISA_DECODE_CONSTANTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct ConstantPool ConstantPool;

ConstantPool *constants_new(void);
void constants_free(ConstantPool *pool);
/* Byte offset of the row that holds `value`. Adds the value if it is new. */
uint32_t constants_row(ConstantPool *pool, uint64_t value, bool is_wide);
/* All rows, 64-byte aligned, in the arena; *bytes is their size. */
uint8_t *constants_rows(const ConstantPool *pool, Arena *arena, uint32_t *bytes);

#endif
