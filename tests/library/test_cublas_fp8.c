/* Products of 8-bit floats by cuBLASLt, compared with sums on the host. Operands are small whole
 * numbers, and factors are powers of two, so sums are exact in any order. Without an argument the
 * device must support such products; with the argument `refused` it must refuse them. */
#include "tyto/cublasLt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../thin.h"
#include "tyto/cuda.h"

static cublasLtHandle_t handle;
static bool is_refused;

static void check(cublasStatus_t status) {
    assert_string_equal(cublasLtGetStatusName(status), "CUBLAS_STATUS_SUCCESS");
}
static void check_driver(CUresult result) { assert_int_equal(result, CUDA_SUCCESS); }

/* ---- Numbers ---- */

static size_t size_of(cudaDataType type) {
    return type == CUDA_R_32F ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 1;
}

/* Bits of the fraction, least exponent, and largest number of a format. */
typedef struct Format {
    int fraction, least;
    double most;
} Format;
static Format format_of(cudaDataType type) {
    return type == CUDA_R_8F_E4M3   ? (Format){3, -6, 448}
           : type == CUDA_R_8F_E5M2 ? (Format){2, -14, 57344}
           : type == CUDA_R_16F     ? (Format){10, -14, 65504}
                                    : (Format){7, -126, 3e38};
}

/* The bits of a number as another type, rounded to nearest, ties to even. Too large ones become
 * the largest. */
static uint32_t bits_of(double number, cudaDataType type) {
    if (type == CUDA_R_32F) {
        const float single = (float)number;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        return bits;
    }
    const Format f = format_of(type);
    const int width = (int)size_of(type) * 8, bias = 1 - f.least;
    const uint32_t sign = signbit(number) ? 1u << (width - 1) : 0;
    double magnitude = fabs(number);
    int exponent;
    if (magnitude == 0) return sign;
    if (magnitude > f.most) magnitude = f.most;
    frexp(magnitude, &exponent);
    if (exponent - 1 < f.least) exponent = f.least + 1;
    const double steps = nearbyint(ldexp(magnitude, f.fraction - (exponent - 1)));
    /* a number that rounds up to the next power of two carries into the exponent */
    return sign | (uint32_t)(((int64_t)(exponent - 1 + bias - 1) << f.fraction) + (int64_t)steps);
}

static uint32_t next_number(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

/* ---- Cases ---- */

typedef struct Case {
    int m, n, k, batches;
    cudaDataType a, b, c, d;
    float alpha, beta;
    bool is_by_row;   /* D and C are; A and B are always stored by depth */
    bool has_scales;  /* of A and B, and of D and its largest magnitude if it has 8-bit floats */
    bool has_vectors; /* the scales of A and B are one for each row and column */
    int epilogue;
    int pad; /* elements between lines of D and C */
} Case;

/* A matrix of `lines` lines of `length` elements, `lead` apart, in each of some batches. */
typedef struct Matrix {
    int lines, length, lead;
    double *numbers;
    cudaDataType type;
    CUdeviceptr memory;
    size_t bytes;
} Matrix;

static Matrix make(int lines, int length, int pad, int batches, cudaDataType type, uint32_t seed) {
    const int lead = (length + 15) / 16 * 16 + pad;
    Matrix m = {lines, length, lead, NULL, type, 0, 0};
    const size_t count = (size_t)lines * (size_t)lead * (size_t)batches, size = size_of(type);
    m.numbers = calloc(count, sizeof *m.numbers);
    m.bytes = count * size;
    char *bytes = calloc(count, size);
    for (size_t i = 0; i < count; i++) {
        m.numbers[i] = (double)next_number(&seed, 7) - 3;
        const uint32_t bits = bits_of(m.numbers[i], type);
        memcpy(bytes + i * size, &bits, size);
    }
    check_driver(cuMemAlloc(&m.memory, m.bytes));
    check_driver(cuMemcpyHtoD(m.memory, bytes, m.bytes));
    free(bytes);
    return m;
}

static void drop(Matrix *m) {
    free(m->numbers);
    check_driver(cuMemFree(m->memory));
}

static double at(const Matrix *m, int line, int i, int batch) {
    return m
        ->numbers[((size_t)batch * (size_t)m->lines + (size_t)line) * (size_t)m->lead + (size_t)i];
}

static cublasLtMatrixLayout_t layout_of(const Matrix *m, bool is_by_row, int batches) {
    cublasLtMatrixLayout_t layout;
    const int32_t order = is_by_row ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    const int64_t stride = (int64_t)m->lines * m->lead;
    check(cublasLtMatrixLayoutCreate(&layout, m->type, (uint64_t)(is_by_row ? m->lines : m->length),
                                     (uint64_t)(is_by_row ? m->length : m->lines), m->lead));
    check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order,
                                           sizeof order));
    check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batches,
                                           sizeof batches));
    check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                           &stride, sizeof stride));
    return layout;
}

/* Factors on the device: powers of two, which differ from one to the next. */
static CUdeviceptr factors(int count, int first) {
    CUdeviceptr memory;
    float *numbers = malloc((size_t)count * sizeof *numbers);
    for (int i = 0; i < count; i++)
        numbers[i] = ldexpf(1, (first + i) % 3 - 1);
    check_driver(cuMemAlloc(&memory, (size_t)count * sizeof *numbers));
    check_driver(cuMemcpyHtoD(memory, numbers, (size_t)count * sizeof *numbers));
    free(numbers);
    return memory;
}
static double factor(int i, int first) { return ldexp(1, (first + i) % 3 - 1); }

static void set_pointer(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which,
                        CUdeviceptr address) {
    const void *pointer = (const void *)(uintptr_t)address;
    check(cublasLtMatmulDescSetAttribute(desc, which, &pointer, sizeof pointer));
}
static void set_number(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which,
                       int32_t value) {
    check(cublasLtMatmulDescSetAttribute(desc, which, &value, sizeof value));
}

/* A description of op(A) B with A transposed. */
static cublasLtMatmulDesc_t description(void) {
    cublasLtMatmulDesc_t desc;
    check(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set_number(desc, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    return desc;
}

static bool is_fp8(cudaDataType type) { return size_of(type) == 1; }

/* The element in row i and column j of D before its factor. */
static double expected_of(const Case *c, const Matrix *a, const Matrix *b, const Matrix *old,
                          const Matrix *bias, int i, int j, int batch) {
    double sum = 0;
    for (int l = 0; l < c->k; l++)
        sum += at(a, i, l, batch) * at(b, j, l, batch);
    double value = (double)c->alpha * sum;
    if (c->has_scales)
        value *= factor(c->has_vectors ? i : 0, 0) * factor(c->has_vectors ? j : 0, 2);
    value += (double)c->beta * (c->is_by_row ? at(old, i, j, batch) : at(old, j, i, batch));
    if (c->epilogue & CUBLASLT_EPILOGUE_BIAS) value += at(bias, 0, i, 0);
    return c->epilogue & CUBLASLT_EPILOGUE_RELU && value <= 0 ? 0 : value;
}

enum { FIRST_D = 1 }; /* of the factors of D: its factor is 1 */

static void run_case(const Case *c) {
    cublasLtMatmulDesc_t desc = description();
    Matrix a = make(c->m, c->k, 0, c->batches, c->a, 1),
           b = make(c->n, c->k, 16, c->batches, c->b, 2);
    const int lines = c->is_by_row ? c->m : c->n, length = c->is_by_row ? c->n : c->m;
    Matrix old = make(lines, length, c->pad, c->batches, c->c, 3);
    Matrix d = make(lines, length, c->pad, c->batches, c->d, 4);
    Matrix bias = make(1, c->m, 0, 1, c->c == CUDA_R_32F ? CUDA_R_16BF : c->c, 5);
    cublasLtMatrixLayout_t const layouts[] = {
        layout_of(&a, false, c->batches), layout_of(&b, false, c->batches),
        layout_of(&old, c->is_by_row, c->batches), layout_of(&d, c->is_by_row, c->batches)};
    CUdeviceptr of_a = factors(c->m, 0), of_b = factors(c->n, 2), of_d = factors(1, FIRST_D + 1),
                most = factors(1, 0);
    if (c->has_scales) {
        set_pointer(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of_a);
        set_pointer(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of_b);
        if (is_fp8(c->d)) {
            set_pointer(desc, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, of_d);
            set_pointer(desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, most);
        }
        const int32_t mode = c->has_vectors ? CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F
                                            : CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
        set_number(desc, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
        set_number(desc, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    }
    set_number(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, c->epilogue);
    if (c->epilogue & CUBLASLT_EPILOGUE_BIAS)
        set_pointer(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.memory);
    check(cublasLtMatmul(handle, desc, &c->alpha, (void *)(uintptr_t)a.memory, layouts[0],
                         (void *)(uintptr_t)b.memory, layouts[1], &c->beta,
                         (void *)(uintptr_t)old.memory, layouts[2], (void *)(uintptr_t)d.memory,
                         layouts[3], NULL, NULL, 0, NULL));
    const size_t size = size_of(c->d);
    char *got = malloc(d.bytes);
    double largest = 0;
    check_driver(cuMemcpyDtoH(got, d.memory, d.bytes));
    for (int batch = 0; batch < c->batches; batch++)
        for (int line = 0; line < lines; line++)
            for (int e = 0; e < d.lead; e++) {
                const int i = c->is_by_row ? line : e, j = c->is_by_row ? e : line;
                const size_t place =
                    ((size_t)batch * (size_t)lines + (size_t)line) * (size_t)d.lead + (size_t)e;
                double value = d.numbers[place]; /* outside of D nothing changes */
                if (e < length) {
                    value = expected_of(c, &a, &b, &old, &bias, i, j, batch);
                    if (fabs(value) > largest) largest = fabs(value);
                    if (c->has_scales && is_fp8(c->d)) value *= factor(0, FIRST_D + 1);
                }
                uint32_t bits = 0;
                memcpy(&bits, got + place * size, size);
                if (bits != bits_of(value, c->d) && !(value == 0 && bits << (33 - 8 * size) == 0))
                    fail_msg("%d x %d x %d, D(%d, %d) of %d: %#x instead of %#x (%g)", c->m, c->n,
                             c->k, i, j, batch, bits, bits_of(value, c->d), value);
            }
    if (c->has_scales && is_fp8(c->d)) {
        float found;
        check_driver(cuMemcpyDtoH(&found, most, sizeof found));
        assert_true((double)found == largest);
    }
    free(got);
    drop(&a), drop(&b), drop(&old), drop(&d), drop(&bias);
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
        check(cublasLtMatrixLayoutDestroy(layouts[l]));
    check(cublasLtMatmulDescDestroy(desc));
    check_driver(cuMemFree(of_a)), check_driver(cuMemFree(of_b));
    check_driver(cuMemFree(of_d)), check_driver(cuMemFree(most));
}

static Case plain_case(void) {
    return (Case){.m = 128,
                  .n = 48,
                  .k = 96,
                  .batches = 1,
                  .a = CUDA_R_8F_E4M3,
                  .b = CUDA_R_8F_E4M3,
                  .c = CUDA_R_16BF,
                  .d = CUDA_R_16BF,
                  .alpha = 1,
                  .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
}

/* ---- Tests ---- */

static const cudaDataType operands[][2] = {{CUDA_R_8F_E4M3, CUDA_R_8F_E4M3},
                                           {CUDA_R_8F_E4M3, CUDA_R_8F_E5M2},
                                           {CUDA_R_8F_E5M2, CUDA_R_8F_E4M3}};

/* C and D. */
static const cudaDataType results[][2] = {
    {CUDA_R_16BF, CUDA_R_16BF},    {CUDA_R_16F, CUDA_R_16F},     {CUDA_R_32F, CUDA_R_32F},
    {CUDA_R_16BF, CUDA_R_8F_E4M3}, {CUDA_R_16F, CUDA_R_8F_E4M3}, {CUDA_R_16BF, CUDA_R_8F_E5M2},
    {CUDA_R_16F, CUDA_R_8F_E5M2}};

static void every_type(void **unused) {
    (void)unused;
    for (int o = 0; o < 3; o++)
        for (int r = 0; r < 7; r += thin_step()) {
            Case c = plain_case();
            c.a = operands[o][0], c.b = operands[o][1];
            c.c = results[r][0], c.d = results[r][1];
            c.m = 144, c.n = 80, c.k = 112;
            c.beta = (float)(r % 2), c.has_scales = o != 1, c.is_by_row = (o + r) % 2;
            if (c.d == CUDA_R_8F_E5M2 && o == 0) continue; /* needs an operand of this type */
            run_case(&c);
        }
}

static void tiles_of_every_size(void **unused) {
    (void)unused;
    static const int sizes[][3] = {{16, 16, 16}, {272, 144, 64}, {304, 528, 80}, {64, 1008, 144}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i += (size_t)thin_step()) {
        Case c = plain_case();
        c.m = sizes[i][0], c.n = sizes[i][1], c.k = sizes[i][2];
        c.c = c.d = CUDA_R_16F;
        run_case(&c);
    }
}

static void factors_epilogues_and_batches(void **unused) {
    (void)unused;
    static const int epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,
                                    CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS};
    for (int bits = 0; bits < 32; bits += thin_step() | 1) {
        Case c = plain_case();
        c.epilogue = epilogues[bits % 4];
        c.alpha = 0.5F, c.beta = bits & 4 ? -2 : 0;
        c.has_scales = bits & 8, c.has_vectors = bits & 16 && c.has_scales;
        c.batches = bits & 2 ? 3 : 1;
        c.is_by_row = bits & 1;
        c.c = results[bits % 7][0], c.d = results[bits % 7][1];
        c.a = CUDA_R_8F_E5M2;
        c.pad = bits & 8 ? 1 : 0;
        run_case(&c);
    }
}

/* A product of 32 x 32 x 32, with what is wrong in it. */
typedef struct Wrong {
    int a, b, c, d; /* cudaDataType */
    int32_t opa, compute, epilogue;
    int pointer; /* an attribute that is set */
    cublasStatus_t status;
} Wrong;

static cublasStatus_t try(const Wrong *w) {
    const int types[] = {w->a, w->b, w->c, w->d};
    cublasLtMatrixLayout_t layouts[4];
    cublasLtMatmulDesc_t desc;
    CUdeviceptr memory;
    const float one = 1, zero = 0;
    check_driver(cuMemAlloc(&memory, 32 * 32 * 4));
    check(cublasLtMatmulDescCreate(&desc, (cublasComputeType_t)w->compute, CUDA_R_32F));
    set_number(desc, CUBLASLT_MATMUL_DESC_TRANSA, w->opa);
    set_number(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, w->epilogue);
    if (w->pointer) set_pointer(desc, (cublasLtMatmulDescAttributes_t)w->pointer, memory);
    for (int i = 0; i < 4; i++)
        check(cublasLtMatrixLayoutCreate(&layouts[i], (cudaDataType)types[i], 32, 32, 32));
    void *items = (void *)(uintptr_t)memory;
    const cublasStatus_t status =
        cublasLtMatmul(handle, desc, &one, items, layouts[0], items, layouts[1], &zero, items,
                       layouts[2], items, layouts[3], NULL, NULL, 0, NULL);
    for (int i = 0; i < 4; i++)
        check(cublasLtMatrixLayoutDestroy(layouts[i]));
    check(cublasLtMatmulDescDestroy(desc));
    check_driver(cuMemFree(memory));
    return status;
}

enum { E4M3 = CUDA_R_8F_E4M3, E5M2 = CUDA_R_8F_E5M2, BF16 = CUDA_R_16BF, F16 = CUDA_R_16F };

static void what_is_wrong_is_refused(void **unused) {
    (void)unused;
    static const Wrong rows[] = {
        {E5M2, E5M2, BF16, BF16, 1, CUBLAS_COMPUTE_32F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {E4M3, BF16, BF16, BF16, 1, CUBLAS_COMPUTE_32F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {BF16, E4M3, BF16, BF16, 1, CUBLAS_COMPUTE_32F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {E4M3, E4M3, BF16, F16, 1, CUBLAS_COMPUTE_32F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {E4M3, E4M3, BF16, E5M2, 1, CUBLAS_COMPUTE_32F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {E4M3, E4M3, E4M3, E4M3, 1, CUBLAS_COMPUTE_32F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {E4M3, E4M3, BF16, BF16, 0, CUBLAS_COMPUTE_32F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {E4M3, E4M3, BF16, BF16, 1, CUBLAS_COMPUTE_16F, 1, 0, CUBLAS_STATUS_NOT_SUPPORTED},
        {E4M3, E4M3, BF16, BF16, 1, CUBLAS_COMPUTE_32F, CUBLASLT_EPILOGUE_GELU_AUX, 0,
         CUBLAS_STATUS_NOT_SUPPORTED},
        {BF16, BF16, BF16, BF16, 1, CUBLAS_COMPUTE_32F, 1, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
         CUBLAS_STATUS_INVALID_VALUE},
        {E4M3, E4M3, BF16, BF16, 1, CUBLAS_COMPUTE_32F, 1, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
         CUBLAS_STATUS_INVALID_VALUE},
        {E4M3, E4M3, BF16, BF16, 1, CUBLAS_COMPUTE_32F, 1, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
         CUBLAS_STATUS_INVALID_VALUE},
        {E4M3, E4M3, BF16, BF16, 1, CUBLAS_COMPUTE_32F, 1, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER,
         CUBLAS_STATUS_INVALID_VALUE},
    };
    const Wrong right = {
        E4M3, E4M3, BF16,
        BF16, 1,    CUBLAS_COMPUTE_32F,
        1,    0,    is_refused ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS};
    assert_int_equal(try(&right), right.status);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (try(&rows[i]) != rows[i].status) fail_msg("row %zu", i);
}

static int start(void **unused) {
    (void)unused;
    return cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS ? 0 : -1;
}

static int end(void **unused) {
    (void)unused;
    return cublasLtDestroy(handle) == CUBLAS_STATUS_SUCCESS ? 0 : -1;
}

int main(int argc, char **argv) {
    const struct CMUnitTest all[] = {
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(every_type),
        cmocka_unit_test(tiles_of_every_size),
        cmocka_unit_test(factors_epilogues_and_batches),
    };
    const struct CMUnitTest refused[] = {cmocka_unit_test(what_is_wrong_is_refused)};
    is_refused = argc > 1 && strcmp(argv[1], "refused") == 0;
    return is_refused ? cmocka_run_group_tests(refused, start, end)
                      : cmocka_run_group_tests(all, start, end);
}
