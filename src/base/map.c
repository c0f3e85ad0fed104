/* String map: an array of entries in insertion order, and an open-addressing hash index of it
 * (linear probing, at most half full). */
#include "base/map.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_FIRST_SLOTS = 16 };

typedef struct Entry {
    const char *key; /* allocated in the map's arena */
    size_t length;   /* bytes of the key without its NUL */
    uint64_t hash;   /* of the key */
    void *value;     /* owned by the caller */
} Entry;

struct Map {
    Arena *keys;       /* owns the copies of the keys */
    Entry *entries;    /* in insertion order; slot_count / 2 allocated */
    size_t count;      /* entries in use */
    size_t *slots;     /* index into entries plus 1; 0 is an empty slot */
    size_t slot_count; /* a power of two */
};

/* FNV-1a, followed by the finaliser of MurmurHash3 so that the low bits depend on the whole key. */
static uint64_t hash_of(const char *key, size_t length) {
    uint64_t hash = hash_add(HASH_START, key, length);
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

static void allocate_tables(Map *map, size_t slot_count) {
    map->slot_count = slot_count;
    map->slots = base_calloc(slot_count, sizeof(*map->slots));
    map->entries = base_realloc(map->entries, slot_count / 2 * sizeof(Entry));
}

Map *map_new(void) {
    Map *map = base_calloc(1, sizeof(Map));
    map->keys = arena_new();
    allocate_tables(map, MAP_FIRST_SLOTS);
    return map;
}

void map_free(Map *map) {
    if (!map) return;
    arena_free(map->keys);
    free(map->entries);
    free(map->slots);
    free(map);
}

/* The slot that contains the key, or the empty slot for it. */
static size_t *find_slot(const Map *map, const char *key, size_t length, uint64_t hash) {
    size_t at = (size_t)hash & (map->slot_count - 1);
    while (map->slots[at]) {
        const Entry *entry = &map->entries[map->slots[at] - 1];
        bool is_same = entry->hash == hash && entry->length == length &&
                       (length == 0 || memcmp(entry->key, key, length) == 0);
        if (is_same) break;
        at = (at + 1) & (map->slot_count - 1);
    }
    return &map->slots[at];
}

static void grow(Map *map) {
    free(map->slots);
    allocate_tables(map, map->slot_count * 2);
    for (size_t i = 0; i < map->count; i++) {
        const Entry *entry = &map->entries[i];
        *find_slot(map, entry->key, entry->length, entry->hash) = i + 1;
    }
}

void *map_put(Map *map, const char *key, size_t length, void *value) {
    if (map->count == map->slot_count / 2) grow(map);
    uint64_t hash = hash_of(key, length);
    size_t *slot = find_slot(map, key, length, hash);
    if (*slot) {
        Entry *entry = &map->entries[*slot - 1];
        void *previous = entry->value;
        entry->value = value;
        return previous;
    }
    map->entries[map->count] = (Entry){arena_strndup(map->keys, key, length), length, hash, value};
    *slot = ++map->count;
    return NULL;
}

static const Entry *find(const Map *map, const char *key, size_t length) {
    size_t index = *find_slot(map, key, length, hash_of(key, length));
    return index ? &map->entries[index - 1] : NULL;
}

void *map_get(const Map *map, const char *key, size_t length) {
    const Entry *entry = find(map, key, length);
    return entry ? entry->value : NULL;
}

bool map_has(const Map *map, const char *key, size_t length) {
    return find(map, key, length) != NULL;
}

size_t map_count(const Map *map) { return map->count; }
const char *map_key(const Map *map, size_t i) { return map->entries[i].key; }
void *map_value(const Map *map, size_t i) { return map->entries[i].value; }
