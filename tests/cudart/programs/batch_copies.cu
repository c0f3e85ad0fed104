// Batches of copies: many pieces of host and device memory in one call, which is refused while a
// stream is captured and does that no harm; boxes between pitched memory; and what else is refused.
#include "check.h"

const int PIECES = 5, LENGTH = 300;

int main() {
    int values[PIECES][LENGTH], back[PIECES][LENGTH];
    int *pieces[PIECES], *twins[PIECES];
    void *to[PIECES];
    const void *from[PIECES];
    size_t sizes[PIECES], first[] = {0, 2};
    cudaStream_t stream;
    cudaMemcpyAttributes attributes[2] = {};
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderAny;
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)(LENGTH - i) * sizeof(int);
        CHECK(cudaMalloc((void **)&pieces[i], sizeof values[i]));
        CHECK(cudaMalloc((void **)&twins[i], sizeof values[i]));
        for (int j = 0; j < LENGTH; j++) {
            values[i][j] = i * 1000 + j;
            back[i][j] = -1;
        }
    }
    for (int i = 0; i < PIECES; i++) {
        to[i] = pieces[i];
        from[i] = values[i];
    }
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, PIECES, attributes, first, 2, stream));
    for (int i = 0; i < PIECES; i++) {
        to[i] = twins[i];
        from[i] = pieces[i];
    }
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    size_t nodes = 0;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, PIECES, attributes, first, 1, stream) ==
           cudaErrorStreamCaptureUnsupported);
    for (int i = 0; i < PIECES; i++)
        CHECK(cudaMemcpyAsync(to[i], from[i], sizes[i], cudaMemcpyDefault, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT(nodes == PIECES);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    for (int i = 0; i < PIECES; i++) {
        to[i] = back[i];
        from[i] = twins[i];
    }
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, PIECES, attributes, first, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < PIECES; i++) {
        for (int j = 0; j < LENGTH; j++)
            EXPECT(back[i][j] == (j < LENGTH - i ? values[i][j] : -1));
    }

    // a box of 4 x 3 x 2 bytes out of rows of 16 into rows of 8
    unsigned char box[2 * 4 * 16], target[2 * 3 * 8];
    void *d_box, *d_target;
    for (size_t i = 0; i < sizeof box; i++)
        box[i] = (unsigned char)i;
    CHECK(cudaMalloc(&d_box, sizeof box));
    CHECK(cudaMalloc(&d_target, sizeof target));
    CHECK(cudaMemcpy(d_box, box, sizeof box, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_target, 0xff, sizeof target));
    cudaMemcpy3DBatchOp copy = {};
    copy.src.type = copy.dst.type = cudaMemcpyOperandTypePointer;
    copy.src.op.ptr.ptr = d_box;
    copy.src.op.ptr.rowLength = 16;
    copy.src.op.ptr.layerHeight = 4;
    copy.dst.op.ptr.ptr = d_target;
    copy.dst.op.ptr.rowLength = 8;
    copy.dst.op.ptr.layerHeight = 3;
    copy.extent = cudaExtent{4, 3, 2};
    copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpy3DBatchAsync(1, &copy, 0, stream));
    CHECK(cudaMemcpy(target, d_target, sizeof target, cudaMemcpyDeviceToHost));
    for (int z = 0; z < 2; z++) {
        for (int y = 0; y < 3; y++) {
            for (int x = 0; x < 8; x++)
                EXPECT(target[(z * 3 + y) * 8 + x] == (x < 4 ? box[(z * 4 + y) * 16 + x] : 0xff));
        }
    }

    // what is wrong
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, PIECES, attributes, first, 1, nullptr) ==
           cudaErrorInvalidValue);
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, PIECES, attributes, first, 1, stream) ==
           cudaErrorInvalidValue);
    first[0] = 1;
    attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, PIECES, attributes, first, 1, stream) ==
           cudaErrorInvalidValue);
    copy.extent.depth = 0;
    EXPECT(cudaMemcpy3DBatchAsync(1, &copy, 0, stream) == cudaErrorInvalidValue);
    cudaGetLastError();
    return passed();
}
