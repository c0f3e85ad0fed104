/* Operations of a stream, or of a graph node, on words of memory. A write is executed immediately.
 * A wait is over when its condition is true; until then, the work after it is queued
 * (stream_queue.h). */
#include "driver/stream/stream_queue.h"

#include <inttypes.h>
#include <string.h>

#include "memory/mapping.h"

enum { WAIT_FLAGS = CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH, BATCH_MAX = 256 };

/* One operation that is not a barrier. */
typedef struct Operation {
    uint64_t address, value;
    unsigned bytes; /* bytes: 4 or 8 */
    unsigned flags;
    bool is_wait;
} Operation;

static bool holds(uint64_t word, const Operation *op) {
    const uint64_t mask = op->bytes == 4 ? UINT32_MAX : UINT64_MAX;
    const uint64_t difference = (word - op->value) & mask;
    switch (op->flags & CU_STREAM_WAIT_VALUE_NOR) {
    case CU_STREAM_WAIT_VALUE_GEQ: return difference <= mask / 2; /* cyclic */
    case CU_STREAM_WAIT_VALUE_EQ: return difference == 0;
    case CU_STREAM_WAIT_VALUE_AND: return (word & op->value & mask) != 0;
    default: return (~(word | op->value) & mask) != 0;
    }
}

/* Decodes an entry; returns false if it is invalid. A barrier has nothing to wait for: *is_any is
 * false. */
static bool read_entry(const CUstreamBatchMemOpParams *given, Operation *op, bool *is_any) {
    *is_any = true;
    switch ((int)given->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: break;
    case CU_STREAM_MEM_OP_BARRIER:
        *is_any = false;
        return given->memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
    default: return false;
    }
    const bool is_wide = given->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                         given->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    *op = (Operation){.address = given->waitValue.address,
                      .value = is_wide ? given->waitValue.value64 : given->waitValue.value,
                      .bytes = is_wide ? 8 : 4,
                      .flags = given->waitValue.flags,
                      .is_wait = given->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                                 given->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64};
    const unsigned known =
        op->is_wait ? (unsigned)WAIT_FLAGS : (unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    return !(op->flags & ~known) && op->address % op->bytes == 0;
}

bool operations_are_right(const CUDA_BATCH_MEM_OP_NODE_PARAMS *given) {
    Operation op;
    bool is_any,
        is_right = given->count && given->count <= BATCH_MAX && given->paramArray && !given->flags;
    for (unsigned i = 0; is_right && i < given->count; i++)
        is_right = read_entry(&given->paramArray[i], &op, &is_any);
    return is_right;
}

/* Finds the word of an operation; returns false if it is not in memory that the device can
 * access. */
static bool read_word(const Call *call, const Operation *op, uint64_t *address, uint64_t *word) {
    *address = memory_device_address(call, op->address);
    *word = 0;
    return *address && mem_read(call->memory, *address, word, op->bytes);
}

CUresult operations_run(Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list, unsigned *done) {
    for (; *done < list->count; ++*done) {
        Operation op;
        bool is_any;
        uint64_t address, word;
        if (!read_entry(&list->paramArray[*done], &op, &is_any)) return CUDA_ERROR_INVALID_VALUE;
        if (!is_any) continue;
        if (!read_word(call, &op, &address, &word)) return CUDA_ERROR_INVALID_VALUE;
        if (!op.is_wait) mem_write(call->memory, address, &op.value, op.bytes);
        else if (!holds(word, &op)) return CUDA_ERROR_NOT_READY;
    }
    return CUDA_SUCCESS;
}

void operations_describe(const Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list, unsigned done,
                         Text *out) {
    static const char *const conditions[] = {"at least", "equal to", "common in bits with",
                                             "without all bits in common with the complement of"};
    Operation op;
    bool is_any;
    uint64_t address, word;
    if (done >= list->count || !read_entry(&list->paramArray[done], &op, &is_any) || !is_any)
        return;
    read_word(call, &op, &address, &word);
    text_printf(
        out, "for the %u-bit word at 0x%" PRIx64 ", which is %" PRIu64 ", to be %s %" PRIu64,
        8 * op.bytes, op.address, word, conditions[op.flags & CU_STREAM_WAIT_VALUE_NOR], op.value);
}

bool operations_are_shared(const Call *call, const CUDA_BATCH_MEM_OP_NODE_PARAMS *list,
                           unsigned done) {
    Operation op;
    bool is_any;
    if (done >= list->count || !read_entry(&list->paramArray[done], &op, &is_any) || !is_any)
        return false;
    const uint64_t address = memory_device_address(call, op.address);
    const MemBlock *block = address ? mem_find(call->memory, address) : NULL;
    if (!block) return false;
    if (block->kind == MEM_KIND_REGISTERED)
        return registered_is_shared((uintptr_t)mem_host(call->memory, address));
    return call->driver->ipc_key || address >= mem_window_start(call->memory);
}

/* Immediately, later, or captured. */
static CUresult run(CUstream stream, CUstreamBatchMemOpParams *list, unsigned count) {
    Call call;
    bool is_taken;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS given = {.count = count, .paramArray = list};
    const WorkGiven work = {CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &given, NULL};
    StreamQueueItem item = {.kind = STREAM_QUEUE_WORK};
    if (!operations_are_right(&given)) return CUDA_ERROR_INVALID_VALUE;
    CUresult status = capture_take(stream, work, &is_taken);
    if (status || is_taken) return status;
    status = call_begin(&call);
    if (status) return status;
    status = operations_run(&call, &given, &item.done);
    if (status == CUDA_ERROR_NOT_READY) {
        status = work_make(&call, work, &item.work);
        if (status == CUDA_SUCCESS) stream_queue_add(&call, stream, item);
    }
    stream_queue_advance(&call);
    return call_end(&call, status);
}

static CUresult run_one(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address,
                        uint64_t value, unsigned flags) {
    CUstreamBatchMemOpParams entry;
    memset(&entry, 0, sizeof entry);
    entry.waitValue.operation = type; /* an operation that writes has the same beginning */
    entry.waitValue.address = address;
    entry.waitValue.value64 = value;
    entry.waitValue.flags = flags;
    return run(stream, &entry, 1);
}

CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned int flags) {
    return run_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

CUresult CUDAAPI cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned int flags) {
    return run_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned int flags) {
    return run_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}

CUresult CUDAAPI cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                      unsigned int flags) {
    return run_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                    CUstreamBatchMemOpParams *list, unsigned int flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : run(stream, list, count);
}
