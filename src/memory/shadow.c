/* A hash table of shadow pages. */
#include "memory/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS, WORD_BYTES = 4, FIRST_SLOTS = 64 };

typedef struct Page {
    uint64_t number;     /* address >> PAGE_BITS */
    uint64_t generation; /* in which the cells are valid */
    bool is_bytes;       /* one cell per byte instead of per word */
    ShadowCell *cells;
} Page;

struct Shadow {
    Page **slots;        /* open addressing; NULL: free */
    uint32_t capacity;   /* a power of two */
    uint32_t count;      /* number of pages */
    uint64_t generation; /* the current one */
    Page *last;          /* the last one looked up; or NULL */
};

Shadow *shadow_new(void) {
    Shadow *shadow = base_calloc(1, sizeof *shadow);
    shadow->capacity = FIRST_SLOTS;
    shadow->slots = base_calloc(shadow->capacity, sizeof *shadow->slots);
    return shadow;
}

void shadow_free(Shadow *shadow) {
    if (!shadow) return;
    for (uint32_t i = 0; i < shadow->capacity; i++) {
        if (!shadow->slots[i]) continue;
        free(shadow->slots[i]->cells);
        free(shadow->slots[i]);
    }
    free(shadow->slots);
    free(shadow);
}

void shadow_forget(Shadow *shadow) { shadow->generation++; }

/* The slot that contains page `number`, or the free slot for it. Fibonacci hashing (Knuth, TAOCP
 * 6.4). */
static Page **slot_of(const Shadow *shadow, uint64_t number) {
    uint64_t at = number * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    while (shadow->slots[at & (shadow->capacity - 1)] &&
           shadow->slots[at & (shadow->capacity - 1)]->number != number)
        at++;
    return &shadow->slots[at & (shadow->capacity - 1)];
}

static void grow(Shadow *shadow) {
    Page **old = shadow->slots;
    uint32_t capacity = shadow->capacity;
    shadow->capacity *= 2;
    shadow->slots = base_calloc(shadow->capacity, sizeof *shadow->slots);
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i]) *slot_of(shadow, old[i]->number) = old[i];
    free(old);
}

static uint32_t cells_of(const Page *page) { return page->is_bytes ? PAGE_BYTES : PAGE_BYTES / 4; }

static Page *page_of(Shadow *shadow, uint64_t number) {
    Page *page = shadow->last;
    if (!page || page->number != number) {
        Page **slot = slot_of(shadow, number);
        if (!*slot) {
            if (shadow->count * 2 >= shadow->capacity) {
                grow(shadow);
                slot = slot_of(shadow, number);
            }
            *slot = base_calloc(1, sizeof **slot);
            **slot = (Page){.number = number, .generation = shadow->generation};
            (*slot)->cells = base_calloc(cells_of(*slot), sizeof(ShadowCell));
            shadow->count++;
        }
        page = shadow->last = *slot;
    }
    if (page->generation != shadow->generation) {
        memset(page->cells, 0, cells_of(page) * sizeof(ShadowCell));
        page->generation = shadow->generation;
    }
    return page;
}

static void split_words(Page *page) {
    ShadowCell *cells = base_malloc(PAGE_BYTES * sizeof *cells);
    for (uint32_t i = 0; i < PAGE_BYTES; i++)
        cells[i] = page->cells[i / WORD_BYTES];
    free(page->cells);
    page->cells = cells;
    page->is_bytes = true;
}

ShadowCell *shadow_cells(Shadow *shadow, uint64_t address, uint32_t bytes, uint32_t *cell_bytes) {
    Page *page = page_of(shadow, address >> PAGE_BITS);
    if (bytes < WORD_BYTES && !page->is_bytes) split_words(page);
    *cell_bytes = page->is_bytes ? 1 : WORD_BYTES;
    return &page->cells[(address & (PAGE_BYTES - 1)) / *cell_bytes];
}
