/* Cloud physics of a weather model, one column of the atmosphere per thread: saturation adjustment,
 * growth of rain from cloud, evaporation of rain, and its fall. Fields are stored as in such
 * models: x varies fastest, then the level, then y. A thread keeps its whole column of each field
 * in local memory. The formulas are Kessler's (1969), with the constants that Klemp and Wilhelmson
 * (1978) give. */
#include "tyto_device.h"

enum { LEVELS = 28 };

/* The most vapour that air can hold, as a mixing ratio. */
static __device__ float saturation(float temperature, float pressure) {
    return 380.0f / pressure * __expf(17.27f * (temperature - 273.0f) / (temperature - 36.0f));
}

/* Temperature (K), mixing ratios of vapour, cloud and rain (kg/kg), pressure (Pa), density (kg/m3);
 * `rainfall` collects the rain that reaches the ground (kg/m2). */
extern "C" __global__ void weather(float *temperature, float *vapour, float *cloud, float *rain,
                                   const float *pressure, const float *density, float *rainfall,
                                   int width, int height, float seconds, float layer_metres) {
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height) return;
    int first = y * LEVELS * width + x;
    float t[LEVELS], v[LEVELS], c[LEVELS], r[LEVELS], fall[LEVELS];

    for (int k = 0; k < LEVELS; k++) {
        int i = first + k * width;
        t[k] = temperature[i];
        v[k] = vapour[i];
        c[k] = cloud[i];
        r[k] = rain[i];
        float grams = 0.001f * density[i] * r[k];
        fall[k] =
            36.34f * __powf(fmaxf(grams, 1e-12f), 0.1364f) * sqrtf(density[first] / density[i]);
    }

    for (int k = 0; k < LEVELS; k++) {
        int i = first + k * width;
        float above = k + 1 < LEVELS ? density[i + width] * r[k + 1] * fall[k + 1] : 0.0f;
        float below = density[i] * r[k] * fall[k];
        float arriving = (above - below) * seconds / (layer_metres * density[i]);
        if (k == 0) rainfall[y * width + x] += below * seconds;

        float conversion = fmaxf(0.001f * (c[k] - 0.001f), 0.0f) * seconds;
        float collection = 2.2f * c[k] * __powf(fmaxf(r[k], 1e-12f), 0.875f) * seconds;
        float grown = fminf(conversion + collection, c[k]);
        c[k] -= grown;
        r[k] = fmaxf(r[k] + grown + arriving, 0.0f);

        float holds = saturation(t[k], pressure[i]);
        float slope = 1.0f + 4093.0f * 2.5e6f / 1005.0f * holds / ((t[k] - 36.0f) * (t[k] - 36.0f));
        float excess = (v[k] - holds) / slope;
        float condensed = fmaxf(excess, -c[k]);
        float wet = fmaxf(0.001f * density[i] * r[k], 1e-12f);
        float deficit = fmaxf(1.0f - v[k] / holds, 0.0f);
        float rate = deficit * (1.6f + 124.9f * __powf(wet, 0.2046f)) * __powf(wet, 0.525f) /
                     (0.001f * density[i] * (5.4e5f + 2.55e6f / (0.01f * pressure[i] * holds)));
        float evaporated = fminf(rate * seconds, r[k]);
        v[k] += evaporated - condensed;
        c[k] += condensed;
        r[k] -= evaporated;
        t[k] += 2.5e6f / 1005.0f * (condensed - evaporated);
    }

    for (int k = 0; k < LEVELS; k++) {
        int i = first + k * width;
        temperature[i] = t[k];
        vapour[i] = v[k];
        cloud[i] = c[k];
        rain[i] = r[k];
    }
}
