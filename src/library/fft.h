/* A transform as the kernels run it: tables for each dimension, and passes over the data. */
#ifndef TYTO_LIBRARY_FFT_H
#define TYTO_LIBRARY_FFT_H

#include <stdbool.h>
#include <stdint.h>

#include "library/fft_device.h"

enum {
    FFT_RANK = 3,        /* dimensions; a transform of fewer has leading ones of length 1 */
    FFT_MOST_PASSES = 24 /* of 3 dimensions, each transformed twice (Bluestein) by 4 passes */
};

/* Where numbers are stored, in steps of one number. */
typedef struct FftLayout {
    int64_t steps[FFT_RANK]; /* from one number of a dimension to the next */
    int64_t distance;        /* from one transform of the batch to the next */
} FftLayout;

/* One dimension and its tables. A length with a prime factor above 7 is computed as a convolution
 * of `work_length` points (Bluestein 1970). */
typedef struct FftDimension {
    uint32_t length;
    uint32_t work_length; /* the length itself, or a power of 2 from twice the length on */
    uint64_t roots;       /* device address; the other tables follow; 0: not made yet */
    uint64_t chirp;       /* exp(-i pi k^2 / length) for k below length; 0: no convolution */
    uint64_t spectrum;    /* with which the convolution multiplies; 0: likewise */
} FftDimension;

typedef struct FftShape {
    FftDimension dimensions[FFT_RANK];
    FftLayout in, out;
    int64_t batch;
    FftForm in_form; /* FFT_HALF and FFT_REAL: of the last dimension; all other data are complex */
    FftForm out_form;
    bool is_double;
    bool is_inverse;
} FftShape;

typedef struct FftPasses {
    FftPass rows[FFT_MOST_PASSES]; /* in order; without the addresses of the data */
    int count;
    int64_t points; /* complex numbers that the largest result between two passes has */
} FftPasses;

/* The length of the last dimension's results if only those of real data are stored. */
static inline int64_t fft_half(int64_t length) { return length / 2 + 1; }
/* Numbers laid out one after the other. */
FftLayout fft_packed(const int64_t sizes[FFT_RANK]);

/* Sets the lengths of a dimension, without tables. */
void fft_set_length(FftDimension *dimension, uint32_t length);
/* Makes the passes of a transform. Returns false if there are too many lines for one launch. */
bool fft_make_passes(const FftShape *shape, FftPasses *passes);

/* Bytes of a dimension's tables. */
uint64_t fft_table_bytes(const FftDimension *dimension, bool is_double);
/* Writes the tables to `memory`, and sets the dimension's addresses for tables at `address`. */
void fft_make_tables(FftDimension *dimension, bool is_double, void *memory, uint64_t address);

#endif
