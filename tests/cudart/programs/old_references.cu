// Texture and surface references as programs of CUDA 11 bind them: both forms of every function,
// references that functions return, settings from the start, arrays of every shape, mipmaps,
// surfaces. Built by `tyto cc --old`.
#include "check.h"

const int W = 16, H = 8, D = 4, LAYERS = 3;

texture<float, cudaTextureType1D, cudaReadModeElementType> line;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> image(0, cudaFilterModePoint,
                                                                      cudaAddressModeClamp);
texture<float, cudaTextureType2D> smooth(1, cudaFilterModeLinear, cudaAddressModeWrap);
texture<int, cudaTextureType3D, cudaReadModeElementType> volume;
texture<float, cudaTextureType2DLayered> layers;
texture<float, cudaTextureTypeCubemap> cube;
texture<float, cudaTextureType2D> levels;
surface<void, cudaSurfaceType2D> canvas;

// What samples do to choose a texture: by type, and by name.
template <class T> texture<T, cudaTextureType1D, cudaReadModeElementType> &get_line();
template <> texture<float, cudaTextureType1D, cudaReadModeElementType> &get_line<float>() { return line; }
const textureReference *find_reference(const void *symbol) {
    const textureReference *reference = nullptr;
    CHECK(cudaGetTextureReference(&reference, symbol));
    return reference;
}

__global__ void read_line(float *out, int offset) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x + offset); }
__global__ void read_image(float4 *out) {
    out[blockIdx.x * W + threadIdx.x] = tex2D(image, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}
__global__ void read_smooth(float *out) { out[threadIdx.x] = tex2D(smooth, (threadIdx.x + 1.0f) / W, 1.5f / H); }
__global__ void read_volume(int *out) {
    int at = (blockIdx.y * H + blockIdx.x) * W + threadIdx.x;
    out[at] = tex3D(volume, threadIdx.x + 0.5f, blockIdx.x + 0.5f, blockIdx.y + 0.5f);
}
__global__ void read_layers(float *out) {
    int at = (blockIdx.y * H + blockIdx.x) * W + threadIdx.x;
    out[at] = tex2DLayered(layers, threadIdx.x + 0.5f, blockIdx.x + 0.5f, blockIdx.y);
}
__global__ void read_cube(float *out) {
    const float directions[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    const float *d = directions[threadIdx.x];
    out[threadIdx.x] = texCubemap(cube, d[0], d[1], d[2]);
}
__global__ void read_levels(float *out) { out[threadIdx.x] = tex2DLod(levels, 0.5f, 0.5f, (float)threadIdx.x); }
__global__ void draw() {
    int value = surf2Dread<int>(canvas, threadIdx.x * 4, blockIdx.x);
    surf2Dwrite(value * 2 + 1, canvas, threadIdx.x * 4, blockIdx.x);
}

template <class T> T *fetch(T *to, const void *from, size_t count) {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
}

static void *d_out;

static void test_lines() {
    static float in[64], out[32];
    float *d_in;
    size_t offset = 77;
    for (int i = 0; i < 64; i++) in[i] = i * 1.5f;
    CHECK(cudaMalloc(&d_in, sizeof in));
    CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    CHECK(cudaBindTexture(&offset, get_line<float>(), d_in, sizeof in)); // the template form ...
    EXPECT(offset == 0);
    read_line<<<1, 32>>>((float *)d_out, 8);
    fetch(out, d_out, 32);
    for (int i = 0; i < 32; i++) EXPECT(out[i] == in[i + 8]);
    CHECK(cudaUnbindTexture(line));
    EXPECT(cudaGetTextureAlignmentOffset(&offset, line) == cudaErrorInvalidTextureBinding);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    const textureReference *reference = find_reference(&line);
    CHECK(cudaBindTexture(&offset, reference, d_in + 16, &format, 0xffffffffu)); // ... and that of C
    CHECK(cudaGetTextureAlignmentOffset(&offset, reference));
    read_line<<<1, 32>>>((float *)d_out, 0);
    fetch(out, d_out, 32);
    for (int i = 0; i < 32; i++) EXPECT(out[i] == in[i + 16]);
    CHECK(cudaUnbindTexture(reference));
    CHECK(cudaFree(d_in));
    EXPECT(cudaBindTexture(&offset, (const textureReference *)nullptr, d_out, &format, 4) == cudaErrorInvalidTexture);
    EXPECT(cudaGetTextureReference(&reference, &offset) == cudaErrorInvalidTexture);
    cudaGetLastError();
}

static void test_images() {
    static uchar4 in[H][W];
    static float4 out[H][W];
    static float values[H][W], row[W];
    size_t pitch, offset;
    uchar4 *d_in;
    float *d_values;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            in[y][x] = make_uchar4(x * 9, y * 20, x + y, 255);
            values[y][x] = (float)(x * x + 10 * y);
        }
    CHECK(cudaMallocPitch(&d_in, &pitch, W * sizeof(uchar4), H));
    CHECK(cudaMemcpy2D(d_in, pitch, in, sizeof in[0], sizeof in[0], H, cudaMemcpyHostToDevice));
    CHECK(cudaBindTexture2D(&offset, image, d_in, W, H, pitch));
    read_image<<<H, W>>>((float4 *)d_out);
    fetch(&out[0][0], d_out, W * H);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            EXPECT(is_near(out[y][x].x, in[y][x].x / 255.0) && is_near(out[y][x].y, in[y][x].y / 255.0) && out[y][x].w == 1);
    CHECK(cudaMallocPitch(&d_values, &pitch, W * sizeof(float), H));
    CHECK(cudaMemcpy2D(d_values, pitch, values, sizeof values[0], sizeof values[0], H, cudaMemcpyHostToDevice));
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaBindTexture2D(NULL, &smooth, d_values, &format, W, H, pitch));
    read_smooth<<<1, W>>>((float *)d_out);
    fetch(row, d_out, W);
    for (int x = 0; x < W; x++) EXPECT(is_near(row[x], (values[1][x] + values[1][(x + 1) % W]) / 2));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_values));
}

template <class T> static cudaArray *make_array(const T *data, cudaExtent extent, unsigned flags) {
    cudaArray *array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr((void *)data, extent.width * sizeof(T), extent.width, extent.height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

static void test_solids() {
    static int in[D][H][W], out[D][H][W];
    static float sheets[LAYERS][H][W], got[LAYERS][H][W], faces[6][4][4], six[6];
    for (int i = 0; i < D * H * W; i++) in[0][0][i] = i * 3 - 100;
    for (int i = 0; i < LAYERS * H * W; i++) sheets[0][0][i] = i * 0.25f;
    for (int i = 0; i < 6 * 16; i++) faces[0][0][i] = (float)(i / 16 * 100);
    cudaArray *solid = make_array(&in[0][0][0], make_cudaExtent(W, H, D), 0);
    cudaArray *stack = make_array(&sheets[0][0][0], make_cudaExtent(W, H, LAYERS), cudaArrayLayered);
    cudaArray *sky = make_array(&faces[0][0][0], make_cudaExtent(4, 4, 6), cudaArrayCubemap);
    CHECK(cudaBindTextureToArray(volume, solid));
    read_volume<<<dim3(H, D), W>>>((int *)d_out);
    fetch(&out[0][0][0], d_out, D * H * W);
    for (int i = 0; i < D * H * W; i++) EXPECT(out[0][0][i] == in[0][0][i]);
    cudaChannelFormatDesc format;
    CHECK(cudaGetChannelDesc(&format, stack));
    CHECK(cudaBindTextureToArray(&layers, stack, &format));
    read_layers<<<dim3(H, LAYERS), W>>>((float *)d_out);
    fetch(&got[0][0][0], d_out, LAYERS * H * W);
    for (int i = 0; i < LAYERS * H * W; i++) EXPECT(got[0][0][i] == sheets[0][0][i]);
    cube.normalized = 1;
    CHECK(cudaBindTextureToArray(cube, sky, format));
    read_cube<<<1, 6>>>((float *)d_out);
    fetch(six, d_out, 6);
    for (int i = 0; i < 6; i++) EXPECT(six[i] == i * 100.0f);
    CHECK(cudaUnbindTexture(volume));
    CHECK(cudaFreeArray(solid));
    CHECK(cudaFreeArray(stack));
    CHECK(cudaFreeArray(sky));
}

static void test_levels_and_surfaces() {
    static int cells[H][W], drawn[H][W];
    static float level[16 * 16], got[3];
    cudaMipmappedArray_t mipmap;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(16, 16, 0), 3));
    for (int l = 0; l < 3; l++) {
        int size = 16 >> l;
        for (int i = 0; i < size * size; i++) level[i] = 10.0f + l;
        CHECK(cudaGetMipmappedArrayLevel(&array, mipmap, l));
        CHECK(cudaMemcpy2DToArray(array, 0, 0, level, size * 4, size * 4, size, cudaMemcpyHostToDevice));
    }
    levels.normalized = 1;
    levels.mipmapFilterMode = cudaFilterModePoint;
    levels.maxMipmapLevelClamp = 2;
    CHECK(cudaBindTextureToMipmappedArray(levels, mipmap, format));
    read_levels<<<1, 3>>>((float *)d_out);
    fetch(got, d_out, 3);
    for (int l = 0; l < 3; l++) EXPECT(got[l] == 10.0f + l);

    for (int i = 0; i < H * W; i++) cells[0][i] = i * i;
    format = cudaCreateChannelDesc<int>();
    CHECK(cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, cells, W * 4, W * 4, H, cudaMemcpyHostToDevice));
    CHECK(cudaBindSurfaceToArray(canvas, array));
    draw<<<H, W>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DFromArray(drawn, W * 4, array, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < H * W; i++) EXPECT(drawn[0][i] == cells[0][i] * 2 + 1);
    const surfaceReference *reference;
    CHECK(cudaGetSurfaceReference(&reference, &canvas));
    CHECK(cudaBindSurfaceToArray(reference, array, &format));
    draw<<<H, W>>>();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DFromArray(drawn, W * 4, array, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < H * W; i++) EXPECT(drawn[0][i] == (cells[0][i] * 2 + 1) * 2 + 1);
}

int main() {
    CHECK(cudaMalloc(&d_out, 1 << 16));
    test_lines();
    test_images();
    test_solids();
    test_levels_and_surfaces();
    return passed();
}
