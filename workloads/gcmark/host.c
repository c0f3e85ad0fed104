/* Finds the live objects of a random heap. Objects are in the order of their allocation and mostly
 * refer to objects allocated soon after; a part of the heap is garbage. */
#include "common/workload.h"

#include <string.h>

enum { THREADS = 256, NEAR = 64, OBJECTS_PER_ROOT = 16 };
enum { GRANULE = 4 }; /* words for each bit of the marks; also the alignment of objects */

/* The same value as in the kernel. */
#define NO_OBJECT 0u

enum { OBJECTS, REFERENCES, DATA };

static const WorkloadInfo INFO = {
    .name = "gcmark",
    .summary = "Marks the live objects of a heap, one object per thread, a launch per wave.",
    .parameters =
        {
            [OBJECTS] = {"objects", "on the heap", {1000, 32768, 65536}, 1u << 24, 0},
            [REFERENCES] = {"references", "at most in an object", {30, 30, 30}, 1u << 12, 0},
            [DATA] = {"data", "at most in an object, in words", {4, 4, 4}, 1u << 12, 0},
        },
};

typedef struct Heap {
    uint32_t count;    /* of objects */
    uint32_t size;     /* words */
    uint32_t *offsets; /* of each object, in words: a multiple of GRANULE, never NO_OBJECT */
    uint32_t *words;
    uint32_t mark_words; /* of the marks */
    uint32_t *marks;     /* a bit for each GRANULE words of the heap */
} Heap;

/* The value of a reference of object `from`: no object, a near object or any object. */
static uint32_t pick_reference(Workload *workload, const Heap *heap, uint32_t from) {
    uint32_t kind = workload_random(workload, 4);
    if (kind == 0) return NO_OBJECT;
    uint32_t target = kind == 1 ? workload_random(workload, heap->count)
                                : from + 1 + workload_random(workload, NEAR);
    return heap->offsets[target % heap->count];
}

static Heap generate_heap(Workload *workload) {
    uint32_t count = workload->values[OBJECTS];
    Heap heap = {
        .count = count,
        .size = GRANULE, /* so that no object is at NO_OBJECT */
        .offsets = workload_host_alloc(workload, count, sizeof(uint32_t)),
    };
    uint32_t *references = workload_random_words(workload, count, workload->values[REFERENCES] + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t data = workload_random(workload, workload->values[DATA] + 1);
        heap.offsets[i] = heap.size;
        heap.size += workload_divide_up(1 + references[i] + data, GRANULE) * GRANULE;
    }
    heap.words = workload_host_alloc(workload, heap.size, sizeof(uint32_t));
    heap.mark_words = workload_divide_up(heap.size, 32 * GRANULE);
    heap.marks = workload_host_alloc(workload, heap.mark_words, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *object = &heap.words[heap.offsets[i]];
        *object++ = references[i];
        for (uint32_t reference = 0; reference < references[i]; reference++)
            *object++ = pick_reference(workload, &heap, i);
    }
    return heap;
}

/* Marks the object at `offset`; returns whether it had no mark. */
static bool mark(Heap *heap, uint32_t offset) {
    uint32_t place = offset / GRANULE, *word = &heap->marks[place / 32], bit = 1u << place % 32;
    bool is_new = !(*word & bit);
    *word |= bit;
    return is_new;
}

/* Marks the roots, which are different objects, and returns them; sets `*count`. */
static uint32_t *pick_roots(Workload *workload, Heap *heap, uint32_t *count) {
    *count = workload_divide_up(heap->count, OBJECTS_PER_ROOT);
    uint32_t *roots = workload_host_alloc(workload, *count, sizeof *roots);
    for (uint32_t i = 0; i < *count; i++) {
        roots[i] = heap->offsets[i * OBJECTS_PER_ROOT];
        mark(heap, roots[i]);
    }
    return roots;
}

static void mark_on_device(const Workload *workload, const Heap *heap, CUdeviceptr marks,
                           const uint32_t *roots, uint32_t count) {
    CUdeviceptr words = workload_upload(heap->words, heap->size * sizeof(uint32_t));
    uint32_t granule = GRANULE;
    CUdeviceptr wave = workload_device_alloc(heap->count * sizeof(uint32_t));
    CUdeviceptr next = workload_device_alloc(heap->count * sizeof(uint32_t));
    CUdeviceptr device_next_count = workload_device_alloc(sizeof(uint32_t));
    workload_copy_to_device(wave, roots, count * sizeof *roots);
    while (count > 0) {
        uint32_t next_count = 0;
        workload_copy_to_device(device_next_count, &next_count, sizeof next_count);
        workload_launch(
            workload, "gcmark", workload_cover(count, THREADS),
            (void *[]){&words, &marks, &wave, &count, &granule, &next, &device_next_count});
        workload_copy_to_host(&count, device_next_count, sizeof count);
        CUdeviceptr swap = wave;
        wave = next;
        next = swap;
    }
}

/* Follows the references from the roots with a stack of unvisited objects. */
static void mark_on_cpu(Workload *workload, Heap *heap, const uint32_t *roots, uint32_t count) {
    uint32_t *stack = workload_host_alloc(workload, heap->count, sizeof *stack);
    memcpy(stack, roots, count * sizeof *roots);
    while (count > 0) {
        const uint32_t *object = &heap->words[stack[--count]];
        for (uint32_t i = 1; i <= object[0]; i++)
            if (object[i] != NO_OBJECT && mark(heap, object[i])) stack[count++] = object[i];
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Heap heap = generate_heap(&workload);
    uint32_t root_count;
    uint32_t *roots = pick_roots(&workload, &heap, &root_count);
    CUdeviceptr marks = workload_upload(heap.marks, heap.mark_words * sizeof(uint32_t));
    mark_on_device(&workload, &heap, marks, roots, root_count);

    mark_on_cpu(&workload, &heap, roots, root_count);
    bool is_right = workload_verify_words(&workload, marks, heap.marks, heap.mark_words);
    return workload_finish(&workload, is_right, "words of marks", heap.mark_words);
}
