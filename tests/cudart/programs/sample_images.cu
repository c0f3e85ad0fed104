// Images, files and short vectors by the helpers of the vendor's samples: a box filter over a PGM
// and a gradient over a PPM, kept, read again and compared.
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_image.h>
#include <helper_math.h>

#include "check.h"

#include <cstring>
#include <string>
#include <unistd.h>

const int W = 40, H = 24;

__global__ void blur(const float *in, float *out) {
    int2 at = make_int2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y);
    if (at.x >= W) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int2 from = clamp(at + make_int2(dx, dy), make_int2(0), make_int2(W - 1, H - 1));
            sum += in[from.y * W + from.x];
        }
    out[at.y * W + at.x] = sum / 9;
}

__global__ void shade(uchar4 *pixels) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= W) return;
    float2 p = make_float2(make_int2(x, y)) / make_float2((float)W, (float)H);
    float2 s = smoothstep(make_float2(0.25f), make_float2(0.75f), p);
    float4 colour = fminf(make_float4(s.x, s.y, fracf(4 * p.x), 1), make_float4(0.9f));
    colour = fmaxf(colour, make_float4(dot(make_int3(0, 1, 0), make_int3(7, 0, 7)) + 0.1f));
    pixels[y * W + x] = make_uchar4(colour.x * 255, colour.y * 255, colour.z * 255, 0);
}

static void expect_helpers() {
    const char *words[] = {"program", "--radius=5", "-scale=2.5", "-name=pic.ppm"};
    int radius = 0;
    float scale = 0;
    char *name = NULL, *extension;
    EXPECT(getCmdLineArgumentValue(4, words, "radius", &radius) && radius == 5);
    EXPECT(getCmdLineArgumentValue(4, words, "scale", &scale) && scale == 2.5f);
    EXPECT(!getCmdLineArgumentValue(4, words, "absent", &radius) && radius == 5);
    EXPECT(getCmdLineArgumentString(4, words, "name", &name));
    EXPECT(getFileExtension(name, &extension) == 4 && std::strcmp(extension, "ppm") == 0);
    EXPECT(stringRemoveDelimiter('-', "--radius") == 2 && stringRemoveDelimiter('-', "--") == 0);
    EXPECT(ftoi(2.5f) == 3 && ftoi(-2.6f) == -3 && findIntegratedGPU() == -1);
    EXPECT(std::strcmp(_cudaGetErrorEnum(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
}

int main(int argc, char **argv) {
    expect_helpers();
    char folder[] = "sample_images_XXXXXX";
    EXPECT(mkdtemp(folder));
    std::string grey = std::string(folder) + "/grey.pgm",
                again = std::string(folder) + "/again.pgm";
    std::string colours = std::string(folder) + "/colours.ppm",
                numbers = std::string(folder) + "/numbers";
    static unsigned char bytes[H * W], shaded[H * W * 4];
    static float expected[H * W], got[H * W];
    findCudaDevice(argc, (const char **)argv);
    for (int i = 0; i < W * H; i++)
        bytes[i] = (unsigned char)(i * 37 % 251);
    EXPECT(sdkSavePGM(grey.c_str(), bytes, W, H));
    float *in = NULL, *d_in, *d_out;
    unsigned width, height, count = 0;
    EXPECT(sdkLoadPGM(grey.c_str(), &in, &width, &height) && width == W && height == H);
    for (int i = 0; i < W * H; i++)
        EXPECT(in[i] == bytes[i] / 255.0f);
    checkCudaErrors(cudaMalloc(&d_in, sizeof expected));
    checkCudaErrors(cudaMalloc(&d_out, sizeof expected));
    checkCudaErrors(cudaMemcpy(d_in, in, sizeof expected, cudaMemcpyHostToDevice));
    blur<<<dim3(2, H), 32>>>(d_in, d_out);
    getLastCudaError("blur");
    checkCudaErrors(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float sum = 0;
            for (int j = y - 1; j <= y + 1; j++)
                for (int i = x - 1; i <= x + 1; i++)
                    sum += in[clamp(j, 0, H - 1) * W + clamp(i, 0, W - 1)];
            expected[y * W + x] = sum / 9;
        }
    EXPECT(compareData(expected, got, W * H, 1e-6f, 0.0f));
    got[5] += 1;
    EXPECT(!compareData(expected, got, W * H, 1e-6f, 0.0f) &&
           compareData(expected, got, W * H, 1e-6f, 0.01f));
    got[5] -= 1;
    EXPECT(sdkSavePGM(again.c_str(), got, W, H));
    EXPECT(sdkComparePGM(again.c_str(), again.c_str(), 0, 0, false));
    EXPECT(!sdkComparePGM(again.c_str(), grey.c_str(), 1, 0, false));

    uchar4 *d_pixels;
    checkCudaErrors(cudaMalloc(&d_pixels, sizeof shaded));
    shade<<<dim3(2, H), 32>>>(d_pixels);
    checkCudaErrors(cudaMemcpy(shaded, d_pixels, sizeof shaded, cudaMemcpyDeviceToHost));
    EXPECT(sdkSavePPM4ub(colours.c_str(), shaded, W, H));
    unsigned char *read = NULL;
    EXPECT(sdkLoadPPM4ub(colours.c_str(), &read, &width, &height) && width == W && height == H);
    EXPECT(std::memcmp(read, shaded, sizeof shaded) == 0);
    EXPECT(shaded[0] == 25 && shaded[(W * H - 1) * 4] == 229); // 0.1 and 0.9 of 255
    unsigned char *wrong = NULL;
    EXPECT(!sdkLoadPPM4ub(grey.c_str(), &wrong, &width, &height) && !wrong);

    EXPECT(sdkWriteFile(numbers.c_str(), expected, W * H, 0.0f, false));
    float *words = NULL;
    EXPECT(sdkReadFile(numbers.c_str(), &words, &count, false) && count == W * H);
    EXPECT(compareData(expected, words, count, 0.0f, 0.0f));
    sdkDumpBin(expected, sizeof expected, numbers.c_str());
    sdkDumpBin(got, sizeof got, again.c_str());
    EXPECT(sdkCompareBin2BinFloat(numbers.c_str(), again.c_str(), W * H, 1e-6f, 0, argv[0]));
    EXPECT(!sdkCompareBin2BinFloat(numbers.c_str(), grey.c_str(), W * H, 1e-6f, 0, argv[0]));
    for (const std::string &path : {grey, again, colours, numbers})
        unlink(path.c_str());
    rmdir(folder);
    std::free(in);
    std::free(read);
    std::free(words);
    return passed();
}
