/* The parameters of the kernels of fft_kernels.cu, shared with their caller. */
#ifndef TYTO_LIBRARY_FFT_DEVICE_H
#define TYTO_LIBRARY_FFT_DEVICE_H

#include <stdint.h>

/* Limits of a block (ours). Its two buffers have one spare point for each line and need less than
 * 10 KB of shared memory, so a block fits on an SM of every machine. */
enum {
    FFT_POINTS = 512,        /* points of single precision in a block */
    FFT_POINTS_DOUBLE = 256, /* the same in double precision */
    FFT_LINES = 32           /* lines in a block */
};

enum {
    FFT_FACTOR_BITS = 4, /* of each factor of a line's points; there are at most 6, as in 2 * 3^5 */
    FFT_AXES = 5         /* two within the transformed dimension, two other dimensions, batch */
};

/* How numbers are stored. */
typedef enum FftForm {
    FFT_COMPLEX,
    FFT_REAL,
    FFT_HALF /* the first half of a line whose other half consists of the conjugated numbers */
} FftForm;

/* One coordinate of a line. */
typedef struct FftAxis {
    uint32_t size;
    uint32_t in_index, out_index; /* step of the line's first point in the transformed dimension */
    int64_t in_step, out_step;    /* step in memory outside this dimension, in numbers */
} FftAxis;

/* One pass over all data: one part of the transform of one dimension, forward. A dimension of
 * `length` points is transformed in one pass, or in several passes with `points` points each
 * (Stockham's order, so that no pass reverses digits). Point q of line j (j counts within the
 * dimension) is point j + q * length / points of the dimension. Its result is point
 * (j - j % done) * points + j % done + q * done. */
typedef struct FftPass {
    uint64_t in, out;     /* device addresses */
    uint64_t roots;       /* exp(-2 pi i k / length) for k below length */
    uint64_t in_factors;  /* factor of each point of the dimension; 0: none */
    uint64_t out_factors; /* the same for results, each conjugated; 0: none */
    int64_t in_stride;    /* distance of the dimension's points, in numbers */
    int64_t out_stride;
    FftAxis axes[FFT_AXES]; /* the fastest one first; unused ones have size 1 */
    uint32_t lines;         /* product of the axes' sizes */
    uint32_t lines_per_block;
    uint32_t length, points;
    uint32_t done;      /* product of the points of the earlier passes of this dimension */
    uint32_t in_count;  /* points that exist; further points are 0 */
    uint32_t out_count; /* points that are stored */
    int32_t in_form, out_form;
    int32_t in_conjugated, out_conjugated;
    int32_t in_across; /* in memory, neighbouring lines are closer than neighbouring points */
    int32_t out_across;
    uint32_t factors; /* 2, 3, 4, 5 or 7, the first in the lowest bits; their product is `points` */
} FftPass;

#endif
