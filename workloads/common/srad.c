/* The reference of both SRAD workloads. */
#include "srad.h"

/* Differences from a pixel to its neighbours. */
typedef struct Differences {
    float north, south, west, east;
} Differences;

static float coefficient(Differences d, float here, float noise) {
    float gradient =
        (d.north * d.north + d.south * d.south + d.west * d.west + d.east * d.east) / (here * here);
    float laplacian = (d.north + d.south + d.west + d.east) / here;
    float scale = 1.0f + 0.25f * laplacian;
    float variation = (0.5f * gradient - laplacian * laplacian / 16.0f) / (scale * scale);
    float c = 1.0f / (1.0f + (variation - noise) / (noise * (1.0f + noise)));
    return c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

void srad_step(Workload *workload, float *image, size_t rows, size_t columns, float noise,
               float rate) {
    Differences *differences = workload_host_alloc(workload, rows * columns, sizeof *differences);
    float *c = workload_host_alloc(workload, rows * columns, sizeof *c);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            size_t i = row * columns + column;
            float here = image[i];
            differences[i] = (Differences){
                .north = row > 0 ? image[i - columns] - here : 0.0f,
                .south = row < rows - 1 ? image[i + columns] - here : 0.0f,
                .west = column > 0 ? image[i - 1] - here : 0.0f,
                .east = column < columns - 1 ? image[i + 1] - here : 0.0f,
            };
            c[i] = coefficient(differences[i], here, noise);
        }
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            size_t i = row * columns + column;
            float south = c[row < rows - 1 ? i + columns : i];
            float east = c[column < columns - 1 ? i + 1 : i];
            Differences d = differences[i];
            image[i] +=
                0.25f * rate * (c[i] * d.north + south * d.south + c[i] * d.west + east * d.east);
        }
}

float srad_noise(double sum, double sum_of_squares, double count) {
    double mean = sum / count;
    return (float)((sum_of_squares / count - mean * mean) / (mean * mean));
}
