/* Nearest neighbours of random places among random points. Coordinates are small whole numbers, so
 * that squared distances are exact floats. Of equally distant points, the one with the lower index
 * is nearer. So each query has one answer. The reference needs no tree: it goes through the points
 * in the order of their x, in both directions from the query. */
#include "common/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, DIMENSIONS = 2 };                     /* of a CTA, of a point */
enum { COORDINATE_BITS = 11, SIDE = 1 << COORDINATE_BITS }; /* of the square */

enum { QUERIES, POINTS, NEIGHBOURS, SORTED };

static const WorkloadInfo INFO = {
    .name = "knn",
    .summary = "Finds nearest neighbours in a k-d tree, one query per thread.",
    .parameters =
        {
            [QUERIES] = {"queries", "", {300, 16384, 280000}, 1u << 24, 0},
            [POINTS] = {"points", "in the tree", {700, 16384, 65536}, 1u << 24, 0},
            [NEIGHBOURS] = {"neighbours", "of a query: 4, 8 or 16", {4, 4, 4}, 16, 4},
            [SORTED] =
                {"sorted",
                 "1: queries in the order of a curve, near ones together; 0: in random order",
                 {0, 0, 0},
                 1,
                 0},
        },
};

typedef struct Point {
    float at[DIMENSIONS]; /* whole numbers below SIDE */
    uint32_t index;       /* in the order of generation */
} Point;

static Point *generate_points(Workload *workload, uint32_t count) {
    Point *points = workload_host_alloc(workload, count, sizeof *points);
    for (uint32_t i = 0; i < count; i++) {
        points[i].index = i;
        for (int dimension = 0; dimension < DIMENSIONS; dimension++)
            points[i].at[dimension] = (float)workload_random(workload, SIDE);
    }
    return points;
}

/* Place on Morton's curve: the bits of the coordinates in turn. */
static uint32_t place_on_curve(const Point *point) {
    uint32_t x = (uint32_t)point->at[0], y = (uint32_t)point->at[1], place = 0;
    for (int bit = 0; bit < COORDINATE_BITS; bit++)
        place |= (x >> bit & 1) << 2 * bit | (y >> bit & 1) << (2 * bit + 1);
    return place;
}

static int compare_places(const void *a, const void *b) {
    uint32_t left = place_on_curve(a), right = place_on_curve(b);
    return (left > right) - (left < right);
}

/* ---- The tree ---- */

static void swap_points(Point *a, Point *b) {
    Point copy = *a;
    *a = *b;
    *b = copy;
}

/* Hoare's selection: afterwards no point before `rank` is greater than that at `rank`, and none
 * after it is less. */
static void select_rank(Point *points, int64_t count, int64_t rank, int dimension) {
    int64_t first = 0, last = count - 1;
    while (first < last) {
        float pivot = points[first + (last - first) / 2].at[dimension];
        int64_t low = first, high = last;
        while (low <= high) {
            while (points[low].at[dimension] < pivot)
                low++;
            while (points[high].at[dimension] > pivot)
                high--;
            if (low <= high) swap_points(&points[low++], &points[high--]);
        }
        if (rank <= high) last = high;
        else if (rank >= low) first = low;
        else return;
    }
}

/* Nodes below the left child of a left-balanced tree of `count` nodes, with the child. */
static uint32_t count_left(uint32_t count) {
    uint32_t full = 1; /* nodes of the levels that are complete */
    while (2 * full + 1 <= count)
        full = 2 * full + 1;
    uint32_t rest = count - full, half = (full + 1) / 2;
    return full / 2 + (rest < half ? rest : half);
}

/* Makes the tree below `node` of the points, which it puts into another order. Levels divide the
 * points by x and y in turn. */
static void build_tree(Point *tree, uint32_t node, Point *points, uint32_t count, int dimension) {
    if (count == 0) return;
    uint32_t left = count_left(count);
    int next = (dimension + 1) % DIMENSIONS;
    select_rank(points, count, left, dimension);
    tree[node] = points[left];
    build_tree(tree, 2 * node + 1, points, left, next);
    build_tree(tree, 2 * node + 2, points + left + 1, count - left - 1, next);
}

/* ---- The reference ---- */

static int compare_x(const void *a, const void *b) {
    const Point *left = a, *right = b;
    return (left->at[0] > right->at[0]) - (left->at[0] < right->at[0]);
}

/* Candidates, nearest first: the squared distance in the upper half, the index in the lower one. */
static void consider(uint64_t *nearest, uint32_t wanted, const Point *query, const Point *point) {
    uint64_t square = 0;
    for (int dimension = 0; dimension < DIMENSIONS; dimension++) {
        int64_t offset = (int64_t)query->at[dimension] - (int64_t)point->at[dimension];
        square += (uint64_t)(offset * offset);
    }
    uint64_t candidate = square << 32 | point->index;
    if (candidate >= nearest[wanted - 1]) return;
    uint32_t place = wanted - 1;
    for (; place > 0 && nearest[place - 1] > candidate; place--)
        nearest[place] = nearest[place - 1];
    nearest[place] = candidate;
}

/* Index of the first of the points sorted by x whose x is not less. */
static uint32_t find_x(const Point *sorted, uint32_t count, float x) {
    uint32_t first = 0, last = count;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        if (sorted[middle].at[0] < x) first = middle + 1;
        else last = middle;
    }
    return first;
}

/* Considers points in the order of their distance in x, until the rest is too far away. */
static void sweep(uint64_t *nearest, uint32_t wanted, const Point *query, const Point *sorted,
                  uint32_t count) {
    uint32_t right = find_x(sorted, count, query->at[0]), left = right;
    while (left > 0 || right < count) {
        float to_left = left > 0 ? query->at[0] - sorted[left - 1].at[0] : 2 * SIDE;
        float to_right = right < count ? sorted[right].at[0] - query->at[0] : 2 * SIDE;
        uint64_t offset = (uint64_t)(to_left < to_right ? to_left : to_right);
        if (offset * offset > nearest[wanted - 1] >> 32) return;
        consider(nearest, wanted, query, to_left < to_right ? &sorted[--left] : &sorted[right++]);
    }
}

/* The neighbours of all queries in the kernel's order; sorts the points by x. */
static uint32_t *find_neighbours(Workload *workload, Point *points, const Point *queries) {
    size_t wanted = workload->values[NEIGHBOURS], count = workload->values[QUERIES];
    uint32_t *neighbours = workload_host_alloc(workload, wanted * count, sizeof *neighbours);
    uint64_t *nearest = workload_host_alloc(workload, wanted, sizeof *nearest);
    qsort(points, workload->values[POINTS], sizeof *points, compare_x);
    for (size_t i = 0; i < count; i++) {
        memset(nearest, 0xff, wanted * sizeof *nearest); /* farther than all points */
        sweep(nearest, (uint32_t)wanted, &queries[i], points, workload->values[POINTS]);
        for (size_t k = 0; k < wanted; k++)
            neighbours[k * count + i] = (uint32_t)nearest[k];
    }
    return neighbours;
}

/* The coordinates of points, on the device. */
static CUdeviceptr upload_coordinates(Workload *workload, const Point *points, uint32_t count) {
    float *coordinates = workload_host_alloc(workload, (size_t)count * DIMENSIONS, sizeof(float));
    for (size_t i = 0; i < count; i++)
        memcpy(&coordinates[i * DIMENSIONS], points[i].at, sizeof points[i].at);
    return workload_upload(coordinates, (size_t)count * DIMENSIONS * sizeof(float));
}

/* Returns the neighbours on the device. */
static CUdeviceptr launch(Workload *workload, const Point *tree, const Point *places) {
    uint32_t queries = workload->values[QUERIES], count = workload->values[POINTS];
    uint32_t wanted = workload->values[NEIGHBOURS];
    uint32_t *order = workload_host_alloc(workload, count, sizeof *order);
    for (uint32_t node = 0; node < count; node++)
        order[node] = tree[node].index;
    CUdeviceptr points = upload_coordinates(workload, tree, count);
    CUdeviceptr indices = workload_upload(order, count * sizeof *order);
    CUdeviceptr device_places = upload_coordinates(workload, places, queries);
    CUdeviceptr neighbours = workload_device_alloc((size_t)wanted * queries * sizeof(uint32_t));
    char kernel[16];
    snprintf(kernel, sizeof kernel, "knn_%u", wanted);
    workload_launch(workload, kernel, workload_cover(queries, THREADS),
                    (void *[]){&points, &indices, &count, &device_places, &neighbours, &queries});
    return neighbours;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t queries = workload.values[QUERIES], count = workload.values[POINTS];
    uint32_t wanted = workload.values[NEIGHBOURS];
    if (wanted == 12) workload_fail(INFO.name, "--neighbours: needs 4, 8 or 16");
    Point *points = generate_points(&workload, count);
    Point *places = generate_points(&workload, queries);
    Point *tree = workload_host_alloc(&workload, count, sizeof *tree);
    build_tree(tree, 0, points, count, 0);
    if (workload.values[SORTED]) qsort(places, queries, sizeof *places, compare_places);
    uint32_t *expected = find_neighbours(&workload, points, places);

    CUdeviceptr neighbours = launch(&workload, tree, places);
    bool is_right =
        workload_verify_words(&workload, neighbours, expected, (size_t)wanted * queries);
    return workload_finish(&workload, is_right, "neighbours", (size_t)wanted * queries);
}
