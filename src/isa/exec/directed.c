/* f64 arithmetic rounded toward zero, down or up, using the host's rounding mode. The operands pass
 * through volatile objects, so that the compiler cannot move an operation out of the code in which
 * the mode is set. Programs rarely use these forms; f32 has a vectorised implementation
 * (exec_float.c). */
#include "isa/exec/handlers.h"

#include <fenv.h>

#include "isa/exec/half.h"

static const int host_rounding[] = {
    [ISA_ROUND_NEAREST] = FE_TONEAREST,
    [ISA_ROUND_ZERO] = FE_TOWARDZERO,
    [ISA_ROUND_DOWN] = FE_DOWNWARD,
    [ISA_ROUND_UP] = FE_UPWARD,
};

double isa_fma_directed(double a, double b, double c, IsaRound round) {
    volatile double in[3] = {a, b, c};
    fesetround(host_rounding[round]);
    volatile double result = __builtin_fma(in[0], in[1], in[2]);
    fesetround(FE_TONEAREST);
    return result;
}

typedef double Operation(double a, double b, double c);

/* Operands d, a, b, c; the operation uses as many sources as it needs. */
static void run_directed(const IsaWarp *warp, const IsaInst *inst, uint32_t mask, int sources,
                         Operation *operation) {
    volatile double in[3] = {0};
    fesetround(host_rounding[inst->sub & ISA_MOD_ROUND]);
    for (int lane = 0; lane < ISA_LANES; ++lane) {
        if (!(mask >> lane & 1)) continue;
        for (int i = 0; i < sources; ++i)
            in[i] = f64_of_bits(isa_row64(warp, inst->operand[1 + i])[lane]);
        volatile double result = operation(in[0], in[1], in[2]);
        const uint64_t bits = bits_of_f64(result);
        isa_row64(warp, inst->operand[0])[lane] =
            bits << 1 > UINT64_C(0xffe0000000000000) ? UINT64_C(0xfff8000000000000) : bits;
    }
    fesetround(FE_TONEAREST);
}

#define DIRECTED(name, sources, expression)                                                        \
    __attribute__((noinline)) static double do_##name(double a, double b, double c) {              \
        (void)b, (void)c;                                                                          \
        return expression;                                                                         \
    }                                                                                              \
    void isa_exec_##name(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask) { \
        (void)context;                                                                             \
        run_directed(warp, inst, mask, sources, do_##name);                                        \
    }
DIRECTED(ADD_F64_DIR, 2, a + b)
DIRECTED(SUB_F64_DIR, 2, a - b)
DIRECTED(MUL_F64_DIR, 2, a *b)
DIRECTED(FMA_F64_DIR, 3, __builtin_fma(a, b, c))
DIRECTED(DIV_F64_DIR, 2, a / b)
DIRECTED(RCP_F64_DIR, 1, 1 / a)
DIRECTED(SQRT_F64_DIR, 1, __builtin_sqrt(a))
