/* Loads and stores of two and four elements at once, of bytes, words, floats and doubles. */
#include "kernel.h"

extern "C" __global__ void vector_loads(const unsigned *in, unsigned *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n / 4) return;
    uint4 words = ((const uint4 *)in)[i];
    uint2 pair = ((const uint2 *)in)[2 * i + 1];
    uchar4 bytes = ((const uchar4 *)in)[4 * i];
    ushort4 halves = ((const ushort4 *)in)[2 * i];
    ulonglong2 wide = ((const ulonglong2 *)in)[i];
    uint4 result =
        make_uint4(words.w, words.x + pair.y, words.z ^ pair.x, (unsigned)(wide.x + wide.y));
    result.x += bytes.x + 2u * bytes.y + 3u * bytes.z + 4u * bytes.w;
    result.y += halves.x + 5u * halves.y + 7u * halves.z + 9u * halves.w;
    ((uint4 *)out)[i] = result;
    uchar4 *tail = (uchar4 *)&out[4 * i + 3];
    uchar4 swapped = *tail;
    *tail = make_uchar4(swapped.w, swapped.z, swapped.y, swapped.x);
}
