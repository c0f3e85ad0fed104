/* Opcodes and modifiers that are not supported, with a description for messages. */
#include "ptx/opcode.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const PtxUnsupported unsupported[] = {
    {"clusterlaunchcontrol", "work stealing of clusters"},
    {"multimem", "multi-device memory"},
    {"tcgen05", "tensor cores"},
};

const PtxUnsupported *ptx_unsupported(int *count) {
    *count = COUNT(unsupported);
    return unsupported;
}

static const PtxUnsupported unsupported_words[] = {
    {".2dms", "multisampled textures"},
    {".a2dms", "multisampled textures"},
    {".im2col::w", "tiles of im2col along W, of sm_100"},
    {".im2col::w::128", "tiles of im2col along W, of sm_100"},
    {".tensor", "this kind of tile"},
    {".cp_mask", "copies of chosen bytes"},
    {".bulk", "this kind of bulk copy"},
    {".e2m1", "formats of 4 and 6 bits"},
    {".e2m3", "formats of 4 and 6 bits"},
    {".e3m2", "formats of 4 and 6 bits"},
    {".e2m1x2", "formats of 4 and 6 bits"},
    {".e2m3x2", "formats of 4 and 6 bits"},
    {".e3m2x2", "formats of 4 and 6 bits"},
    {".ue8m0x2", "formats of 4 and 6 bits"},
    {".async", "asynchronous stores and proxies"},
    {".m16n16", "matrices of sm_100"},
    {".m8n16", "matrices of sm_100"},
    {".m16n8", "matrices of sm_100"},
    {".swizzle_atomicity", "tensor maps of sm_100"},
    {".oob", "operands that are out of bounds"},
    {".rs", "stochastic rounding"},
    {"redux.f32", "reductions of f32"},
    {".force_unnormalized_coords", "what a sampler is made of"},
};

const PtxUnsupported *ptx_unsupported_words(int *count) {
    *count = COUNT(unsupported_words);
    return unsupported_words;
}
