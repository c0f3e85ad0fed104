// Boxes: pitched memory of three dimensions, copied whole and in part.
#include "check.h"

const int X = 12, Y = 10, Z = 6;

__global__ void smooth(cudaPitchedPtr in, cudaPitchedPtr out) {
    int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    size_t slice = in.pitch * Y;
    const float *row = (const float *)((const char *)in.ptr + z * slice + y * in.pitch);
    float sum = row[x];
    if (x > 0 && x < X - 1 && y > 0 && y < Y - 1 && z > 0 && z < Z - 1) {
        sum += row[x - 1] + row[x + 1];
        sum += *(const float *)((const char *)&row[x] - in.pitch);
        sum += *(const float *)((const char *)&row[x] + in.pitch);
        sum += *(const float *)((const char *)&row[x] - slice);
        sum += *(const float *)((const char *)&row[x] + slice);
    }
    ((float *)((char *)out.ptr + z * slice + y * out.pitch))[x] = sum;
}

int main() {
    static float in[Z][Y][X], out[Z][Y][X], part[2][3][4];
    for (int i = 0; i < X * Y * Z; i++)
        ((float *)in)[i] = (float)(i % 19);
    cudaExtent extent = make_cudaExtent(X * sizeof(float), Y, Z);
    cudaPitchedPtr a, b;
    CHECK(cudaMalloc3D(&a, extent));
    CHECK(cudaMalloc3D(&b, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(in, X * sizeof(float), X, Y);
    copy.dstPtr = a;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    smooth<<<Z, dim3(X, Y)>>>(a, b);
    copy.srcPtr = b;
    copy.dstPtr = make_cudaPitchedPtr(out, X * sizeof(float), X, Y);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    copy.srcPos = make_cudaPos(5 * sizeof(float), 4, 3);
    copy.dstPtr = make_cudaPitchedPtr(part, 4 * sizeof(float), 4, 3);
    copy.extent = make_cudaExtent(4 * sizeof(float), 3, 2);
    CHECK(cudaMemcpy3D(&copy));
    for (int z = 0; z < Z; z++) {
        for (int y = 0; y < Y; y++) {
            for (int x = 0; x < X; x++) {
                float sum = in[z][y][x];
                if (x > 0 && x < X - 1 && y > 0 && y < Y - 1 && z > 0 && z < Z - 1)
                    sum += in[z][y][x - 1] + in[z][y][x + 1] + in[z][y - 1][x] + in[z][y + 1][x] +
                           in[z - 1][y][x] + in[z + 1][y][x];
                EXPECT(out[z][y][x] == sum);
            }
        }
    }
    EXPECT(part[0][0][0] == out[3][4][5] && part[1][2][3] == out[4][6][8]);
    CHECK(cudaFree(a.ptr));
    CHECK(cudaFree(b.ptr));
    return passed();
}
