// A sheet of sprites as a layered texture, drawn at random places and with random turns; the same
// sheet read from a plain buffer must give the same picture.
#include "check.h"

#include <vector>

const int SIDE = 16, SPRITES = 5, FRAMES = 64;

struct Draw {
    int sprite, dx, dy;
    bool is_mirrored;
};

__global__ void draw_texture(cudaTextureObject_t sheet, const Draw *draws, uchar4 *out) {
    int x = threadIdx.x, y = threadIdx.y, frame = blockIdx.x;
    Draw d = draws[frame];
    int u = x + d.dx, v = y + d.dy;
    if (d.is_mirrored) u = SIDE - 1 - u;
    out[(frame * SIDE + y) * SIDE + x] =
        tex2DLayered<uchar4>(sheet, u + 0.5f, v + 0.5f, d.sprite); // borders are transparent
}

__global__ void draw_buffer(const uchar4 *sheet, const Draw *draws, uchar4 *out) {
    int x = threadIdx.x, y = threadIdx.y, frame = blockIdx.x;
    Draw d = draws[frame];
    int u = x + d.dx, v = y + d.dy;
    if (d.is_mirrored) u = SIDE - 1 - u;
    bool is_inside = u >= 0 && u < SIDE && v >= 0 && v < SIDE;
    out[(frame * SIDE + y) * SIDE + x] =
        is_inside ? sheet[(d.sprite * SIDE + v) * SIDE + u] : make_uchar4(0, 0, 0, 0);
}

// Tables of a function, one for each layer, looked up between their points.
__global__ void look_up(cudaTextureObject_t tables, float *out) {
    int i = threadIdx.x, table = blockIdx.x;
    out[table * blockDim.x + i] = tex1DLayered<float>(tables, i * 0.25f, table);
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureAddressMode mode,
                                      cudaTextureFilterMode filter) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = mode;
    sampling.filterMode = filter;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    return texture;
}

static void upload(cudaArray_t array, void *texels, size_t texel, int width, int height, int layers) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels, width * texel, width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, layers);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
}

static void test_sprites() {
    unsigned state = 3;
    std::vector<uchar4> sheet(SPRITES * SIDE * SIDE), pictures[2];
    std::vector<Draw> draws(FRAMES);
    for (uchar4 &texel : sheet) {
        unsigned bits = next_random(state);
        texel = make_uchar4(bits, bits >> 8, bits >> 16, 255);
    }
    for (Draw &draw : draws) {
        unsigned bits = next_random(state);
        draw = {(int)(bits % SPRITES), (int)(bits >> 4) % 9 - 4, (int)(bits >> 8) % 9 - 4,
                (bits >> 12 & 1) != 0};
    }
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(SIDE, SIDE, SPRITES),
                            cudaArrayLayered));
    upload(array, sheet.data(), sizeof(uchar4), SIDE, SIDE, SPRITES);
    cudaTextureObject_t texture = texture_of(array, cudaAddressModeBorder, cudaFilterModePoint);
    const size_t bytes = FRAMES * SIDE * SIDE * sizeof(uchar4);
    uchar4 *d_sheet, *d_out;
    Draw *d_draws;
    CHECK(cudaMalloc(&d_sheet, sheet.size() * sizeof(uchar4)));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMalloc(&d_draws, FRAMES * sizeof(Draw)));
    CHECK(cudaMemcpy(d_sheet, sheet.data(), sheet.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_draws, draws.data(), FRAMES * sizeof(Draw), cudaMemcpyHostToDevice));
    for (int way = 0; way < 2; way++) {
        pictures[way].resize(FRAMES * SIDE * SIDE);
        if (way == 0) draw_texture<<<FRAMES, dim3(SIDE, SIDE)>>>(texture, d_draws, d_out);
        else draw_buffer<<<FRAMES, dim3(SIDE, SIDE)>>>(d_sheet, d_draws, d_out);
        CHECK(cudaMemcpy(pictures[way].data(), d_out, bytes, cudaMemcpyDeviceToHost));
    }
    for (size_t i = 0; i < pictures[0].size(); i++) {
        uchar4 a = pictures[0][i], b = pictures[1][i];
        EXPECT(a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w);
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

static void test_tables() {
    const int POINTS = 16, TABLES = 3, LOOKUPS = 64;
    static float tables[TABLES][POINTS], out[TABLES][LOOKUPS];
    for (int t = 0; t < TABLES; t++)
        for (int i = 0; i < POINTS; i++)
            tables[t][i] = (float)((t + 1) * i * i);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(POINTS, 0, TABLES),
                            cudaArrayLayered));
    upload(array, tables, sizeof(float), POINTS, 1, TABLES);
    cudaTextureObject_t texture = texture_of(array, cudaAddressModeClamp, cudaFilterModeLinear);
    float *d_out;
    CHECK(cudaMalloc(&d_out, sizeof out));
    look_up<<<TABLES, LOOKUPS>>>(texture, d_out);
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < TABLES; t++)
        for (int i = 0; i < LOOKUPS; i++) {
            float at = i * 0.25f - 0.5f;
            int lower = (int)std::floor(at), upper = lower + 1;
            float part = at - lower;
            float a = tables[t][lower < 0 ? 0 : lower], b = tables[t][upper < POINTS ? upper : POINTS - 1];
            EXPECT(is_near(out[t][i], a + (b - a) * part));
        }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
}

int main() {
    test_sprites();
    test_tables();
    return passed();
}
