/* MapReduce workloads whose keys are text. */
#ifndef TYTO_WORKLOAD_MAPREDUCE_TEXT_CUH
#define TYTO_WORKLOAD_MAPREDUCE_TEXT_CUH

#include "mapreduce.cuh"

/* A key that is text: up to a zero. */
struct TextKey {
    unsigned char *text;
    int offset; /* from `text` */
    unsigned hash;
};

static __device__ unsigned hash_bytes(const unsigned char *text, int bytes) {
    unsigned hash = (unsigned)bytes;
    for (int i = 0; i < bytes; i++)
        hash = (hash << 4) ^ (hash >> 28) ^ text[i];
    return hash;
}

/* By hash, then by text. */
static __device__ int compare_keys(const unsigned char *a, const unsigned char *b) {
    const TextKey *key_a = (const TextKey *)a, *key_b = (const TextKey *)b;
    if (key_a->hash != key_b->hash) return key_a->hash < key_b->hash ? -1 : 1;
    const unsigned char *text_a = key_a->text + key_a->offset;
    const unsigned char *text_b = key_b->text + key_b->offset;
    while (*text_a == *text_b && *text_a != '\0') {
        text_a++;
        text_b++;
    }
    return (int)*text_a - (int)*text_b;
}

#endif
