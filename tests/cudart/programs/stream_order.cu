// Order and overlap of work in streams, a case for each word:
//
//   stream_order CASE [timed]
//
// `timed` says that kernels of different streams overlap in simulated time; a functional run has the
// same order, one kernel at a time. Kernels change a cell by 3x + add, so that order shows.
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

static bool is_timed;
static int ctas; // one warp each, for half of the warps that the machine runs at once

__global__ void step(int *cell, int add) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *cell = 3 * *cell + add;
}

// The same after a chain of instructions in every CTA, each waiting for the one before.
__global__ void slow_step(int *cell, int add, int rounds) {
    unsigned x = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        x = x * 1664525u + (x >> 7);
    if (blockIdx.x == 0 && threadIdx.x == 0) *cell = 3 * *cell + add + (x == 1u ? 1 : 0);
}

__global__ void fault(int *nowhere) { *nowhere = 1; }

static void slow(cudaStream_t stream, int *cell, int add, int rounds = 2000) {
    slow_step<<<ctas, 32, 0, stream>>>(cell, add, rounds);
    CHECK(cudaGetLastError());
}

static void quick(cudaStream_t stream, int *cell, int add) {
    step<<<1, 32, 0, stream>>>(cell, add);
    CHECK(cudaGetLastError());
}

static int *new_cell(int count = 1) {
    int *cell;
    CHECK(cudaMalloc((void **)&cell, count * sizeof *cell));
    CHECK(cudaMemset(cell, 0, count * sizeof *cell));
    return cell;
}

static int value(const int *cell) {
    int read;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&read, cell, sizeof read, cudaMemcpyDeviceToHost));
    return read;
}

static cudaStream_t new_stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaEvent_t new_event() {
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    return event;
}

static cudaEvent_t record(cudaStream_t stream) {
    cudaEvent_t event = new_event();
    CHECK(cudaEventRecord(event, stream));
    return event;
}

static float elapsed(cudaEvent_t from, cudaEvent_t to) {
    float milliseconds;
    CHECK(cudaEventSynchronize(to));
    CHECK(cudaEventElapsedTime(&milliseconds, from, to));
    return milliseconds;
}

// The simulated time that all work takes which `give` gives.
template <typename Give> static float time_of(Give give) {
    CHECK(cudaDeviceSynchronize());
    cudaEvent_t start = record(0);
    give();
    CHECK(cudaDeviceSynchronize());
    return elapsed(start, record(0));
}

// The time of one slow kernel alone.
static float time_of_one(int *cell) {
    slow(0, cell, 0); // loads its code
    return time_of([=] { slow(0, cell, 0); });
}

// Whether a time is that of kernels one after the other, or that of one.
static bool is_serial(float time, float one, int kernels) { return time >= 0.95f * one * kernels; }
static bool is_overlapped(float time, float one) { return time <= 1.1f * one; }

// ---- Overlap ----

static void two_streams_overlap() {
    int *cells = new_cell(2);
    cudaStream_t a = new_stream(), b = new_stream();
    float one = time_of_one(cells), two = time_of([=] {
        slow(a, cells, 1);
        slow(b, cells + 1, 2);
    });
    EXPECT(is_timed ? is_overlapped(two, one) : is_serial(two, one, 2));
    EXPECT(value(cells) == 1 && value(cells + 1) == 2);
}

static void one_stream_is_serial() {
    int *cell = new_cell();
    cudaStream_t a = new_stream();
    float one = time_of_one(cell), three = time_of([=] {
        slow(a, cell, 1);
        slow(a, cell, 2);
        slow(a, cell, 0);
    });
    EXPECT(is_serial(three, one, 3) && three <= 3.2f * one);
    EXPECT(value(cell) == (1 * 3 + 2) * 3);
}

static void many_streams() {
    const int count = 100, rounds = 3;
    int *cells = new_cell(count);
    std::vector<cudaStream_t> streams;
    for (int i = 0; i < count; i++)
        streams.push_back(new_stream(i % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
    float one = time_of([=] { slow_step<<<1, 32>>>(cells, 0, 500); });
    float all = time_of([&] {
        for (int round = 1; round <= rounds; round++)
            for (int i = 0; i < count; i++)
                slow_step<<<1, 32, 0, streams[i]>>>(cells + i, round + i, 500);
    });
    if (is_timed) EXPECT(all < one * rounds * count / 10);
    for (int i = 0; i < count; i++) {
        EXPECT(value(cells + i) == ((1 + i) * 3 + 2 + i) * 3 + 3 + i);
        CHECK(cudaStreamDestroy(streams[i]));
    }
}

static void higher_priority_first() {
    int least, greatest, *cells = new_cell(2);
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least == 0 && greatest == -5);
    cudaStream_t low, high;
    CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    slow_step<<<40 * ctas, 32, 0, low>>>(cells, 1, 100); // more than the machine holds
    slow_step<<<ctas, 32, 0, high>>>(cells + 1, 2, 100);
    cudaEvent_t low_end = record(low), high_end = record(high);
    CHECK(cudaDeviceSynchronize());
    EXPECT(elapsed(high_end, low_end) > 0);
    EXPECT(value(cells) == 1 && value(cells + 1) == 2);
}

// ---- The default streams ----

static void legacy_stream_is_a_barrier() {
    int *cell = new_cell();
    cudaStream_t a = new_stream(), b = new_stream();
    float one = time_of_one(cell);
    CHECK(cudaMemset(cell, 0, sizeof *cell));
    float three = time_of([=] {
        slow(a, cell, 1);
        slow(0, cell, 2);
        slow(b, cell, 3);
    });
    EXPECT(is_serial(three, one, 3));
    EXPECT(value(cell) == (1 * 3 + 2) * 3 + 3);
}

static void non_blocking_stream_is_none() {
    int *cells = new_cell(2);
    cudaStream_t a = new_stream(cudaStreamNonBlocking);
    float one = time_of_one(cells);
    CHECK(cudaMemset(cells, 0, sizeof *cells));
    float two = time_of([=] {
        slow(0, cells, 1);
        slow(a, cells + 1, 2);
    });
    EXPECT(is_timed ? is_overlapped(two, one) : is_serial(two, one, 2));
    quick(0, cells, 4);
    slow(a, cells + 1, 3, 4000);
    int read;
    CHECK(cudaMemcpy(&read, cells, sizeof read, cudaMemcpyDeviceToHost)); // not for `a`
    EXPECT(read == 1 * 3 + 4);
    EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
    EXPECT(value(cells + 1) == 2 * 3 + 3);
}

static void threads_have_default_streams() {
    const int threads = 2;
    int *cells = new_cell(threads);
    float one = time_of_one(cells);
    CHECK(cudaMemset(cells, 0, sizeof *cells));
    cudaEvent_t start = record(0);
    for (int i = 0; i < threads; i++)
        std::thread([=] {
            slow(cudaStreamPerThread, cells + i, 1);
            slow(cudaStreamPerThread, cells + i, 2 + i);
        }).join();
    CHECK(cudaStreamSynchronize(cudaStreamPerThread)); // of this thread: nothing is in it
    slow(0, cells, 4);                                 // behind both
    cudaEvent_t stop = record(0);
    float all = elapsed(start, stop);
    EXPECT(is_timed ? is_overlapped(all, 3 * one) : is_serial(all, one, 5));
    EXPECT(value(cells) == (1 * 3 + 2) * 3 + 4 && value(cells + 1) == 1 * 3 + 3);
}

// ---- Events ----

static void events_chain_streams() {
    const int links = 6;
    int *cell = new_cell(), expected = 0;
    float one = time_of_one(cell);
    CHECK(cudaMemset(cell, 0, sizeof *cell));
    float all = time_of([&] {
        cudaEvent_t before = nullptr;
        for (int i = 1; i <= links; i++) {
            cudaStream_t stream = new_stream(cudaStreamNonBlocking);
            if (before) CHECK(cudaStreamWaitEvent(stream, before, 0));
            slow(stream, cell, i);
            before = record(stream);
            expected = 3 * expected + i;
        }
    });
    EXPECT(is_serial(all, one, links));
    EXPECT(value(cell) == expected);
}

// A wait is for what was recorded last when it was given.
static void waits_are_for_earlier_records() {
    int *cells = new_cell(2);
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event(), first = new_event(), second = new_event();
    CHECK(cudaStreamWaitEvent(b, event, 0)); // never recorded: nothing to wait for
    slow(a, cells, 1);
    CHECK(cudaEventRecord(event, a));
    CHECK(cudaEventRecord(first, a));
    CHECK(cudaStreamWaitEvent(b, event, 0));
    slow(a, cells + 1, 5, 8000);
    CHECK(cudaEventRecord(event, a)); // again
    quick(b, cells, 2);
    CHECK(cudaEventRecord(second, b));
    CHECK(cudaDeviceSynchronize());
    EXPECT(elapsed(first, second) >= 0);
    if (is_timed) EXPECT(elapsed(second, event) > 0);
    EXPECT(value(cells) == 1 * 3 + 2 && value(cells + 1) == 5);
}

static void elapsed_time_is_simulated() {
    int *cell = new_cell();
    cudaStream_t a = new_stream();
    float one = time_of_one(cell), milliseconds;
    cudaEvent_t first = record(a);
    slow(a, cell, 1);
    cudaEvent_t second = record(a);
    slow(a, cell, 1);
    slow(a, cell, 1);
    cudaEvent_t third = record(a);
    EXPECT(cudaEventElapsedTime(&milliseconds, first, third) == cudaErrorNotReady);
    CHECK(cudaEventSynchronize(third));
    EXPECT(is_near(elapsed(first, second), one, 0.1));
    EXPECT(is_near(elapsed(second, third), 2 * one, 0.1));
    EXPECT(is_near(elapsed(first, third), elapsed(first, second) + elapsed(second, third)));
}

static void fork_and_join() {
    const int branches = 4;
    int *cells = new_cell(branches);
    cudaStream_t trunk = new_stream(cudaStreamNonBlocking);
    for (int i = 0; i < branches; i++)
        slow(trunk, cells + i, 1);
    cudaEvent_t fork = record(trunk);
    for (int i = 0; i < branches; i++) {
        cudaStream_t branch = new_stream(cudaStreamNonBlocking);
        CHECK(cudaStreamWaitEvent(branch, fork, 0));
        slow(branch, cells + i, 2 + i);
        CHECK(cudaStreamWaitEvent(trunk, record(branch), 0));
    }
    for (int i = 0; i < branches; i++)
        quick(trunk, cells + i, 4);
    CHECK(cudaStreamSynchronize(trunk));
    for (int i = 0; i < branches; i++)
        EXPECT(value(cells + i) == (1 * 3 + 2 + i) * 3 + 4);
}

// ---- What the host sees ----

// The first question after a launch finds the kernel pending; the device goes on meanwhile.
static void queries_tell_what_is_pending() {
    int *cell = new_cell(), asked = 0;
    cudaStream_t a = new_stream();
    EXPECT(cudaStreamQuery(a) == cudaSuccess);
    slow(a, cell, 1);
    cudaEvent_t event = record(a);
    EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
    while (cudaStreamQuery(a) == cudaErrorNotReady)
        EXPECT(++asked < 10);
    EXPECT(cudaEventQuery(event) == cudaSuccess);
    slow(a, cell, 2);
    CHECK(cudaEventRecord(event, a));
    EXPECT(cudaEventQuery(event) == cudaErrorNotReady);
    CHECK(cudaEventSynchronize(event));
    EXPECT(cudaEventQuery(event) == cudaSuccess && cudaStreamQuery(a) == cudaSuccess);
    EXPECT(value(cell) == 1 * 3 + 2);
}

struct Called {
    std::vector<int> order;
    int *seen; // page-locked
};
static Called called;

static void call(void *number) { called.order.push_back((int)(size_t)number + 10 * *called.seen); }

static void host_functions_are_in_order() {
    int *cell = new_cell();
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    CHECK(cudaMallocHost((void **)&called.seen, sizeof(int)));
    *called.seen = 0;
    CHECK(cudaLaunchHostFunc(a, call, (void *)1));
    for (int i = 2; i <= 4; i++) {
        slow(a, cell, 1);
        CHECK(cudaMemcpyAsync(called.seen, cell, sizeof(int), cudaMemcpyDeviceToHost, a));
        CHECK(cudaLaunchHostFunc(a, call, (void *)(size_t)i));
    }
    CHECK(cudaStreamWaitEvent(b, record(a), 0));
    CHECK(cudaLaunchHostFunc(b, call, (void *)5));
    CHECK(cudaDeviceSynchronize());
    EXPECT((called.order == std::vector<int>{1, 2 + 10 * 1, 3 + 10 * 4, 4 + 10 * 13, 5 + 10 * 13}));
}

static void copies_are_between_kernels() {
    int *cells = new_cell(2), *host, plain = 7;
    cudaStream_t streams[2] = {new_stream(cudaStreamNonBlocking), new_stream(cudaStreamNonBlocking)};
    CHECK(cudaMallocHost((void **)&host, 4 * sizeof *host));
    memset(host, 0, 4 * sizeof *host);
    for (int i = 0; i < 2; i++) {
        slow(streams[i], cells + i, 1 + i);
        CHECK(cudaMemcpyAsync(host + 2 * i, cells + i, sizeof(int), cudaMemcpyDeviceToHost, streams[i]));
        slow(streams[i], cells + i, 5);
        CHECK(cudaMemcpyAsync(host + 2 * i + 1, cells + i, sizeof(int), cudaMemcpyDeviceToHost, streams[i]));
        CHECK(cudaMemcpyAsync(cells + i, &plain, sizeof(int), cudaMemcpyHostToDevice, streams[i]));
        plain = 0; // pageable memory is read when the copy is given
        slow(streams[i], cells + i, 1);
        EXPECT(host[2 * i + 1] == 0); // nothing has run yet
        plain = 7;
    }
    CHECK(cudaDeviceSynchronize());
    EXPECT(host[0] == 1 && host[1] == 8 && host[2] == 2 && host[3] == 11);
    EXPECT(value(cells) == 22 && value(cells + 1) == 22);
}

static void fillings_are_between_kernels() {
    int *cell = new_cell(), *other;
    cudaStream_t a = new_stream(cudaStreamNonBlocking);
    slow(a, cell, 5);
    CHECK(cudaMemsetAsync(cell, 0, sizeof *cell, a));
    slow(a, cell, 2);
    CHECK(cudaMallocAsync((void **)&other, sizeof *other, a));
    CHECK(cudaMemsetAsync(other, 0, sizeof *other, a));
    slow(a, other, 3);
    CHECK(cudaMemcpyAsync(cell, other, sizeof *cell, cudaMemcpyDeviceToDevice, a));
    CHECK(cudaFreeAsync(other, a));
    slow(a, cell, 1);
    CHECK(cudaStreamSynchronize(a));
    EXPECT(value(cell) == 3 * 3 + 1);
}

static void device_waits_in_the_middle() {
    int *cells = new_cell(2);
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    slow(a, cells, 1);
    slow(b, cells + 1, 1);
    CHECK(cudaDeviceSynchronize());
    EXPECT(cudaStreamQuery(a) == cudaSuccess && cudaStreamQuery(b) == cudaSuccess);
    slow(b, cells, 2); // the other way round
    slow(a, cells + 1, 3);
    EXPECT(value(cells) == 5 && value(cells + 1) == 6);
}

// ---- Graphs ----

static void branches_of_graphs_overlap() {
    int *cells = new_cell(2);
    cudaStream_t a = new_stream(cudaStreamNonBlocking), b = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    float one = time_of_one(cells);
    CHECK(cudaMemset(cells, 0, sizeof *cells));
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    slow(a, cells, 1);
    CHECK(cudaStreamWaitEvent(b, record(a), 0));
    slow(a, cells, 2);
    slow(b, cells + 1, 3);
    CHECK(cudaStreamWaitEvent(a, record(b), 0));
    slow(a, cells, 4);
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    EXPECT(value(cells) == 0);
    float all = time_of([=] { CHECK(cudaGraphLaunch(executable, a)); });
    EXPECT(is_timed ? is_overlapped(all, 3 * one) && is_serial(all, one, 3) : is_serial(all, one, 4));
    EXPECT(value(cells) == (1 * 3 + 2) * 3 + 4 && value(cells + 1) == 3);
    CHECK(cudaGraphLaunch(executable, a)); // twice: one after the other
    CHECK(cudaGraphLaunch(executable, b));
    EXPECT(value(cells + 1) == (3 * 3 + 3) * 3 + 3);
    CHECK(cudaGraphExecDestroy(executable));
}

// ---- Ends ----

static void destroyed_streams_do_their_work() {
    int *cell = new_cell();
    cudaStream_t a = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    slow(a, cell, 1);
    CHECK(cudaEventRecord(event, a));
    slow(a, cell, 2);
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(a));
    EXPECT(cudaStreamQuery(a) == cudaErrorInvalidResourceHandle);
    cudaStream_t b = new_stream(cudaStreamNonBlocking); // another, even at the same address
    EXPECT(cudaStreamQuery(b) == cudaSuccess);
    EXPECT(value(cell) == 1 * 3 + 2);
}

static void faults_stay_with_the_device() {
    int *cells = new_cell(2);
    cudaStream_t a = new_stream(), b = new_stream();
    slow_step<<<1, 2000, 0, a>>>(cells, 1, 1);
    EXPECT(cudaGetLastError() != cudaSuccess); // told at once
    CHECK(cudaStreamSynchronize(a));
    fault<<<1, 1, 0, a>>>(nullptr);
    EXPECT(cudaGetLastError() == cudaSuccess); // not yet
    quick(b, cells, 1);
    quick(a, cells + 1, 1); // never done
    EXPECT(cudaStreamSynchronize(a) == cudaErrorIllegalAddress);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    step<<<1, 1, 0, b>>>(cells, 1);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    int read;
    EXPECT(cudaMemcpy(&read, cells, sizeof read, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
}

static int *written; // page-locked

static void look_at_the_end() {
    if (*written == 5) return;
    std::printf("at the end of the process: %d is not 5\n", *written);
    std::fflush(stdout);
    std::_Exit(1);
}

// Called before CUDA is used, so that it comes after what CUDA does at the end.
static void the_end_waits() {
    std::atexit(look_at_the_end);
    CHECK(cudaMallocHost((void **)&written, sizeof *written));
    *written = 0;
    cudaStream_t a = new_stream(cudaStreamNonBlocking);
    slow(a, written, 1);
    slow(a, written, 2);
    EXPECT(*written == 0);
}

// ---- Cases ----

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
#define CASE(name) {#name, name}
    CASE(two_streams_overlap),
    CASE(one_stream_is_serial),
    CASE(many_streams),
    CASE(higher_priority_first),
    CASE(legacy_stream_is_a_barrier),
    CASE(non_blocking_stream_is_none),
    CASE(threads_have_default_streams),
    CASE(events_chain_streams),
    CASE(waits_are_for_earlier_records),
    CASE(elapsed_time_is_simulated),
    CASE(fork_and_join),
    CASE(queries_tell_what_is_pending),
    CASE(host_functions_are_in_order),
    CASE(copies_are_between_kernels),
    CASE(fillings_are_between_kernels),
    CASE(device_waits_in_the_middle),
    CASE(branches_of_graphs_overlap),
    CASE(destroyed_streams_do_their_work),
    CASE(faults_stay_with_the_device),
    CASE(the_end_waits),
};

int main(int count, char **words) {
    is_timed = count > 2 && strcmp(words[2], "timed") == 0;
    for (const auto &one : cases) {
        if (count < 2 || strcmp(words[1], one.name) != 0) continue;
        if (one.run != the_end_waits) {
            cudaDeviceProp device;
            CHECK(cudaGetDeviceProperties(&device, 0));
            ctas = device.multiProcessorCount * 4;
        } else {
            ctas = 60;
        }
        one.run();
        return passed();
    }
    std::printf("no such case\n");
    return 2;
}
