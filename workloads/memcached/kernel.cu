/* The GET requests of a key-value store, one per thread: hash the key, walk the chain of the hash's
 * bucket, compare keys byte by byte. Every request has its own line, as in the CCWS paper's
 * program, for which the authors' simulator assumes 128 bytes per thread. A lane reads its key byte
 * by byte and returns to the line many times. */
#include "tyto_device.h"

enum : unsigned { NO_ITEM = 0 };

struct Request {
    unsigned length;        /* of the key, bytes */
    unsigned char key[124]; /* bytes beyond the length are unused */
};

/* An item's head; the bytes of its key follow. */
struct Item {
    unsigned next; /* item of the same bucket, or NO_ITEM */
    unsigned hash;
    unsigned key_length;   /* bytes */
    unsigned value_length; /* bytes, elsewhere */
};

/* Jenkins's hash, a byte at a time. */
static __device__ unsigned hash_key(const unsigned char *key, unsigned length) {
    unsigned hash = 0;
    for (unsigned i = 0; i < length; i++) {
        hash += key[i];
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    return hash + (hash << 15);
}

static __device__ bool is_equal(const unsigned char *a, const unsigned char *b, unsigned length) {
    for (unsigned i = 0; i < length; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* Items are byte offsets in the store; `buckets` is a power of two. `found` gets NO_ITEM if the
 * store does not have the key. */
extern "C" __global__ void memcached_get(const Request *requests, const unsigned *heads,
                                         const unsigned char *store, unsigned *found,
                                         unsigned buckets, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned char *key = requests[i].key;
    unsigned length = requests[i].length;
    unsigned hash = hash_key(key, length);
    unsigned at = heads[hash & (buckets - 1)];
    while (at != NO_ITEM) {
        const Item *item = (const Item *)(store + at);
        if (item->hash == hash && item->key_length == length &&
            is_equal(key, store + at + sizeof(Item), length))
            break;
        at = item->next;
    }
    found[i] = at;
}
