/* The meaning of IsaInst.sub and imm for the handlers of machine code (exec_sass.def). */
#ifndef TYTO_ISA_EXEC_SASS_H
#define TYTO_ISA_EXEC_SASS_H

enum { /* two bits per source */
       ISA_SIGN_NEGATIVE = 1,
       ISA_SIGN_ABSOLUTE = 2
};
enum {                           /* JOIN */
       ISA_JOIN_LOW_ONLY = 1,    /* the register has 32 bits, zero-extended */
       ISA_JOIN_UNIFORM_LOW = 2, /* the uniform register has 32 bits, zero-extended */
       ISA_JOIN_CUT = 4,         /* the sum is truncated to 32 bits */
       ISA_JOIN_GENERIC = 8      /* converts an address with one of the upper words below to
                                  * PTX's */
};
/* From sm_90 on, a generic address of shared memory is an offset with a special upper word (special
 * register 47). We use an upper word that no memory has; accesses replace it by
 * MEM_SHARED_WINDOW. */
enum { ISA_SHARED_UPPER = 1 << 24 };
/* A generic address of a constant variable is an offset in bank 3 with this upper word. Accesses
 * replace it by the variable's address in device memory. */
enum { ISA_CONSTANT_UPPER = 1 << 16, ISA_CONSTANT_BANK = 3 };
/* IsaInst.vector of the steps for the other elements of a vector's atomic operation. Only the step
 * of the first element subtracts the store that the instruction counts as. */
enum { ISA_NEXT_ELEMENT = 0 };
enum { /* SIGN_F16X2: which halves of a become the two halves */
       ISA_HALVES_BOTH,
       ISA_HALVES_LOW,
       ISA_HALVES_HIGH,
       ISA_HALVES_CROSSED /* the upper one negated, as the lower; the lower one as the upper */
};
enum {                       /* SUM3 */
       ISA_SUM_EXTENDED = 1, /* a negated source is inverted, and the carries are added */
       ISA_SUM_ALONE = 2     /* without carries, in and out */
};
enum { /* LEA, in imm */
       ISA_LEA_SHIFT = 31,
       ISA_LEA_HIGH = 32,
       ISA_LEA_EXTENDED = 64,
       ISA_LEA_SIGN = 128, /* the upper word of a is the extension of its sign */
       ISA_LEA_NEGATIVE_A = 256,
       ISA_LEA_NEGATIVE_B = 512,
       ISA_LEA_NEGATIVE_CARRY = 1024
};
enum { /* PRODUCT_64 */
       ISA_PRODUCT_SIGNED = 1,
       ISA_PRODUCT_EXTENDED = 2,
       ISA_PRODUCT_ALONE = 4 /* without carries, in and out, and without signs of b and c */
};
enum { /* SHIFT */
       ISA_SHIFT_RIGHT = 1,
       ISA_SHIFT_SIGNED = 2,
       ISA_SHIFT_WRAPS = 4,
       ISA_SHIFT_HIGH = 8,
       ISA_SHIFT_64 = 16
};
enum {                    /* LOGIC */
       ISA_LOGIC_AND = 1, /* p = (d != 0) and q; otherwise or */
       ISA_LOGIC_NEGATED_Q = 2
};
typedef enum IsaFunctionUnit { /* MUFU */
                               ISA_FUNCTION_COS,
                               ISA_FUNCTION_SIN,
                               ISA_FUNCTION_RCP64H,
                               ISA_FUNCTION_RSQ64H
} IsaFunctionUnit;

#endif
