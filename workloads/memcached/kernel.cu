/* The GET requests of a key-value store, one per thread: hash the key, walk the chain of the hash's
 * bucket, compare keys byte by byte. Keys are long and of many lengths, so a warp's lanes read
 * bytes far apart, and each comes back to its lines many times. */
#include "tyto_device.h"

enum : unsigned { NO_ITEM = 0 };

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

/* A request's x is where its key starts, y its length in bytes. Items are byte offsets in the
 * store; `buckets` is a power of two. `found` gets NO_ITEM where the store lacks the key. */
extern "C" __global__ void memcached_get(const unsigned char *keys, const uint2 *requests,
                                         const unsigned *heads, const unsigned char *store,
                                         unsigned *found, unsigned buckets, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint2 request = requests[i];
    const unsigned char *key = keys + request.x;
    unsigned hash = hash_key(key, request.y);
    unsigned at = heads[hash & (buckets - 1)];
    while (at != NO_ITEM) {
        const Item *item = (const Item *)(store + at);
        if (item->hash == hash && item->key_length == request.y &&
            is_equal(key, store + at + sizeof(Item), request.y))
            break;
        at = item->next;
    }
    found[i] = at;
}
