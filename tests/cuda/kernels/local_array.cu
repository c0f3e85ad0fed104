/* Arrays in local memory under indices known only at run time: a small sort, and a table of bytes
 * read back as words. */
#include "kernel.h"

extern "C" __global__ void local_array(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n) return;
    unsigned values[12];
    for (unsigned k = 0; k < 12; k++)
        values[k] = in[(i * 5 + k) % n];
    for (unsigned k = 1; k < 12; k++) {
        unsigned value = values[k], hole = k;
        for (; hole > 0 && values[hole - 1] > value; hole--)
            values[hole] = values[hole - 1];
        values[hole] = value;
    }
    union {
        unsigned char bytes[16];
        unsigned words[4];
    } table;
    for (unsigned k = 0; k < 16; k++)
        table.bytes[(k * 7 + in[i]) % 16] = (unsigned char)(k * 11);
    out[i] = values[in[i] % 12] ^ table.words[i % 4];
}
