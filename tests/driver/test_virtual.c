/* Virtual memory management: addresses, memory and mappings; and memory with two handles. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

/* set: *at = value */
static const char ptx[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry set(.param .u64 at, .param .u32 value) {\n"
    "  .reg .b32 %r;\n  .reg .b64 %rd;\n  ld.param.u64 %rd, [at];\n  ld.param.u32 %r, [value];\n"
    "  st.global.u32 [%rd], %r;\n  ret;\n}\n";

enum { GRAIN = 2 << 20 };

static const CUmemAllocationProp plain = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc read_write = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                           CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUcontext context;
static CUfunction set;

static int set_up(void **state) {
    (void)state;
    CUmodule module;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuModuleLoadData(&module, ptx) ||
           cuModuleGetFunction(&set, module, "set");
}

static int tear_down(void **state) {
    (void)state;
    return cuCtxDestroy(context) != CUDA_SUCCESS;
}

static CUresult launch(CUdeviceptr address, uint32_t value) {
    void *parameters[] = {&address, &value};
    return cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
}

static uint32_t read_word(CUdeviceptr address) {
    uint32_t read = 0;
    assert_cuda(cuMemcpyDtoH(&read, address, 4));
    return read;
}

static CUmemGenericAllocationHandle new_memory(size_t size) {
    CUmemGenericAllocationHandle memory;
    assert_cuda(cuMemCreate(&memory, size, &plain, 0));
    return memory;
}

static void test_mapped_memory_is_used_like_any_other(void **state) {
    (void)state;
    CUdeviceptr address;
    size_t granularity, free_before, free_now, total;
    unsigned long long flags = 77;
    CUmemAllocationProp seen;
    assert_cuda(cuMemGetInfo(&free_before, &total));
    assert_cuda(
        cuMemGetAllocationGranularity(&granularity, &plain, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    assert_int_equal(granularity, GRAIN);
    assert_cuda(cuMemAddressReserve(&address, 4 * GRAIN, 0, 0, 0));
    CUmemGenericAllocationHandle memory = new_memory(GRAIN);
    assert_cuda(cuMemGetInfo(&free_now, &total));
    assert_int_equal(free_before - free_now, GRAIN);
    assert_cuda(cuMemGetAllocationPropertiesFromHandle(&seen, memory));
    assert_int_equal(seen.type, CU_MEM_ALLOCATION_TYPE_PINNED);
    assert_cuda(cuMemMap(address, GRAIN, 0, memory, 0));
    assert_fails(cuMemsetD32(address, 1, 1), INVALID_VALUE); /* no access yet */
    assert_cuda(cuMemSetAccess(address, GRAIN, &read_write, 1));
    assert_cuda(cuMemGetAccess(&flags, &read_write.location, address));
    assert_int_equal(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    assert_int_equal(read_word(address + GRAIN - 4), 0);
    assert_cuda(launch(address + GRAIN - 4, 5));
    assert_int_equal(read_word(address + GRAIN - 4), 5);
    assert_cuda(cuMemRelease(memory)); /* the mapping keeps the memory */
    assert_fails(cuMemRelease(memory), INVALID_VALUE);
    assert_int_equal(read_word(address + GRAIN - 4), 5);
    assert_fails(cuMemAddressFree(address, 4 * GRAIN), INVALID_VALUE); /* it is mapped */
    assert_fails(cuMemFree(address), INVALID_VALUE);
    assert_cuda(cuMemUnmap(address, GRAIN));
    assert_fails(cuMemsetD32(address, 1, 1), INVALID_VALUE);
    assert_cuda(cuMemAddressFree(address, 4 * GRAIN));
    assert_cuda(cuMemGetInfo(&free_now, &total));
    assert_int_equal(free_now, free_before);
}

static void test_memory_keeps_its_bytes_wherever_it_is_mapped(void **state) {
    (void)state;
    CUdeviceptr first, second;
    CUmemGenericAllocationHandle memory = new_memory(GRAIN), again;
    assert_cuda(cuMemAddressReserve(&first, GRAIN, 0, 0, 0));
    assert_cuda(cuMemAddressReserve(&second, GRAIN, 4 * GRAIN, 0, 0));
    assert_int_equal(second % (4 * GRAIN), 0);
    assert_cuda(cuMemMap(first, GRAIN, 0, memory, 0));
    assert_cuda(cuMemMap(second, GRAIN, 0, memory, 0));
    assert_cuda(cuMemSetAccess(first, GRAIN, &read_write, 1));
    assert_cuda(cuMemSetAccess(second, GRAIN, &read_write, 1));
    assert_cuda(launch(first + 64, 9));
    assert_int_equal(read_word(second + 64), 9);
    assert_cuda(cuMemUnmap(first, GRAIN));
    assert_int_equal(read_word(second + 64), 9);
    assert_cuda(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(second + 64)));
    assert_int_equal(again, memory);
    assert_cuda(cuMemRelease(memory));
    assert_cuda(cuMemUnmap(second, GRAIN));
    assert_cuda(cuMemMap(first, GRAIN, 0, again, 0));
    assert_cuda(cuMemSetAccess(first, GRAIN, &read_write, 1));
    assert_int_equal(read_word(first + 64), 9);
    assert_cuda(cuMemUnmap(first, GRAIN));
    assert_cuda(cuMemRelease(again));
    assert_cuda(cuMemAddressFree(first, GRAIN));
    assert_cuda(cuMemAddressFree(second, GRAIN));
}

static void test_mappings_that_touch_are_one_range(void **state) {
    (void)state;
    CUdeviceptr address;
    assert_cuda(cuMemAddressReserve(&address, 2 * GRAIN, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        CUmemGenericAllocationHandle memory = new_memory(GRAIN);
        assert_cuda(cuMemMap(address + (CUdeviceptr)i * GRAIN, GRAIN, 0, memory, 0));
        assert_cuda(cuMemRelease(memory));
    }
    assert_cuda(cuMemSetAccess(address, 2 * GRAIN, &read_write, 1));
    assert_cuda(cuMemsetD32(address, 7, 2 * GRAIN / 4)); /* across both */
    assert_int_equal(read_word(address + GRAIN - 4), 7);
    assert_int_equal(read_word(address + GRAIN), 7);
    assert_fails(cuMemsetD32(address, 7, 2 * GRAIN / 4 + 1), INVALID_VALUE);
    assert_cuda(cuMemUnmap(address, 2 * GRAIN));
    assert_cuda(cuMemAddressFree(address, 2 * GRAIN));
}

static void test_kernels_cannot_write_what_they_may_only_read(void **state) {
    (void)state;
    CUdeviceptr address;
    CUmemAccessDesc only_read = {read_write.location, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUmemGenericAllocationHandle memory = new_memory(GRAIN);
    assert_cuda(cuMemAddressReserve(&address, GRAIN, 0, 0, 0));
    assert_cuda(cuMemMap(address, GRAIN, 0, memory, 0));
    assert_cuda(cuMemSetAccess(address, GRAIN, &only_read, 1));
    assert_int_not_equal(launch(address, 1), CUDA_SUCCESS);
    assert_cuda(cuCtxDestroy(context));
    assert_int_equal(set_up(NULL), 0);
    assert_cuda(cuMemUnmap(address, GRAIN));
    assert_cuda(cuMemAddressFree(address, GRAIN));
    assert_cuda(cuMemRelease(memory));
}

static void test_memory_is_opened_by_its_descriptor(void **state) {
    (void)state;
    CUdeviceptr address;
    CUmemAllocationProp shareable = plain;
    CUmemGenericAllocationHandle memory, opened, closed = new_memory(GRAIN);
    int file = -1;
    shareable.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    assert_cuda(cuMemCreate(&memory, GRAIN, &shareable, 0));
    assert_fails(
        cuMemExportToShareableHandle(&file, closed, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        INVALID_VALUE); /* export was not requested */
    assert_cuda(
        cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    uint32_t word = 11;
    assert_int_equal(pwrite(file, &word, sizeof word, 128), sizeof word);
    assert_cuda(cuMemImportFromShareableHandle(&opened, (void *)(intptr_t)file,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    assert_cuda(cuMemAddressReserve(&address, GRAIN, 0, 0, 0));
    assert_cuda(cuMemMap(address, GRAIN, 0, opened, 0));
    assert_cuda(cuMemSetAccess(address, GRAIN, &read_write, 1));
    assert_int_equal(read_word(address + 128), 11);
    assert_fails(cuMemImportFromShareableHandle(&opened, (void *)(intptr_t)-1,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                 INVALID_VALUE);
    assert_cuda(cuMemUnmap(address, GRAIN));
    assert_cuda(cuMemAddressFree(address, GRAIN));
    assert_cuda(cuMemRelease(opened));
    assert_cuda(cuMemRelease(memory));
    assert_cuda(cuMemRelease(closed));
}

static void test_what_makes_no_sense_is_refused(void **state) {
    (void)state;
    CUdeviceptr address, other;
    CUmemGenericAllocationHandle memory = new_memory(GRAIN), none;
    CUmemAllocationProp wrong = plain;
    wrong.location.type = CU_MEM_LOCATION_TYPE_HOST;
    assert_fails(cuMemCreate(&none, GRAIN + 1, &plain, 0), INVALID_VALUE);
    assert_fails(cuMemCreate(&none, GRAIN, &wrong, 0), INVALID_VALUE);
    assert_fails(cuMemCreate(&none, (size_t)1 << 45, &plain, 0), OUT_OF_MEMORY);
    assert_fails(cuMemAddressReserve(&address, 100, 0, 0, 0), INVALID_VALUE);
    assert_fails(cuMemAddressReserve(&address, (size_t)1 << 45, 0, 0, 0), OUT_OF_MEMORY);
    assert_cuda(cuMemAddressReserve(&address, GRAIN, 0, 0, 0));
    assert_cuda(cuMemAddressReserve(&other, GRAIN, 0, address, 0)); /* only a hint */
    assert_int_not_equal(other, address);
    assert_fails(cuMemMap(address, 2 * GRAIN, 0, memory, 0), INVALID_VALUE);
    assert_fails(cuMemMap(address + 4096, GRAIN, 0, memory, 0), INVALID_VALUE);
    assert_fails(cuMemMap(address, GRAIN, 0, memory + 1, 0), INVALID_VALUE);
    assert_fails(cuMemSetAccess(address, GRAIN, &read_write, 1), INVALID_VALUE); /* not mapped */
    assert_cuda(cuMemMap(address, GRAIN, 0, memory, 0));
    assert_fails(cuMemMap(address, GRAIN, 0, memory, 0), INVALID_VALUE);
    assert_fails(cuMemUnmap(address, GRAIN / 2), INVALID_VALUE);
    assert_cuda(cuMemUnmap(address, GRAIN));
    assert_fails(cuMemUnmap(address, GRAIN), INVALID_VALUE);
    assert_cuda(cuMemAddressFree(address, GRAIN));
    assert_fails(cuMemAddressFree(address, GRAIN), INVALID_VALUE);
    assert_cuda(cuMemAddressFree(other, GRAIN));
    assert_cuda(cuMemRelease(memory));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_mapped_memory_is_used_like_any_other),
        TEST(test_memory_keeps_its_bytes_wherever_it_is_mapped),
        TEST(test_mappings_that_touch_are_one_range),
        TEST(test_kernels_cannot_write_what_they_may_only_read),
        TEST(test_memory_is_opened_by_its_descriptor),
        TEST(test_what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
