/* cuBLASLt: descriptions of matrices and products, which are set through attributes, and the
 * product itself. An attribute is a row with the place of its value in the description. */
#include "tyto/cublasLt.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "library/blas.h"

typedef struct Layout {
    int32_t type, order;
    uint64_t rows, columns;
    int64_t lead;
    int32_t count;
    int64_t stride;
} Layout;

typedef struct Matmul {
    int32_t compute, scalars, pointer_mode, opa, opb, opc, fill;
    uint32_t epilogue;
    void *bias;
    int64_t bias_stride;
    void *aux;
    int64_t aux_lead, aux_stride;
    int32_t sm_count_target, aux_type, bias_type;
    int8_t is_fast;
    void *a_scale, *b_scale, *c_scale, *d_scale, *most;
    int32_t a_mode, b_mode, c_mode, d_mode; /* cublasLtMatmulMatrixScale_t */
} Matmul;

typedef struct Transform {
    int32_t scalars, pointer_mode, opa, opb;
} Transform;

static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "fits");
static_assert(sizeof(Matmul) <= sizeof(cublasLtMatmulDescOpaque_t), "fits");
static_assert(sizeof(Transform) <= sizeof(cublasLtMatrixTransformDescOpaque_t), "fits");

enum { NO_DATA_TYPE = -1 }; /* type of bias and aux; by default that of D */

/* ---- Attributes ---- */

typedef struct Attribute {
    int which;
    size_t offset, size;
} Attribute;

#define FIELD(Type, which, field) {which, offsetof(Type, field), sizeof(((Type *)NULL)->field)}

static const Attribute layout_attributes[] = {
    FIELD(Layout, CUBLASLT_MATRIX_LAYOUT_TYPE, type),
    FIELD(Layout, CUBLASLT_MATRIX_LAYOUT_ORDER, order),
    FIELD(Layout, CUBLASLT_MATRIX_LAYOUT_ROWS, rows),
    FIELD(Layout, CUBLASLT_MATRIX_LAYOUT_COLS, columns),
    FIELD(Layout, CUBLASLT_MATRIX_LAYOUT_LD, lead),
    FIELD(Layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count),
    FIELD(Layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride),
};

static const Attribute matmul_attributes[] = {
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scalars),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_POINTER_MODE, pointer_mode),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_TRANSA, opa),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_TRANSB, opb),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_TRANSC, opc),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_FILL_MODE, fill),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, bias_stride),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aux),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux_lead),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux_stride),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, sm_count_target),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, aux_type),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_FAST_ACCUM, is_fast),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias_type),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, a_scale),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, b_scale),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, c_scale),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, d_scale),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, most),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, a_mode),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, b_mode),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_C_SCALE_MODE, c_mode),
    FIELD(Matmul, CUBLASLT_MATMUL_DESC_D_SCALE_MODE, d_mode),
};

static const Attribute transform_attributes[] = {
    FIELD(Transform, CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, scalars),
    FIELD(Transform, CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, pointer_mode),
    FIELD(Transform, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, opa),
    FIELD(Transform, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, opb),
};

#define TABLE(rows) rows, sizeof(rows) / sizeof(rows)[0]

static const Attribute *find(const Attribute *rows, size_t count, int which) {
    for (size_t i = 0; i < count; i++)
        if (rows[i].which == which) return &rows[i];
    return NULL;
}

static cublasStatus_t set(void *record, const Attribute *rows, size_t count, int which,
                          const void *value, size_t size) {
    const Attribute *row = find(rows, count, which);
    if (!record || !value) return CUBLAS_STATUS_INVALID_VALUE;
    if (!row) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (size < row->size) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)record + row->offset, value, row->size);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(const void *record, const Attribute *rows, size_t count, int which,
                          void *value, size_t size, size_t *written) {
    const Attribute *row = find(rows, count, which);
    if (!record) return CUBLAS_STATUS_INVALID_VALUE;
    if (!row) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (written) *written = row->size;
    if (size == 0) return written ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    if (!value || size < row->size) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(value, (const char *)record + row->offset, row->size);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- Handles ---- */

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    return blas_open(handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    blas_close(handle);
    return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion(void) { return CUDART_VERSION; }
cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value) {
    return blas_property(type, value);
}
const char *cublasLtGetStatusName(cublasStatus_t status) { return blas_status_name(status); }
const char *cublasLtGetStatusString(cublasStatus_t status) { return blas_status_text(status); }

/* ---- Descriptions ---- */

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size,
                                                 cudaDataType type, uint64_t rows, uint64_t columns,
                                                 int64_t lead) {
    if (!layout || size < sizeof(Layout)) return CUBLAS_STATUS_INVALID_VALUE;
    *(Layout *)(void *)layout =
        (Layout){.type = (int32_t)type, .rows = rows, .columns = columns, .lead = lead, .count = 1};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size,
                                               cublasComputeType_t compute, cudaDataType scalars) {
    if (!desc || size < sizeof(Matmul)) return CUBLAS_STATUS_INVALID_VALUE;
    *(Matmul *)(void *)desc = (Matmul){.compute = (int32_t)compute,
                                       .scalars = (int32_t)scalars,
                                       .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                       .aux_type = NO_DATA_TYPE,
                                       .bias_type = NO_DATA_TYPE};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     size_t size) {
    if (!preference || size < sizeof *preference) return CUBLAS_STATUS_INVALID_VALUE;
    *preference = (cublasLtMatmulPreferenceOpaque_t){0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t desc,
                                                        size_t size, cudaDataType scalars) {
    if (!desc || size < sizeof(Transform)) return CUBLAS_STATUS_INVALID_VALUE;
    *(Transform *)(void *)desc = (Transform){.scalars = (int32_t)scalars};
    return CUBLAS_STATUS_SUCCESS;
}

/* Allocates and initializes a description. */
#define CREATE(out, call)                                                                          \
    if (!(out)) return CUBLAS_STATUS_INVALID_VALUE;                                                \
    *(out) = base_calloc(1, sizeof **(out));                                                       \
    return call

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t lead) {
    CREATE(layout, cublasLtMatrixLayoutInit(*layout, type, rows, columns, lead));
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute,
                                        cudaDataType scalars) {
    CREATE(desc, cublasLtMatmulDescInit(*desc, compute, scalars));
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    CREATE(preference, cublasLtMatmulPreferenceInit(*preference));
}
cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t *desc,
                                                 cudaDataType scalars) {
    CREATE(desc, cublasLtMatrixTransformDescInit(*desc, scalars));
}

static cublasStatus_t destroy(void *record) {
    free(record);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return destroy(layout);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return destroy(desc); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return destroy(preference);
}
cublasStatus_t cublasLtMatrixTransformDescDestroy(cublasLtMatrixTransformDesc_t desc) {
    return destroy(desc);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void *value, size_t size) {
    return set(layout, TABLE(layout_attributes), (int)which, value, size);
}
cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, void *value,
                                                size_t size, size_t *written) {
    return get(layout, TABLE(layout_attributes), (int)which, value, size, written);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void *value, size_t size) {
    return set(desc, TABLE(matmul_attributes), (int)which, value, size);
}
cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t which, void *value,
                                              size_t size, size_t *written) {
    return get(desc, TABLE(matmul_attributes), (int)which, value, size, written);
}
cublasStatus_t
cublasLtMatrixTransformDescSetAttribute(cublasLtMatrixTransformDesc_t desc,
                                        cublasLtMatrixTransformDescAttributes_t which,
                                        const void *value, size_t size) {
    return set(desc, TABLE(transform_attributes), (int)which, value, size);
}

/* Preferences have no effect, because there is only one algorithm. */
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void *value, size_t size) {
    (void)which, (void)size;
    return preference && value ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- Products ---- */

/* op(matrix): row i, column j. */
static BlasOperand operand(const void *items, const Layout *layout, int32_t op) {
    bool is_by_row = (layout->order == CUBLASLT_ORDER_ROW) != (op != CUBLAS_OP_N);
    return (BlasOperand){device_address(items), is_by_row ? layout->lead : 1,
                         is_by_row ? 1 : layout->lead, layout->stride};
}

static bool is_layout(const Layout *layout) {
    uint64_t line = layout->order == CUBLASLT_ORDER_ROW ? layout->columns : layout->rows;
    return layout->lead >= 1 && (uint64_t)layout->lead >= line && layout->rows <= INT32_MAX &&
           layout->columns <= INT32_MAX && layout->count >= 0;
}

/* The activation of an epilogue. */
static int activation_of(uint32_t epilogue) {
    static const struct {
        uint32_t bit;
        int activation;
    } rows[] = {{2, BLAS_ACTIVATION_RELU},
                {8, BLAS_ACTIVATION_DRELU},
                {32, BLAS_ACTIVATION_GELU},
                {64, BLAS_ACTIVATION_DGELU}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (epilogue & rows[i].bit) return rows[i].activation;
    return BLAS_ACTIVATION_NONE;
}

enum { HAS_BIAS = 4, HAS_BIAS_GRADIENT = 16, HAS_AUX = 128 };

/* The checked arguments of a call. status: the error if they are invalid. */
typedef struct Plan {
    BlasType in, in_b, c, out, sum; /* in: of A, and of B unless both have 8-bit floats */
    int m, n, k;
    cublasStatus_t status;
} Plan;

/* Whether each factor belongs to a matrix of 8-bit floats; C never is one. */
static bool has_right_scales(const Matmul *desc, const Plan *plan) {
    const bool scales_d = desc->d_scale || desc->most || desc->d_mode;
    const bool scales_ab = desc->a_scale || desc->b_scale || desc->a_mode || desc->b_mode;
    return !desc->c_scale && !desc->c_mode && (!scales_d || blas_is_fp8(plan->out)) &&
           (!scales_ab || blas_is_fp8(plan->in));
}

/* Whether A, B, C and D of a product of 8-bit floats have types that the vendor's library supports
 * together: cuBLAS library reference, cublasLtMatmul(). */
static bool has_fp8_types(const Plan *plan) {
    const bool has_e5m2 = plan->in == BLAS_E5M2 || plan->in_b == BLAS_E5M2;
    if (!blas_is_fp8(plan->in) || !blas_is_fp8(plan->in_b)) return false;
    if (plan->in == BLAS_E5M2 && plan->in_b == BLAS_E5M2) return false;
    const bool is_half = plan->c == BLAS_F16 || plan->c == BLAS_BF16;
    if (!blas_is_fp8(plan->out)) return plan->c == plan->out && (is_half || plan->c == BLAS_F32);
    return is_half && (plan->out == BLAS_E4M3 || has_e5m2);
}

/* The type of the bias of a product of 8-bit floats. */
static BlasType fp8_bias_type(const Matmul *desc, const Plan *plan) {
    if (desc->bias_type != NO_DATA_TYPE) return blas_type_of((cudaDataType)desc->bias_type);
    return plan->c == BLAS_F32 ? BLAS_BF16 : plan->c;
}

/* Whether the rest of a product of 8-bit floats is supported. */
static bool supports_fp8(const Matmul *desc, const Plan *plan) {
    const BlasType bias = fp8_bias_type(desc, plan);
    const bool has_modes = (desc->a_mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F ||
                            desc->a_mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F) &&
                           desc->a_mode == desc->b_mode && !desc->d_mode;
    const uint32_t epilogues =
        CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_GELU | CUBLASLT_EPILOGUE_RELU | HAS_BIAS;
    return has_fp8_types(plan) && has_modes && !(desc->epilogue & ~epilogues) &&
           (bias == BLAS_F32 || bias == BLAS_F16 || bias == BLAS_BF16) &&
           desc->compute == CUBLAS_COMPUTE_32F && desc->scalars == CUDA_R_32F &&
           desc->pointer_mode <= CUBLASLT_POINTER_MODE_DEVICE && blas_has_wgmma();
}

/* The type in which the product is computed; BLAS_NO_TYPE: it is not supported. */
static BlasType sum_of(const Matmul *desc, const Plan *plan) {
    if (blas_is_fp8(plan->in) || blas_is_fp8(plan->in_b))
        return supports_fp8(desc, plan) ? BLAS_F32 : BLAS_NO_TYPE;
    const bool has_pairs = plan->in == plan->in_b && plan->c == plan->out;
    return has_pairs ? blas_product_type(plan->in, plan->out) : BLAS_NO_TYPE;
}

static Plan plan_of(const Matmul *desc, const Layout *a, const Layout *b, const Layout *c,
                    const Layout *d) {
    bool has_a = desc->opa != CUBLAS_OP_N, has_b = desc->opb != CUBLAS_OP_N;
    Plan plan = {.in = blas_type_of((cudaDataType)a->type),
                 .in_b = blas_type_of((cudaDataType)b->type),
                 .c = blas_type_of((cudaDataType)c->type),
                 .out = blas_type_of((cudaDataType)d->type),
                 .m = (int)d->rows,
                 .n = (int)d->columns,
                 .k = (int)(has_a ? a->rows : a->columns)};
    bool fits = (has_a ? a->columns : a->rows) == d->rows &&
                (has_b ? b->rows : b->columns) == d->columns &&
                (has_b ? b->columns : b->rows) == (uint64_t)plan.k && c->rows == d->rows &&
                c->columns == d->columns;
    bool are_layouts = is_layout(a) && is_layout(b) && is_layout(c) && is_layout(d);
    bool has_one_order = a->order <= CUBLASLT_ORDER_ROW && b->order <= CUBLASLT_ORDER_ROW &&
                         c->order <= CUBLASLT_ORDER_ROW && d->order <= CUBLASLT_ORDER_ROW;
    plan.sum = sum_of(desc, &plan);
    if (!fits || !are_layouts || !has_right_scales(desc, &plan) ||
        (b->count != d->count && b->stride) || (a->count != d->count && a->stride))
        plan.status = CUBLAS_STATUS_INVALID_VALUE;
    else if (plan.sum == BLAS_NO_TYPE || !has_one_order || desc->opc != CUBLAS_OP_N ||
             desc->pointer_mode > CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST ||
             blas_type_of((cudaDataType)desc->scalars) >= BLAS_E4M3)
        plan.status = CUBLAS_STATUS_NOT_SUPPORTED;
    return plan;
}

/* Writes sums over rows of D, op(A) or op(B) to the bias. */
static cublasStatus_t sum_gradient(cublasLtHandle_t handle, const Matmul *desc, const Plan *plan,
                                   BlasOperand from, BlasType type, int rows, int columns) {
    BlasRowSum p = {.a = from,
                    .out = device_address(desc->bias),
                    .rows = rows,
                    .columns = columns,
                    .out_is_f32 = desc->bias_type == CUDA_R_32F && plan->out != BLAS_F32};
    if (!desc->bias || type > BLAS_BF16) return CUBLAS_STATUS_NOT_SUPPORTED;
    return blas_launch(handle, "row_sum", blas_type_names[type], blas_blocks(32LL * rows), 1, 1,
                       &p);
}

static void add_epilogue(BlasProduct *p, const Matmul *desc, const Plan *plan) {
    if (desc->epilogue & HAS_BIAS) p->bias = device_address(desc->bias);
    p->bias_batch = desc->bias_stride;
    p->bias_is_f32 = desc->bias_type == CUDA_R_32F && plan->out != BLAS_F32;
    p->activation = activation_of(desc->epilogue);
    if (desc->epilogue & HAS_AUX) p->aux = device_address(desc->aux);
    p->aux_lead = desc->aux_lead;
    p->aux_batch = desc->aux_stride;
}

static void add_scalars(BlasProduct *p, cublasLtHandle_t handle, const Matmul *desc,
                        const Plan *plan, const void *alpha, const void *beta) {
    BlasType given = blas_type_of((cudaDataType)desc->scalars);
    bool is_vector = desc->pointer_mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
    bool is_host = desc->pointer_mode == CUBLASLT_POINTER_MODE_HOST;
    handle->pointer_mode = is_host ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE;
    if (is_vector) p->alpha_vector = device_address(alpha);
    else p->alpha = blas_scalar(handle, alpha, given, plan->sum);
    if (desc->pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST)
        handle->pointer_mode = CUBLAS_POINTER_MODE_HOST;
    if (desc->pointer_mode != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO)
        p->beta = blas_scalar(handle, beta, given, plan->sum);
}

static cublasStatus_t multiply_fp8(cublasLtHandle_t handle, const Matmul *desc, const Plan *plan,
                                   const BlasProduct *p, int count) {
    const bool has_vectors = desc->a_mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    const uint64_t a = device_address(desc->a_scale), b = device_address(desc->b_scale);
    const BlasScales scales = {.a = has_vectors ? 0 : a,
                               .b = has_vectors ? 0 : b,
                               .d = device_address(desc->d_scale),
                               .rows = has_vectors ? a : 0,
                               .columns = has_vectors ? b : 0,
                               .most = device_address(desc->most),
                               .out = (int32_t)plan->out,
                               .c = (int32_t)plan->c,
                               .bias = (int32_t)fp8_bias_type(desc, plan)};
    if (scales.most) {
        const CUresult result = cuMemsetD32Async(scales.most, 0, 1, handle->device.stream);
        if (result != CUDA_SUCCESS) return blas_status(result);
    }
    return blas_fp8_multiply(handle, plan->in, plan->in_b, p, &scales, count);
}

/* Launches in the call's stream. If the handle is one of cuBLAS, its own settings are not
 * changed. */
static cublasStatus_t run(cublasLtHandle_t handle, const Matmul *desc, const Plan *plan,
                          const void *alpha, const void *beta, BlasProduct p, int count) {
    add_scalars(&p, handle, desc, plan, alpha, beta);
    add_epilogue(&p, desc, plan);
    cublasStatus_t status = blas_is_fp8(plan->in)
                                ? multiply_fp8(handle, desc, plan, &p, count)
                                : blas_multiply(handle, plan->in, plan->out, &p, count);
    if (!status && desc->epilogue & HAS_BIAS_GRADIENT)
        status = sum_gradient(handle, desc, plan, p.d, plan->out, plan->m, plan->n);
    if (!status && desc->epilogue & CUBLASLT_EPILOGUE_BGRADA)
        status = sum_gradient(handle, desc, plan, p.a, plan->in, plan->m, plan->k);
    BlasOperand columns = {p.b.items, p.b.column, p.b.row, p.b.batch};
    if (!status && desc->epilogue & CUBLASLT_EPILOGUE_BGRADB)
        status = sum_gradient(handle, desc, plan, columns, plan->in, plan->n, plan->k);
    return status;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                              cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    (void)algorithm, (void)workspace, (void)workspace_bytes;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a_layout || !b_layout || !c_layout || !d_layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    const Layout *la = (void *)a_layout, *lb = (void *)b_layout, *lc = (void *)c_layout,
                 *ld = (void *)d_layout;
    const Matmul *matmul = (void *)desc;
    Plan plan = plan_of(matmul, la, lb, lc, ld);
    if (plan.status) return plan.status;
    CUstream before = handle->device.stream;
    cublasPointerMode_t mode = handle->pointer_mode;
    handle->device.stream = stream;
    BlasProduct p = {.a = operand(a, la, matmul->opa),
                     .b = operand(b, lb, matmul->opb),
                     .c = operand(c, lc, CUBLAS_OP_N),
                     .d = operand(d, ld, CUBLAS_OP_N),
                     .m = plan.m,
                     .n = plan.n,
                     .k = plan.k,
                     .is_pedantic = blas_is_pedantic((cublasComputeType_t)matmul->compute),
                     .allows_tf32 = blas_allows_tf32((cublasComputeType_t)matmul->compute)};
    cublasStatus_t status = run(handle, matmul, &plan, alpha, beta, p, ld->count);
    handle->device.stream = before;
    handle->pointer_mode = mode;
    return status;
}

/* ---- The only algorithm ---- */

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t *algorithm,
                                       cublasLtMatmulHeuristicResult_t *result) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a || !b || !c || !d || !result) return CUBLAS_STATUS_INVALID_VALUE;
    *result = (cublasLtMatmulHeuristicResult_t){.wavesCount = 1};
    if (algorithm) result->algo = *algorithm;
    result->state = plan_of((void *)desc, (void *)a, (void *)b, (void *)c, (void *)d).status;
    return result->state;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int *found) {
    (void)preference;
    if (!results || !found || wanted < 1) return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status = cublasLtMatmulAlgoCheck(handle, desc, a, b, c, d, NULL, &results[0]);
    *found = status == CUBLAS_STATUS_SUCCESS;
    return status;
}

/* ---- C = alpha op(A) + beta op(B) ---- */

cublasStatus_t cublasLtMatrixTransform(cublasLtHandle_t handle, cublasLtMatrixTransformDesc_t desc,
                                       const void *alpha, const void *a,
                                       cublasLtMatrixLayout_t a_layout, const void *beta,
                                       const void *b, cublasLtMatrixLayout_t b_layout, void *c,
                                       cublasLtMatrixLayout_t c_layout, cudaStream_t stream) {
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a_layout || !c_layout) return CUBLAS_STATUS_INVALID_VALUE;
    const Layout *la = (void *)a_layout, *lb = b_layout ? (void *)b_layout : (void *)a_layout,
                 *lc = (void *)c_layout;
    const Transform *transform = (void *)desc;
    BlasType type = blas_type_of((cudaDataType)lc->type),
             sum = type == BLAS_F64 ? BLAS_F64 : BLAS_F32;
    if (!is_layout(la) || !is_layout(lb) || !is_layout(lc)) return CUBLAS_STATUS_INVALID_VALUE;
    if (la->type != lc->type || lb->type != lc->type || type > BLAS_BF16 || lc->count > 1)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (lc->rows == 0 || lc->columns == 0) return CUBLAS_STATUS_SUCCESS;
    CUstream before = handle->device.stream;
    cublasPointerMode_t mode = handle->pointer_mode;
    handle->device.stream = stream;
    handle->pointer_mode = transform->pointer_mode == CUBLASLT_POINTER_MODE_HOST
                               ? CUBLAS_POINTER_MODE_HOST
                               : CUBLAS_POINTER_MODE_DEVICE;
    BlasType given = blas_type_of((cudaDataType)transform->scalars);
    BlasCombine p = {.a = operand(a, la, transform->opa),
                     .b = operand(b, lb, transform->opb),
                     .c = operand(c, lc, CUBLAS_OP_N),
                     .m = (int32_t)lc->rows,
                     .n = (int32_t)lc->columns,
                     .alpha = blas_scalar(handle, alpha, given, sum),
                     .beta = b ? blas_scalar(handle, beta, given, sum) : blas_zero()};
    cublasStatus_t status =
        blas_launch(handle, "combine", blas_type_names[type], blas_blocks(p.m), p.n, 1, &p);
    handle->device.stream = before;
    handle->pointer_mode = mode;
    return status;
}
