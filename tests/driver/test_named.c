/* Functions that programs look up by name and seldom call: stream operations on memory, attributes
 * of managed memory, graphs launched in a captured stream, and small queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tyto/cuda.h"

#define assert_cuda(call)         assert_int_equal(call, CUDA_SUCCESS)
#define assert_fails(call, error) assert_int_equal(call, CUDA_ERROR_##error)

static CUcontext context;

static int set_up(void **state) {
    (void)state;
    return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0);
}

/* ---- Operations of streams on memory ---- */

static uint64_t read_word(CUdeviceptr address) {
    uint64_t word = 0;
    assert_cuda(cuMemcpyDtoH(&word, address, sizeof word));
    return word;
}

static void a_write_is_done_at_once(void **state) {
    (void)state;
    CUdeviceptr word;
    assert_cuda(cuMemAlloc(&word, 16));
    assert_cuda(cuMemsetD8(word, 0, 16));
    assert_cuda(cuStreamWriteValue32(NULL, word, 0xfedcba98, 0));
    assert_int_equal(read_word(word), 0xfedcba98);
    assert_cuda(cuStreamWriteValue64(NULL, word, UINT64_C(0x123456789abcdef), 1));
    assert_int_equal(read_word(word), UINT64_C(0x123456789abcdef));
    assert_fails(cuStreamWriteValue32(NULL, word + 2, 0, 0), INVALID_VALUE);
    assert_fails(cuStreamWriteValue64(NULL, word + 4, 0, 0), INVALID_VALUE);
    assert_fails(cuStreamWriteValue32(NULL, word + 16, 0, 0), INVALID_VALUE);
    assert_fails(cuStreamWriteValue32(NULL, 0, 0, 0), INVALID_VALUE);
    assert_fails(cuStreamWriteValue32(NULL, word, 0, 2), INVALID_VALUE);
    assert_fails(cuStreamWriteValue32((CUstream)(uintptr_t)12345, word, 0, 0), INVALID_HANDLE);
    assert_cuda(cuMemFree(word));
}

/* The manual's definition of each condition, for one word. Conditions that do not hold must not end
 * the wait. */
static void a_wait_is_over_when_its_condition_holds(void **state) {
    (void)state;
    static const struct {
        uint64_t word, value;
        unsigned flags;
        bool holds32, holds64;
    } rows[] = {
        {5, 5, CU_STREAM_WAIT_VALUE_GEQ, true, true},
        {5, 6, CU_STREAM_WAIT_VALUE_GEQ, false, false},
        {5, UINT32_MAX, CU_STREAM_WAIT_VALUE_GEQ, true, false}, /* cyclic: 5 - (-1) */
        {0x80000000, 0, CU_STREAM_WAIT_VALUE_GEQ, false, true},
        {UINT64_C(0x100000005), 5, CU_STREAM_WAIT_VALUE_EQ, true, false},
        {5, 4, CU_STREAM_WAIT_VALUE_EQ, false, false},
        {6, 3, CU_STREAM_WAIT_VALUE_AND, true, true},
        {6, 9, CU_STREAM_WAIT_VALUE_AND, false, false},
        {UINT32_MAX, 0, CU_STREAM_WAIT_VALUE_NOR, false, true},
        {UINT64_MAX, 0, CU_STREAM_WAIT_VALUE_NOR, false, false},
        {5, 5, CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH, true, true},
    };
    CUdeviceptr word;
    assert_cuda(cuMemAlloc(&word, 8));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_cuda(cuMemcpyHtoD(word, &rows[i].word, 8));
        CUstream narrow, wide;
        assert_cuda(cuStreamCreate(&narrow, CU_STREAM_NON_BLOCKING));
        assert_cuda(cuStreamCreate(&wide, CU_STREAM_NON_BLOCKING));
        assert_cuda(cuStreamWaitValue32(narrow, word, (cuuint32_t)rows[i].value, rows[i].flags));
        assert_cuda(cuStreamWaitValue64(wide, word, rows[i].value, rows[i].flags));
        assert_int_equal(cuStreamQuery(narrow),
                         rows[i].holds32 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
        assert_int_equal(cuStreamQuery(wide),
                         rows[i].holds64 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
        assert_cuda(cuMemcpyHtoD(word, &rows[i].value, 8)); /* fulfils all conditions */
        assert_cuda(cuStreamSynchronize(narrow));
        assert_cuda(cuStreamSynchronize(wide));
        assert_cuda(cuStreamDestroy(narrow));
        assert_cuda(cuStreamDestroy(wide));
    }
    assert_fails(cuStreamWaitValue32(NULL, word, 0, 4), INVALID_VALUE);
    assert_fails(cuStreamWaitValue64(NULL, 8, 0, 0), INVALID_VALUE);
    assert_cuda(cuMemFree(word));
}

static void a_batch_of_operations_goes_on_in_order(void **state) {
    (void)state;
    CUdeviceptr word;
    assert_cuda(cuMemAlloc(&word, 8));
    CUstreamBatchMemOpParams list[4];
    memset(list, 0, sizeof list);
    list[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    list[0].writeValue.address = word;
    list[0].writeValue.value = 3;
    list[1].operation = CU_STREAM_MEM_OP_BARRIER;
    list[2].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    list[2].waitValue.address = word;
    list[2].waitValue.value = 3;
    list[2].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    list[3].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    list[3].writeValue.address = word;
    list[3].writeValue.value64 = UINT64_C(1) << 40;
    assert_cuda(cuStreamBatchMemOp(NULL, 4, list, 0));
    assert_int_equal(read_word(word), UINT64_C(1) << 40);
    assert_fails(cuStreamBatchMemOp(NULL, 0, list, 0), INVALID_VALUE);
    assert_fails(cuStreamBatchMemOp(NULL, 257, list, 0), INVALID_VALUE);
    assert_fails(cuStreamBatchMemOp(NULL, 4, NULL, 0), INVALID_VALUE);
    assert_fails(cuStreamBatchMemOp(NULL, 4, list, 1), INVALID_VALUE);
    list[3].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    assert_fails(cuStreamBatchMemOp(NULL, 4, list, 0), INVALID_VALUE);
    assert_int_equal(read_word(word), UINT64_C(1) << 40); /* none of it was done */
    assert_cuda(cuMemFree(word));
}

/* ---- Managed memory ---- */

static int ask(CUmem_range_attribute attribute, CUdeviceptr address, size_t size) {
    int value = 77;
    assert_cuda(cuMemRangeGetAttribute(&value, sizeof value, attribute, address, size));
    return value;
}

static void advice_on_managed_memory_is_kept_by_range(void **state) {
    (void)state;
    enum { SIZE = 1 << 16, HALF = SIZE / 2 };
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                        host = {CU_MEM_LOCATION_TYPE_HOST, 0},
                        other = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CUdeviceptr memory, plain;
    int list[3];
    assert_cuda(cuMemAlloc(&plain, 64));
    assert_fails(cuMemRangeGetAttribute(list, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, 64),
                 INVALID_VALUE);
    if (cuMemAllocManaged(&memory, SIZE, CU_MEM_ATTACH_GLOBAL)) return; /* address sanitizer */
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, SIZE), 0);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, SIZE),
                     CU_DEVICE_INVALID);
    assert_cuda(cuMemAdvise(memory, HALF, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, HALF), 1);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, HALF + 1), 0);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + 100, 8), 1);
    assert_cuda(cuMemAdvise(memory, SIZE, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    assert_cuda(cuMemAdvise(memory + 256, 256, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 256), 1);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 257), 0);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + 512, 256), 1);
    assert_cuda(cuMemAdvise(memory, SIZE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, SIZE), CU_DEVICE_CPU);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, SIZE),
                     CU_MEM_LOCATION_TYPE_HOST);
    assert_cuda(cuMemPrefetchAsync(memory, SIZE, device, 0, NULL));
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, SIZE), 0);
    assert_cuda(cuMemAdvise(memory, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    assert_cuda(cuMemAdvise(memory, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    assert_cuda(cuMemRangeGetAttribute(list, sizeof list, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                       memory, SIZE));
    assert_int_equal(list[0], 0);
    assert_int_equal(list[1], CU_DEVICE_CPU);
    assert_int_equal(list[2], CU_DEVICE_INVALID);
    assert_cuda(cuMemAdvise(memory, SIZE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, device));
    assert_cuda(cuMemRangeGetAttribute(list, 4, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, SIZE));
    assert_int_equal(list[0], CU_DEVICE_CPU);

    assert_fails(cuMemAdvise(memory, SIZE, CU_MEM_ADVISE_SET_ACCESSED_BY, other), INVALID_DEVICE);
    assert_fails(cuMemPrefetchAsync(memory, SIZE, other, 0, NULL), INVALID_DEVICE);
    assert_fails(cuMemAdvise(memory, SIZE, (CUmem_advise)0, device), INVALID_VALUE);
    assert_fails(cuMemAdvise(memory, SIZE, (CUmem_advise)7, device), INVALID_VALUE);
    assert_fails(cuMemAdvise(memory, SIZE + 1, CU_MEM_ADVISE_SET_READ_MOSTLY, device),
                 INVALID_VALUE);
    assert_fails(cuMemRangeGetAttribute(NULL, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, SIZE),
                 INVALID_VALUE);
    assert_fails(cuMemRangeGetAttribute(list, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, SIZE),
                 INVALID_VALUE);
    assert_fails(cuMemRangeGetAttribute(list, 4, (CUmem_range_attribute)9, memory, SIZE),
                 INVALID_VALUE);
    assert_fails(cuMemRangeGetAttribute(list, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 0),
                 INVALID_VALUE);
    assert_fails(cuMemRangeGetAttribute(list, 5, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, SIZE),
                 INVALID_VALUE);
    /* new memory at these addresses does not have the old attributes */
    assert_cuda(cuMemFree(memory));
    CUdeviceptr again;
    assert_cuda(cuMemAllocManaged(&again, SIZE, CU_MEM_ATTACH_GLOBAL));
    assert_int_equal(again, memory);
    assert_int_equal(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, again, SIZE), 0);
    assert_cuda(cuMemFree(again));
}

/* ---- A graph launched in a captured stream ---- */

static void count_up(void *counter) { ++*(int *)counter; }

static void a_graph_launched_in_a_capture_becomes_a_child(void **state) {
    (void)state;
    CUgraph inner, outer, child;
    CUgraphExec inner_exec, outer_exec;
    CUgraphNode nodes[3], node;
    CUgraphNodeType type;
    CUstream stream;
    CUdeviceptr word;
    size_t count = 3;
    int calls = 0;
    assert_cuda(cuMemAlloc(&word, 8));
    assert_cuda(cuMemsetD32(word, 0, 2));
    CUDA_HOST_NODE_PARAMS host = {count_up, &calls};
    CUDA_MEMSET_NODE_PARAMS fill = {word, 4, 42, 4, 1, 1};
    assert_cuda(cuGraphCreate(&inner, 0));
    assert_cuda(cuGraphAddHostNode(&nodes[0], inner, NULL, 0, &host));
    assert_cuda(cuGraphAddMemsetNode(&nodes[1], inner, &nodes[0], 1, &fill, context));
    assert_cuda(cuGraphInstantiate(&inner_exec, inner, 0));
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_cuda(cuLaunchHostFunc(stream, count_up, &calls));
    assert_cuda(cuGraphLaunch(inner_exec, stream));
    assert_cuda(cuGraphLaunch(inner_exec, stream));
    assert_fails(cuGraphLaunch((CUgraphExec)(uintptr_t)99, stream), INVALID_VALUE);
    assert_cuda(cuStreamEndCapture(stream, &outer));
    assert_int_equal(calls, 0);
    assert_cuda(cuGraphGetNodes(outer, nodes, &count));
    assert_int_equal(count, 3);
    assert_cuda(cuGraphNodeGetType(nodes[2], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_GRAPH);
    assert_cuda(cuGraphChildGraphNodeGetGraph(nodes[2], &child));
    count = 0;
    assert_cuda(cuGraphGetNodes(child, NULL, &count));
    assert_int_equal(count, 2);
    /* it is a copy, independent of the launched graph */
    assert_cuda(cuGraphExecDestroy(inner_exec));
    assert_cuda(cuGraphDestroy(inner));
    assert_cuda(cuGraphInstantiate(&outer_exec, outer, 0));
    assert_cuda(cuGraphLaunch(outer_exec, stream));
    assert_int_equal(calls, 3);
    assert_int_equal((uint32_t)read_word(word), 42);

    /* memory nodes cannot be copied into a child graph */
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 64};
    assert_cuda(cuGraphCreate(&inner, 0));
    assert_cuda(cuGraphAddMemAllocNode(&node, inner, NULL, 0, &memory));
    assert_cuda(cuGraphAddMemFreeNode(&nodes[0], inner, &node, 1, memory.dptr));
    assert_cuda(cuGraphInstantiate(&inner_exec, inner, 0));
    assert_cuda(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    assert_fails(cuGraphLaunch(inner_exec, stream), NOT_SUPPORTED);
    assert_fails(cuStreamEndCapture(stream, &outer), STREAM_CAPTURE_INVALIDATED);
    assert_cuda(cuGraphLaunch(inner_exec, stream));
}

/* ---- Small questions ---- */

static void arrays_say_how_much_memory_they_take(void **state) {
    (void)state;
    CUarray array;
    CUmipmappedArray mipmap;
    CUDA_ARRAY_MEMORY_REQUIREMENTS all, level;
    CUDA_ARRAY3D_DESCRIPTOR description = {
        .Width = 64, .Height = 32, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
    assert_cuda(cuArray3DCreate(&array, &description));
    assert_cuda(cuArrayGetMemoryRequirements(&level, array, 0));
    assert_true(level.size >= 64 * 32 * 8 && level.size <= 2 * 64 * 32 * 8);
    assert_true(level.alignment && (level.alignment & (level.alignment - 1)) == 0);
    assert_cuda(cuMipmappedArrayCreate(&mipmap, &description, 3));
    assert_cuda(cuMipmappedArrayGetMemoryRequirements(&all, mipmap, 0));
    assert_true(all.size > level.size);
    assert_fails(cuArrayGetMemoryRequirements(NULL, array, 0), INVALID_VALUE);
    assert_fails(cuArrayGetMemoryRequirements(&all, NULL, 0), INVALID_HANDLE);
    assert_fails(cuArrayGetMemoryRequirements(&all, array, 1), INVALID_DEVICE);
    assert_fails(cuMipmappedArrayGetMemoryRequirements(&all, (CUmipmappedArray)array, 0),
                 INVALID_HANDLE);
    assert_fails(cuMipmappedArrayGetMemoryRequirements(NULL, mipmap, 0), INVALID_VALUE);
    assert_cuda(cuArrayDestroy(array));
    assert_cuda(cuMipmappedArrayDestroy(mipmap));
}

static void contexts_record_and_wait_for_events(void **state) {
    (void)state;
    CUevent event;
    CUcontext third;
    int is_supported = 7;
    assert_cuda(cuEventCreate(&event, 0));
    assert_cuda(cuCtxRecordEvent(context, event));
    assert_cuda(cuEventQuery(event));
    assert_cuda(cuCtxWaitEvent(context, event));
    assert_fails(cuCtxRecordEvent(NULL, event), INVALID_CONTEXT);
    assert_fails(cuCtxRecordEvent(context, NULL), INVALID_HANDLE);
    assert_fails(cuCtxWaitEvent((CUcontext)event, event), INVALID_CONTEXT);
    assert_fails(cuCtxWaitEvent(context, (CUevent)context), INVALID_HANDLE);
    assert_cuda(cuEventDestroy(event));
    assert_cuda(cuDeviceGetExecAffinitySupport(&is_supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    assert_int_equal(is_supported, 0);
    assert_fails(cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
                 INVALID_VALUE);
    assert_fails(cuDeviceGetExecAffinitySupport(&is_supported, CU_EXEC_AFFINITY_TYPE_MAX, 0),
                 INVALID_VALUE);
    assert_fails(cuDeviceGetExecAffinitySupport(&is_supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 1),
                 INVALID_DEVICE);
    assert_cuda(cuCtxCreate_v3(&third, NULL, 0, 0, 0));
    assert_cuda(cuCtxDestroy(third));
}

static void no_function_is_unified(void **state) {
    (void)state;
    static const char ptx[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                              ".visible .entry k() { ret; }\n";
    CUlibrary library;
    void *function = NULL;
    assert_cuda(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    assert_fails(cuLibraryGetUnifiedFunction(&function, library, "k"), NOT_FOUND);
    assert_fails(cuLibraryGetUnifiedFunction(NULL, library, "k"), INVALID_VALUE);
    assert_fails(cuLibraryGetUnifiedFunction(&function, library, NULL), INVALID_VALUE);
    assert_fails(cuLibraryGetUnifiedFunction(&function, NULL, "k"), INVALID_HANDLE);
    assert_cuda(cuLibraryUnload(library));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_done_at_once),
        cmocka_unit_test(a_wait_is_over_when_its_condition_holds),
        cmocka_unit_test(a_batch_of_operations_goes_on_in_order),
        cmocka_unit_test(advice_on_managed_memory_is_kept_by_range),
        cmocka_unit_test(a_graph_launched_in_a_capture_becomes_a_child),
        cmocka_unit_test(arrays_say_how_much_memory_they_take),
        cmocka_unit_test(contexts_record_and_wait_for_events),
        cmocka_unit_test(no_function_is_unified),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
