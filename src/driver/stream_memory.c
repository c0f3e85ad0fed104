/* Operations of a stream on one word of memory. A write is done at once. A wait whose condition
 * holds is over; one whose condition does not hold cannot wait, since nothing is under way that
 * could change the word, and is refused with a message. Left out: both in graphs. */
#include "driver/driver.h"

#include <inttypes.h>
#include <string.h>

enum { WAIT_FLAGS = CU_STREAM_WAIT_VALUE_NOR | CU_STREAM_WAIT_VALUE_FLUSH, BATCH_MAX = 256 };

/* One operation, whichever call it came by. */
typedef struct Operation {
    uint64_t address, value;
    unsigned bytes; /* 4 or 8 */
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

static CUresult do_now(Call *call, const Operation *op) {
    const uint64_t address = memory_device_address(call, op->address);
    uint64_t word = 0;
    if (!address || address % op->bytes || !mem_read(call->memory, address, &word, op->bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (!op->is_wait) {
        mem_write(call->memory, address, &op->value, op->bytes);
        return CUDA_SUCCESS;
    }
    if (holds(word, op)) return CUDA_SUCCESS;
    driver_say("error: cuStreamWaitValue%u: the word at 0x%" PRIx64 " is %" PRIu64
               ", and nothing is under way that could change it: all work is done at once",
               8 * op->bytes, op->address, word);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult run(CUstream stream, const Operation *list, unsigned count) {
    Call call;
    CUresult status = capture_refuse(stream, "an operation on memory in a stream that is captured");
    for (unsigned i = 0; i < count && status == CUDA_SUCCESS; i++) {
        const unsigned known =
            list[i].is_wait ? WAIT_FLAGS : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
        if (list[i].flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) status = call_begin(&call);
    if (status) return status;
    for (unsigned i = 0; i < count && status == CUDA_SUCCESS; i++)
        status = do_now(&call, &list[i]);
    return call_end(&call, status);
}

CUresult CUDAAPI cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                     unsigned int flags) {
    return run(stream, &(Operation){address, value, 4, flags, true}, 1);
}

CUresult CUDAAPI cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                     unsigned int flags) {
    return run(stream, &(Operation){address, value, 8, flags, true}, 1);
}

CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                      unsigned int flags) {
    return run(stream, &(Operation){address, value, 4, flags, false}, 1);
}

CUresult CUDAAPI cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                      unsigned int flags) {
    return run(stream, &(Operation){address, value, 8, flags, false}, 1);
}

/* What one entry of a batch asks for; false when it is nothing that there is. A barrier has nothing
 * to wait for, and is left out: *is_any. */
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
    return true;
}

CUresult CUDAAPI cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                    CUstreamBatchMemOpParams *list, unsigned int flags) {
    Operation operations[BATCH_MAX];
    unsigned used = 0;
    if (!count || count > BATCH_MAX || !list || flags) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        bool is_any;
        if (!read_entry(&list[i], &operations[used], &is_any)) return CUDA_ERROR_INVALID_VALUE;
        used += is_any;
    }
    return run(stream, operations, used);
}
