/* GET requests to a store of random keys. Popularity is skewed: a request is equally likely for the
 * most popular key, the next 2, the next 4, and so on; one of eight is for a key that is not in the
 * store. The expected item of each request is known in advance. */
#include "common/workload.h"

#include <string.h>

enum { THREADS = 256, SHORTEST_KEY = 16, LONGEST_KEY = 48, REQUESTS_PER_MISS = 8 };
enum { LETTERS = 26, ALIGNMENT = 16 };

#define NO_ITEM 0u

enum { REQUESTS, ITEMS };

static const WorkloadInfo INFO = {
    .name = "memcached",
    .summary = "Looks up keys in a hash table, one request per thread.",
    .parameters =
        {
            [REQUESTS] = {"requests", "to get an item", {1000, 8192, 30720}, 1u << 22, 0},
            [ITEMS] = {"items", "in the store", {300, 8192, 65536}, 1u << 22, 0},
        },
};

/* The same layout as in the kernel: an item's head, before the bytes of its key. */
typedef struct Item {
    uint32_t next; /* item of the same bucket, or NO_ITEM */
    uint32_t hash;
    uint32_t key_length;   /* bytes */
    uint32_t value_length; /* bytes, elsewhere */
} Item;

typedef struct Store {
    uint32_t items;    /* count */
    uint32_t size;     /* bytes */
    uint32_t buckets;  /* count, a power of two */
    uint32_t *offsets; /* of each item, in bytes, never NO_ITEM */
    uint32_t *heads;   /* first item of each bucket */
    uint8_t *bytes;    /* the items, at multiples of ALIGNMENT bytes */
} Store;

/* The same layout as in the kernel. */
typedef struct Request {
    uint32_t length;  /* bytes of the key */
    uint8_t key[124]; /* room for LONGEST_KEY bytes */
} Request;

static uint32_t hash_key(const uint8_t *key, uint32_t length) {
    uint32_t hash = 0;
    for (uint32_t i = 0; i < length; i++) {
        hash += key[i];
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    return hash + (hash << 15);
}

/* Writes a random key, which is almost certainly unique; returns its length. */
static uint32_t draw_key(Workload *workload, uint8_t *key) {
    uint32_t length = SHORTEST_KEY + workload_random(workload, LONGEST_KEY - SHORTEST_KEY + 1);
    for (uint32_t i = 0; i < length; i++)
        key[i] = (uint8_t)('a' + workload_random(workload, LETTERS));
    return length;
}

/* Adds an item with a new key at the end of the store and at the head of its bucket. */
static void add_item(Workload *workload, Store *store, uint32_t index) {
    uint8_t *key = store->bytes + store->size + sizeof(Item);
    Item item = {.key_length = draw_key(workload, key),
                 .value_length = workload_random(workload, 1024)};
    item.hash = hash_key(key, item.key_length);
    uint32_t *head = &store->heads[item.hash & (store->buckets - 1)];
    item.next = *head;
    *head = store->offsets[index] = store->size;
    memcpy(store->bytes + store->size, &item, sizeof item);
    uint32_t size = (uint32_t)sizeof item + item.key_length;
    store->size += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static Store generate_store(Workload *workload, uint32_t items) {
    Store store = {.items = items, .size = ALIGNMENT, .buckets = 1};
    while (store.buckets < items)
        store.buckets *= 2;
    store.offsets = workload_host_alloc(workload, items, sizeof(uint32_t));
    store.heads = workload_host_alloc(workload, store.buckets, sizeof(uint32_t));
    store.bytes = workload_host_alloc(workload, (size_t)items + 1, sizeof(Item) + LONGEST_KEY);
    for (uint32_t i = 0; i < items; i++)
        add_item(workload, &store, i);
    return store;
}

/* The item of a request. A multiplication modulo the store's size spreads the popular items over
 * the store. */
static uint32_t pick_item(Workload *workload, uint32_t items) {
    uint32_t groups = 0;
    while (groups < 31 && (2u << groups) - 1 < items)
        groups++;
    uint32_t group = 1u << workload_random(workload, groups + 1);
    uint64_t rank = group - 1 + workload_random(workload, group);
    return (uint32_t)(rank * 2654435761u % items);
}

/* Makes random requests, and the expected item of each. */
static void draw_requests(Workload *workload, const Store *store, Request *requests,
                          uint32_t *expected, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (workload_random(workload, REQUESTS_PER_MISS) == 0) {
            requests[i].length = draw_key(workload, requests[i].key);
            expected[i] = NO_ITEM;
        } else {
            expected[i] = store->offsets[pick_item(workload, store->items)];
            Item item;
            memcpy(&item, store->bytes + expected[i], sizeof item);
            requests[i].length = item.key_length;
            memcpy(requests[i].key, store->bytes + expected[i] + sizeof item, item.key_length);
        }
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t count = workload.values[REQUESTS];
    Store store = generate_store(&workload, workload.values[ITEMS]);
    Request *requests = workload_host_alloc(&workload, count, sizeof *requests);
    uint32_t *expected = workload_host_alloc(&workload, count, sizeof *expected);
    draw_requests(&workload, &store, requests, expected, count);

    CUdeviceptr device_requests = workload_upload(requests, count * sizeof *requests);
    CUdeviceptr heads = workload_upload(store.heads, store.buckets * sizeof(uint32_t));
    CUdeviceptr bytes = workload_upload(store.bytes, store.size);
    CUdeviceptr found = workload_device_alloc(count * sizeof(uint32_t));
    workload_launch(&workload, "memcached_get", workload_cover(count, THREADS),
                    (void *[]){&device_requests, &heads, &bytes, &found, &store.buckets, &count});

    bool is_right = workload_verify_words(&workload, found, expected, count);
    return workload_finish(&workload, is_right, "requests", count);
}
