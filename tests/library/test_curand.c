/* Our cuRAND. Sequences must equal those of the host generator in NVIDIA's libcurand 10.4 (CUDA
 * 13.0), which by its documentation are those of the device. Distributions without such a sequence
 * are checked by their moments. PHILOX with seed 0 starts with the known answer of Random123,
 * MRG32k3a with that of L'Ecuyer's program. */
#include "tyto/curand.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../thin.h"
#include "tyto/cuda.h"

static curandGenerator_t make(curandRngType_t type, unsigned long long seed) {
    curandGenerator_t generator;
    assert_int_equal(curandCreateGeneratorHost(&generator, type), CURAND_STATUS_SUCCESS);
    if (type < CURAND_RNG_QUASI_DEFAULT)
        assert_int_equal(curandSetPseudoRandomGeneratorSeed(generator, seed),
                         CURAND_STATUS_SUCCESS);
    return generator;
}

static void check(curandStatus_t status) { assert_int_equal(status, CURAND_STATUS_SUCCESS); }

static void bits_are_those_of_the_known_sequences(void **state) {
    (void)state;
    static const struct {
        curandRngType_t type;
        unsigned long long seed, offset;
        size_t at; /* position of the known numbers */
        unsigned known[4];
    } rows[] = {
        {CURAND_RNG_PSEUDO_XORWOW, 0, 0, 0, {3179217846, 3955638199, 167591721, 4161663997}},
        {CURAND_RNG_PSEUDO_XORWOW, 1234, 0, 0, {624778773, 3522650202, 2363946744, 1266286439}},
        {CURAND_RNG_PSEUDO_XORWOW, 1234, 0, 4095, {3856448218, 1867875844, 3978931785, 3486847504}},
        {CURAND_RNG_PSEUDO_XORWOW, 1234, 0, 9000, {3222088252, 87932925, 560411473, 337894866}},
        {CURAND_RNG_PSEUDO_XORWOW,
         0x123456789abcdef0,
         5001,
         0,
         {1093987577, 3996052649, 2293750060, 1994427406}},
        {CURAND_RNG_PSEUDO_MRG32K3A, 0, 0, 0, {545508615, 341016064, 1125210161, 2161280324}},
        {CURAND_RNG_PSEUDO_MRG32K3A,
         1234,
         0,
         81919,
         {928654669, 2521876100, 2890950871, 820119008}},
        {CURAND_RNG_PSEUDO_MRG32K3A,
         0x123456789abcdef0,
         100000,
         0,
         {2926902273, 2823738311, 1683925659, 3662612604}},
        {CURAND_RNG_PSEUDO_PHILOX4_32_10,
         0,
         0,
         0,
         {1713891541, 3781805453, 3159862348, 2600524760}},
        {CURAND_RNG_PSEUDO_PHILOX4_32_10,
         1234,
         0,
         262143,
         {2385104922, 2666454581, 482218876, 4196888723}},
        {CURAND_RNG_PSEUDO_PHILOX4_32_10,
         0x123456789abcdef0,
         1001,
         0,
         {1304088646, 4127823936, 4007369263, 296805379}},
    };
    enum { FAR = 5000 };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (is_thin() && rows[i].at + rows[i].offset > FAR) continue; /* it makes all before */
        unsigned *numbers = malloc((rows[i].at + 4) * sizeof *numbers);
        curandGenerator_t generator = make(rows[i].type, rows[i].seed);
        if (rows[i].offset) check(curandSetGeneratorOffset(generator, rows[i].offset));
        check(curandGenerate(generator, numbers, rows[i].at + 4));
        assert_memory_equal(numbers + rows[i].at, rows[i].known, sizeof rows[i].known);
        /* the same in two calls, wherever they split the streams */
        if (rows[i].at) {
            check(curandSetPseudoRandomGeneratorSeed(generator, rows[i].seed));
            check(curandGenerate(generator, numbers, rows[i].at + 1));
            check(curandGenerate(generator, numbers, 3));
            assert_memory_equal(numbers, rows[i].known + 1, 3 * sizeof *numbers);
        }
        check(curandDestroyGenerator(generator));
        free(numbers);
    }
}

/* The first of 4 numbers, and the number after two rounds of XORWOW's streams. */
typedef struct Known {
    curandRngType_t type;
    double uniform[2], uniform_double[2], normal[2], normal_double[2];
} Known;

static void distributions_are_those_of_the_known_sequences(void **state) {
    (void)state;
    enum { COUNT = 8194, LATER = 8192 };
    static const Known rows[] = {
        {CURAND_RNG_PSEUDO_XORWOW,
         {0.145467639, 0.870710075},
         {0.43489880438841294, 0.58241812519857272},
         {0.780973554, 0.14628233},
         {0.35873979852445503, -1.012186076699239}},
        {CURAND_RNG_PSEUDO_MRG32K3A,
         {0.786751866, 0.661126792},
         {0.78675186271572939, 0.6611267787347308},
         {-0.360653788, 0.0625285357},
         {-0.36065364611174472, 0.062528533542575662}},
        {CURAND_RNG_PSEUDO_PHILOX4_32_10,
         {0.12720795, 0.947774887},
         {0.85346899543001431, 0.90079586464982109},
         {-1.61649048, -0.191190943},
         {-0.53952669590731883, 0.45168670990377868}},
    };
    float *single = malloc(COUNT * sizeof *single);
    double *numbers = malloc(COUNT * sizeof *numbers);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int what = 0; what < 6; what++) {
            if (((int)i + what) % thin_step() != 0) continue;
            curandGenerator_t generator = make(rows[i].type, 1234);
            if (what == 0) check(curandGenerateUniform(generator, single, COUNT));
            if (what == 1) check(curandGenerateUniformDouble(generator, numbers, COUNT));
            if (what == 2) check(curandGenerateNormal(generator, single, COUNT, 0, 1));
            if (what == 3) check(curandGenerateNormalDouble(generator, numbers, COUNT, 2, 3));
            if (what == 4) check(curandGenerateLogNormal(generator, single, COUNT, 1, 0.5f));
            if (what == 5) check(curandGenerateLogNormalDouble(generator, numbers, COUNT, 0, 1));
            for (int late = 0; late < 2; late++) {
                double got = what % 2 ? numbers[late * LATER] : (double)single[late * LATER];
                const double expected[] = {rows[i].uniform[late],
                                           rows[i].uniform_double[late],
                                           rows[i].normal[late],
                                           2 + 3 * rows[i].normal_double[late],
                                           exp(1 + 0.5 * rows[i].normal[late]),
                                           exp(rows[i].normal_double[late])};
                assert_true(fabs(got - expected[what]) < (what % 2 ? 1e-14 : 2e-6));
            }
            check(curandDestroyGenerator(generator));
        }
    }
    free(single);
    free(numbers);
}

static void sobol_points_stand_dimension_by_dimension(void **state) {
    (void)state;
    static const unsigned first[12] = {0, 2147483648, 3221225472, 1073741824,
                                       0, 2147483648, 1073741824, 3221225472,
                                       0, 2147483648, 1073741824, 3221225472};
    static const unsigned last_dimension[3] = {3221225472, 1073741824, 3758096384};
    unsigned numbers[300];
    curandGenerator_t generator = make(CURAND_RNG_QUASI_SOBOL32, 0);
    check(curandSetQuasiRandomGeneratorDimensions(generator, 3));
    check(curandGenerate(generator, numbers, 12));
    assert_memory_equal(numbers, first, sizeof first);
    check(curandSetGeneratorOffset(generator, 0));
    check(curandGenerate(generator, numbers, 6)); /* the next call continues */
    check(curandGenerate(generator, numbers, 6));
    assert_int_equal(numbers[0], first[2]);
    assert_int_equal(numbers[5], first[11]);
    check(curandSetQuasiRandomGeneratorDimensions(generator, 100));
    check(curandSetGeneratorOffset(generator, 2));
    check(curandGenerate(generator, numbers, 300));
    assert_memory_equal(numbers + 297, last_dimension, sizeof last_dimension);
    assert_int_equal(curandGenerate(generator, numbers, 150), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    check(curandDestroyGenerator(generator));
}

/* Among any 2^k consecutive points from the start, each interval of 2^-k has one, scrambled or
 * not. */
static void sobol_points_fill_the_interval(void **state) {
    (void)state;
    for (int scrambled = 0; scrambled < 2; scrambled++) {
        unsigned numbers[4 * 64];
        curandGenerator_t generator =
            make(scrambled ? CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 : CURAND_RNG_QUASI_SOBOL32, 0);
        check(curandSetQuasiRandomGeneratorDimensions(generator, 4));
        check(curandGenerate(generator, numbers, 4 * 64));
        for (int d = 0; d < 4; d++) {
            int seen[64] = {0};
            for (int i = 0; i < 64; i++)
                seen[numbers[d * 64 + i] >> 26]++;
            for (int i = 0; i < 64; i++)
                assert_int_equal(seen[i], 1);
        }
        check(curandDestroyGenerator(generator));
    }
}

static void normal_numbers_of_sobol_are_quantiles(void **state) {
    (void)state;
    double numbers[4];
    curandGenerator_t generator = make(CURAND_RNG_QUASI_SOBOL32, 0);
    check(curandGenerateNormalDouble(generator, numbers, 4, 0, 1));
    assert_true(fabs(numbers[1]) < 1e-8); /* slightly above the quantile of one half */
    assert_true(fabs(numbers[2] - 0.6744897501960817) < 1e-8);
    assert_true(fabs(numbers[3] + 0.6744897501960817) < 1e-8);
    check(curandDestroyGenerator(generator));
}

static void poisson_numbers_have_their_mean_and_variance(void **state) {
    (void)state;
    const int count = 20000;
    static const double means[] = {0.5, 10, 700, 5000};
    static const curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                                            CURAND_RNG_PSEUDO_PHILOX4_32_10,
                                            CURAND_RNG_QUASI_SOBOL32};
    unsigned *numbers = malloc((size_t)count * sizeof *numbers);
    for (int t = 0; t < 4; t++) {
        for (int m = 0; m < 4; m++) {
            if ((t + m) % thin_step() != 0) continue;
            curandGenerator_t generator = make(types[t], 7);
            double sum = 0, squares = 0, mean = means[m];
            check(curandGeneratePoisson(generator, numbers, (size_t)count, mean));
            for (int i = 0; i < count; i++) {
                sum += numbers[i] - mean;
                squares += (numbers[i] - mean) * (numbers[i] - mean);
            }
            assert_true(fabs(sum / count) < 5 * sqrt(mean / count));
            assert_true(fabs(squares / count / mean - 1) < 0.08);
            check(curandDestroyGenerator(generator));
        }
    }
    free(numbers);
}

static void a_generator_of_the_device_gives_the_same(void **state) {
    (void)state;
    unsigned there[100], here[100];
    curandGenerator_t host = make(CURAND_RNG_PSEUDO_DEFAULT, 5), device;
    CUdeviceptr buffer;
    assert_int_equal(cuMemAlloc(&buffer, sizeof there), CUDA_SUCCESS);
    check(curandCreateGenerator(&device, CURAND_RNG_PSEUDO_XORWOW));
    check(curandSetPseudoRandomGeneratorSeed(device, 5));
    check(curandSetGeneratorOrdering(device, CURAND_ORDERING_PSEUDO_LEGACY));
    check(curandGenerateSeeds(device));
    check(curandGenerate(device, (unsigned *)(uintptr_t)buffer, 100));
    check(curandGenerate(host, here, 100));
    assert_int_equal(cuMemcpyDtoH(there, buffer, sizeof there), CUDA_SUCCESS);
    assert_memory_equal(there, here, sizeof here);
    assert_int_equal(cuMemFree(buffer), CUDA_SUCCESS);
    check(curandDestroyGenerator(host));
    check(curandDestroyGenerator(device));
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    curandGenerator_t generator = NULL, quasi = make(CURAND_RNG_QUASI_SOBOL32, 0);
    float numbers[4];
    assert_int_equal(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MT19937),
                     CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandCreateGenerator(&generator, (curandRngType_t)7),
                     CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandGenerateUniform(NULL, numbers, 4), CURAND_STATUS_NOT_INITIALIZED);
    assert_int_equal(curandDestroyGenerator(NULL), CURAND_STATUS_NOT_INITIALIZED);
    assert_int_equal(curandSetPseudoRandomGeneratorSeed(quasi, 1), CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandSetQuasiRandomGeneratorDimensions(quasi, 20001),
                     CURAND_STATUS_OUT_OF_RANGE);
    assert_int_equal(curandSetGeneratorOrdering(quasi, CURAND_ORDERING_PSEUDO_BEST),
                     CURAND_STATUS_OUT_OF_RANGE);
    generator = make(CURAND_RNG_PSEUDO_XORWOW, 1);
    assert_int_equal(curandGenerateNormal(generator, numbers, 3, 0, 1),
                     CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    assert_int_equal(curandGeneratePoisson(generator, (unsigned *)(void *)numbers, 4, -1),
                     CURAND_STATUS_OUT_OF_RANGE);
    assert_int_equal(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_SEEDED),
                     CURAND_STATUS_OUT_OF_RANGE);
    check(curandDestroyGenerator(generator));
    check(curandDestroyGenerator(quasi));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_the_known_sequences),
        cmocka_unit_test(distributions_are_those_of_the_known_sequences),
        cmocka_unit_test(sobol_points_stand_dimension_by_dimension),
        cmocka_unit_test(sobol_points_fill_the_interval),
        cmocka_unit_test(normal_numbers_of_sobol_are_quantiles),
        cmocka_unit_test(poisson_numbers_have_their_mean_and_variance),
        cmocka_unit_test(a_generator_of_the_device_gives_the_same),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
