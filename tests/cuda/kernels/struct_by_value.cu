/* Kernel parameters that are structs of several sizes and alignments, among plain ones. */
#include "kernel.h"

struct Tiny {
    signed char a;
};
struct Odd {
    signed char name[7];
    short s;
};
struct Mixed {
    signed char a;
    double b;
    short c;
    float d[3];
};
struct __align__(16) Aligned {
    int v[4];
};
struct Large {
    unsigned words[40];
};

extern "C" __global__ void struct_by_value(Tiny tiny, Odd odd, unsigned short between, Mixed mixed,
                                           unsigned char flag, Aligned aligned, Large large,
                                           double *out) {
    unsigned i = threadIdx.x;
    double sum = tiny.a + odd.name[i % 7] + odd.s + between + mixed.a + mixed.b + mixed.c;
    sum += (double)mixed.d[i % 3] + flag + aligned.v[i % 4] + large.words[i % 40];
    out[i] = sum;
}
