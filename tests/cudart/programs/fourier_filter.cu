// A circular convolution of images with a small filter: by cuFFT's transforms of reals, a product of spectra, and the
// way back; and as a direct sum. Then lines of a prime length, forward and back, in place and in a stream.
#include <cufft.h>

#include <vector>

#include "check.h"

enum { ROWS = 36, COLUMNS = 60, IMAGES = 3, HALF = COLUMNS / 2 + 1, PIXELS = ROWS * COLUMNS, RADIUS = 2 };
enum { LINES = 20, LENGTH = 97 };

static void check_fft(cufftResult result, int line) {
    if (result == CUFFT_SUCCESS) return;
    std::printf("line %d: result %d of cuFFT\n", line, (int)result);
    std::exit(1);
}
#define FFT(call) check_fft(call, __LINE__)

__global__ void multiply(cufftComplex *images, const cufftComplex *filter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= IMAGES * ROWS * HALF) return;
    cufftComplex product = cuCmulf(images[i], filter[i % (ROWS * HALF)]);
    images[i] = make_cuComplex(product.x / PIXELS, product.y / PIXELS);
}

__global__ void convolve(const float *images, const float *filter, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= IMAGES * PIXELS) return;
    int image = i / PIXELS, row = i % PIXELS / COLUMNS, column = i % COLUMNS;
    float sum = 0;
    for (int y = -RADIUS; y <= RADIUS; y++)
        for (int x = -RADIUS; x <= RADIUS; x++) {
            int at = (row - y + ROWS) % ROWS * COLUMNS + (column - x + COLUMNS) % COLUMNS;
            sum += images[image * PIXELS + at] * filter[(y + ROWS) % ROWS * COLUMNS + (x + COLUMNS) % COLUMNS];
        }
    out[i] = sum;
}

static float pixel(int i) { return (float)(i * 7919 % 1013) / 1013; }

static void copy_in(float *device, const std::vector<float> &host) {
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
}
static void copy_out(std::vector<float> &host, const float *device) {
    CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
}

static void filter_images() {
    std::vector<float> pixels(IMAGES * PIXELS), weights(PIXELS), direct(IMAGES * PIXELS);
    float *images, *filter, *filtered;
    cufftComplex *spectra, *factors;
    int size[] = {ROWS, COLUMNS};
    cufftHandle forward, single, backward;
    CHECK(cudaMalloc(&images, IMAGES * PIXELS * sizeof *images));
    CHECK(cudaMalloc(&filter, PIXELS * sizeof *filter));
    CHECK(cudaMalloc(&filtered, IMAGES * PIXELS * sizeof *filtered));
    CHECK(cudaMalloc(&spectra, IMAGES * ROWS * HALF * sizeof *spectra));
    CHECK(cudaMalloc(&factors, ROWS * HALF * sizeof *factors));
    for (int i = 0; i < IMAGES * PIXELS; i++)
        pixels[i] = pixel(i);
    for (int i = 0; i < PIXELS; i++) {
        int row = i / COLUMNS, column = i % COLUMNS;
        bool is_inside = (row <= RADIUS || row >= ROWS - RADIUS) && (column <= RADIUS || column >= COLUMNS - RADIUS);
        weights[i] = is_inside ? pixel(3 * i) : 0;
    }
    copy_in(images, pixels);
    copy_in(filter, weights);
    convolve<<<(IMAGES * PIXELS + 127) / 128, 128>>>(images, filter, filtered);
    copy_out(direct, filtered);
    FFT(cufftPlanMany(&forward, 2, size, nullptr, 1, 0, nullptr, 1, 0, CUFFT_R2C, IMAGES));
    FFT(cufftPlanMany(&backward, 2, size, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2R, IMAGES));
    FFT(cufftPlan2d(&single, ROWS, COLUMNS, CUFFT_R2C));
    FFT(cufftExecR2C(forward, images, spectra));
    FFT(cufftExecR2C(single, filter, factors));
    multiply<<<(IMAGES * ROWS * HALF + 127) / 128, 128>>>(spectra, factors);
    FFT(cufftExecC2R(backward, spectra, filtered));
    copy_out(pixels, filtered);
    for (int i = 0; i < IMAGES * PIXELS; i++)
        EXPECT(std::fabs(pixels[i] - direct[i]) < 1e-4f);
    FFT(cufftDestroy(forward));
    FFT(cufftDestroy(backward));
    FFT(cufftDestroy(single));
}

static void transform_lines() {
    std::vector<cufftDoubleComplex> lines(LINES * LENGTH), results(LINES * LENGTH);
    cufftDoubleComplex *data;
    cufftHandle plan;
    cudaStream_t stream;
    for (int i = 0; i < LINES * LENGTH; i++)
        lines[i] = make_cuDoubleComplex(pixel(i), pixel(5 * i + 1));
    CHECK(cudaMalloc(&data, LINES * LENGTH * sizeof *data));
    CHECK(cudaMemcpy(data, lines.data(), LINES * LENGTH * sizeof *data, cudaMemcpyHostToDevice));
    CHECK(cudaStreamCreate(&stream));
    FFT(cufftPlan1d(&plan, LENGTH, CUFFT_Z2Z, LINES));
    FFT(cufftSetStream(plan, stream));
    FFT(cufftExecZ2Z(plan, data, data, CUFFT_FORWARD));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(results.data(), data, LINES * LENGTH * sizeof *data, cudaMemcpyDeviceToHost));
    for (int line = 0; line < LINES; line++) { // the first number is the sum of the line
        cufftDoubleComplex sum = make_cuDoubleComplex(0, 0);
        for (int i = 0; i < LENGTH; i++)
            sum = cuCadd(sum, lines[line * LENGTH + i]);
        EXPECT(cuCabs(cuCsub(sum, results[line * LENGTH])) < 1e-12);
    }
    FFT(cufftExecZ2Z(plan, data, data, CUFFT_INVERSE));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(results.data(), data, LINES * LENGTH * sizeof *data, cudaMemcpyDeviceToHost));
    for (int i = 0; i < LINES * LENGTH; i++) {
        EXPECT(std::fabs(results[i].x / LENGTH - lines[i].x) < 1e-14);
        EXPECT(std::fabs(results[i].y / LENGTH - lines[i].y) < 1e-14);
    }
    FFT(cufftDestroy(plan));
}

int main() {
    filter_images();
    transform_lines();
    return passed();
}
