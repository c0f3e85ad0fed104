/* Removes noise from an image of packed RGBA pixels: every pixel becomes a mean over a window of 7
 * x 7, weighted by distance in space and in colour, and is mixed with its old value by the share of
 * similar pixels in the window. The image is a texture, which returns channels as fractions and is
 * clamped at its edges. CTAs of 8 x 8 threads, no shared memory. */
#include "tyto_device.h"

typedef unsigned long long Texture;

enum { RADIUS = 3, SIDE = 2 * RADIUS + 1 };
/* Distances are whole numbers of squared steps of 255; the limit is between two of them. */
enum { PLACE_WEIGHT = 200, LIMIT = 6000 };

static __device__ float4 fetch_pixel(Texture image, float x, float y) {
    float4 pixel;
    asm("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=f"(pixel.x), "=f"(pixel.y), "=f"(pixel.z), "=f"(pixel.w)
        : "l"(image), "f"(x), "f"(y));
    return pixel;
}

static __device__ float distance_of(float4 a, float4 b) {
    float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

static __device__ unsigned channel(float value, int index) {
    return (unsigned)(value * 255.0f + 0.5f) << (8 * index);
}

extern "C" __global__ void denoise(Texture image, unsigned *out, int width, int height) {
    const float steps = 255.0f * 255.0f, decay = steps / 3000.0f, mostly = 0.79f, keep = 0.8f;
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    float middle_x = (float)x + 0.5f, middle_y = (float)y + 0.5f;
    float4 own = fetch_pixel(image, middle_x, middle_y);
    float sum[3] = {}, weights = 0.0f, similar = 0.0f;
    for (float dy = -RADIUS; dy <= RADIUS; dy++)
        for (float dx = -RADIUS; dx <= RADIUS; dx++) {
            float4 pixel = fetch_pixel(image, middle_x + dx, middle_y + dy);
            float distance = distance_of(own, pixel) + (dx * dx + dy * dy) * (PLACE_WEIGHT / steps);
            float weight = __expf(-decay * distance);
            sum[0] += weight * pixel.x;
            sum[1] += weight * pixel.y;
            sum[2] += weight * pixel.z;
            weights += weight;
            similar += distance < (LIMIT - 0.5f) / steps ? 1.0f / (SIDE * SIDE) : 0.0f;
        }
    float share = similar > mostly ? keep : 1.0f - keep;
    float scale = 1.0f / weights;
    float red = sum[0] * scale, green = sum[1] * scale, blue = sum[2] * scale;
    out[y * width + x] = channel(red + (1.0f - share) * (own.x - red), 0) |
                         channel(green + (1.0f - share) * (own.y - green), 1) |
                         channel(blue + (1.0f - share) * (own.z - blue), 2);
}
