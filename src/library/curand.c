/* cuRAND's host interface. A generator consists of the states of its streams on the device and the
 * position of the next number in them. A call launches one kernel that fills the output and
 * advances the states. */
#include "tyto/curand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "library/device.h"
#include "library/random_seed.h"

extern const char random_kernels[]; /* PTX text of random_kernels.cu */

struct curandGenerator_st {
    Device device;
    curandRngType_t type;
    const RandomKind *kind; /* how its streams work; NULL for PHILOX and SOBOL */
    CUdeviceptr states;     /* device address of the states; 0: not made yet */
    CUdeviceptr vectors;    /* SOBOL: likewise for direction numbers; 0: not made yet */
    uint64_t seed, offset;  /* as set */
    uint64_t position;      /* PHILOX: numbers generated so far; SOBOL: points */
    uint32_t next;          /* stream of the next number */
    uint32_t dimensions;    /* SOBOL only */
    bool is_host;           /* writes numbers to host memory */
};

static bool is_quasi(curandGenerator_t g) { return g->type >= CURAND_RNG_QUASI_DEFAULT; }

static curandStatus_t status_of(CUresult result) {
    return result == CUDA_SUCCESS ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

/* ---- Generators ---- */

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool is_host) {
    static const struct {
        curandRngType_t asked, type;
        const RandomKind *kind;
    } rows[] = {
        {CURAND_RNG_PSEUDO_DEFAULT, CURAND_RNG_PSEUDO_XORWOW, &random_xorwow},
        {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_XORWOW, &random_xorwow},
        {CURAND_RNG_PSEUDO_MRG32K3A, CURAND_RNG_PSEUDO_MRG32K3A, &random_mrg},
        {CURAND_RNG_PSEUDO_PHILOX4_32_10, CURAND_RNG_PSEUDO_PHILOX4_32_10, NULL},
        {CURAND_RNG_QUASI_DEFAULT, CURAND_RNG_QUASI_SOBOL32, NULL},
        {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SOBOL32, NULL},
        {CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, NULL},
    };
    size_t row = 0;
    while (row < sizeof rows / sizeof rows[0] && rows[row].asked != type)
        row++;
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    *generator = NULL;
    if (row == sizeof rows / sizeof rows[0]) {
        device_say_missing("curandCreateGenerator for MTGP32, MT19937 or SOBOL64");
        return CURAND_STATUS_TYPE_ERROR;
    }
    curandGenerator_t g = base_calloc(1, sizeof *g);
    if (!device_open(&g->device, random_kernels)) {
        free(g);
        return CURAND_STATUS_INITIALIZATION_FAILED;
    }
    g->type = rows[row].type;
    g->kind = rows[row].kind;
    g->dimensions = 1;
    g->is_host = is_host;
    *generator = g;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) {
    return create(generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) {
    return create(generator, type, true);
}

/* Restarts the sequence with the next numbers. */
static void forget(curandGenerator_t g) {
    cuMemFree(g->states);
    cuMemFree(g->vectors);
    g->states = g->vectors = 0;
    g->position = g->offset;
    g->next = 0;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    forget(generator);
    device_close(&generator->device);
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version) {
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
    static const int parts[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    if (!value || (unsigned)type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
    *value = parts[type];
    return CURAND_STATUS_SUCCESS;
}

/* ---- Settings ---- */

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->device.stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
    generator->seed = seed;
    forget(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->offset = offset;
    forget(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (order == CURAND_ORDERING_PSEUDO_SEEDED) {
        device_say_missing("CURAND_ORDERING_PSEUDO_SEEDED");
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    bool is_of_quasi = order == CURAND_ORDERING_QUASI_DEFAULT;
    if (order < CURAND_ORDERING_PSEUDO_BEST ||
        (order > CURAND_ORDERING_PSEUDO_DYNAMIC && !is_of_quasi) ||
        is_of_quasi != is_quasi(generator))
        return CURAND_STATUS_OUT_OF_RANGE;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                       unsigned int dimensions) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (!is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions < 1 || dimensions > RANDOM_SOBOL_DIMENSIONS) return CURAND_STATUS_OUT_OF_RANGE;
    generator->dimensions = dimensions;
    forget(generator);
    return CURAND_STATUS_SUCCESS;
}

/* ---- Initial states ---- */

static CUdeviceptr put(const void *data, size_t bytes) {
    CUdeviceptr address = 0;
    if (cuMemAlloc(&address, bytes) != CUDA_SUCCESS) return 0;
    if (cuMemcpyHtoD(address, data, bytes) == CUDA_SUCCESS) return address;
    cuMemFree(address);
    return 0;
}

static CUresult launch(curandGenerator_t g, const char *kernel, uint64_t threads,
                       void *parameters) {
    enum { BLOCK = 256, MOST_BLOCKS = 1 << 16 };
    uint64_t blocks = (threads + BLOCK - 1) / BLOCK;
    const uint32_t grid[3] = {(uint32_t)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS), 1, 1};
    return device_launch(&g->device, kernel, NULL, grid, BLOCK, parameters);
}

static curandStatus_t seed_states(curandGenerator_t g) {
    const RandomKind *kind = g->kind;
    uint32_t *jumps = base_calloc(kind->jump_words, sizeof *jumps);
    kind->make_jumps(jumps);
    RandomSeed p = {.jumps = put(jumps, kind->jump_words * sizeof *jumps),
                    .streams = kind->streams};
    free(jumps);
    kind->start(g->seed, g->offset / kind->streams, p.first);
    if (!p.jumps ||
        cuMemAlloc(&g->states, (size_t)kind->streams * sizeof p.first) != CUDA_SUCCESS) {
        cuMemFree(p.jumps);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    p.states = g->states;
    CUresult result = launch(g, kind->seed_kernel, kind->streams, &p);
    if (result == CUDA_SUCCESS) result = cuStreamSynchronize(g->device.stream);
    cuMemFree(p.jumps);
    g->next = (uint32_t)(g->offset % kind->streams);
    if (result != CUDA_SUCCESS || g->next == 0) return status_of(result);
    /* an offset within a round: the earlier streams have generated one number more */
    CUdeviceptr unused = device_scratch(&g->device, g->next * sizeof(uint32_t));
    RandomFill fill = {
        .out = unused, .items = g->next, .states = g->states, .streams = kind->streams};
    return unused ? status_of(launch(g, kind->kernel, kind->streams, &fill))
                  : CURAND_STATUS_ALLOCATION_FAILED;
}

/* A different number for each dimension, with which it is scrambled by XOR: the finalizer of
 * MurmurHash3. */
static uint32_t scramble_of(uint32_t dimension) {
    uint32_t x = (dimension + 1) * 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

static curandStatus_t make_vectors(curandGenerator_t g) {
    bool is_scrambled = g->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32;
    uint32_t *vectors = base_calloc((size_t)g->dimensions * 33, sizeof *vectors);
    for (uint32_t d = 0; d < g->dimensions; d++) {
        random_sobol_vectors(d, vectors + 33 * (size_t)d);
        vectors[33 * d + 32] = is_scrambled ? scramble_of(d) : 0;
    }
    g->vectors = put(vectors, (size_t)g->dimensions * 33 * sizeof *vectors);
    free(vectors);
    return g->vectors ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

static curandStatus_t prepare(curandGenerator_t g) {
    if (g->kind) return g->states ? CURAND_STATUS_SUCCESS : seed_states(g);
    if (is_quasi(g)) return g->vectors ? CURAND_STATUS_SUCCESS : make_vectors(g);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    return generator ? prepare(generator) : CURAND_STATUS_NOT_INITIALIZED;
}

/* ---- Numbers ---- */

/* The number of each distribution: its bytes, and how many are generated at once. */
static const struct {
    uint8_t bytes, numbers;
} shapes[] = {
    [RANDOM_BITS] = {4, 1},
    [RANDOM_UNIFORM] = {4, 1},
    [RANDOM_UNIFORM_DOUBLE] = {8, 1},
    [RANDOM_NORMAL] = {4, 2},
    [RANDOM_LOG_NORMAL] = {4, 2},
    [RANDOM_NORMAL_DOUBLE] = {8, 2},
    [RANDOM_LOG_NORMAL_DOUBLE] = {8, 2},
    [RANDOM_POISSON] = {4, 1},
};

/* Fills device memory, and advances the generator. */
static curandStatus_t fill(curandGenerator_t g, RandomFill p, size_t count) {
    p.items = count / (g->kind ? shapes[p.shape].numbers : 1);
    if (g->kind) {
        p.states = g->states;
        p.streams = g->kind->streams;
        p.start = g->next;
        g->next = (uint32_t)((g->next + p.items) % p.streams);
        return status_of(launch(g, g->kind->kernel, p.streams, &p));
    }
    if (is_quasi(g)) {
        p.vectors = g->vectors;
        p.dimensions = g->dimensions;
        p.position = g->position;
        g->position += count / g->dimensions;
        return status_of(launch(g, "fill_sobol", p.items, &p));
    }
    p.position = g->position;
    p.key[0] = (uint32_t)g->seed;
    p.key[1] = (uint32_t)(g->seed >> 32);
    g->position += count;
    return status_of(launch(g, "fill_philox", p.items, &p));
}

/* The same for host memory, if the generator is a host generator. */
static curandStatus_t generate(curandGenerator_t g, void *out, size_t count, RandomFill p) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    size_t bytes = count * shapes[p.shape].bytes;
    if (count % (is_quasi(g) ? g->dimensions : shapes[p.shape].numbers))
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    curandStatus_t status = prepare(g);
    if (status || count == 0) return status;
    p.out = device_address(out);
    if (!g->is_host) return fill(g, p, count);
    CUdeviceptr copy;
    if (cuMemAlloc(&copy, bytes) != CUDA_SUCCESS) return CURAND_STATUS_ALLOCATION_FAILED;
    p.out = copy;
    status = fill(g, p, count);
    if (!status) status = status_of(cuStreamSynchronize(g->device.stream));
    if (!status) status = status_of(cuMemcpyDtoH(out, copy, bytes));
    cuMemFree(copy);
    return status;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *out, size_t count) {
    return generate(generator, out, count, (RandomFill){.shape = RANDOM_BITS});
}

/* For 64-bit generators, which are not supported. */
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long *out,
                                      size_t count) {
    (void)out, (void)count;
    return generator ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t count) {
    return generate(generator, out, count, (RandomFill){.shape = RANDOM_UNIFORM});
}

curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t count) {
    return generate(generator, out, count, (RandomFill){.shape = RANDOM_UNIFORM_DOUBLE});
}

#define NORMAL(name, T, shape_)                                                                    \
    curandStatus_t name(curandGenerator_t generator, T *out, size_t count, T mean, T deviation) {  \
        return generate(                                                                           \
            generator, out, count,                                                                 \
            (RandomFill){.shape = shape_, .mean = (double)mean, .deviation = (double)deviation});  \
    }
NORMAL(curandGenerateNormal, float, RANDOM_NORMAL)
NORMAL(curandGenerateNormalDouble, double, RANDOM_NORMAL_DOUBLE)
NORMAL(curandGenerateLogNormal, float, RANDOM_LOG_NORMAL)
NORMAL(curandGenerateLogNormalDouble, double, RANDOM_LOG_NORMAL_DOUBLE)

/* ---- Poisson ---- */

/* Above this mean a rounded normal number is used, as in NVIDIA's library. */
static const double least_normal_mean = 2000;

/* The cumulative probabilities around the mean, as far as 32-bit numbers can reach. */
static double *make_table(double mean, RandomFill *p) {
    double reach = 12 * sqrt(mean) + 24, first = floor(mean - reach);
    p->table_first = first > 0 ? (uint32_t)first : 0;
    p->table_count = (uint32_t)(mean + reach) - p->table_first + 1;
    double *table = base_calloc(p->table_count, sizeof *table), sum = 0;
    for (uint32_t i = 0; i < p->table_count; i++) {
        double k = (double)p->table_first + i;
        sum += exp(k * log(mean) - mean - lgamma(k + 1));
        table[i] = sum;
    }
    return table;
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *out, size_t count,
                                     double lambda) {
    RandomFill p = {.shape = RANDOM_POISSON, .mean = lambda, .deviation = sqrt(lambda)};
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (!(lambda > 0 && lambda <= 400000)) return CURAND_STATUS_OUT_OF_RANGE;
    if (lambda >= least_normal_mean) return generate(generator, out, count, p);
    double *table = make_table(lambda, &p);
    p.table = put(table, p.table_count * sizeof *table);
    free(table);
    if (!p.table) return CURAND_STATUS_ALLOCATION_FAILED;
    curandStatus_t status = generate(generator, out, count, p);
    CUresult result = cuStreamSynchronize(generator->device.stream);
    cuMemFree(p.table);
    return status ? status : status_of(result);
}
