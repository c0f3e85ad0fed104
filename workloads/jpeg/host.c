/* Decodes a JPEG image (4:2:0) from random coefficients that become sparser towards high
 * frequencies, as in photographs. All numbers are whole, so the comparison is exact. */
#include "common/workload.h"

#include <math.h>

enum { SIDE = 8, COEFFICIENTS = SIDE * SIDE, SCALE_BITS = 12, HALF = 1 << (SCALE_BITS - 1) };
enum { THREADS = 256, PLANES = 3 }; /* brightness, blue difference, red difference */

enum { WIDTH, HEIGHT };

static const WorkloadInfo INFO = {
    .name = "jpeg",
    .summary = "Decodes a JPEG image: inverse cosine transform and colours.",
    .parameters =
        {
            [WIDTH] = {"width", "of the image", {80, 256, 768}, 8192, 2 * SIDE},
            [HEIGHT] = {"height", "of the image", {48, 192, 512}, 8192, 2 * SIDE},
        },
};

typedef struct Plane {
    unsigned width, height; /* samples */
    int16_t *coefficients;  /* of its blocks, one after the other */
    uint8_t *samples;       /* as the reference decodes them */
    CUdeviceptr device;     /* as the device decodes them */
} Plane;

static void generate_coefficients(Workload *workload, int16_t *coefficients, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t frequency = i % COEFFICIENTS / SIDE + i % SIDE;
        uint32_t span = frequency == 0 ? 100 : 24 >> frequency;
        coefficients[i] = (int16_t)((int)workload_random(workload, 2 * span + 1) - (int)span);
    }
}

/* cosines[k][x]: the contribution of frequency k at position x, scaled. */
static void fill_cosines(int cosines[SIDE][SIDE]) {
    for (int k = 0; k < SIDE; k++)
        for (int x = 0; x < SIDE; x++)
            cosines[k][x] = (int)lrint((1 << SCALE_BITS) * (k ? 0.5 : sqrt(0.125)) *
                                       cos((2 * x + 1) * k * M_PI / (2 * SIDE)));
}

static int clamp_sample(int value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

/* Decodes the block whose samples begin at `out`, in rows with distance `stride`. */
static void invert_block(int cosines[SIDE][SIDE], const int16_t *coefficients,
                         const uint16_t *quantiser, uint8_t *out, size_t stride) {
    int rows[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int sum = HALF;
            for (int k = 0; k < SIDE; k++)
                sum += coefficients[y * SIDE + k] * quantiser[y * SIDE + k] * cosines[k][x];
            rows[y][x] = sum >> SCALE_BITS;
        }
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            int sum = HALF;
            for (int k = 0; k < SIDE; k++)
                sum += rows[k][x] * cosines[k][y];
            out[(size_t)y * stride + (size_t)x] = (uint8_t)clamp_sample((sum >> SCALE_BITS) + 128);
        }
}

static Plane decode_plane(Workload *workload, int cosines[SIDE][SIDE], const uint16_t *quantiser,
                          unsigned width, unsigned height) {
    size_t count = (size_t)width * height;
    Plane plane = {.width = width, .height = height};
    plane.coefficients = workload_host_alloc(workload, count, sizeof *plane.coefficients);
    plane.samples = workload_host_alloc(workload, count, 1);
    generate_coefficients(workload, plane.coefficients, count);
    for (size_t block = 0; block < count / COEFFICIENTS; block++) {
        size_t row = block / (width / SIDE) * SIDE, column = block % (width / SIDE) * SIDE;
        invert_block(cosines, plane.coefficients + block * COEFFICIENTS, quantiser,
                     plane.samples + row * width + column, width);
    }

    CUdeviceptr coefficients = workload_upload(plane.coefficients, count * sizeof(int16_t));
    CUdeviceptr device_quantiser = workload_upload(quantiser, COEFFICIENTS * sizeof *quantiser);
    plane.device = workload_device_alloc(count);
    workload_launch(workload, "jpeg_inverse",
                    (WorkloadShape){width / SIDE, height / SIDE, SIDE, SIDE},
                    (void *[]){&coefficients, &device_quantiser, &plane.device});
    return plane;
}

static uint32_t colour(int brightness, int blue, int red) {
    int y = (brightness << SCALE_BITS) + HALF, b = blue - 128, r = red - 128;
    return (uint32_t)(clamp_sample((y + 5743 * r) >> SCALE_BITS) |
                      clamp_sample((y - 1410 * b - 2925 * r) >> SCALE_BITS) << 8 |
                      clamp_sample((y + 7258 * b) >> SCALE_BITS) << 16);
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    unsigned width = workload.values[WIDTH], height = workload.values[HEIGHT];
    unsigned count = width * height;
    int cosines[SIDE][SIDE];
    uint16_t quantiser[COEFFICIENTS];
    fill_cosines(cosines);
    for (int i = 0; i < COEFFICIENTS; i++)
        quantiser[i] = (uint16_t)(8 + 3 * (i / SIDE + i % SIDE));

    workload_set_variable(&workload, "cosines", cosines, sizeof cosines);
    Plane planes[PLANES];
    for (int i = 0; i < PLANES; i++) {
        unsigned shrink = i == 0 ? 1 : 2;
        planes[i] = decode_plane(&workload, cosines, quantiser, width / shrink, height / shrink);
    }
    CUdeviceptr pixels = workload_device_alloc(count * sizeof(uint32_t));
    workload_launch(&workload, "jpeg_colour", workload_cover(count, THREADS),
                    (void *[]){&planes[0].device, &planes[1].device, &planes[2].device, &pixels,
                               &width, &count});

    uint32_t *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        size_t shared = i / width / 2 * (width / 2) + i % width / 2;
        expected[i] =
            colour(planes[0].samples[i], planes[1].samples[shared], planes[2].samples[shared]);
    }
    bool is_right = workload_verify_words(&workload, pixels, expected, count);
    return workload_finish(&workload, is_right, "pixels", count);
}
