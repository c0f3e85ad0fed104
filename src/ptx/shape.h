/* Shapes: an instruction's spelling ("ld.global.v4.f32") resolved against the table of forms. The
 * reader does this once for each spelling of a module, not for each instruction. */
#ifndef TYTO_PTX_SHAPE_H
#define TYTO_PTX_SHAPE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"
#include "ptx/opcode.h"
#include "ptx/ptx.h"

typedef enum PtxSlotKind {
    PTX_SLOT_VALUE,    /* register, or for sources an immediate */
    PTX_SLOT_MOVE,     /* what mov takes */
    PTX_SLOT_SPECIAL,  /* all elements of a special register, or a vector */
    PTX_SLOT_MEMORY,   /* [address] */
    PTX_SLOT_TEXTURE,  /* [texture, {coordinates}] */
    PTX_SLOT_CONSTANT, /* integer known at load time */
    PTX_SLOT_LABEL,
    PTX_SLOT_TARGETS,
    PTX_SLOT_CALL
} PtxSlotKind;

/* What one operand must be. */
typedef struct PtxSlot {
    PtxSlotKind kind;
    PtxType type;        /* NONE: any integer that can hold an address */
    bool is_destination; /* written to */
    bool is_optional;
    bool can_pair;   /* d|p: the second is a predicate */
    bool is_relaxed; /* registers may be wider than the type */
    bool can_select; /* .b0, .h1 */
    bool can_minus;  /* -a */
    uint8_t picks;   /* .h10, .b7654 may be written: how many elements the register has, or 0 */
    PtxSpace space;  /* of an address: NONE: what the instruction says */
    bool is_shared_if_short; /* of an address: see opcode.h */
    bool can_be_pred;        /* a predicate is as good */
    bool can_describe;       /* a 64-bit register is as good as the vector */
    bool can_brace;          /* a single element may stand in braces, as a vector of one */
    bool can_enclose;        /* it may, and means the same without: Triton writes {%r1} */
    bool is_in_brackets;     /* of the address before it */
    uint8_t elements;        /* more than 1: a vector of as many */
    char name;               /* for messages: 'd' */
} PtxSlot;

typedef struct PtxShape {
    PtxInst inst; /* an instruction of this spelling, without operands */
    const char *spelling;
    const PtxForm *form;
    PtxSlot slots[PTX_MAX_OPERANDS];
    int slot_count;
    int required_count; /* slots that are not optional */
    bool reads_destination;
} PtxShape;

/* The shape of a spelling, in `arena`. NULL when there is no such instruction, or when this reader
 * lacks an instruction of PTX; the reason is added to `why` ("there is no instruction 'ad'; did you
 * mean 'add'?"). */
PtxShape *ptx_shape_new(Arena *arena, const char *spelling, Text *why);

/* Adds a form as the manual writes it: "add{.sat}.s32 d, a, b", the notes left out. */
void ptx_form_write(const PtxForm *form, Text *out);

#endif
