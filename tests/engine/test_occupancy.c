/* How many CTAs fit on an SM: each limit alone, including the rounding of resources. Machine
 * gtx480: 1536 threads, 8 CTAs, 32768 registers in units of four, 48 KiB of shared memory. For
 * machines that model a GPU with a compute capability, NVIDIA's calculator gives the expected
 * values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "random_bytes.h"
#include "sm/carve_out.h"
#include "timed.h"

enum { KIB = 1024 };

/* A machine and a kernel that needs no resources. */
typedef struct Bench {
    Timed timed;
    GpuModule *module;
} Bench;

static Bench start(const char *machine, const char *sets) {
    static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                              ".visible .entry nothing() { ret; }\n";
    Bench bench;
    timed_start(&bench.timed, machine, sets, "lrr");
    GpuImage image = {.name = "test.ptx", .text = ptx, .length = strlen(ptx)};
    bench.module = gpu_load(bench.timed.gpu, &image, 1, bench.timed.diag);
    assert_non_null(bench.module);
    return bench;
}

static void stop(Bench *bench) {
    gpu_unload(bench->module);
    timed_stop(&bench->timed);
}

/* CTAs of `threads` threads with `registers` each and `shared` bytes. */
static uint32_t ctas_of(Bench *bench, uint32_t threads, uint32_t registers, uint32_t shared) {
    gpu_options(bench->timed.gpu)->registers = registers;
    return gpu_occupancy(bench->timed.gpu, bench->module,
                         gpu_find_function(bench->module, "nothing"), threads, shared);
}

static uint32_t occupancy(const char *sets, uint32_t threads, uint32_t registers, uint32_t shared) {
    Bench bench = start("gtx480", sets);
    uint32_t ctas = ctas_of(&bench, threads, registers, shared);
    stop(&bench);
    return ctas;
}

static void slots_and_threads_bound_small_and_large_ctas(void **state) {
    (void)state;
    assert_int_equal(occupancy("", 32, 8, 0), 8);
    assert_int_equal(occupancy("", 192, 8, 0), 8);
    assert_int_equal(occupancy("", 193, 8, 0), 6); /* seven warps, so 224 threads */
    assert_int_equal(occupancy("", 224, 8, 0), 6);
    assert_int_equal(occupancy("", 1024, 8, 0), 1);
}

static void a_threads_registers_are_rounded_up(void **state) {
    (void)state;
    assert_int_equal(occupancy("", 256, 20, 0), 6); /* 5,120 per CTA: 6.4; threads allow 6 */
    assert_int_equal(occupancy("", 256, 21, 0), 5); /* like 24: 6,144 per CTA: 5.3 */
    assert_int_equal(occupancy("", 256, 24, 0), 5);
    assert_int_equal(occupancy("", 256, 25, 0), 4); /* like 28: 7,168 per CTA: 4.6 */
    assert_int_equal(occupancy("sm.register_granularity=1", 256, 21, 0), 6);
    assert_int_equal(occupancy("sm.register_granularity=64", 256, 1, 0), 2);
    assert_int_equal(occupancy("", 1024, 33, 0), 0); /* 36,864, more than there are */
}

static void a_ctas_shared_memory_is_rounded_up(void **state) {
    (void)state;
    assert_int_equal(occupancy("", 32, 8, 8192), 6);
    assert_int_equal(occupancy("", 32, 8, 8193), 5);
    assert_int_equal(occupancy("shared.granularity=256B", 32, 8, 7937), 6); /* like 8,192 */
    assert_int_equal(occupancy("shared.granularity=1KiB", 32, 8, 7169), 6);
    assert_int_equal(occupancy("shared.granularity=1KiB", 32, 8, 6145), 6); /* like 7,168 */
    assert_int_equal(occupancy("", 32, 8, 6145), 7);
}

static void a_warps_registers_lie_in_one_sub_core(void **state) {
    (void)state;
    const char four[] = "scheduler.count=4 sm.subcores=4"; /* 8,192 registers each */
    /* 1,536 per warp: five in a sub-core, twenty in all; 21 would fit together */
    assert_int_equal(occupancy("scheduler.count=4", 224, 48, 0), 3);
    assert_int_equal(occupancy(four, 224, 48, 0), 2);
    assert_int_equal(occupancy(four, 160, 48, 0), 4);
    assert_int_equal(occupancy(four, 32 * 21, 48, 0), 0);
}

static void the_systems_part_of_shared_memory_is_of_every_cta(void **state) {
    (void)state;
    const char *reserved = "shared.reserved=1KiB shared.granularity=128B";
    assert_int_equal(occupancy(reserved, 32, 8, 0), 8);
    assert_int_equal(occupancy(reserved, 32, 8, 7168), 6);
    assert_int_equal(occupancy(reserved, 32, 8, 7169), 5);
    assert_int_equal(occupancy(reserved, 32, 8, 47 * KIB), 1);
    Bench bench = start("gtx480", reserved);
    assert_int_equal(gpu_limits(bench.timed.gpu).shared_per_cta, 47 * KIB);
    assert_int_equal(gpu_limits(bench.timed.gpu).shared_reserved, KIB);
    stop(&bench);
}

/* The machines that model GPUs, and the limits that the GPU's driver reports (CUDA programming
 * guide, "Technical Specifications per Compute Capability"). */
static const struct {
    const char *machine;
    int major, minor;
    uint32_t threads, ctas, shared_per_sm, shared_per_cta, reserved;
} gpus[] = {{"qv100", 7, 0, 2048, 32, 96 * KIB, 96 * KIB, 0},
            {"v100", 7, 0, 2048, 32, 96 * KIB, 96 * KIB, 0},
            {"a100", 8, 0, 2048, 32, 164 * KIB, 163 * KIB, KIB},
            {"rtx3070", 8, 6, 1536, 16, 100 * KIB, 99 * KIB, KIB},
            {"rtx4090", 8, 9, 1536, 24, 100 * KIB, 99 * KIB, KIB},
            {"rtx5090", 12, 0, 1536, 24, 100 * KIB, 99 * KIB, KIB},
            {"h100", 9, 0, 2048, 32, 228 * KIB, 227 * KIB, KIB}};
enum { GPUS = sizeof gpus / sizeof *gpus };

static void a_gpus_limits_are_those_of_its_compute_capability(void **state) {
    (void)state;
    for (int i = 0; i < GPUS; i++) {
        Bench bench = start(gpus[i].machine, "");
        GpuLimits limits = gpu_limits(bench.timed.gpu);
        assert_int_equal(limits.threads_per_sm, gpus[i].threads);
        assert_int_equal(limits.ctas_per_sm, gpus[i].ctas);
        assert_int_equal(limits.registers_per_sm, 65536);
        assert_int_equal(limits.shared_per_sm, gpus[i].shared_per_sm);
        assert_int_equal(limits.shared_per_cta, gpus[i].shared_per_cta);
        assert_int_equal(limits.shared_reserved, gpus[i].reserved);
        stop(&bench);
    }
}

static void ctas_have_as_much_shared_memory_as_lets_so_many_fit(void **state) {
    (void)state;
    for (int i = 0; i < GPUS; i++) {
        Bench bench = start(gpus[i].machine, "");
        for (uint32_t ctas = 1; ctas <= gpus[i].ctas; ctas++) {
            uint32_t each = gpu_shared_of_each(bench.timed.gpu, ctas);
            assert_true(ctas_of(&bench, 32, 16, each) >= ctas);
            assert_true(ctas == 1 || ctas_of(&bench, 32, 16, each + 1) < ctas);
            assert_true(ctas > 1 || each == gpus[i].shared_per_cta);
        }
        stop(&bench);
    }
}

/* Results of cuda_occupancy.h in CUDA 13.0. If it is installed, the test below calls its code. */
static void some_ctas_fit_as_on_the_gpu(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        uint32_t threads, registers, shared, ctas;
    } rows[] = {
        {"qv100", 76, 32, 217, 21},  {"qv100", 18, 216, 40686, 2},    {"v100", 25, 96, 0, 20},
        {"v100", 91, 46, 1420, 13},  {"v100", 455, 131, 191, 0},      {"a100", 30, 62, 7348, 19},
        {"a100", 255, 76, 42013, 3}, {"a100", 20, 145, 0, 12},        {"rtx3070", 55, 7, 0, 16},
        {"rtx3070", 65, 65, 0, 9},   {"rtx3070", 131, 142, 10632, 2}, {"h100", 22, 89, 2135, 20},
        {"h100", 199, 4, 184143, 1}, {"h100", 32, 40, 4346, 32},      {"h100", 39, 135, 46288, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Bench bench = start(rows[i].machine, "");
        assert_int_equal(ctas_of(&bench, rows[i].threads, rows[i].registers, rows[i].shared),
                         rows[i].ctas);
        stop(&bench);
    }
}

#if __has_include("cuda_occupancy.h")
#include "cuda_occupancy.h"

typedef struct Case {
    uint32_t threads, registers, shared;
    int carve_out; /* preferred percentage, or -1 */
} Case;

static uint32_t next_below(uint64_t *seed, uint32_t bound) {
    return (uint32_t)(random_next(seed) % bound);
}

/* Sizes are uniform over powers of two, because small ones let several CTAs fit. */
static Case draw(uint64_t *seed, uint32_t most_shared) {
    uint32_t threads = 1024u >> next_below(seed, 6),
             shared = (most_shared + 1) >> next_below(seed, 12);
    int percent = (int)next_below(seed, 202) - 101;
    return (Case){.threads = 1 + next_below(seed, threads),
                  .registers = 1 + next_below(seed, 255),
                  .shared = next_below(seed, 4) ? next_below(seed, shared) : 0,
                  .carve_out = percent < -1 ? -1 : percent};
}

static int ctas_by_nvidia(int gpu, Case at) {
    const cudaOccDeviceProp device = {.computeMajor = gpus[gpu].major,
                                      .computeMinor = gpus[gpu].minor,
                                      .maxThreadsPerBlock = 1024,
                                      .maxThreadsPerMultiprocessor = (int)gpus[gpu].threads,
                                      .regsPerBlock = 65536,
                                      .regsPerMultiprocessor = 65536,
                                      .warpSize = 32,
                                      .sharedMemPerBlock = 48 * KIB,
                                      .sharedMemPerMultiprocessor = gpus[gpu].shared_per_sm,
                                      .numSms = 1,
                                      .sharedMemPerBlockOptin = gpus[gpu].shared_per_cta,
                                      .reservedSharedMemPerBlock = gpus[gpu].reserved};
    const cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024,
                                            .numRegs = (int)at.registers,
                                            .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                            .maxDynamicSharedSizeBytes = gpus[gpu].shared_per_cta,
                                            .numBlockBarriers = 1};
    const cudaOccDeviceState preference = {.carveoutConfig = at.carve_out};
    cudaOccResult result = {0};
    assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(
                         &result, &device, &function, &preference, (int)at.threads, at.shared),
                     CUDA_OCC_SUCCESS);
    return result.activeBlocksPerMultiprocessor;
}

static void as_many_ctas_fit_as_nvidias_calculator_says(void **state) {
    (void)state;
    uint64_t seed = 54;
    for (int gpu = 0; gpu < GPUS; gpu++) {
        Bench bench = start(gpus[gpu].machine, "");
        for (int i = 0; i < 2000 / GPUS; i++) {
            Case at = draw(&seed, gpus[gpu].shared_per_cta);
            uint32_t ctas = ctas_of(&bench, at.threads, at.registers, at.shared);
            ctas = carve_out_ctas(&bench.timed.config->sm, at.shared, ctas, at.carve_out);
            int theirs = ctas_by_nvidia(gpu, at);
            if ((int)ctas != theirs)
                fail_msg("%s: %u threads, %u registers, %u B, carve-out %d: %u CTAs, not %d",
                         gpus[gpu].machine, at.threads, at.registers, at.shared, at.carve_out, ctas,
                         theirs);
        }
        stop(&bench);
    }
}
#else
static void as_many_ctas_fit_as_nvidias_calculator_says(void **state) {
    (void)state;
    print_message("cuda_occupancy.h of the CUDA toolkit is not installed\n");
    skip();
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_and_threads_bound_small_and_large_ctas),
        cmocka_unit_test(a_threads_registers_are_rounded_up),
        cmocka_unit_test(a_ctas_shared_memory_is_rounded_up),
        cmocka_unit_test(a_warps_registers_lie_in_one_sub_core),
        cmocka_unit_test(the_systems_part_of_shared_memory_is_of_every_cta),
        cmocka_unit_test(a_gpus_limits_are_those_of_its_compute_capability),
        cmocka_unit_test(ctas_have_as_much_shared_memory_as_lets_so_many_fit),
        cmocka_unit_test(some_ctas_fit_as_on_the_gpu),
        cmocka_unit_test(as_many_ctas_fit_as_nvidias_calculator_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
