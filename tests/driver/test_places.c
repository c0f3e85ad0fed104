/* Variables of a module in the program's own memory, and linking of fat binaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call) assert_int_equal(call, CUDA_SUCCESS)

/* bump: total = total + 100, other = total */
static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .u32 total = 7;\n.visible .global .u32 other;\n"
    ".visible .entry bump() {\n  .reg .b32 %r;\n  ld.global.u32 %r, [total];\n"
    "  add.u32 %r, %r, 100;\n  st.global.u32 [total], %r;\n  st.global.u32 [other], %r;\n"
    "  ret;\n}\n";

/* An address below the device's, where a program's variables may be. */
static uint32_t *const place = (uint32_t *)(uintptr_t)0x60000000;

static int set_up(void **state) {
    (void)state;
    CUcontext context;
    void *page = mmap(place, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return page != place || cuInit(0) || cuCtxCreate(&context, NULL, 0, 0);
}

/* Whether host and device can share addresses here (not with the address sanitizer). */
static bool can_share(void) {
    CUdeviceptr probe;
    return cuMemAllocManaged(&probe, 4, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS &&
           cuMemFree(probe) == CUDA_SUCCESS;
}

static CUresult load(CUmodule *module, const char *name, void *address) {
    static char log[4096];
    const char *names[] = {"absent", name};
    void *addresses[] = {place + 64, address};
    CUjit_option options[] = {CU_JIT_GLOBAL_SYMBOL_NAMES, CU_JIT_GLOBAL_SYMBOL_ADDRESSES,
                              CU_JIT_GLOBAL_SYMBOL_COUNT, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {names, addresses, (void *)2, log, (void *)sizeof log};
    return cuModuleLoadDataEx(module, ptx, 5, options, values);
}

static void a_variable_lies_where_the_program_wants_it(void **state) {
    (void)state;
    CUmodule module, second;
    CUfunction bump;
    CUdeviceptr address;
    size_t bytes;
    bool is_managed = false;
    if (!can_share()) {
        assert_int_equal(load(&module, "total", place), CUDA_ERROR_INVALID_PTX);
        return;
    }
    *place = 1;
    assert_cuda(load(&module, "total", place));
    assert_int_equal(*place, 7); /* its initial value */
    *place = 30;
    assert_cuda(cuModuleGetFunction(&bump, module, "bump"));
    assert_cuda(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    assert_int_equal(*place, 130);
    assert_cuda(cuModuleGetGlobal(&address, &bytes, module, "total"));
    assert_int_equal(address, (uintptr_t)place);
    assert_int_equal(bytes, 4);
    assert_cuda(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    assert_true(is_managed);
    /* the place is in use */
    assert_int_equal(load(&second, "total", place), CUDA_ERROR_INVALID_PTX);
    assert_cuda(cuModuleGetGlobal(&address, NULL, module, "other"));
    assert_true(address > (uintptr_t)place + 4096);
    assert_cuda(cuModuleUnload(module));
    assert_int_equal(*place, 130);
    assert_cuda(load(&module, "total", place));
    assert_cuda(cuModuleUnload(module));
}

static void absurd_places_are_refused(void **state) {
    (void)state;
    CUmodule module;
    void *const absurd[] = {(void *)8, (void *)0x01000000, (void *)UINTPTR_MAX};
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++)
        assert_int_equal(load(&module, "total", absurd[i]), CUDA_ERROR_INVALID_PTX);
    assert_cuda(load(&module, "none_of_its_variables", (void *)8));
    assert_cuda(cuModuleUnload(module));
    /* a count without lists requests nothing */
    CUjit_option option = CU_JIT_GLOBAL_SYMBOL_COUNT;
    void *count = (void *)1000;
    assert_cuda(cuModuleLoadDataEx(&module, ptx, 1, &option, &count));
    assert_cuda(cuModuleUnload(module));
}

/* A fat binary with one PTX text, not compressed (src/sass/fatbin_format.h). */
static size_t pack(const char *text, char *out) {
    uint64_t size = (strlen(text) + 8) / 8 * 8, entries = 64 + size;
    const uint32_t head[] = {0xba55ed50, 16 << 16 | 1}, entry[] = {0x01010001, 64};
    const uint32_t architecture = 75;
    memset(out, 0, (size_t)(16 + entries));
    memcpy(out, head, 8);
    memcpy(out + 8, &entries, 8);
    memcpy(out + 16, entry, 8);
    memcpy(out + 24, &size, 8);
    memcpy(out + 16 + 28, &architecture, 4);
    memcpy(out + 16 + 64, text, strlen(text));
    return (size_t)(16 + entries);
}

static void fat_binaries_are_linked_with_texts(void **state) {
    (void)state;
    static char binary[4096];
    static const char user[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                               ".extern .global .u32 total;\n"
                               ".visible .entry set() { st.global.u32 [total], 5; ret; }\n";
    CUlinkState link;
    CUmodule module;
    CUfunction function;
    void *image;
    size_t size = pack(user, binary);
    assert_cuda(cuLinkCreate(0, NULL, NULL, &link));
    assert_cuda(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, binary, size, NULL, 0, NULL, NULL));
    assert_cuda(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)(uintptr_t)ptx, sizeof ptx, NULL, 0,
                              NULL, NULL));
    assert_cuda(cuLinkComplete(link, &image, NULL));
    assert_cuda(cuModuleLoadData(&module, image));
    assert_cuda(cuModuleGetFunction(&function, module, "set"));
    assert_cuda(cuModuleGetFunction(&function, module, "bump"));
    assert_cuda(cuModuleUnload(module));
    assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, binary, 3, "cut", 0, NULL, NULL),
                     CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(
        cuLinkAddData(link, CU_JIT_INPUT_FATBINARY, binary, size - 9, "cut", 0, NULL, NULL),
        CUDA_ERROR_INVALID_IMAGE);
    assert_cuda(cuLinkDestroy(link));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_lies_where_the_program_wants_it),
        cmocka_unit_test(absurd_places_are_refused),
        cmocka_unit_test(fat_binaries_are_linked_with_texts),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
