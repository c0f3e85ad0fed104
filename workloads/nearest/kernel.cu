/* The distance of every record from one place, one record per thread. */
#include "tyto_device.h"

extern "C" __global__ void nearest(const float2 *places, float *distances, float latitude,
                                   float longitude, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float dx = latitude - places[i].x, dy = longitude - places[i].y;
    distances[i] = sqrtf(dx * dx + dy * dy);
}
