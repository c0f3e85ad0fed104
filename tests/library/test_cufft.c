/* Our cuFFT against a direct sum in long double. An error is the norm of the difference over the
 * norm of the result; it may be ROUNDINGS units of rounding for each bit of the number of points
 * (a convolution counts twice). */
#include "tyto/cufft.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../thin.h"
#include "tyto/cuda.h"

typedef long double complex Number;

#define ROUNDINGS 1.0L /* measured: at most 0.6 */

enum { UNTOUCHED = 77, MOST_RANK = 3 };

/* A transform, as cufftPlanMany takes it. */
typedef struct Job {
    cufftType type;
    int rank, n[MOST_RANK], batch;
    bool is_in_place, is_inverse;
    bool is_strided; /* the layouts are these; otherwise contiguous */
    int inembed[MOST_RANK], istride, idist, onembed[MOST_RANK], ostride, odist;
} Job;

/* One side of it. */
typedef struct Side {
    bool is_real;
    int sizes[MOST_RANK]; /* numbers of each dimension */
    int embed[MOST_RANK], stride, distance;
} Side;

static void check(cufftResult result) { assert_int_equal(result, CUFFT_SUCCESS); }

static bool is_double(const Job *job) { return job->type >= CUFFT_Z2Z; }
static bool is_from_real(const Job *job) { return (job->type & 15) == (CUFFT_R2C & 15); }
static bool is_to_real(const Job *job) { return (job->type & 15) == (CUFFT_C2R & 15); }

static int points_of(const Job *job) {
    int points = 1;
    for (int i = 0; i < job->rank; i++)
        points *= job->n[i];
    return points;
}

/* ---- The direct sum ---- */

/* Sums along one dimension of packed data: `inner` is the distance of its points. */
static void transform_dimension(Number *data, int count, int n, int inner, bool is_inverse) {
    Number *line = malloc((size_t)n * sizeof *line), *roots = malloc((size_t)n * sizeof *roots);
    const long double turn = (is_inverse ? 2 : -2) * acosl(-1.0L) / n;
    for (int k = 0; k < n; k++)
        roots[k] = cosl(turn * k) + I * sinl(turn * k);
    for (int start = 0; start < count; start++) {
        if (start / inner % n != 0) continue;
        for (int k = 0; k < n; k++) {
            line[k] = 0;
            for (int j = 0, turns = 0; j < n; j++, turns = (turns + k) % n)
                line[k] += data[start + j * inner] * roots[turns];
        }
        for (int k = 0; k < n; k++)
            data[start + k * inner] = line[k];
    }
    free(roots);
    free(line);
}

static void transform(const Job *job, Number *data, bool is_inverse) {
    int inner = 1, points = points_of(job);
    for (int i = job->rank - 1; i >= 0; inner *= job->n[i--])
        transform_dimension(data, points, job->n[i], inner, is_inverse);
}

/* ---- Layouts ---- */

static Side side_of(const Job *job, bool is_out) {
    const bool has_real = is_from_real(job) || is_to_real(job);
    Side side = {.is_real = is_out ? is_to_real(job) : is_from_real(job)};
    side.distance = side.stride = 1;
    for (int i = 0; i < job->rank; i++) {
        bool is_last = i == job->rank - 1;
        int half = job->n[i] / 2 + 1, n = job->n[i];
        side.sizes[i] = is_last && has_real && !side.is_real ? half : n;
        side.embed[i] = is_last && side.is_real && job->is_in_place ? 2 * half : side.sizes[i];
        side.distance *= side.embed[i];
    }
    if (!job->is_strided) return side;
    memcpy(side.embed, is_out ? job->onembed : job->inembed, sizeof side.embed);
    side.stride = is_out ? job->ostride : job->istride;
    side.distance = is_out ? job->odist : job->idist;
    return side;
}

/* Place of point `at` of the packed full transform; -1: it is not stored. */
static int place_of(const Job *job, const Side *side, int batch, int at) {
    int index[MOST_RANK], place = 0;
    for (int i = job->rank - 1; i >= 0; i--) {
        index[i] = at % job->n[i];
        at /= job->n[i];
        if (index[i] >= side->sizes[i]) return -1;
    }
    for (int i = 0; i < job->rank; i++)
        place = (i ? place * side->embed[i] : 0) + index[i];
    return place * side->stride + batch * side->distance;
}

/* Reals in the memory of one side. */
static size_t extent_of(const Job *job, const Side *side) {
    int most = 0;
    for (int b = 0; b < job->batch; b++) {
        for (int at = 0; at < points_of(job); at++) {
            int place = place_of(job, side, b, at);
            if (place > most) most = place;
        }
    }
    return (size_t)(most + 1) * (side->is_real ? 1 : 2);
}

static long double read(const Job *job, const void *memory, size_t at) {
    return is_double(job) ? (long double)((const double *)memory)[at]
                          : (long double)((const float *)memory)[at];
}
static void write(const Job *job, void *memory, size_t at, long double value) {
    if (is_double(job)) ((double *)memory)[at] = (double)value;
    else ((float *)memory)[at] = (float)value;
}

static void write_number(const Job *job, const Side *side, void *memory, int place, Number value) {
    if (place < 0) return;
    if (side->is_real) write(job, memory, (size_t)place, creall(value));
    else {
        write(job, memory, 2 * (size_t)place, creall(value));
        write(job, memory, 2 * (size_t)place + 1, cimagl(value));
    }
}
static Number read_number(const Job *job, const Side *side, const void *memory, int place) {
    if (side->is_real) return read(job, memory, (size_t)place);
    return read(job, memory, 2 * (size_t)place) + I * read(job, memory, 2 * (size_t)place + 1);
}

/* ---- One transform, checked ---- */

/* A number in (-1, 1), the next of a sequence (Knuth's MMIX generator). */
static long double draw(void) {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (long double)(int32_t)(state >> 32) / 2147483648.0L;
}

/* Input and expected output of one transform. Input for real output is the transform of reals. */
static void make_data(const Job *job, Number *in, Number *out) {
    const int points = points_of(job);
    const bool has_real = is_from_real(job) || is_to_real(job);
    for (int i = 0; i < points; i++)
        in[i] = out[i] = draw() + (has_real ? 0 : I * draw());
    if (is_to_real(job)) {
        transform(job, in, false);
        for (int i = 0; i < points; i++)
            out[i] *= points;
    } else transform(job, out, job->is_inverse);
}

static void execute(const Job *job, cufftHandle plan, CUdeviceptr in, CUdeviceptr out) {
    void *from = (void *)(uintptr_t)in, *to = (void *)(uintptr_t)out;
    int direction = job->is_inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    switch (job->type) {
    case CUFFT_C2C: check(cufftExecC2C(plan, from, to, direction)); break;
    case CUFFT_R2C: check(cufftExecR2C(plan, from, to)); break;
    case CUFFT_C2R: check(cufftExecC2R(plan, from, to)); break;
    case CUFFT_Z2Z: check(cufftExecZ2Z(plan, from, to, direction)); break;
    case CUFFT_D2Z: check(cufftExecD2Z(plan, from, to)); break;
    case CUFFT_Z2D: check(cufftExecZ2D(plan, from, to)); break;
    }
}

/* Bits of the number of points, twice for a dimension that is computed as a convolution. */
static long double bits_of(const Job *job) {
    long double bits = 1;
    for (int i = 0; i < job->rank; i++) {
        int rest = job->n[i];
        for (int prime = 2; prime <= 7; prime++)
            while (rest % prime == 0)
                rest /= prime;
        bits += (rest > 1 ? 2 : 1) * log2l(job->n[i] + (rest > 1 ? job->n[i] : 0));
    }
    return bits;
}

/* Fails if the output is wrong, or anything around it was written. */
static void compare(const Job *job, const Side *side, const void *memory, size_t extent,
                    const Number *expected) {
    const int points = points_of(job);
    bool *is_output = calloc(extent, sizeof *is_output);
    long double error = 0, norm = 0;
    for (int at = 0; at < job->batch * points; at++) {
        int place = place_of(job, side, at / points, at % points);
        if (place < 0) continue;
        for (int i = 0; i < (side->is_real ? 1 : 2); i++)
            is_output[place * (side->is_real ? 1 : 2) + i] = true;
        Number wrong = read_number(job, side, memory, place) - expected[at];
        error += creall(wrong) * creall(wrong) + cimagl(wrong) * cimagl(wrong);
        norm += creall(expected[at]) * creall(expected[at]) +
                cimagl(expected[at]) * cimagl(expected[at]);
    }
    const long double unit = is_double(job) ? 0x1p-53L : 0x1p-24L;
    const long double roundings = sqrtl(error / norm) / unit / bits_of(job);
    if (!(roundings < ROUNDINGS))
        print_error("type %#x, %d x %d x %d: %.2Lf roundings for each bit\n", (unsigned)job->type,
                    job->n[0], job->n[1], job->n[2], roundings);
    assert_true(roundings < ROUNDINGS);
    for (size_t i = 0; i < extent && !job->is_in_place; i++)
        assert_true(is_output[i] || read(job, memory, i) == UNTOUCHED);
    free(is_output);
}

/* Runs a plan and compares the result with the direct sum. */
static void run_plan(const Job *job, cufftHandle plan) {
    const size_t points = (size_t)points_of(job), count = points * (size_t)job->batch;
    const Side in = side_of(job, false), out = side_of(job, true);
    size_t in_extent = extent_of(job, &in), out_extent = extent_of(job, &out);
    const size_t size = is_double(job) ? sizeof(double) : sizeof(float);
    if (job->is_in_place) in_extent = out_extent = in_extent > out_extent ? in_extent : out_extent;
    Number *from = calloc(count, sizeof *from), *to = calloc(count, sizeof *to);
    void *in_memory = calloc(in_extent, size), *out_memory = calloc(out_extent, size);
    void *copy = calloc(in_extent, size);
    CUdeviceptr in_device, out_device;
    for (int b = 0; b < job->batch; b++)
        make_data(job, from + (size_t)b * points, to + (size_t)b * points);
    for (size_t at = 0; at < count; at++) {
        int place = place_of(job, &in, (int)(at / points), (int)(at % points));
        write_number(job, &in, in_memory, place, from[at]);
    }
    for (size_t i = 0; i < out_extent; i++)
        write(job, out_memory, i, UNTOUCHED);
    assert_int_equal(cuMemAlloc(&in_device, in_extent * size), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&out_device, out_extent * size), CUDA_SUCCESS);
    cuMemcpyHtoD(in_device, in_memory, in_extent * size);
    cuMemcpyHtoD(out_device, out_memory, out_extent * size);
    CUdeviceptr result = job->is_in_place ? in_device : out_device;
    execute(job, plan, in_device, result);
    assert_int_equal(cuMemcpyDtoH(out_memory, result, out_extent * size), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(copy, in_device, in_extent * size), CUDA_SUCCESS);
    if (!job->is_in_place) assert_memory_equal(copy, in_memory, in_extent * size);
    compare(job, &out, out_memory, out_extent, to);
    cuMemFree(in_device);
    cuMemFree(out_device);
    free(copy);
    free(out_memory);
    free(in_memory);
    free(to);
    free(from);
}

static void run(Job job) {
    cufftHandle plan;
    bool is_strided = job.is_strided;
    check(cufftPlanMany(&plan, job.rank, job.n, is_strided ? job.inembed : NULL, job.istride,
                        job.idist, is_strided ? job.onembed : NULL, job.ostride, job.odist,
                        job.type, job.batch));
    run_plan(&job, plan);
    check(cufftDestroy(plan));
}

static const cufftType all_types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R,
                                      CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
enum { TYPE_COUNT = sizeof all_types / sizeof all_types[0] };

/* In all types and directions. */
static void run_all(Job job) {
    for (int i = 0; i < TYPE_COUNT; i++) {
        job.type = all_types[i];
        job.is_inverse = is_to_real(&job);
        run(job);
        if (is_from_real(&job) || is_to_real(&job)) continue;
        job.is_inverse = true;
        run(job);
    }
}

/* ---- Lengths and shapes ---- */

static void each_short_length_is_right(void **state) {
    (void)state;
    for (int n = 1; n <= 64; n += thin_step())
        run_all((Job){.rank = 1, .n = {n}, .batch = 3});
}

static void primes_powers_and_products_are_right(void **state) {
    (void)state;
    static const int lengths[] = {67,  81,  97,  121, 125, 127, 128, 210, 243, 256,
                                  257, 343, 509, 512, 514, 625, 729, 840, 1024};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i += (size_t)thin_step())
        run_all((Job){.rank = 1, .n = {lengths[i]}, .batch = 1});
}

static void long_lines_are_right(void **state) {
    (void)state;
    static const int lengths[] = {2048, 2187, 2401, 2999, 3125, 4096, 5040};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        run((Job){.type = CUFFT_C2C, .rank = 1, .n = {lengths[i]}, .batch = 1});
        run((Job){.type = CUFFT_D2Z, .rank = 1, .n = {lengths[i]}, .batch = 1});
    }
}

/* In three passes of one dimension; the direct sum would take too long. */
static void a_wave_of_a_million_points_is_one_number(void **state) {
    (void)state;
    enum { N = 1 << 20, WAVES = 12345 };
    if (is_thin()) skip(); /* the release build runs it */
    double *wave = calloc(2 * (size_t)N, sizeof *wave);
    CUdeviceptr data;
    cufftHandle plan;
    for (int i = 0; i < N; i++) {
        long double angle = 2 * acosl(-1.0L) * (double)((int64_t)i * WAVES % N) / N;
        wave[2 * i] = (double)cosl(angle);
        wave[2 * i + 1] = (double)sinl(angle);
    }
    assert_int_equal(cuMemAlloc(&data, 2 * (size_t)N * sizeof *wave), CUDA_SUCCESS);
    cuMemcpyHtoD(data, wave, 2 * (size_t)N * sizeof *wave);
    check(cufftPlan1d(&plan, N, CUFFT_Z2Z, 1));
    void *address = (void *)(uintptr_t)data;
    check(cufftExecZ2Z(plan, address, address, CUFFT_FORWARD));
    cuMemcpyDtoH(wave, data, 2 * (size_t)N * sizeof *wave);
    for (int i = 0; i < 2 * N; i++)
        assert_true(fabs(wave[i] - (i == 2 * WAVES ? N : 0)) < 20 * sqrt(N) * 0x1p-53 * 20);
    check(cufftDestroy(plan));
    cuMemFree(data);
    free(wave);
}

static void two_and_three_dimensions_are_right(void **state) {
    (void)state;
    static const int shapes[][MOST_RANK] = {{4, 6},     {5, 7},    {16, 16},  {11, 13},  {1, 9},
                                            {8, 1},     {33, 20},  {3, 600},  {600, 3},  {40, 64},
                                            {3, 8, 10}, {1, 1, 5}, {7, 1, 3}, {8, 9, 4}, {2, 11, 5},
                                            {1, 6, 1},  {2, 3, 1}, {13, 2, 6}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        Job job = {.rank = shapes[i][2] ? 3 : 2, .batch = 2};
        memcpy(job.n, shapes[i], sizeof job.n);
        run_all(job);
    }
}

static void in_place_reals_are_padded(void **state) {
    (void)state;
    static const int shapes[][MOST_RANK] = {
        {1}, {8}, {9}, {16}, {22}, {600}, {6, 8}, {5, 9}, {11, 14}, {3, 520}, {3, 4, 6}, {4, 3, 7}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        Job job = {.batch = 3, .is_in_place = true};
        memcpy(job.n, shapes[i], sizeof job.n);
        while (job.rank < MOST_RANK && job.n[job.rank])
            job.rank++;
        run_all(job);
    }
}

static void strides_distances_and_embedding_are_kept(void **state) {
    (void)state;
    /* batches side by side; the first size around the data has no effect */
    run_all((Job){.rank = 1,
                  .n = {12},
                  .batch = 40,
                  .is_strided = true,
                  .inembed = {0},
                  .istride = 40,
                  .idist = 1,
                  .onembed = {0},
                  .ostride = 1,
                  .odist = 13});
    run_all((Job){.rank = 1,
                  .n = {600},
                  .batch = 3,
                  .is_strided = true,
                  .inembed = {600},
                  .istride = 2,
                  .idist = 1300,
                  .onembed = {600},
                  .ostride = 5,
                  .odist = 1});
    run_all((Job){.rank = 2,
                  .n = {6, 10},
                  .batch = 2,
                  .is_strided = true,
                  .inembed = {7, 11},
                  .istride = 2,
                  .idist = 170,
                  .onembed = {6, 12},
                  .ostride = 3,
                  .odist = 230});
    run_all((Job){.rank = 3,
                  .n = {3, 4, 11},
                  .batch = 2,
                  .is_strided = true,
                  .inembed = {3, 5, 12},
                  .istride = 1,
                  .idist = 181,
                  .onembed = {4, 4, 13},
                  .ostride = 2,
                  .odist = 420});
}

/* One side may be contiguous while the other is not. */
static void a_side_without_embedding_is_contiguous(void **state) {
    (void)state;
    Job strided = {.type = CUFFT_C2C,
                   .rank = 1,
                   .n = {8},
                   .batch = 2,
                   .is_strided = true,
                   .inembed = {8},
                   .istride = 3,
                   .idist = 25,
                   .onembed = {8},
                   .ostride = 1,
                   .odist = 8};
    cufftHandle plan;
    check(cufftPlanMany(&plan, 1, strided.n, strided.inembed, 3, 25, NULL, 9, 99, CUFFT_C2C, 2));
    run_plan(&strided, plan);
    check(cufftDestroy(plan));
}

/* The imaginary parts of the first and middle number of a half cannot appear in reals. */
static void real_results_ignore_imaginary_parts_without_a_partner(void **state) {
    (void)state;
    enum { N = 8, HALF = N / 2 + 1 };
    float in[2 * HALF] = {1, 5, 0, 0, 0, 0, 0, 0, 2, 7}, out[N];
    CUdeviceptr data;
    cufftHandle plan;
    assert_int_equal(cuMemAlloc(&data, sizeof in), CUDA_SUCCESS);
    cuMemcpyHtoD(data, in, sizeof in);
    check(cufftPlan1d(&plan, N, CUFFT_C2R, 1));
    check(cufftExecC2R(plan, (void *)(uintptr_t)data, (void *)(uintptr_t)data));
    cuMemcpyDtoH(out, data, sizeof out);
    for (int i = 0; i < N; i++)
        assert_true(fabsf(out[i] - (i % 2 ? -1 : 3)) < 1e-5f);
    check(cufftDestroy(plan));
    cuMemFree(data);
}

/* ---- Plans ---- */

static void every_way_to_make_a_plan_makes_the_same(void **state) {
    (void)state;
    int n[] = {4, 5, 6};
    long long n64[] = {4, 5, 6};
    size_t bytes;
    for (int way = 0; way < 9; way++) {
        Job job = {
            .type = CUFFT_C2C, .rank = way < 6 ? way / 2 + 1 : 3, .n = {4, 5, 6}, .batch = 1};
        cufftHandle plan = 0;
        if (way % 2 || way > 5) check(cufftCreate(&plan));
        switch (way) {
        case 0: check(cufftPlan1d(&plan, 4, CUFFT_C2C, job.batch = 3)); break;
        case 1: check(cufftMakePlan1d(plan, 4, CUFFT_C2C, job.batch = 3, &bytes)); break;
        case 2: check(cufftPlan2d(&plan, 4, 5, CUFFT_C2C)); break;
        case 3: check(cufftMakePlan2d(plan, 4, 5, CUFFT_C2C, &bytes)); break;
        case 4: check(cufftPlan3d(&plan, 4, 5, 6, CUFFT_C2C)); break;
        case 5: check(cufftMakePlan3d(plan, 4, 5, 6, CUFFT_C2C, &bytes)); break;
        case 6:
            check(cufftMakePlanMany(plan, 3, n, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1, &bytes));
            break;
        case 7:
            check(cufftMakePlanMany64(plan, 3, n64, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1, &bytes));
            break;
        case 8:
            check(cufftXtMakePlanMany(plan, 3, n64, NULL, 1, 1, CUDA_C_32F, NULL, 1, 1, CUDA_C_32F,
                                      1, &bytes, CUDA_C_32F));
            break;
        }
        run_plan(&job, plan);
        check(cufftDestroy(plan));
    }
}

static void the_type_less_call_runs_each_type(void **state) {
    (void)state;
    static const struct {
        cudaDataType in, out, execution;
        cufftResult made;
    } rows[] = {
        {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_SUCCESS},
        {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_SUCCESS},
        {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_SUCCESS},
        {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_SUCCESS},
        {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_SUCCESS},
        {CUDA_C_32F, CUDA_C_64F, CUDA_C_64F, CUFFT_NOT_SUPPORTED},
        {CUDA_C_16F, CUDA_C_16F, CUDA_C_16F, CUFFT_NOT_SUPPORTED},
    };
    CUdeviceptr data;
    assert_int_equal(cuMemAlloc(&data, 256), CUDA_SUCCESS);
    cuMemsetD8(data, 0, 256);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        long long n[] = {8};
        size_t bytes, estimated;
        void *memory = (void *)(uintptr_t)data;
        cufftHandle plan;
        check(cufftCreate(&plan));
        assert_int_equal(cufftXtGetSizeMany(plan, 1, n, NULL, 1, 1, rows[i].in, NULL, 1, 1,
                                            rows[i].out, 1, &estimated, rows[i].execution),
                         rows[i].made);
        assert_int_equal(cufftXtMakePlanMany(plan, 1, n, NULL, 1, 1, rows[i].in, NULL, 1, 1,
                                             rows[i].out, 1, &bytes, rows[i].execution),
                         rows[i].made);
        assert_int_equal(cufftXtExec(plan, memory, memory, CUFFT_FORWARD),
                         rows[i].made ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS);
        check(cufftDestroy(plan));
    }
    cuMemFree(data);
}

/* The four functions that measure a plan of 600 x 4 agree with the plan. */
static void work_areas_have_the_size_that_is_told(void **state) {
    (void)state;
    int n[] = {600, 4};
    long long n64[] = {600, 4};
    size_t told[6], made, got;
    cufftHandle plan;
    check(cufftCreate(&plan));
    check(cufftEstimate2d(600, 4, CUFFT_Z2Z, &told[0]));
    check(cufftEstimateMany(2, n, NULL, 1, 1, NULL, 1, 1, CUFFT_Z2Z, 1, &told[1]));
    check(cufftGetSize2d(plan, 600, 4, CUFFT_Z2Z, &told[2]));
    check(cufftGetSizeMany(plan, 2, n, NULL, 1, 1, NULL, 1, 1, CUFFT_Z2Z, 1, &told[3]));
    check(cufftGetSizeMany64(plan, 2, n64, NULL, 1, 1, NULL, 1, 1, CUFFT_Z2Z, 1, &told[4]));
    check(cufftSetAutoAllocation(plan, 0));
    check(cufftMakePlan2d(plan, 600, 4, CUFFT_Z2Z, &made));
    check(cufftGetSize(plan, &got));
    assert_true(made == 2 * 600 * 4 * 16 && got == made);
    for (int i = 0; i < 5; i++)
        assert_true(told[i] == made);
    check(cufftGetSize3d(plan, 4, 4, 4, CUFFT_C2C, &got));
    check(cufftEstimate3d(4, 4, 4, CUFFT_C2C, &made));
    assert_true(got == made && made == 2 * 64 * 8);
    check(cufftEstimate1d(512, CUFFT_C2C, 9, &made));
    check(cufftGetSize1d(plan, 512, CUFFT_C2C, 9, &got));
    assert_true(got == 0 && made == 0);
    /* without a work area; then with the caller's, without writing beyond its end */
    Job job = {.type = CUFFT_Z2Z, .rank = 2, .n = {600, 4}, .batch = 1};
    CUdeviceptr area;
    unsigned char guard[16];
    check(cufftGetSize(plan, &made));
    assert_int_equal(cuMemAlloc(&area, made + sizeof guard), CUDA_SUCCESS);
    cuMemsetD8(area + made, UNTOUCHED, sizeof guard);
    void *memory = (void *)(uintptr_t)area;
    assert_int_equal(cufftExecZ2Z(plan, memory, memory, CUFFT_FORWARD), CUFFT_NO_WORKSPACE);
    check(cufftSetWorkArea(plan, memory));
    run_plan(&job, plan);
    cuMemcpyDtoH(guard, area + made, sizeof guard);
    for (size_t i = 0; i < sizeof guard; i++)
        assert_int_equal(guard[i], UNTOUCHED);
    check(cufftDestroy(plan));
    cuMemFree(area);
}

static void plans_run_in_their_stream(void **state) {
    (void)state;
    Job job = {.type = CUFFT_R2C, .rank = 1, .n = {600}, .batch = 2};
    CUstream stream;
    cufftHandle plan;
    assert_int_equal(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    check(cufftPlan1d(&plan, 600, CUFFT_R2C, 2));
    check(cufftSetStream(plan, stream));
    run_plan(&job, plan);
    check(cufftDestroy(plan));
    assert_int_equal(cuStreamDestroy(stream), CUDA_SUCCESS);
}

static void handles_are_numbers_and_are_used_again(void **state) {
    (void)state;
    cufftHandle plans[20];
    for (int i = 0; i < 20; i++)
        check(cufftPlan1d(&plans[i], i + 1, CUFFT_C2C, 1));
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < i; j++)
            assert_true(plans[i] != plans[j]);
    check(cufftDestroy(plans[7]));
    assert_int_equal(cufftDestroy(plans[7]), CUFFT_INVALID_PLAN);
    cufftHandle again;
    check(cufftCreate(&again));
    assert_int_equal(again, plans[7]);
    for (int i = 0; i < 20; i++)
        check(cufftDestroy(plans[i]));
}

/* ---- Mistakes ---- */

static void plans_that_cannot_be_are_refused(void **state) {
    (void)state;
    int n[] = {4, 0, 4}, embed[] = {4, 4, 4}, none[] = {4, 0, 4};
    cufftHandle plan;
    size_t bytes;
    assert_int_equal(cufftPlan1d(NULL, 4, CUFFT_C2C, 1), CUFFT_INVALID_VALUE);
    assert_int_equal(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
    assert_int_equal(plan, CUFFT_PLAN_NULL);
    assert_int_equal(cufftPlan1d(&plan, (1 << 27) + 1, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
    assert_int_equal(cufftPlan1d(&plan, 4, CUFFT_C2C, 0), CUFFT_INVALID_SIZE);
    assert_int_equal(cufftPlan1d(&plan, 4, (cufftType)1, 1), CUFFT_INVALID_TYPE);
    assert_int_equal(cufftPlan2d(&plan, 4, -1, CUFFT_C2C), CUFFT_INVALID_SIZE);
    assert_int_equal(cufftPlan3d(&plan, 1 << 26, 1 << 26, 1 << 26, CUFFT_C2C), CUFFT_INVALID_SIZE);
    assert_int_equal(cufftPlanMany(&plan, 3, n, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1),
                     CUFFT_INVALID_SIZE);
    n[1] = 4;
    for (int rank = 0; rank <= MOST_RANK + 1; rank += MOST_RANK + 1)
        assert_int_equal(cufftPlanMany(&plan, rank, n, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1),
                         CUFFT_INVALID_VALUE);
    assert_int_equal(cufftPlanMany(&plan, 3, NULL, NULL, 1, 1, NULL, 1, 1, CUFFT_C2C, 1),
                     CUFFT_INVALID_VALUE);
    assert_int_equal(cufftPlanMany(&plan, 3, n, none, 1, 64, NULL, 1, 1, CUFFT_C2C, 1),
                     CUFFT_INVALID_VALUE);
    assert_int_equal(cufftPlanMany(&plan, 3, n, embed, 0, 64, NULL, 1, 1, CUFFT_C2C, 1),
                     CUFFT_INVALID_VALUE);
    assert_int_equal(cufftPlanMany(&plan, 3, n, NULL, 1, 64, embed, 1, -1, CUFFT_C2C, 1),
                     CUFFT_INVALID_VALUE);
    assert_int_equal(cufftEstimate1d(4, CUFFT_C2C, 1, NULL), CUFFT_INVALID_VALUE);
    assert_int_equal(cufftMakePlan1d(CUFFT_PLAN_NULL, 4, CUFFT_C2C, 1, &bytes), CUFFT_INVALID_PLAN);
    check(cufftCreate(&plan));
    assert_int_equal(cufftMakePlan1d(plan, 4, CUFFT_C2C, 1, NULL), CUFFT_INVALID_VALUE);
    check(cufftMakePlan1d(plan, 4, CUFFT_C2C, 1, &bytes));
    assert_int_equal(cufftMakePlan1d(plan, 4, CUFFT_C2C, 1, &bytes), CUFFT_INVALID_PLAN);
    check(cufftDestroy(plan));
}

static void calls_that_cannot_be_are_refused(void **state) {
    (void)state;
    CUdeviceptr data;
    cufftHandle plan, empty;
    assert_int_equal(cuMemAlloc(&data, 64), CUDA_SUCCESS);
    void *memory = (void *)(uintptr_t)data, *odd = (void *)(uintptr_t)(data + 4);
    check(cufftPlan1d(&plan, 4, CUFFT_C2C, 1));
    check(cufftCreate(&empty));
    assert_int_equal(cufftExecC2C(CUFFT_PLAN_NULL, memory, memory, CUFFT_FORWARD),
                     CUFFT_INVALID_PLAN);
    assert_int_equal(cufftExecC2C(empty, memory, memory, CUFFT_FORWARD), CUFFT_INVALID_PLAN);
    assert_int_equal(cufftExecC2C(plan, NULL, memory, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
    assert_int_equal(cufftExecC2C(plan, memory, NULL, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
    assert_int_equal(cufftExecC2C(plan, odd, memory, CUFFT_FORWARD), CUFFT_INVALID_VALUE);
    assert_int_equal(cufftExecC2C(plan, memory, memory, 0), CUFFT_INVALID_VALUE);
    assert_int_equal(cufftExecR2C(plan, memory, memory), CUFFT_INVALID_TYPE);
    assert_int_equal(cufftExecZ2Z(plan, memory, memory, CUFFT_FORWARD), CUFFT_INVALID_TYPE);
    assert_int_equal(cufftSetStream(CUFFT_PLAN_NULL, NULL), CUFFT_INVALID_PLAN);
    assert_int_equal(cufftSetWorkArea(CUFFT_PLAN_NULL, NULL), CUFFT_INVALID_PLAN);
    assert_int_equal(cufftSetAutoAllocation(CUFFT_PLAN_NULL, 1), CUFFT_INVALID_PLAN);
    check(cufftDestroy(plan));
    check(cufftDestroy(empty));
    check(cufftDestroy(CUFFT_PLAN_NULL));
    cuMemFree(data);
}

static void versions_are_those_of_the_header(void **state) {
    (void)state;
    int version, parts[3];
    check(cufftGetVersion(&version));
    for (int i = 0; i < 3; i++)
        check(cufftGetProperty((libraryPropertyType)i, &parts[i]));
    assert_int_equal(version, CUFFT_VERSION);
    assert_int_equal(version, parts[0] * 1000 + parts[1] * 100 + parts[2]);
    assert_int_equal(cufftGetVersion(NULL), CUFFT_INVALID_VALUE);
    assert_int_equal(cufftGetProperty((libraryPropertyType)3, &version), CUFFT_INVALID_TYPE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_short_length_is_right),
        cmocka_unit_test(primes_powers_and_products_are_right),
        cmocka_unit_test(long_lines_are_right),
        cmocka_unit_test(a_wave_of_a_million_points_is_one_number),
        cmocka_unit_test(two_and_three_dimensions_are_right),
        cmocka_unit_test(in_place_reals_are_padded),
        cmocka_unit_test(strides_distances_and_embedding_are_kept),
        cmocka_unit_test(a_side_without_embedding_is_contiguous),
        cmocka_unit_test(real_results_ignore_imaginary_parts_without_a_partner),
        cmocka_unit_test(every_way_to_make_a_plan_makes_the_same),
        cmocka_unit_test(the_type_less_call_runs_each_type),
        cmocka_unit_test(work_areas_have_the_size_that_is_told),
        cmocka_unit_test(plans_run_in_their_stream),
        cmocka_unit_test(handles_are_numbers_and_are_used_again),
        cmocka_unit_test(plans_that_cannot_be_are_refused),
        cmocka_unit_test(calls_that_cannot_be_are_refused),
        cmocka_unit_test(versions_are_those_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
