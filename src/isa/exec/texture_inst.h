/* What a decoded texture or surface instruction says beyond its IsaInst: operand[0..3] are what is
 * read or stored (ISA_SINK: nothing), operand[4] the handles, operand[5] the predicate that says
 * that texels are there, or ISA_SINK; imm an IsaTexture, reconverge the first of an IsaTextureRows
 * in program->wide. */
#ifndef TYTO_ISA_EXEC_TEXTURE_INST_H
#define TYTO_ISA_EXEC_TEXTURE_INST_H

#include <string.h>

#include "isa/isa.h"

typedef struct IsaTexture {
    uint8_t geometry;  /* PtxSub */
    uint8_t chooses;   /* PtxSub: how the level is chosen */
    uint8_t component; /* tld4 */
    uint8_t boundary;  /* PtxBoundary */
    uint8_t query;     /* PtxSub: what txq or suq asks for, the operation of sured */
    uint8_t type;      /* PtxType: of what is read or stored */
    uint8_t has_texel; /* integer coordinates */
    uint8_t is_formatted;
} IsaTexture;
static_assert(sizeof(IsaTexture) == sizeof(int64_t), "travels in IsaInst.imm");

/* IsaInst.sub of TXQ: what the handle is one of. */
enum { ISA_QUERY_TEXTURE, ISA_QUERY_SURFACE, ISA_QUERY_EITHER };

/* Rows of the operands in brackets and behind them; ISA_SINK where there is none. */
typedef struct IsaTextureRows {
    IsaOperand at[3], layer, sampler, level, gradient[2][3], offset[3];
} IsaTextureRows;

static inline IsaTexture isa_texture_of(const IsaInst *inst) {
    IsaTexture texture;
    memcpy(&texture, &inst->imm, sizeof texture);
    return texture;
}
static inline IsaTextureRows isa_texture_rows(const IsaContext *context, const IsaInst *inst) {
    IsaTextureRows rows;
    memcpy(&rows, &context->program->wide[inst->reconverge], sizeof rows);
    return rows;
}

#endif
