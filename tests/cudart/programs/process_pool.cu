// A pool that another process opens by a descriptor, and works in memory that came from it.
#include "check.h"

#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

const int N = 300;

__global__ void fill(int *p, int from) { p[threadIdx.x] = from + threadIdx.x; }
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }

// A message with a descriptor along (unix(7)).
struct Message {
    cudaMemPoolPtrExportData first, second;
};

static void send(int channel, const Message &message, int file) {
    char control[CMSG_SPACE(sizeof file)] = {};
    iovec part = {(void *)&message, sizeof message};
    msghdr header = {};
    header.msg_iov = &part, header.msg_iovlen = 1;
    header.msg_control = control, header.msg_controllen = sizeof control;
    cmsghdr *along = CMSG_FIRSTHDR(&header);
    along->cmsg_level = SOL_SOCKET, along->cmsg_type = SCM_RIGHTS;
    along->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(along), &file, sizeof file);
    EXPECT(sendmsg(channel, &header, 0) == sizeof message);
}

static int receive(int channel, Message &message) {
    int file;
    char control[CMSG_SPACE(sizeof file)] = {};
    iovec part = {&message, sizeof message};
    msghdr header = {};
    header.msg_iov = &part, header.msg_iovlen = 1;
    header.msg_control = control, header.msg_controllen = sizeof control;
    EXPECT(recvmsg(channel, &header, 0) == sizeof message && CMSG_FIRSTHDR(&header));
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof file);
    return file;
}

static cudaMemPool_t new_pool() {
    cudaMemPool_t pool;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &props));
    return pool;
}

static int give(int channel) {
    int *first, *second, *foreign, *got = new int[N], file, other_file;
    char word;
    Message message;
    cudaMemPool_t pool = new_pool(), other = new_pool();
    CHECK(cudaMallocFromPoolAsync(&first, N * sizeof(int), pool, 0));
    CHECK(cudaMallocFromPoolAsync(&second, N * sizeof(int), pool, 0));
    CHECK(cudaMallocFromPoolAsync(&foreign, 64, other, 0));
    fill<<<1, N>>>(first, 10);
    fill<<<1, N>>>(second, 1000);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemPoolExportToShareableHandle(&file, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    CHECK(cudaMemPoolExportPointer(&message.first, first));
    CHECK(cudaMemPoolExportPointer(&message.second, second));
    send(channel, message, file);
    EXPECT(cudaMemPoolExportPointer(&message.first, foreign) == cudaErrorInvalidValue); // not shared
    CHECK(cudaMemPoolExportToShareableHandle(&other_file, other, cudaMemHandleTypePosixFileDescriptor, 0));
    CHECK(cudaMemPoolExportPointer(&message.first, foreign));
    EXPECT(cudaMemPoolExportPointer(&message.second, second + 1) == cudaErrorInvalidValue);
    EXPECT(write(channel, &message.first, sizeof message.first) > 0);
    close(file), close(other_file);
    EXPECT(read(channel, &word, 1) == 1);
    CHECK(cudaMemcpy(got, second, N * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < N; i++)
        EXPECT(got[i] == 2 * (1000 + i));
    CHECK(cudaFreeAsync(first, 0));
    CHECK(cudaFree(second));
    CHECK(cudaMemPoolDestroy(pool));
    delete[] got;
    return 0;
}

static int take(int channel) {
    int *first, *second, *none, *padding, *got = new int[N];
    Message message;
    cudaMemPoolPtrExportData foreign;
    cudaMemPool_t pool;
    CHECK(cudaMalloc(&padding, 12345));
    int file = receive(channel, message);
    EXPECT(read(channel, &foreign, sizeof foreign) == sizeof foreign);
    CHECK(cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)file,
                                               cudaMemHandleTypePosixFileDescriptor, 0));
    close(file);
    CHECK(cudaMemPoolImportPointer((void **)&first, pool, &message.first));
    CHECK(cudaMemPoolImportPointer((void **)&second, pool, &message.second));
    EXPECT(cudaMemPoolImportPointer((void **)&none, pool, &foreign) == cudaErrorInvalidValue);
    EXPECT(cudaMallocFromPoolAsync(&none, 64, pool, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(got, first, N * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < N; i++)
        EXPECT(got[i] == 10 + i);
    twice<<<1, N>>>(second);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeAsync(first, 0));
    CHECK(cudaFree(second));
    EXPECT(cudaFree(second) == cudaErrorInvalidValue);
    EXPECT(write(channel, "x", 1) == 1);
    CHECK(cudaMemPoolDestroy(pool));
    delete[] got;
    return 0;
}

int main() {
    int ends[2], status;
    EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pid_t child = fork();
    if (child == 0) return give(ends[1]);
    close(ends[1]);
    take(ends[0]);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    return passed();
}
