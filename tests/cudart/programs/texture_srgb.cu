// An image whose colours are sRGB, read as linear light: each texel as it is, and between texels,
// where the conversion comes before the filter. The fourth channel is not a colour. A GPU has the
// curve to 8 significant bits, give or take one of the last, and what it filters as halves.
#include "check.h"

const int WIDTH = 16, HEIGHT = 16;

__global__ void look(cudaTextureObject_t image, float4 *out, float inset) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * WIDTH + x] = tex2D<float4>(image, x + inset, y + inset);
}

static double linear(unsigned char value) {
    double c = value / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

// The last of `bits` significant bits. It is worth at least 2^-14.
static double last_bit(double value, int bits) {
    int exponent;
    std::frexp(value, &exponent);
    return std::fmax(std::ldexp(1, exponent - bits), std::ldexp(1, -14));
}

static bool is_colour(float value, unsigned char channel) {
    const double exact = linear(channel), step = last_bit(exact, 8);
    return std::fabs(value - exact) <= 1.5 * step && std::fmod(value, step / 2) == 0;
}

static cudaTextureObject_t make(cudaArray_t array, bool is_srgb, cudaTextureFilterMode filter) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc sampling = {};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.filterMode = filter;
    sampling.readMode = cudaReadModeNormalizedFloat;
    sampling.sRGB = is_srgb;
    cudaTextureObject_t texture;
    cudaTextureDesc seen;
    CHECK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    CHECK(cudaGetTextureObjectTextureDesc(&seen, texture));
    EXPECT(seen.sRGB == is_srgb);
    return texture;
}

int main() {
    static uchar4 image[HEIGHT * WIDTH];
    static float4 out[HEIGHT * WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++) // every value of a channel occurs
        image[i] = make_uchar4(i, 255 - i, i * 37, i * 11);
    cudaArray_t array;
    float4 *d_out;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image, WIDTH * 4, WIDTH * 4, HEIGHT,
                              cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&d_out, sizeof out));
    for (int is_srgb = 0; is_srgb < 2; is_srgb++) {
        cudaTextureObject_t texture = make(array, is_srgb, cudaFilterModePoint);
        look<<<HEIGHT, WIDTH>>>(texture, d_out, 0.5f);
        CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        for (int i = 0; i < HEIGHT * WIDTH; i++) {
            EXPECT(is_srgb ? is_colour(out[i].x, image[i].x)
                           : is_near(out[i].x, image[i].x / 255.0, 1e-6));
            EXPECT(is_srgb ? is_colour(out[i].y, image[i].y)
                           : is_near(out[i].y, image[i].y / 255.0, 1e-6));
            EXPECT(is_srgb ? is_colour(out[i].z, image[i].z)
                           : is_near(out[i].z, image[i].z / 255.0, 1e-6));
            EXPECT(is_near(out[i].w, image[i].w / 255.0, 1e-6));
        }
        CHECK(cudaDestroyTextureObject(texture));
    }
    static float4 whole[HEIGHT * WIDTH]; // the texels themselves, as they have just been read
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        whole[i] = out[i];
    cudaTextureObject_t texture = make(array, true, cudaFilterModeLinear);
    look<<<HEIGHT, WIDTH>>>(texture, d_out, 1); // in the middle of four texels
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT - 1; y++)
        for (int x = 0; x < WIDTH - 1; x++) {
            double sum = 0, alpha = 0;
            for (int corner = 0; corner < 4; corner++) {
                float4 texel = whole[(y + corner / 2) * WIDTH + x + corner % 2];
                sum += texel.x / 4;
                alpha += texel.w / 4;
            }
            // (a GPU loses up to 2^-8 of it on the way)
            EXPECT(out[y * WIDTH + x].x - sum <= std::ldexp(sum, -11));
            EXPECT(sum - out[y * WIDTH + x].x <= std::ldexp(sum, -8));
            EXPECT(is_near(out[y * WIDTH + x].w, alpha, 5e-4));
        }
    CHECK(cudaDestroyTextureObject(texture));
    return passed();
}
