/* The fields of a decoded texture or surface instruction. operand[0..3]: what is read or stored
 * (ISA_SINK: nothing). operand[4]: the handles. operand[5]: the predicate that reports whether the
 * texels exist, or ISA_SINK. imm: an IsaTexture. reconverge: index of the first operand of an
 * IsaTextureRows in program->wide. */
#ifndef TYTO_ISA_EXEC_TEXTURE_INST_H
#define TYTO_ISA_EXEC_TEXTURE_INST_H

#include <string.h>

#include "isa/isa.h"

typedef struct IsaTexture {
    uint8_t geometry;  /* PtxSub */
    uint8_t chooses;   /* PtxSub: how the level is chosen */
    uint8_t component; /* tld4 */
    uint8_t boundary;  /* PtxBoundary */
    uint8_t query;     /* PtxSub: the query of txq or suq, or the operation of sured */
    uint8_t type;      /* PtxType of the data that is read or stored */
    uint8_t has_texel; /* integer coordinates */
    uint8_t is_formatted;
} IsaTexture;
static_assert(sizeof(IsaTexture) == sizeof(int64_t), "travels in IsaInst.imm");

/* IsaInst.sub of TXQ: the kind of object that the handle names. */
enum { ISA_QUERY_TEXTURE, ISA_QUERY_SURFACE, ISA_QUERY_EITHER };

/* Rows of the operands in brackets and of those after them; ISA_SINK if there is none. */
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
