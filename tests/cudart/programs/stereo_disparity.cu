// Disparity of two pictures: for each pixel the shift with the least sum of absolute differences over a
// window, with the packed bytes of __vabsdiffu4, textures that clamp, and shared sums.
#include "check.h"

#include <vector>

const int W = 96, H = 32, LOW = -12, HIGH = 0, RADIUS = 3, BX = 32, BY = 8;

__global__ void find_shifts(cudaTextureObject_t left, cudaTextureObject_t right, unsigned *out) {
    __shared__ unsigned room[BY + 2 * RADIUS][BX + 2 * RADIUS + 1];
    int x0 = blockIdx.x * BX - RADIUS, y0 = blockIdx.y * BY - RADIUS;
    unsigned best = ~0u, shift = 0;
    for (int d = LOW; d <= HIGH; d++) {
        for (int y = threadIdx.y; y < BY + 2 * RADIUS; y += BY)
            for (int x = threadIdx.x; x < BX + 2 * RADIUS; x += BX) {
                unsigned a = tex2D<unsigned>(left, x0 + x + 0.5f, y0 + y + 0.5f);
                unsigned b = tex2D<unsigned>(right, x0 + x + d + 0.5f, y0 + y + 0.5f);
                room[y][x] = __vsadu4(a, b);
            }
        __syncthreads();
        unsigned sum = 0;
        for (int y = 0; y <= 2 * RADIUS; y++)
            for (int x = 0; x <= 2 * RADIUS; x++) sum += room[threadIdx.y + y][threadIdx.x + x];
        if (sum < best) {
            best = sum;
            shift = (unsigned)-d;
        }
        __syncthreads();
    }
    out[(blockIdx.y * BY + threadIdx.y) * W + blockIdx.x * BX + threadIdx.x] = shift << 24 | (best & 0xffffff);
}

static unsigned difference(unsigned a, unsigned b) {
    unsigned sum = 0;
    for (int i = 0; i < 32; i += 8) sum += std::abs((int)(a >> i & 255) - (int)(b >> i & 255));
    return sum;
}
static unsigned pixel(const unsigned (*image)[W], int x, int y) {
    x = x < 0 ? 0 : x >= W ? W - 1 : x;
    y = y < 0 ? 0 : y >= H ? H - 1 : y;
    return image[y][x];
}

static cudaTextureObject_t texture_of(const unsigned *pixels) {
    unsigned *d_pixels;
    size_t pitch;
    CHECK(cudaMallocPitch(&d_pixels, &pitch, W * 4, H));
    CHECK(cudaMemcpy2D(d_pixels, pitch, pixels, W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {d_pixels, cudaCreateChannelDesc<unsigned>(), W, H, pitch};
    cudaTextureDesc sampling = {};
    for (auto &mode : sampling.addressMode) mode = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    return texture;
}

int main() {
    static unsigned left[H][W], right[H][W], out[H][W], *d_out;
    unsigned random = 5;
    for (auto &row : left)
        for (unsigned &p : row) p = next_random(random) << 8 ^ next_random(random);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) right[y][x] = pixel(left, x + (y < H / 2 ? 4 : 9), y); // two planes
    CHECK(cudaMalloc(&d_out, sizeof out));
    find_shifts<<<dim3(W / BX, H / BY), dim3(BX, BY)>>>(texture_of(left[0]), texture_of(right[0]), d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    int right_shifts = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            unsigned best = ~0u, shift = 0;
            for (int d = LOW; d <= HIGH; d++) {
                unsigned sum = 0;
                for (int j = y - RADIUS; j <= y + RADIUS; j++)
                    for (int i = x - RADIUS; i <= x + RADIUS; i++) sum += difference(pixel(left, i, j), pixel(right, i + d, j));
                if (sum < best) best = sum, shift = (unsigned)-d;
            }
            EXPECT(out[y][x] == (shift << 24 | (best & 0xffffff)));
            right_shifts += shift == (y < H / 2 ? 4u : 9u);
        }
    EXPECT(right_shifts > W * H * 3 / 4);
    return passed();
}
