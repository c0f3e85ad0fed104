/* Handmade machine code, which also works where ptxas is not installed. Its kernel runs; damaged
 * files are refused, or run without harm.
 *
 * usage: test_sass_machine [DAMAGED]   DAMAGED: number of damaged files */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../sass/cubin_maker.h"
#include "engine/launch/gpu.h"

enum { DAMAGED = 3000 };

/* Loads the file and launches each of its kernels. Returns how many ended well. */
static uint32_t run(Gpu *gpu, const void *file, size_t size, GpuResult *result) {
    static const char parameters[1 << 16];
    Diag *diag = diag_new();
    const GpuImage image = {"made", file, size};
    GpuModule *module = gpu_load(gpu, &image, 1, diag);
    uint32_t good = 0;
    assert_int_equal(module == NULL, diag_error_count(diag) != 0);
    const uint32_t count = module ? gpu_module_program(module)->function_count : 0;
    for (uint32_t f = 0; f < count; f++) {
        const GpuLaunch launch = {.module = module,
                                  .function = (int)f,
                                  .grid = {2, 1, 1},
                                  .block = {48, 1, 1},
                                  .parameters = parameters};
        if (!gpu_module_ptx(module)->functions[f]->is_kernel) continue;
        gpu_launch(gpu, &launch, result);
        good += result->status == GPU_OK;
    }
    gpu_unload(module);
    diag_free(diag);
    return good;
}

static Gpu *new_gpu_with(GpuOptions options) {
    Diag *diag = diag_new();
    options.memory_bytes = 1 << 24;
    options.stack_bytes = 1 << 16;
    options.instruction_limit = 10000;
    Gpu *gpu = gpu_new(&options, diag);
    assert_non_null(gpu);
    diag_free(diag);
    return gpu;
}

static Gpu *new_gpu(void) { return new_gpu_with((GpuOptions){0}); }

static const uint64_t NOP[2] = {0x0000000000007918, 0x000fc00000000000};

/* Replaces the CALL, because its function returns to the address in R20. */
static void replace_call(Text *file, const uint64_t instruction[2]) {
    static const uint64_t call[] = {0x0000002000007944, 0x000fea0003c00000};
    char *at = memmem(file->bytes, file->length, call, sizeof call);
    assert_non_null(at);
    memcpy(at, instruction, sizeof call);
}

static void test_a_kernel_made_by_hand_runs(void **state) {
    (void)state;
    GpuResult *result = calloc(1, sizeof *result);
    Gpu *gpu = new_gpu();
    Text file = {0};
    cubin_make(&(CubinMade){.architecture = 80}, &file);
    replace_call(&file, NOP);
    assert_int_equal(run(gpu, file.bytes, file.length, result), 1);
    /* MOV, MOV, MOV, BRA (which no lane takes), NOP and EXIT, in four warps */
    assert_int_equal(result->warp_instructions, 4 * 6);
    assert_int_equal(result->thread_instructions, 2 * 48 * 5);
    text_free(&file);
    gpu_free(gpu);
    free(result);
}

/* ptxas puts such instructions before LDGSTS. */
static void test_an_instruction_with_the_guard_not_pt_does_nothing(void **state) {
    static const uint64_t never[] = {0x000000000000f94d, 0x000fea0003800000}; /* @!PT EXIT */
    (void)state;
    GpuResult *result = calloc(1, sizeof *result);
    Gpu *gpu = new_gpu();
    Text file = {0};
    cubin_make(&(CubinMade){.architecture = 80}, &file);
    replace_call(&file, never);
    assert_int_equal(run(gpu, file.bytes, file.length, result), 1);
    assert_int_equal(result->warp_instructions, 4 * 6);
    assert_int_equal(result->thread_instructions, 2 * 48 * 4);
    text_free(&file);
    gpu_free(gpu);
    free(result);
}

/* EXIT P0 ends no thread, because P0 is false; EXIT !P0 ends all. */
static void test_exit_with_a_predicate(void **state) {
    static const uint64_t exits[][2] = {{0x000000000000794d, 0x000fea0000000000},
                                        {0x000000000000794d, 0x000fea0004000000}};
    (void)state;
    GpuResult *result = calloc(1, sizeof *result);
    Gpu *gpu = new_gpu();
    for (uint64_t i = 0; i < 2; i++) {
        Text file = {0};
        cubin_make(&(CubinMade){.architecture = 80}, &file);
        replace_call(&file, exits[i]);
        assert_int_equal(run(gpu, file.bytes, file.length, result), 1);
        assert_int_equal(result->warp_instructions, 4 * (6 - i));
        text_free(&file);
    }
    gpu_free(gpu);
    free(result);
}

static void keep_text(void *user, const char *text, size_t length) {
    text_add_bytes(user, text, length);
}

static void test_registers_are_printed_at_an_offset(void **state) {
    (void)state;
    GpuResult *result = calloc(1, sizeof *result);
    Text file = {0}, printed = {0};
    Gpu *gpu = new_gpu_with((GpuOptions){
        .dump_line = 0x20, .dump_cta = 1, .dump_warp = 1, .print = keep_text, .user = &printed});
    cubin_make(&(CubinMade){.architecture = 80}, &file);
    replace_call(&file, NOP);
    assert_int_equal(run(gpu, file.bytes, file.length, result), 1);
    const char *text = text_string(&printed);
    assert_non_null(strstr(text, ": CTA 1, warp 1, active lanes 0x0000ffff, before /*0020*/ "));
    assert_non_null(strstr(text, "\n  R1       .b32   0x"));
    assert_non_null(strstr(text, "\n  UR0      .b32   0x00000000 in every active lane\n"));
    assert_non_null(strstr(text, "\n  P0       .pred  lanes 0x0000"));
    text_free(&printed);
    text_free(&file);
    gpu_free(gpu);
    free(result);
}

/* A linear congruential generator (Knuth, MMIX). */
static uint64_t random_state = 1;
static uint32_t next(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33);
}

static int damaged = DAMAGED;

static void test_damaged_files_do_no_harm(void **state) {
    (void)state;
    GpuResult *result = calloc(1, sizeof *result);
    Gpu *gpu = new_gpu();
    Text file = {0};
    cubin_make(&(CubinMade){.architecture = 80}, &file);
    replace_call(&file, NOP);
    uint32_t ran = 0;
    for (int i = 0; i < damaged; i++) {
        unsigned char *copy = malloc(file.length);
        memcpy(copy, file.bytes, file.length);
        for (uint32_t changes = 1 + next() % 4; changes; changes--)
            copy[next() % file.length] ^= (unsigned char)(1u << next() % 8);
        ran += run(gpu, copy, file.length, result);
        free(copy);
    }
    assert_true(ran > 0 && ran < (uint32_t)damaged);
    text_free(&file);
    gpu_free(gpu);
    free(result);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kernel_made_by_hand_runs),
        cmocka_unit_test(test_an_instruction_with_the_guard_not_pt_does_nothing),
        cmocka_unit_test(test_exit_with_a_predicate),
        cmocka_unit_test(test_registers_are_printed_at_an_offset),
        cmocka_unit_test(test_damaged_files_do_no_harm),
    };
    if (argc > 1) damaged = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
