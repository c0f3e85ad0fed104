/* Shapes: an instruction's spelling ("ld.global.v4.f32") resolved with the table of forms. The
 * reader does this once for each spelling in a module, not for each instruction. */
#ifndef TYTO_PTX_SHAPE_H
#define TYTO_PTX_SHAPE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "ptx/opcode.h"
#include "ptx/ptx.h"

typedef enum PtxSlotKind {
    PTX_SLOT_VALUE,    /* register; for sources also an immediate */
    PTX_SLOT_MOVE,     /* operand of mov */
    PTX_SLOT_SPECIAL,  /* all elements of a special register, or a vector */
    PTX_SLOT_MEMORY,   /* [address] */
    PTX_SLOT_TEXTURE,  /* [texture, {coordinates}] */
    PTX_SLOT_CONSTANT, /* integer known at load time */
    PTX_SLOT_LABEL,
    PTX_SLOT_TARGETS,
    PTX_SLOT_CALL
} PtxSlotKind;

/* The requirements of one operand. */
typedef struct PtxSlot {
    PtxSlotKind kind;
    PtxType type;        /* NONE: any integer that can hold an address */
    bool is_destination; /* it is written */
    bool is_optional;
    bool can_pair;   /* d|p: the second is a predicate */
    bool is_relaxed; /* registers may be wider than the type */
    bool can_select; /* .b0, .h1 may be written */
    bool can_minus;  /* -a may be written */
    uint8_t picks;   /* .h10, .b7654 may be written: elements of the register; otherwise 0 */
    PtxSpace space;  /* of an address; NONE: that of the instruction */
    bool is_shared_if_short; /* of an address: see opcode.h */
    bool can_be_pred;        /* a predicate is also accepted */
    bool can_describe;       /* a 64-bit register is accepted instead of the vector */
    bool can_brace;          /* a single element may be in braces, as a vector of one */
    bool can_enclose;        /* the same, without a change of meaning: Triton writes {%r1} */
    bool is_in_brackets;     /* in the brackets of the address before it */
    uint8_t elements;        /* if more than 1: a vector with that many */
    char name;               /* name in messages: 'd' */
} PtxSlot;

typedef struct PtxShape {
    PtxInst inst; /* an instruction with this spelling, without operands */
    const char *spelling;
    const PtxForm *form;
    PtxSlot slots[PTX_MAX_OPERANDS];
    int slot_count;
    int required_count; /* slots that are not optional */
    bool reads_destination;
} PtxShape;

/* Returns the shape of a spelling, allocated in `arena`. Returns NULL if there is no such
 * instruction, or if this reader does not support it. The reason is added to `why` ("there is no
 * instruction 'ad'; did you mean 'add'?"). */
PtxShape *ptx_shape_new(Arena *arena, const char *spelling, Text *why);

/* Adds a form as the manual writes it: "add{.sat}.s32 d, a, b", without the notes. */
void ptx_form_write(const PtxForm *form, Text *out);

#endif
