/* Cuts a transform into passes. Each dimension is transformed in turn, in one pass if a line fits
 * into a block, else in several passes of almost equal numbers of points. */
#include <string.h>

#include "library/fft.h"

/* If a length does not fit into 5 parts, one part times a prime exceeds 256 points and the others
 * have at least 256 / 7: it is above 2^27. Convolutions have up to 2^28 points: 4 parts. */
enum { LAST = FFT_RANK - 1, MOST_PARTS = 5, MOST_PRIMES = 32 };

/* A transform, and the passes made so far. */
typedef struct Builder {
    const FftShape *shape;
    FftPasses *passes;
    int64_t sizes[FFT_RANK]; /* of the data after the passes made so far */
    FftLayout layout;        /* likewise */
    int end;                 /* the dimension that is transformed last */
    bool is_too_large;
} Builder;

FftLayout fft_packed(const int64_t sizes[FFT_RANK]) {
    return (FftLayout){{sizes[1] * sizes[2], sizes[2], 1}, sizes[0] * sizes[1] * sizes[2]};
}

/* ---- Factors ---- */

/* The prime factors up to 7, the largest first; returns their number. *rest is what is left. */
static int find_primes(uint32_t length, uint8_t primes[MOST_PRIMES], uint32_t *rest) {
    int count = 0;
    for (uint8_t prime = 7; prime >= 2; prime--)
        for (; length % prime == 0; length /= prime)
            primes[count++] = prime;
    *rest = length;
    return count;
}

void fft_set_length(FftDimension *dimension, uint32_t length) {
    uint8_t primes[MOST_PRIMES];
    uint32_t rest;
    find_primes(length, primes, &rest);
    *dimension = (FftDimension){.length = length, .work_length = length};
    if (rest == 1) return;
    dimension->work_length = 1;
    while (dimension->work_length < 2 * length - 1)
        dimension->work_length *= 2;
}

/* Splits a length into the fewest parts of at most `most` points; returns their number. Each prime
 * goes to the part that is the smallest so far. */
static int split(uint32_t length, uint32_t most, uint32_t parts[MOST_PARTS]) {
    uint8_t primes[MOST_PRIMES];
    uint32_t rest;
    int prime_count = find_primes(length, primes, &rest), count = 0;
    bool fits = false;
    while (!fits) {
        fits = true;
        parts[count++] = 1;
        for (int i = 0; i < count; i++)
            parts[i] = 1;
        for (int i = 0; i < prime_count; i++) {
            int least = 0;
            for (int j = 1; j < count; j++)
                if (parts[j] < parts[least]) least = j;
            parts[least] *= primes[i];
            fits &= parts[least] <= most;
        }
    }
    return count;
}

/* The factors of a part, packed as in FftPass: as many 4s as possible. */
static uint32_t pack_factors(uint32_t points) {
    static const uint8_t known[] = {4, 2, 3, 5, 7};
    uint32_t packed = 0;
    int bit = 0;
    for (size_t i = 0; i < sizeof known; i++) {
        for (; points % known[i] == 0; points /= known[i], bit += FFT_FACTOR_BITS)
            packed |= (uint32_t)known[i] << bit;
    }
    return packed;
}

/* ---- Lines ---- */

static int64_t in_distance(const FftPass *pass, const FftAxis *axis) {
    return axis->in_step + axis->in_index * pass->in_stride;
}

/* Inserts a coordinate, ordered by the distance of neighbouring lines in memory. */
static void add_axis(FftPass *pass, int *count, FftAxis axis) {
    int at = *count;
    if (axis.size == 1) return;
    for (; at > 0 && in_distance(pass, &pass->axes[at - 1]) > in_distance(pass, &axis); at--)
        pass->axes[at] = pass->axes[at - 1];
    pass->axes[at] = axis;
    ++*count;
}

/* The lines of a pass over `dimension` that reads `in` and writes `out`. */
static void set_lines(Builder *builder, FftPass *pass, int dimension, const FftLayout *in,
                      const FftLayout *out) {
    const bool is_double = builder->shape->is_double;
    const uint32_t room = is_double ? FFT_POINTS_DOUBLE : FFT_POINTS;
    const uint32_t done = pass->done, rest = pass->length / (pass->points * done);
    uint64_t lines = 1;
    int count = 0;
    pass->in_stride = in->steps[dimension];
    pass->out_stride = out->steps[dimension];
    add_axis(pass, &count, (FftAxis){done, 1, 1, 0, 0});
    add_axis(pass, &count, (FftAxis){rest, done, done * pass->points, 0, 0});
    for (int i = LAST; i >= 0; i--) {
        if (i == dimension) continue;
        add_axis(pass, &count,
                 (FftAxis){(uint32_t)builder->sizes[i], 0, 0, in->steps[i], out->steps[i]});
    }
    add_axis(pass, &count,
             (FftAxis){(uint32_t)builder->shape->batch, 0, 0, in->distance, out->distance});
    for (int i = 0; i < count; i++)
        lines *= pass->axes[i].size;
    for (int i = count; i < FFT_AXES; i++)
        pass->axes[i] = (FftAxis){.size = 1};
    const FftAxis *first = &pass->axes[0];
    pass->in_across =
        count > 0 && in_distance(pass, first) < (int64_t)done * rest * pass->in_stride;
    pass->out_across = count > 0 && first->out_step + first->out_index * pass->out_stride <
                                        (int64_t)done * pass->out_stride;
    pass->lines = (uint32_t)lines;
    builder->is_too_large |= lines > UINT32_MAX;
    pass->lines_per_block = room / pass->points < FFT_LINES ? room / pass->points : FFT_LINES;
    if (pass->lines_per_block > lines) pass->lines_per_block = pass->lines;
}

/* ---- Passes ---- */

/* Adds the passes of a transform of `length` points that stores its first `out_count` results;
 * returns the first pass. If it is the end of everything, the results are the caller's. */
static FftPass *add_transform(Builder *builder, int dimension, uint32_t length, uint32_t out_count,
                              bool is_end) {
    const FftShape *shape = builder->shape;
    FftPasses *passes = builder->passes;
    FftPass *first = &passes->rows[passes->count];
    uint32_t parts[MOST_PARTS], done = 1;
    const int count = split(length, shape->is_double ? FFT_POINTS_DOUBLE : FFT_POINTS, parts);
    for (int i = 0; i < count; done *= parts[i++]) {
        FftPass *pass = &passes->rows[passes->count++];
        bool is_last = i == count - 1;
        *pass = (FftPass){.roots = shape->dimensions[dimension].roots,
                          .length = length,
                          .points = parts[i],
                          .done = done,
                          .in_count = length,
                          .out_count = is_last ? out_count : length,
                          .factors = pack_factors(parts[i])};
        builder->sizes[dimension] = pass->out_count;
        const bool is_callers = is_end && is_last;
        const FftLayout out = is_callers ? shape->out : fft_packed(builder->sizes);
        set_lines(builder, pass, dimension, &builder->layout, &out);
        builder->layout = out;
        int64_t points = out.distance * shape->batch;
        if (!is_callers && points > passes->points) passes->points = points;
    }
    return first;
}

static void add_dimension(Builder *builder, int dimension) {
    const FftDimension *d = &builder->shape->dimensions[dimension];
    const bool is_last = dimension == LAST;
    const bool is_half = is_last && builder->shape->in_form == FFT_REAL;
    const uint32_t out_count = is_half ? (uint32_t)fft_half(d->length) : d->length;
    const bool is_convolution = d->work_length > d->length;
    const bool is_end = dimension == builder->end;
    FftPass *first =
        add_transform(builder, dimension, d->work_length,
                      is_convolution ? d->work_length : out_count, is_end && !is_convolution);
    first->in_count = d->length;
    if (is_last) first->in_form = (int32_t)builder->shape->in_form;
    if (!is_convolution) return;
    first->in_factors = d->chirp;
    FftPass *second = add_transform(builder, dimension, d->work_length, out_count, is_end);
    second->in_factors = d->spectrum;
    second->in_conjugated = true;
    FftPass *end = &builder->passes->rows[builder->passes->count - 1];
    end->out_factors = d->chirp;
    end->out_conjugated = true;
}

bool fft_make_passes(const FftShape *shape, FftPasses *passes) {
    Builder builder = {.shape = shape, .passes = passes, .layout = shape->in};
    const bool is_to_real = shape->out_form == FFT_REAL;
    memset(passes, 0, sizeof *passes);
    for (int i = 0; i < FFT_RANK; i++)
        builder.sizes[i] = shape->dimensions[i].length;
    if (shape->in_form == FFT_HALF) builder.sizes[LAST] = fft_half(builder.sizes[LAST]);
    /* real data are the last dimension's: its input comes first, its output last */
    builder.end = is_to_real ? LAST : 0;
    while (builder.end < LAST && shape->dimensions[builder.end].length == 1)
        builder.end++;
    for (int i = 0; i < FFT_RANK; i++) {
        int dimension = is_to_real ? i : LAST - i;
        if (dimension == LAST || shape->dimensions[dimension].length > 1)
            add_dimension(&builder, dimension);
    }
    FftPass *first = &passes->rows[0], *end = &passes->rows[passes->count - 1];
    first->in_conjugated ^= shape->is_inverse;
    end->out_conjugated ^= shape->is_inverse;
    end->out_form = (int32_t)shape->out_form;
    return !builder.is_too_large;
}
