// Three processes in a ring: each owns a part of a field that spreads, and reads the edges of its
// neighbours' parts in their device memory, which it opened by a handle. Pipes carry the handles,
// and tell when a step is done.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>
#include <vector>

const int PROCESSES = 3, PART = 64, STEPS = 5;

__global__ void spread(const float *before, const float *left, const float *right, float *after) {
    int i = threadIdx.x;
    float below = i ? before[i - 1] : left[PART - 1];
    float above = i < PART - 1 ? before[i + 1] : right[0];
    after[i] = before[i] + 0.25f * (below + above - 2 * before[i]);
}

static float start_value(int i) { return (float)((i * 37) % 101); }

struct Handles {
    cudaIpcMemHandle_t parts[2];
    cudaIpcEventHandle_t event;
};

// What goes round: `bytes` from everybody's left neighbour; and what the right one sends.
static int to_right[PROCESSES][2], to_left[PROCESSES][2];

static void send(int pipe[2], const void *bytes, size_t size) {
    EXPECT(write(pipe[1], bytes, size) == (ssize_t)size);
}
static void receive(int pipe[2], void *bytes, size_t size) {
    for (size_t at = 0; at < size;) {
        ssize_t count = read(pipe[0], (char *)bytes + at, size - at);
        EXPECT(count > 0);
        at += count;
    }
}

// Everybody has come here before anybody goes on: two rounds tell each the two neighbours' news.
static void meet(int self, char word) {
    for (int round = 0; round < PROCESSES; round++) {
        char other;
        send(to_right[self], &word, 1);
        receive(to_right[(self + PROCESSES - 1) % PROCESSES], &other, 1);
    }
}

static int run(int self) {
    std::vector<float> values(PART), all(PROCESSES * PART), next(all.size());
    float *parts[2], *left[2], *right[2], *padding;
    cudaEvent_t event, left_event;
    Handles own, of_left, of_right;
    for (int i = 0; i < PART; i++)
        values[i] = start_value(self * PART + i);
    CHECK(
        cudaMalloc(&padding, 1000 * (self + 1))); // so that the parts lie elsewhere in each process
    for (float *&part : parts)
        CHECK(cudaMalloc(&part, PART * sizeof(float)));
    CHECK(cudaMemcpy(parts[0], values.data(), PART * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    for (int i = 0; i < 2; i++)
        CHECK(cudaIpcGetMemHandle(&own.parts[i], parts[i]));
    CHECK(cudaIpcGetEventHandle(&own.event, event));
    send(to_right[self], &own, sizeof own);
    receive(to_right[(self + PROCESSES - 1) % PROCESSES], &of_left, sizeof of_left);
    send(to_left[self], &own, sizeof own);
    receive(to_left[(self + 1) % PROCESSES], &of_right, sizeof of_right);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaIpcOpenMemHandle((void **)&left[i], of_left.parts[i],
                                   cudaIpcMemLazyEnablePeerAccess));
        CHECK(cudaIpcOpenMemHandle((void **)&right[i], of_right.parts[i],
                                   cudaIpcMemLazyEnablePeerAccess));
    }
    CHECK(cudaIpcOpenEventHandle(&left_event, of_left.event));
    for (int step = 0; step < STEPS; step++) {
        int from = step % 2;
        CHECK(cudaStreamWaitEvent(0, left_event, 0));
        spread<<<1, PART>>>(parts[from], left[from], right[from], parts[1 - from]);
        CHECK(cudaEventRecord(event));
        CHECK(cudaDeviceSynchronize());
        meet(self, (char)step);
    }
    CHECK(
        cudaMemcpy(values.data(), parts[STEPS % 2], PART * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < PROCESSES * PART; i++)
        all[i] = start_value(i);
    for (int step = 0; step < STEPS; step++) {
        int count = PROCESSES * PART;
        for (int i = 0; i < count; i++)
            next[i] =
                all[i] + 0.25f * (all[(i + count - 1) % count] + all[(i + 1) % count] - 2 * all[i]);
        all.swap(next);
    }
    for (int i = 0; i < PART; i++)
        EXPECT(is_near(values[i], all[self * PART + i]));
    meet(self, 'e'); // no process frees memory that another one still reads
    for (int i = 0; i < 2; i++) {
        CHECK(cudaIpcCloseMemHandle(left[i]));
        CHECK(cudaIpcCloseMemHandle(right[i]));
    }
    CHECK(cudaEventDestroy(left_event));
    return 0;
}

int main() {
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        EXPECT(pipe(to_right[i]) == 0 && pipe(to_left[i]) == 0);
    for (int i = 0; i < PROCESSES; i++) { // before CUDA is called
        children[i] = fork();
        if (children[i] == 0) return run(i);
    }
    for (pid_t child : children) {
        int status;
        EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
               WEXITSTATUS(status) == 0);
    }
    return passed();
}
