/* Hash map from strings to pointers. It iterates in insertion order, so that nothing depends on
 * hash order. Keys are copied. For start-up code: the run loop never looks up names. */
#ifndef TYTO_BASE_MAP_H
#define TYTO_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Map Map;

Map *map_new(void);
void map_free(Map *map); /* does not free the values */
/* Sets the value of `key` (length bytes, need not be NUL-terminated); returns the previous value or
 * NULL. */
void *map_put(Map *map, const char *key, size_t length, void *value);
void *map_get(const Map *map, const char *key, size_t length); /* NULL if absent */
bool map_has(const Map *map, const char *key, size_t length);
size_t map_count(const Map *map);
/* The i-th inserted entry, 0 <= i < map_count. */
const char *map_key(const Map *map, size_t i);
void *map_value(const Map *map, size_t i);

#endif
