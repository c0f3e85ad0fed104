/* Pairs of kernels that compute the same thing in two ways. A property draws a pair from a number,
 * and both kernels must leave the same bytes. One kernel uses the feature under test (mma,
 * cp.async, a texture, ...), the other plain arithmetic, loads and stores. A property may also draw
 * a single kernel that runs on warps whose lanes diverge and reconverge in different ways. */
#ifndef TESTS_PAIRS_PAIRS_H
#define TESTS_PAIRS_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "memory/texture.h"

enum {
    PAIR_BYTES = 1 << 16, /* of the input, and of the output */
    PAIR_IMAGES = 2
};

typedef struct Pair {
    uint64_t random; /* generator state: everything is drawn from it (pair_draw) */
    Text ptx;        /* the module, after the header */
    uint32_t threads;
    bool is_alone; /* there is only kernel `one`, which runs under every model of divergence */
    /* Textures and surfaces, whose handles are passed to the kernels. An address is an offset in
     * the input or, if `is_written`, in the output. */
    MemTexture images[PAIR_IMAGES];
    int image_count;
    bool is_written;
    union { /* the input, which kernels only read */
        uint8_t in[PAIR_BYTES];
        uint32_t in_words[PAIR_BYTES / 4];
        double in_doubles[PAIR_BYTES / 8];
    };
} Pair;

/* A number below `below`, which is at least 1. */
uint32_t pair_draw(Pair *pair, uint32_t below);
uint32_t pair_bits(Pair *pair);
/* One word of a list separated by blanks: its start and length, for "%.*s". */
typedef struct Word {
    int length;
    const char *text;
} Word;
Word pair_word(Pair *pair, const char *words);
bool pair_word_is(Word word, const char *text);

/* Appends to the module. */
void pair_add(Pair *pair, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Begins a kernel, `one` or `other`. Its registers: %in, %out, %i0 and %i1 (handles), %x<32> of 64
 * bits, %t (thread), %l (lane), %r<64> of 32 bits, %h<32> of 16 bits, %f<32>, %d<32>, %p<16>.
 * `variables` are declared before them. pair_end ends the kernel. */
void pair_begin(Pair *pair, const char *name, const char *variables);
void pair_end(Pair *pair);

typedef void PairMaker(Pair *pair);
PairMaker pair_make_dot_product, pair_make_video, pair_make_packed_video; /* integer.c */
PairMaker pair_make_mma;                                                  /* mma.c */
PairMaker pair_make_ldmatrix, pair_make_movmatrix;                        /* fragment.c */
PairMaker pair_make_copy, pair_make_wide, pair_make_vector_atomic;        /* memory.c */
PairMaker pair_make_texture, pair_make_surface;                           /* image.c */
PairMaker pair_make_flow;                                                 /* flow.c */

#endif
