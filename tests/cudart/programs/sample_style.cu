// A program in the style of the vendor's samples, on helpers of the same names.
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>

#include <cstdio>
#include <vector>

__global__ void shade(const float3 *normals, float4 *out, float3 light, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float3 n = normalize(normals[i]), side = cross(n, light);
    float diffuse = clamp(dot(n, light), 0.0f, 1.0f);
    out[i] = make_float4(lerp(make_float3(0.1f), 2 * side - n, diffuse), length(side));
}

static float4 shaded(float3 normal, float3 light) {
    float size = std::sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
    float n[3] = {normal.x / size, normal.y / size, normal.z / size};
    float l[3] = {light.x, light.y, light.z}, side[3], colour[3];
    float diffuse = 0;
    for (int i = 0; i < 3; i++) {
        side[i] = n[(i + 1) % 3] * l[(i + 2) % 3] - n[(i + 2) % 3] * l[(i + 1) % 3];
        diffuse += n[i] * l[i];
    }
    diffuse = diffuse < 0 ? 0 : diffuse > 1 ? 1 : diffuse;
    for (int i = 0; i < 3; i++)
        colour[i] = 0.1f + diffuse * (2 * side[i] - n[i] - 0.1f);
    return {colour[0], colour[1], colour[2],
            std::sqrt(side[0] * side[0] + side[1] * side[1] + side[2] * side[2])};
}

int main(int argc, char **argv) {
    int count = 1000;
    findCudaDevice(argc, (const char **)argv);
    if (checkCmdLineFlag(argc, (const char **)argv, "count"))
        count = getCmdLineArgumentInt(argc, (const char **)argv, "count");
    if (!checkCudaCapabilities(5, 0) || checkCudaCapabilities(99, 0)) return 1;
    std::vector<float3> normals(count);
    std::vector<float4> out(count);
    for (int i = 0; i < count; i++)
        normals[i] = make_float3(i % 17 - 8.5f, i % 13 - 6.5f, i % 7 - 3.5f);
    float3 *d_normals, light = make_float3(0.6f, 0, 0.8f);
    float4 *d_out;
    StopWatchInterface *timer = NULL;
    sdkCreateTimer(&timer);
    checkCudaErrors(cudaMalloc((void **)&d_normals, count * sizeof(float3)));
    checkCudaErrors(cudaMalloc((void **)&d_out, count * sizeof(float4)));
    checkCudaErrors(
        cudaMemcpy(d_normals, normals.data(), count * sizeof(float3), cudaMemcpyHostToDevice));
    sdkStartTimer(&timer);
    shade<<<(count + 127) / 128, 128>>>(d_normals, d_out, light, count);
    getLastCudaError("shade");
    checkCudaErrors(cudaDeviceSynchronize());
    sdkStopTimer(&timer);
    if (sdkGetTimerValue(&timer) < 0 || sdkGetAverageTimerValue(&timer) != sdkGetTimerValue(&timer))
        return 1;
    checkCudaErrors(cudaMemcpy(out.data(), d_out, count * sizeof(float4), cudaMemcpyDeviceToHost));
    std::vector<float> expected, got;
    for (int i = 0; i < count; i++) {
        float4 e = shaded(normals[i], light);
        for (float value : {e.x, e.y, e.z, e.w})
            expected.push_back(value);
        for (float value : {out[i].x, out[i].y, out[i].z, out[i].w})
            got.push_back(value);
    }
    if (!sdkCompareL2fe(expected.data(), got.data(), 4 * count, 1e-5f)) {
        std::printf("wrong result\n");
        return 1;
    }
    sdkDeleteTimer(&timer);
    std::printf("passed\n");
    return 0;
}
