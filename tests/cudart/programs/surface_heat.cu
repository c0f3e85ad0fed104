// Heat spreads over a plate: each step reads one surface, whose edges are clamped, and writes another.
// Then a step that reads zeros outside, and one through a layered surface.
#include "check.h"

#include <vector>

const int WIDTH = 48, HEIGHT = 32, STEPS = 6;

template <cudaSurfaceBoundaryMode MODE>
__global__ void spread(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int size = sizeof(float);
    float left = surf2Dread<float>(from, (x - 1) * size, y, MODE);
    float right = surf2Dread<float>(from, (x + 1) * size, y, MODE);
    float above = surf2Dread<float>(from, x * size, y - 1, MODE);
    float below = surf2Dread<float>(from, x * size, y + 1, MODE);
    float here = surf2Dread<float>(from, x * size, y);
    surf2Dwrite(here + 0.125f * (left + right + above + below - 4 * here), to, x * size, y);
}

__global__ void mark(cudaSurfaceObject_t layers, int count) {
    int x = threadIdx.x, y = blockIdx.x;
    for (int layer = 0; layer < count; layer++) {
        int old = surf2DLayeredread<int>(layers, x * 4, y, layer);
        surf2DLayeredwrite(old + 1000 * layer + 10 * y + x, layers, x * 4, y, layer);
    }
}

static void spread_on_host(const std::vector<float> &from, std::vector<float> &to, bool clamps) {
    auto at = [&](int x, int y) {
        bool is_inside = x >= 0 && x < WIDTH && y >= 0 && y < HEIGHT;
        if (!is_inside && !clamps) return 0.0f;
        x = x < 0 ? 0 : x < WIDTH ? x : WIDTH - 1;
        y = y < 0 ? 0 : y < HEIGHT ? y : HEIGHT - 1;
        return from[y * WIDTH + x];
    };
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float here = at(x, y);
            float sum = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
            to[y * WIDTH + x] = here + 0.125f * (sum - 4 * here);
        }
}

static cudaSurfaceObject_t surface_of(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

static void test_plate() {
    std::vector<float> plate(WIDTH * HEIGHT), next(plate.size()), got(plate.size());
    unsigned state = 1;
    for (float &value : plate)
        value = (float)(next_random(state) % 100);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t arrays[2];
    cudaSurfaceObject_t surfaces[2];
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMallocArray(&arrays[i], &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
        surfaces[i] = surface_of(arrays[i]);
    }
    CHECK(cudaMemcpy2DToArray(arrays[0], 0, 0, plate.data(), WIDTH * 4, WIDTH * 4, HEIGHT,
                              cudaMemcpyHostToDevice));
    dim3 block(16, 8), grid(WIDTH / 16, HEIGHT / 8);
    for (int step = 0; step < STEPS; step++) {
        bool clamps = step % 3 < 2;
        if (clamps)
            spread<cudaBoundaryModeClamp>
                <<<grid, block>>>(surfaces[step % 2], surfaces[1 - step % 2]);
        else
            spread<cudaBoundaryModeZero>
                <<<grid, block>>>(surfaces[step % 2], surfaces[1 - step % 2]);
        spread_on_host(plate, next, clamps);
        plate.swap(next);
    }
    CHECK(cudaMemcpy2DFromArray(got.data(), WIDTH * 4, arrays[STEPS % 2], 0, 0, WIDTH * 4, HEIGHT,
                                cudaMemcpyDeviceToHost));
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        EXPECT(is_near(got[i], plate[i]));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaDestroySurfaceObject(surfaces[i]));
        CHECK(cudaFreeArray(arrays[i]));
    }
}

static void test_layers() {
    const int LAYERS = 3;
    static int words[LAYERS][8][16];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(16, 8, LAYERS),
                            cudaArrayLayered | cudaArraySurfaceLoadStore));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(words, 64, 16, 8);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(16, 8, LAYERS);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaSurfaceObject_t surface = surface_of(array);
    mark<<<8, 16>>>(surface, LAYERS);
    mark<<<8, 16>>>(surface, LAYERS);
    copy = {};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(words, 64, 16, 8);
    copy.extent = make_cudaExtent(16, 8, LAYERS);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int layer = 0; layer < LAYERS; layer++)
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 16; x++)
                EXPECT(words[layer][y][x] == 2 * (1000 * layer + 10 * y + x));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
}

int main() {
    test_plate();
    test_layers();
    return passed();
}
