/* Short names for the fields in the rows of the tables of forms; only forms.c includes this. Extra
 * initialisers follow the named arguments. */
#ifndef TYTO_SASS_LAYOUT_H
#define TYTO_SASS_LAYOUT_H

#include "sass/form.h"

enum { /* of modifiers */
#define SASS_MODIFIER(name, width) WIDTH_##name = (width),
#include "sass/modifiers.def"
#undef SASS_MODIFIER
};

/* Modifiers: at a bit with the width of modifiers.def, or with a width of its own. */
#define M(name, at, ...)                                                                           \
    {.kind = SASS_FIELD_MODIFIER,                                                                  \
     .modifier = SASS_MOD_##name,                                                                  \
     .bit = (at),                                                                                  \
     .width = WIDTH_##name,                                                                        \
     __VA_ARGS__}
#define MW(name, at, bits, ...)                                                                    \
    {.kind = SASS_FIELD_MODIFIER,                                                                  \
     .modifier = SASS_MOD_##name,                                                                  \
     .bit = (at),                                                                                  \
     .width = (bits),                                                                              \
     __VA_ARGS__}
#define SET(name, with)                                                                            \
    {.kind = SASS_FIELD_SET, .modifier = SASS_MOD_##name, .value = SASS_##name##_##with}
#define CHOICE(name, at, ...)                                                                      \
    {.kind = SASS_FIELD_CHOICE,                                                                    \
     .modifier = SASS_MOD_##name,                                                                  \
     .bit = (at),                                                                                  \
     .width = WIDTH_##name,                                                                        \
     __VA_ARGS__}
#define HIGH(at, bits)   .high_bit = (at), .high_width = (bits)
#define FILLER(at, bits) {.kind = SASS_FIELD_FILLER, .bit = (at), .width = (bits)}

/* Operands. */
#define FLAGS(...)    .flags = (__VA_ARGS__)
#define REG(at, ...)  {.kind = SASS_FIELD_REG, .bit = (at), .width = 8, __VA_ARGS__}
#define UREG(at, ...) {.kind = SASS_FIELD_UREG, .bit = (at), .width = 6, __VA_ARGS__}
#define RD            REG(16, FLAGS(SASS_DST))
#define UD            UREG(16, FLAGS(SASS_DST))
#define RA(has, ...)  REG(24, .reuse = 122, FLAGS(0 has), __VA_ARGS__)
#define RB(has, ...)  REG(32, .reuse = 123, FLAGS(0 has), __VA_ARGS__)
#define RC(has, ...)  REG(64, .reuse = 124, FLAGS(0 has), __VA_ARGS__)
#define UA(has, ...)  UREG(24, FLAGS(0 has), __VA_ARGS__)
#define B(has, ...)                                                                                \
    {.kind = SASS_FIELD_B, .bit = 32, .width = 32, .reuse = 123, FLAGS(0 has), __VA_ARGS__}
/* the last of two sources that are encoded as the first and the third */
#define LAST_F(type, has, ...)                                                                     \
    {.kind = SASS_FIELD_B,                                                                         \
     .bit = 32,                                                                                    \
     .width = 32,                                                                                  \
     .reuse = 124,                                                                                 \
     .immediate = SASS_##type,                                                                     \
     FLAGS(0 has),                                                                                 \
     __VA_ARGS__}
#define B_F(type, has, ...)                                                                        \
    {.kind = SASS_FIELD_B,                                                                         \
     .bit = 32,                                                                                    \
     .width = 32,                                                                                  \
     .reuse = 123,                                                                                 \
     .immediate = SASS_##type,                                                                     \
     FLAGS(0 has),                                                                                 \
     __VA_ARGS__}
#define SECOND(has, ...)                                                                           \
    {.kind = SASS_FIELD_SECOND, .bit = 32, .width = 32, .reuse = 123, FLAGS(0 has), __VA_ARGS__}
#define SECOND_F(type, has, ...)                                                                   \
    {.kind = SASS_FIELD_SECOND,                                                                    \
     .bit = 32,                                                                                    \
     .width = 32,                                                                                  \
     .reuse = 123,                                                                                 \
     .immediate = SASS_##type,                                                                     \
     FLAGS(0 has),                                                                                 \
     __VA_ARGS__}
#define THIRD(has, ...)                                                                            \
    {.kind = SASS_FIELD_THIRD, .bit = 32, .width = 32, .reuse = 124, FLAGS(0 has), __VA_ARGS__}
#define THIRD_F(type, has, ...)                                                                    \
    {.kind = SASS_FIELD_THIRD,                                                                     \
     .bit = 32,                                                                                    \
     .width = 32,                                                                                  \
     .reuse = 124,                                                                                 \
     .immediate = SASS_##type,                                                                     \
     FLAGS(0 has),                                                                                 \
     __VA_ARGS__}
/* Flags for the lists above. */
#define NEG      | SASS_NEG
#define ABS      | SASS_ABS
#define INV      | SASS_INV
#define NEG_X    | SASS_NEG_X
#define UNIFORM  | SASS_UNIFORM
#define SIGNED   | SASS_SIGNED
#define NEG_AT_B | SASS_NEG_AT_B
#define MIXED    | SASS_MIXED
#define HALF     | SASS_HALF

/* Predicates: destinations, which are printed always or only when not PT; sources. */
#define PD(at, ...) {.kind = SASS_FIELD_PRED, .bit = (at), .width = 3, FLAGS(SASS_DST), __VA_ARGS__}
#define PD_OPT(at, ...)                                                                            \
    {.kind = SASS_FIELD_PRED,                                                                      \
     .bit = (at),                                                                                  \
     .width = 3,                                                                                   \
     .value = 7,                                                                                   \
     FLAGS(SASS_DST | SASS_OPTIONAL),                                                              \
     __VA_ARGS__}
#define UPD(at, ...)                                                                               \
    {.kind = SASS_FIELD_UPRED, .bit = (at), .width = 3, FLAGS(SASS_DST), __VA_ARGS__}
#define UPD_OPT(at, ...)                                                                           \
    {.kind = SASS_FIELD_UPRED,                                                                     \
     .bit = (at),                                                                                  \
     .width = 3,                                                                                   \
     .value = 7,                                                                                   \
     FLAGS(SASS_DST | SASS_OPTIONAL),                                                              \
     __VA_ARGS__}
#define PS(at, not, ...)                                                                           \
    {.kind = SASS_FIELD_PRED, .bit = (at), .width = 3, .neg = (not), __VA_ARGS__}
#define PS_OPT(at, not, ...)                                                                       \
    {.kind = SASS_FIELD_PRED,                                                                      \
     .bit = (at),                                                                                  \
     .width = 3,                                                                                   \
     .neg = (not),                                                                                 \
     .value = 7,                                                                                   \
     FLAGS(SASS_OPTIONAL),                                                                         \
     __VA_ARGS__}
#define UPS(at, not, ...)                                                                          \
    {.kind = SASS_FIELD_UPRED, .bit = (at), .width = 3, .neg = (not), __VA_ARGS__}
#define UPS_OPT(at, not, ...)                                                                      \
    {.kind = SASS_FIELD_UPRED,                                                                     \
     .bit = (at),                                                                                  \
     .width = 3,                                                                                   \
     .neg = (not),                                                                                 \
     .value = 7,                                                                                   \
     FLAGS(SASS_OPTIONAL),                                                                         \
     __VA_ARGS__}
#define SHOWN_BY(name)  .shown_by = SASS_MOD_##name
#define HIDDEN_BY(name) .hidden_by = SASS_MOD_##name

#define IMM(at, bits, ...) {.kind = SASS_FIELD_IMM, .bit = (at), .width = (bits), __VA_ARGS__}
#define IMM_SIGNED(at, bits, ...)                                                                  \
    {.kind = SASS_FIELD_IMM, .bit = (at), .width = (bits), FLAGS(SASS_SIGNED), __VA_ARGS__}
/* not printed when it is the usual value */
#define IMM_OPT(at, bits, usual, ...)                                                              \
    {.kind = SASS_FIELD_IMM,                                                                       \
     .bit = (at),                                                                                  \
     .width = (bits),                                                                              \
     .value = (usual),                                                                             \
     FLAGS(SASS_OPTIONAL),                                                                         \
     __VA_ARGS__}
/* registers that the register file cache does not keep: those of queues */
#define QA REG(24)
#define QB REG(32)
#define QC REG(64)

/* An address: offset at 40, base register at 24; with bit 91 a uniform register at `ureg`.
 * `wide`: the bit that says that the base is of 64 bits next to it. */
#define ADDRESS(ureg, wide, ...) ADDRESS_AT(40, 24, ureg, wide, __VA_ARGS__)
#define ADDRESS_AT(at, bits, ureg, wide, ...)                                                      \
    {.kind = SASS_FIELD_ADDRESS,                                                                   \
     .bit = (at),                                                                                  \
     .width = (bits),                                                                              \
     .value = (ureg),                                                                              \
     .neg = (wide),                                                                                \
     __VA_ARGS__}
/* Products of a warpgroup: descriptors at a bit; the counter of their group. */
#define GDESC(at) {.kind = SASS_FIELD_GDESC, .bit = (at), .width = 6}
#define GSB(at, ...)                                                                               \
    {.kind = SASS_FIELD_GSB,                                                                       \
     .bit = (at),                                                                                  \
     .width = 3,                                                                                   \
     .value = SASS_NO_COUNTER,                                                                     \
     FLAGS(SASS_OPTIONAL),                                                                         \
     __VA_ARGS__}
#define TRANSPOSED M(TNSP_A, 61), M(TNSP_B, 62)
#define NEGATED    M(NEG_A, 72), M(NEG_B, 63)
#define METADATA   REG(40, SHOWN_BY(SP))
#define SELECTOR   IMM(48, 2, SHOWN_BY(SP)) /* of the threads that have the metadata */
#define SCALE_OF_SUM                                                                               \
    {.kind = SASS_FIELD_UPRED,                                                                     \
     .bit = 87,                                                                                    \
     .width = 3,                                                                                   \
     .neg = 90,                                                                                    \
     .value = 7,                                                                                   \
     FLAGS(SASS_OPTIONAL | SASS_FLIPPED)}
#define FIELD(name, ...) {.kind = SASS_FIELD_##name, __VA_ARGS__}

#endif
