/* The tables of a dimension: roots of unity, and what Bluestein's convolution multiplies with.
 * They are computed in double precision without the host's sine, so they are the same on every
 * host. */
#include <stdlib.h>

#include "base/arena.h"
#include "library/fft.h"

typedef struct Number {
    double x, y;
} Number;

/* The sine (first = 1) or cosine (first = 0) of an angle up to pi / 4: Taylor's series, whose first
 * term left out is below 1e-19. */
static double series(double angle, int first) {
    double square = angle * angle, sum = 1;
    for (int n = 16 + first; n > first; n -= 2)
        sum = 1 - sum * square / (double)(n * (n - 1));
    return first ? angle * sum : sum;
}

/* exp(-2 pi i k / n). The angle is folded into an eighth of the circle with integers. */
static Number root(uint64_t k, uint64_t n) {
    const double quarter_pi = 0.78539816339744831;
    uint64_t eighths = 8 * k; /* the angle is eighths / n * pi / 4 */
    bool is_below = eighths > 4 * n, is_left, is_steep;
    if (is_below) eighths = 8 * n - eighths;
    is_left = eighths > 2 * n;
    if (is_left) eighths = 4 * n - eighths;
    is_steep = eighths > n;
    if (is_steep) eighths = 2 * n - eighths;
    double angle = (double)eighths / (double)n * quarter_pi;
    Number at = {series(angle, is_steep), series(angle, !is_steep)};
    return (Number){is_left ? -at.x : at.x, is_below ? at.y : -at.y};
}

static Number product(Number a, Number b) {
    return (Number){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

/* Transforms n numbers in place; n is a power of 2, and `roots` has its roots. */
static void transform(Number *numbers, uint32_t n, const Number *roots) {
    for (uint32_t i = 0, reversed = 0; i < n; i++) {
        if (i < reversed) {
            Number other = numbers[i];
            numbers[i] = numbers[reversed];
            numbers[reversed] = other;
        }
        uint32_t bit = n / 2;
        for (; bit && reversed & bit; bit /= 2)
            reversed ^= bit;
        reversed |= bit;
    }
    for (uint32_t half = 1; half < n; half *= 2) {
        for (uint32_t i = 0; i < n; i++) {
            if (i & half) continue;
            Number a = numbers[i];
            Number b = product(numbers[i + half], roots[(i & (half - 1)) * (n / (2 * half))]);
            numbers[i] = (Number){a.x + b.x, a.y + b.y};
            numbers[i + half] = (Number){a.x - b.x, a.y - b.y};
        }
    }
}

static uint64_t table_numbers(const FftDimension *dimension) {
    bool is_convolution = dimension->work_length > dimension->length;
    return dimension->work_length +
           (is_convolution ? (uint64_t)dimension->length + dimension->work_length : 0);
}

/* The chirp, and the conjugated spectrum of its conjugate: the second transform of a convolution
 * is inverted by conjugating its input. */
static void make_convolution(const FftDimension *dimension, const Number *roots, Number *chirp,
                             Number *spectrum) {
    uint32_t n = dimension->length, m = dimension->work_length;
    for (uint64_t k = 0; k < n; k++) {
        chirp[k] = root(k * k % (2 * (uint64_t)n), 2 * (uint64_t)n);
        spectrum[k] = (Number){chirp[k].x, -chirp[k].y};
        if (k) spectrum[m - k] = spectrum[k];
    }
    transform(spectrum, m, roots);
    for (uint32_t k = 0; k < m; k++)
        spectrum[k] = (Number){spectrum[k].x / m, -spectrum[k].y / m};
}

uint64_t fft_table_bytes(const FftDimension *dimension, bool is_double) {
    return table_numbers(dimension) * (is_double ? 2 * sizeof(double) : 2 * sizeof(float));
}

void fft_make_tables(FftDimension *dimension, bool is_double, void *memory, uint64_t address) {
    const uint64_t count = table_numbers(dimension), n = dimension->length;
    const uint64_t m = dimension->work_length, bytes = is_double ? sizeof(Number) : 8;
    Number *numbers = base_calloc(count, sizeof *numbers);
    for (uint64_t k = 0; k < m; k++)
        numbers[k] = root(k, m);
    dimension->roots = address;
    if (m > n) {
        make_convolution(dimension, numbers, numbers + m, numbers + m + n);
        dimension->chirp = address + m * bytes;
        dimension->spectrum = address + (m + n) * bytes;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (is_double) ((Number *)memory)[i] = numbers[i];
        else {
            ((float *)memory)[2 * i] = (float)numbers[i].x;
            ((float *)memory)[2 * i + 1] = (float)numbers[i].y;
        }
    }
    free(numbers);
}
