/* Tests texture fetches: three texture objects over linear memory and an 8 x 4 array, and the
 * expected values (CUDA C++ Programming Guide, Texture Fetching). Coordinates are multiples of
 * 1/64, so that weights with 8 fractional bits are exact. */
#include "kernel_test.h"

#include <math.h>

enum { WIDTH = 8, HEIGHT = 4, FETCHES = 128 };

static float texel(int x, int y) { return (float)(x * x * 3 + y * 50 + 7); }

static int clamp(int value, int last) { return value < 0 ? 0 : value > last ? last : value; }

/* Interpolates between the four elements around (u, v); their centres are at halves. */
static float filter_texels(float u, float v) {
    float left = floorf(u - 0.5f), low = floorf(v - 0.5f);
    float a = u - 0.5f - left, b = v - 0.5f - low;
    int x0 = clamp((int)left, WIDTH - 1), x1 = clamp((int)left + 1, WIDTH - 1);
    int y0 = clamp((int)low, HEIGHT - 1), y1 = clamp((int)low + 1, HEIGHT - 1);
    return (1 - a) * (1 - b) * texel(x0, y0) + a * (1 - b) * texel(x1, y0) +
           (1 - a) * b * texel(x0, y1) + a * b * texel(x1, y1);
}

static float nearest_texel(float u, float v) {
    u -= floorf(u);
    v -= floorf(v);
    return texel((int)(u * (float)WIDTH), (int)(v * (float)HEIGHT));
}

static CUarray upload_texels(void) {
    float texels[HEIGHT][WIDTH];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            texels[y][x] = texel(x, y);
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = WIDTH, .Height = HEIGHT, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray array = NULL;
    session_check(cuArrayCreate(&array, &shape), "cuArrayCreate");
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = texels,
                          .srcPitch = sizeof texels[0],
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = array,
                          .WidthInBytes = sizeof texels[0],
                          .Height = HEIGHT};
    session_check(cuMemcpy2D(&copy), "cuMemcpy2D");
    return array;
}

static CUtexObject texture_of_array(CUarray array, CUaddress_mode address_mode,
                                    CUfilter_mode filter_mode, unsigned flags) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC how = {.addressMode = {address_mode, address_mode, address_mode},
                             .filterMode = filter_mode,
                             .flags = flags};
    CUtexObject texture = 0;
    session_check(cuTexObjectCreate(&texture, &resource, &how, NULL), "cuTexObjectCreate");
    return texture;
}

static CUtexObject texture_of_words(CUdeviceptr words, size_t size_bytes) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                   .res.linear = {.devPtr = words,
                                                  .format = CU_AD_FORMAT_UNSIGNED_INT32,
                                                  .numChannels = 1,
                                                  .sizeInBytes = size_bytes}};
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_READ_AS_INTEGER};
    CUtexObject texture = 0;
    session_check(cuTexObjectCreate(&texture, &resource, &how, NULL), "cuTexObjectCreate");
    return texture;
}

static bool textures(Session *session) {
    uint32_t words[FETCHES];
    float got[3 * FETCHES] = {0}, expected[3 * FETCHES];
    unsigned n = FETCHES;
    for (unsigned i = 0; i < FETCHES; i++)
        words[i] = i * i + 5;
    for (unsigned i = 0; i < FETCHES; i++) {
        float u = (float)(i % 16), v = (float)(i / 16);
        expected[3 * i] = (float)words[FETCHES - 1 - i];
        expected[3 * i + 1] = filter_texels(u * 0.625f - 1.0f, v * 0.875f - 0.5f);
        expected[3 * i + 2] = nearest_texel(u * 0.1875f - 0.71875f, v * 0.4375f + 0.03125f);
    }
    CUarray array = upload_texels();
    CUdeviceptr device_words = session_upload(words, sizeof words);
    CUtexObject linear = texture_of_words(device_words, sizeof words);
    CUtexObject filtered =
        texture_of_array(array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    CUtexObject wrapped = texture_of_array(array, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT,
                                           CU_TRSF_NORMALIZED_COORDINATES);
    CUdeviceptr out = session_upload(got, sizeof got);
    session_check(session_launch(session, &(Shape){.grid = {2}, .block = {64}},
                                 (void *[]){&linear, &filtered, &wrapped, &out, &n}),
                  "textures");
    session_download(got, out, sizeof got);
    session_free(out);
    session_free(device_words);
    session_check(cuArrayDestroy(array), "cuArrayDestroy");
    return session_compare(session, (Elements){KIND_FLOATS, 3 * FETCHES}, (Data){.floats = got},
                           (Data){.floats = expected}, 1e-6);
}

const KernelTest TEXTURE_TESTS[] = {
    {.name = "textures", .run = textures},
    {0},
};
