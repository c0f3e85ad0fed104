/* Turns the rows of a .def file into handlers. An execution file includes this and then its rows:
 *
 *   MAP1(name, D, A, expression)           d = f(a)           operands: d, a
 *   MAP2(name, D, A, B, expression)        d = f(a, b)        operands: d, a, b
 *   MAP3(name, D, A, B, C, expression)     d = f(a, b, c)     operands: d, a, b, c
 *   COMPARE(name, A, B, expression)        a truth value of a and b; gives SETP_name and SET_name
 *   HANDLER(name)                          written out in the execution file
 *
 * D, A, B, C are lane types of exec.h. An expression may also use `sub`, the instruction's
 * modifiers or selector, which is the same for all lanes. */
#ifndef TYTO_ISA_EXEC_MAPS_H
#define TYTO_ISA_EXEC_MAPS_H

#include "isa/exec/exec.h"

#define MAP_BEGIN(D)                                                                               \
    const uint32_t sub = inst->sub;                                                                \
    (void)sub;                                                                                     \
    alignas(64) CELL_##D result[ISA_LANES];

#define MAP_SOURCE(name, type, index)                                                              \
    const ROW_##type *const name##_row = operand_row(warp, inst, index);
#define MAP_LANE(name, type) const VALUE_##type name = LOAD_##type(name##_row[lane]);

#define MAP1(name, D, A, expression)                                                               \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(D)                                                                               \
        MAP_SOURCE(a, A, 1)                                                                        \
        FOR_LANES {                                                                                \
            MAP_LANE(a, A)                                                                         \
            result[lane] = STORE_##D(expression);                                                  \
        }                                                                                          \
        WRITE_##D(warp, inst, 0, result, mask);                                                    \
    }

#define MAP2(name, D, A, B, expression)                                                            \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(D)                                                                               \
        MAP_SOURCE(a, A, 1)                                                                        \
        MAP_SOURCE(b, B, 2)                                                                        \
        FOR_LANES {                                                                                \
            MAP_LANE(a, A)                                                                         \
            MAP_LANE(b, B)                                                                         \
            result[lane] = STORE_##D(expression);                                                  \
        }                                                                                          \
        WRITE_##D(warp, inst, 0, result, mask);                                                    \
    }

#define MAP3(name, D, A, B, C, expression)                                                         \
    EXEC(name) {                                                                                   \
        MAP_BEGIN(D)                                                                               \
        MAP_SOURCE(a, A, 1)                                                                        \
        MAP_SOURCE(b, B, 2)                                                                        \
        MAP_SOURCE(c, C, 3)                                                                        \
        FOR_LANES {                                                                                \
            MAP_LANE(a, A)                                                                         \
            MAP_LANE(b, B)                                                                         \
            MAP_LANE(c, C)                                                                         \
            result[lane] = STORE_##D(expression);                                                  \
        }                                                                                          \
        WRITE_##D(warp, inst, 0, result, mask);                                                    \
    }

#define HANDLER(name)

#endif
