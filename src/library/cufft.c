/* cuFFT. A plan consists of the tables of its dimensions and of the layouts of its data; a call
 * launches one kernel for each pass (fft_passes.c) in the plan's stream. */
#include "tyto/cufft.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/lock.h"
#include "library/device.h"
#include "library/fft.h"

extern const char fft_kernels[]; /* PTX text of fft_kernels.cu */

enum { LAST = FFT_RANK - 1 };

/* The limits of one plan (ours): points of a dimension, and numbers of a whole batch. */
#define MOST_POINTS  (INT64_C(1) << 27)
#define MOST_NUMBERS (INT64_C(1) << 35)

typedef struct Plan {
    Device device;
    cufftType type;
    FftShape shape; /* layouts of data that are not transformed in place */
    FftLayout in_place_in, in_place_out;
    size_t work_bytes;
    CUdeviceptr work;     /* 0: none yet */
    bool is_made;         /* its size is set */
    bool is_work_callers; /* the work area is the caller's: no work area is allocated */
    bool is_work_ours;    /* `work` was allocated here */
} Plan;

/* A plan's description, as all functions that make or measure one take it. */
typedef struct Request {
    int rank;
    int64_t n[FFT_RANK];
    const int64_t *inembed, *onembed; /* NULL: contiguous */
    int64_t istride, idist, ostride, odist;
    cufftType type;
    int64_t batch;
} Request;

/* ---- Handles: indices of a table of the process, as the interface requires ---- */

static struct {
    pthread_mutex_t lock;
    Plan **plans; /* NULL: free */
    int count;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static cufftHandle keep_plan(Plan *plan) {
    const int before = lock_take(&table.lock);
    int i = 0;
    while (i < table.count && table.plans[i])
        i++;
    if (i == table.count)
        table.plans = base_realloc(table.plans, (size_t)++table.count * sizeof(Plan *));
    table.plans[i] = plan;
    lock_give(&table.lock, before);
    return i + 1;
}

static Plan *find_plan(cufftHandle handle) {
    const int before = lock_take(&table.lock);
    Plan *plan = handle > 0 && handle <= table.count ? table.plans[handle - 1] : NULL;
    lock_give(&table.lock, before);
    return plan;
}

static void forget_plan(cufftHandle handle) {
    const int before = lock_take(&table.lock);
    table.plans[handle - 1] = NULL;
    lock_give(&table.lock, before);
}

cufftResult cufftCreate(cufftHandle *plan) {
    if (!plan) return CUFFT_INVALID_VALUE;
    *plan = CUFFT_PLAN_NULL;
    Plan *made = base_calloc(1, sizeof *made);
    if (!device_open(&made->device, fft_kernels)) {
        free(made);
        return CUFFT_SETUP_FAILED;
    }
    *plan = keep_plan(made);
    return CUFFT_SUCCESS;
}

static void free_tables(Plan *plan) {
    for (int i = 0; i < FFT_RANK; i++)
        cuMemFree(plan->shape.dimensions[i].roots);
    plan->shape = (FftShape){0};
}

cufftResult cufftDestroy(cufftHandle plan) {
    Plan *found = find_plan(plan);
    if (plan == CUFFT_PLAN_NULL) return CUFFT_SUCCESS;
    if (!found) return CUFFT_INVALID_PLAN;
    forget_plan(plan);
    free_tables(found);
    if (found->is_work_ours) cuMemFree(found->work);
    device_close(&found->device);
    free(found);
    return CUFFT_SUCCESS;
}

/* ---- Sizes and layouts ---- */

static const struct {
    cufftType type;
    FftForm in, out;
    bool is_double;
    cudaDataType in_type, out_type, execution;
} types[] = {
    {CUFFT_C2C, FFT_COMPLEX, FFT_COMPLEX, false, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F},
    {CUFFT_R2C, FFT_REAL, FFT_COMPLEX, false, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F},
    {CUFFT_C2R, FFT_HALF, FFT_REAL, false, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F},
    {CUFFT_Z2Z, FFT_COMPLEX, FFT_COMPLEX, true, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F},
    {CUFFT_D2Z, FFT_REAL, FFT_COMPLEX, true, CUDA_R_64F, CUDA_C_64F, CUDA_C_64F},
    {CUFFT_Z2D, FFT_HALF, FFT_REAL, true, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F},
};
enum { TYPE_COUNT = sizeof types / sizeof types[0] };

/* The layout of one side. Contiguous real data that share their memory with the complex data are
 * padded to the same size if `is_in_place`. */
static FftLayout make_layout(const Request *r, const int64_t *embed, int64_t stride,
                             int64_t distance, FftForm form, FftForm other, bool is_in_place) {
    const int first = FFT_RANK - r->rank;
    int64_t sizes[FFT_RANK] = {1, 1, 1};
    const bool is_half = form == FFT_HALF || (form == FFT_COMPLEX && other == FFT_REAL);
    for (int i = first; i < FFT_RANK; i++)
        sizes[i] = !embed ? r->n[i] : i > first ? embed[i - first] : 1;
    if (embed) {
        FftLayout layout = fft_packed(sizes);
        for (int i = 0; i < FFT_RANK; i++)
            layout.steps[i] *= stride;
        layout.distance = distance;
        return layout;
    }
    if (is_half) sizes[LAST] = fft_half(sizes[LAST]);
    else if (form == FFT_REAL && is_in_place) sizes[LAST] = 2 * fft_half(sizes[LAST]);
    return fft_packed(sizes);
}

/* Whether memory can have this layout. The first of embed's sizes has no effect. */
static bool is_layout(const Request *r, const int64_t *embed, int64_t stride, int64_t distance) {
    if (!embed) return true;
    if (stride < 1 || stride > MOST_POINTS || distance < 0) return false;
    for (int i = 1; i < r->rank; i++) {
        if (embed[i] < 1 || embed[i] > MOST_POINTS) return false;
        stride *= embed[i];
        if (stride > MOST_NUMBERS) return false;
    }
    return distance <= MOST_NUMBERS / r->batch;
}

static cufftResult check_request(const Request *r) {
    if (r->rank < 1 || r->rank > FFT_RANK) return CUFFT_INVALID_VALUE;
    int64_t numbers = r->batch;
    if (r->batch < 1 || r->batch > UINT32_MAX) return CUFFT_INVALID_SIZE;
    for (int i = FFT_RANK - r->rank; i < FFT_RANK; i++) {
        if (r->n[i] < 1 || r->n[i] > MOST_POINTS) return CUFFT_INVALID_SIZE;
        numbers *= r->n[i];
        if (numbers > MOST_NUMBERS) return CUFFT_INVALID_SIZE;
    }
    if (!is_layout(r, r->inembed, r->istride, r->idist) ||
        !is_layout(r, r->onembed, r->ostride, r->odist))
        return CUFFT_INVALID_VALUE;
    return CUFFT_SUCCESS;
}

/* Describes the plan, without tables and work area. */
static cufftResult measure(const Request *r, Plan *plan) {
    FftPasses passes;
    int row = 0;
    while (row < TYPE_COUNT && types[row].type != r->type)
        row++;
    if (row == TYPE_COUNT) return CUFFT_INVALID_TYPE;
    cufftResult result = check_request(r);
    if (result) return result;
    const FftForm in = types[row].in, out = types[row].out;
    FftShape shape = {.batch = r->batch,
                      .in_form = in,
                      .out_form = out,
                      .is_double = types[row].is_double,
                      .is_inverse = out == FFT_REAL};
    for (int i = 0; i < FFT_RANK; i++)
        fft_set_length(&shape.dimensions[i], i < FFT_RANK - r->rank ? 1 : (uint32_t)r->n[i]);
    shape.in = make_layout(r, r->inembed, r->istride, r->idist, in, out, false);
    shape.out = make_layout(r, r->onembed, r->ostride, r->odist, out, in, false);
    plan->in_place_in = make_layout(r, r->inembed, r->istride, r->idist, in, out, true);
    plan->in_place_out = make_layout(r, r->onembed, r->ostride, r->odist, out, in, true);
    if (!fft_make_passes(&shape, &passes)) return CUFFT_INVALID_SIZE;
    const size_t buffers = passes.count > 2 ? 2 : (size_t)passes.count - 1;
    plan->shape = shape;
    plan->type = r->type;
    plan->work_bytes = buffers * (size_t)passes.points * (shape.is_double ? 16 : 8);
    return CUFFT_SUCCESS;
}

/* Bytes of a work area. */
static cufftResult estimate(const Request *r, size_t *bytes) {
    Plan plan = {0};
    if (!bytes) return CUFFT_INVALID_VALUE;
    const cufftResult result = measure(r, &plan);
    if (result == CUFFT_SUCCESS) *bytes = plan.work_bytes;
    return result;
}

static cufftResult estimate_for(cufftHandle handle, const Request *r, size_t *bytes) {
    return find_plan(handle) ? estimate(r, bytes) : CUFFT_INVALID_PLAN;
}

/* ---- Making plans ---- */

static cufftResult make_tables(Plan *plan) {
    const bool is_double = plan->shape.is_double;
    for (int i = 0; i < FFT_RANK; i++) {
        FftDimension *dimension = &plan->shape.dimensions[i];
        if (dimension->length == 1) continue; /* no kernel reads its roots */
        const size_t bytes = fft_table_bytes(dimension, is_double);
        CUdeviceptr address = 0;
        if (cuMemAlloc(&address, bytes) != CUDA_SUCCESS) return CUFFT_ALLOC_FAILED;
        void *memory = base_calloc(1, bytes);
        fft_make_tables(dimension, is_double, memory, address);
        const CUresult result = cuMemcpyHtoD(address, memory, bytes);
        free(memory);
        if (result != CUDA_SUCCESS) return CUFFT_INTERNAL_ERROR;
    }
    return CUFFT_SUCCESS;
}

static cufftResult make(cufftHandle handle, const Request *r, size_t *bytes) {
    Plan *plan = find_plan(handle);
    if (!plan || plan->is_made) return CUFFT_INVALID_PLAN;
    if (!bytes) return CUFFT_INVALID_VALUE;
    cufftResult result = measure(r, plan);
    if (result) return result;
    *bytes = plan->work_bytes;
    result = make_tables(plan);
    if (!result && !plan->is_work_callers && !plan->work && plan->work_bytes) {
        if (cuMemAlloc(&plan->work, plan->work_bytes) != CUDA_SUCCESS) result = CUFFT_ALLOC_FAILED;
        plan->is_work_ours = !result;
    }
    plan->is_made = !result;
    if (result) free_tables(plan);
    return result;
}

static cufftResult create_and_make(cufftHandle *handle, const Request *r) {
    size_t bytes;
    cufftResult result = cufftCreate(handle);
    if (result) return result;
    result = make(*handle, r, &bytes);
    if (result) {
        cufftDestroy(*handle);
        *handle = CUFFT_PLAN_NULL;
    }
    return result;
}

static Request request_1d(int nx, cufftType type, int batch) {
    return (Request){.rank = 1, .n = {1, 1, nx}, .type = type, .batch = batch};
}
static Request request_2d(int nx, int ny, cufftType type) {
    return (Request){.rank = 2, .n = {1, nx, ny}, .type = type, .batch = 1};
}
static Request request_3d(int nx, int ny, int nz, cufftType type) {
    return (Request){.rank = 3, .n = {nx, ny, nz}, .type = type, .batch = 1};
}

/* Parameters of a request of any rank with integers of 64 bits, as functions take them. */
#define MANY64                                                                                     \
    int rank, long long *n, long long *inembed, long long istride, long long idist,                \
        long long *onembed, long long ostride, long long odist
#define MANY                                                                                       \
    int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride, int odist

/* Copies of the arrays of a request of any rank. */
typedef struct Arrays {
    int64_t inembed[FFT_RANK], onembed[FFT_RANK];
} Arrays;

static Request request_many64(MANY64, cufftType type, long long batch, Arrays *arrays) {
    Request r = {.rank = n ? rank : 0, /* which is refused */
                 .istride = istride,
                 .idist = idist,
                 .ostride = ostride,
                 .odist = odist,
                 .type = type,
                 .batch = batch};
    if (r.rank < 1 || r.rank > FFT_RANK) return r;
    for (int i = 0; i < rank; i++) {
        r.n[FFT_RANK - rank + i] = n[i];
        arrays->inembed[i] = inembed ? inembed[i] : 0;
        arrays->onembed[i] = onembed ? onembed[i] : 0;
    }
    r.inembed = inembed ? arrays->inembed : NULL;
    r.onembed = onembed ? arrays->onembed : NULL;
    return r;
}

static Request request_many(MANY, cufftType type, int batch, Arrays *arrays) {
    long long wide[3][FFT_RANK] = {{0}};
    for (int i = 0; n && i < rank && i < FFT_RANK; i++) {
        wide[0][i] = n[i];
        wide[1][i] = inembed ? inembed[i] : 0;
        wide[2][i] = onembed ? onembed[i] : 0;
    }
    return request_many64(rank, n ? wide[0] : NULL, inembed ? wide[1] : NULL, istride, idist,
                          onembed ? wide[2] : NULL, ostride, odist, type, batch, arrays);
}

cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch) {
    const Request r = request_1d(nx, type, batch);
    return create_and_make(plan, &r);
}

cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type) {
    const Request r = request_2d(nx, ny, type);
    return create_and_make(plan, &r);
}

cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
    const Request r = request_3d(nx, ny, nz, type);
    return create_and_make(plan, &r);
}

cufftResult cufftPlanMany(cufftHandle *plan, MANY, cufftType type, int batch) {
    Arrays arrays;
    const Request r = request_many(rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                                   batch, &arrays);
    return create_and_make(plan, &r);
}

cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *bytes) {
    const Request r = request_1d(nx, type, batch);
    return make(plan, &r, bytes);
}

cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *bytes) {
    const Request r = request_2d(nx, ny, type);
    return make(plan, &r, bytes);
}

cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t *bytes) {
    const Request r = request_3d(nx, ny, nz, type);
    return make(plan, &r, bytes);
}

cufftResult cufftMakePlanMany(cufftHandle plan, MANY, cufftType type, int batch, size_t *bytes) {
    Arrays arrays;
    const Request r = request_many(rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                                   batch, &arrays);
    return make(plan, &r, bytes);
}

cufftResult cufftMakePlanMany64(cufftHandle plan, MANY64, cufftType type, long long batch,
                                size_t *bytes) {
    Arrays arrays;
    const Request r = request_many64(rank, n, inembed, istride, idist, onembed, ostride, odist,
                                     type, batch, &arrays);
    return make(plan, &r, bytes);
}

/* Finds the type of a transform between data of these types. */
static cufftResult find_type(cudaDataType input, cudaDataType output, cudaDataType execution,
                             cufftType *type) {
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (types[i].in_type != input || types[i].out_type != output ||
            types[i].execution != execution)
            continue;
        *type = types[i].type;
        return CUFFT_SUCCESS;
    }
    device_say_missing("cufftXtMakePlanMany of half precision or of mixed types");
    return CUFFT_NOT_SUPPORTED;
}

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *inembed,
                                long long istride, long long idist, cudaDataType input,
                                long long *onembed, long long ostride, long long odist,
                                cudaDataType output, long long batch, size_t *bytes,
                                cudaDataType execution) {
    cufftType type;
    const cufftResult result = find_type(input, output, execution, &type);
    if (result) return result;
    return cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist,
                               type, batch, bytes);
}

/* ---- Work areas ---- */

cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *bytes) {
    const Request r = request_1d(nx, type, batch);
    return estimate(&r, bytes);
}

cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *bytes) {
    const Request r = request_2d(nx, ny, type);
    return estimate(&r, bytes);
}

cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *bytes) {
    const Request r = request_3d(nx, ny, nz, type);
    return estimate(&r, bytes);
}

cufftResult cufftEstimateMany(MANY, cufftType type, int batch, size_t *bytes) {
    Arrays arrays;
    const Request r = request_many(rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                                   batch, &arrays);
    return estimate(&r, bytes);
}

cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *bytes) {
    const Request r = request_1d(nx, type, batch);
    return estimate_for(plan, &r, bytes);
}

cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *bytes) {
    const Request r = request_2d(nx, ny, type);
    return estimate_for(plan, &r, bytes);
}

cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                           size_t *bytes) {
    const Request r = request_3d(nx, ny, nz, type);
    return estimate_for(plan, &r, bytes);
}

cufftResult cufftGetSizeMany(cufftHandle plan, MANY, cufftType type, int batch, size_t *bytes) {
    Arrays arrays;
    const Request r = request_many(rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                                   batch, &arrays);
    return estimate_for(plan, &r, bytes);
}

cufftResult cufftGetSizeMany64(cufftHandle plan, MANY64, cufftType type, long long batch,
                               size_t *bytes) {
    Arrays arrays;
    const Request r = request_many64(rank, n, inembed, istride, idist, onembed, ostride, odist,
                                     type, batch, &arrays);
    return estimate_for(plan, &r, bytes);
}

cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long *n, long long *inembed,
                               long long istride, long long idist, cudaDataType input,
                               long long *onembed, long long ostride, long long odist,
                               cudaDataType output, long long batch, size_t *bytes,
                               cudaDataType execution) {
    cufftType type;
    const cufftResult result = find_type(input, output, execution, &type);
    if (result) return result;
    return cufftGetSizeMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                              batch, bytes);
}

cufftResult cufftGetSize(cufftHandle plan, size_t *bytes) {
    const Plan *found = find_plan(plan);
    if (!found) return CUFFT_INVALID_PLAN;
    if (!bytes) return CUFFT_INVALID_VALUE;
    *bytes = found->work_bytes;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetAutoAllocation(cufftHandle plan, int is_automatic) {
    Plan *found = find_plan(plan);
    if (!found) return CUFFT_INVALID_PLAN;
    found->is_work_callers = !is_automatic;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle plan, void *area) {
    Plan *found = find_plan(plan);
    if (!found) return CUFFT_INVALID_PLAN;
    if (found->is_work_ours) cuMemFree(found->work);
    found->is_work_ours = false;
    found->work = device_address(area);
    return CUFFT_SUCCESS;
}

/* ---- Transforms ---- */

cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    Plan *found = find_plan(plan);
    if (!found) return CUFFT_INVALID_PLAN;
    found->device.stream = stream;
    return CUFFT_SUCCESS;
}

/* Launches a pass: a thread for each 4 points of a block. */
static CUresult launch(const Plan *plan, FftPass *pass) {
    const uint32_t threads = (pass->lines_per_block * pass->points / 4 + 31) / 32 * 32;
    const uint32_t blocks = (pass->lines - 1) / pass->lines_per_block + 1;
    return device_launch(&plan->device, "fft", plan->shape.is_double ? "f64" : "f32",
                         (uint32_t[]){blocks, 1, 1}, threads ? threads : 32, pass);
}

/* Passes write to the two halves of the work area in turn; the last one writes to the output. */
static cufftResult run(const Plan *plan, const void *in, const void *out, bool is_inverse) {
    FftShape shape = plan->shape;
    FftPasses passes;
    shape.is_inverse = is_inverse;
    if (in == out) {
        shape.in = plan->in_place_in;
        shape.out = plan->in_place_out;
    }
    fft_make_passes(&shape, &passes);
    CUdeviceptr from = device_address(in);
    for (int i = 0; i < passes.count; i++) {
        FftPass *pass = &passes.rows[i];
        pass->in = from;
        pass->out = plan->work + (i % 2 ? plan->work_bytes / 2 : 0);
        if (i == passes.count - 1) pass->out = device_address(out);
        from = pass->out;
        if (launch(plan, pass) != CUDA_SUCCESS) return CUFFT_EXEC_FAILED;
    }
    return CUFFT_SUCCESS;
}

/* Whether the address of numbers of `bytes` can be used. */
static bool is_address(const void *pointer, size_t bytes) {
    return pointer && (uintptr_t)pointer % bytes == 0;
}

static cufftResult execute(cufftHandle handle, const void *in, const void *out, int direction) {
    const Plan *plan = find_plan(handle);
    if (!plan || !plan->is_made) return CUFFT_INVALID_PLAN;
    const FftShape *shape = &plan->shape;
    const size_t bytes = shape->is_double ? 8 : 4;
    if (!is_address(in, shape->in_form == FFT_REAL ? bytes : 2 * bytes) ||
        !is_address(out, shape->out_form == FFT_REAL ? bytes : 2 * bytes))
        return CUFFT_INVALID_VALUE;
    if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
    if (plan->work_bytes && !plan->work) return CUFFT_NO_WORKSPACE;
    return run(plan, in, out, direction == CUFFT_INVERSE);
}

static cufftResult execute_type(cufftHandle handle, cufftType type, const void *in, const void *out,
                                int direction) {
    const Plan *plan = find_plan(handle);
    if (plan && plan->is_made && plan->type != type) return CUFFT_INVALID_TYPE;
    return execute(handle, in, out, direction);
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction) {
    return execute_type(plan, CUFFT_C2C, in, out, direction);
}

cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out) {
    return execute_type(plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out) {
    return execute_type(plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}

cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out,
                         int direction) {
    return execute_type(plan, CUFFT_Z2Z, in, out, direction);
}

cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out) {
    return execute_type(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}

cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out) {
    return execute_type(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

cufftResult cufftXtExec(cufftHandle plan, void *in, void *out, int direction) {
    const Plan *found = find_plan(plan);
    if (found && found->shape.in_form == FFT_REAL) direction = CUFFT_FORWARD;
    if (found && found->shape.out_form == FFT_REAL) direction = CUFFT_INVERSE;
    return execute(plan, in, out, direction);
}

/* ---- Versions ---- */

cufftResult cufftGetVersion(int *version) {
    if (!version) return CUFFT_INVALID_VALUE;
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}

cufftResult cufftGetProperty(libraryPropertyType type, int *value) {
    static const int parts[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
    if ((unsigned)type > PATCH_LEVEL) return CUFFT_INVALID_TYPE;
    if (!value) return CUFFT_INVALID_VALUE;
    *value = parts[type];
    return CUFFT_SUCCESS;
}
