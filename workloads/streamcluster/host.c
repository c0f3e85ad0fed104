/* Streaming clustering by local search: for each candidate the device computes the gain or loss of
 * each point. If it lowers the total cost, the host opens the candidate and closes centres that
 * become superfluous. Coordinates and weights are small whole numbers, so that costs are exact in a
 * float and every launch is compared to the bit. */
#include "common/workload.h"

enum { THREADS = 512 };

static const double OPENING_COST = 1e6;

enum { POINTS, DIMENSIONS, CANDIDATES };

static const WorkloadInfo INFO = {
    .name = "streamcluster",
    .summary = "Clusters points by local search, one launch per candidate centre.",
    .parameters =
        {
            [POINTS] = {"points", "to cluster", {1000, 16384, 65536}, 1u << 22, 0},
            [DIMENSIONS] = {"dimensions", "of a point", {32, 32, 256}, 256, 0},
            [CANDIDATES] = {"candidates", "for a new centre", {6, 4, 2}, 10000, 0},
        },
};

/* The data of a point that the kernel reads. */
typedef struct Point {
    float weight;
    uint64_t coordinates; /* unused */
    int64_t centre;       /* the point that is its centre */
    float cost;           /* weighted squared distance to that centre */
} Point;

typedef struct Clustering {
    unsigned points, dimensions; /* counts */
    float *coordinates;          /* dimensions x points */
    Point *records;              /* of each point */
    uint32_t *centre_indices;    /* by point: number of the open centre there */
    uint32_t *open;              /* the points that are centres */
    unsigned centres;            /* count of them */
} Clustering;

static float cost_of(const Clustering *c, size_t point, size_t centre) {
    float distance = 0.0f;
    for (size_t i = 0; i < c->dimensions; i++) {
        const float *row = c->coordinates + i * c->points;
        distance += (row[point] - row[centre]) * (row[point] - row[centre]);
    }
    return distance * c->records[point].weight;
}

/* At first, only the first point is a centre. */
static Clustering generate(Workload *workload) {
    Clustering c = {.points = workload->values[POINTS],
                    .dimensions = workload->values[DIMENSIONS],
                    .centres = 1};
    c.coordinates = workload_random_floats(workload, (size_t)c.points * c.dimensions, 100);
    const float *weights = workload_random_floats(workload, c.points, 4);
    c.records = workload_host_alloc(workload, c.points, sizeof *c.records);
    c.centre_indices = workload_host_alloc(workload, c.points, sizeof(uint32_t));
    c.open = workload_host_alloc(workload, c.points, sizeof(uint32_t));
    for (size_t point = 0; point < c.points; point++) {
        c.records[point].weight = weights[point];
        c.records[point].cost = cost_of(&c, point, 0);
    }
    return c;
}

/* The same layout as in the kernel. */
static void find_savings(const Clustering *c, size_t candidate, float *savings,
                         uint8_t *switching) {
    for (size_t point = 0; point < c->points; point++) {
        float *own = savings + point * (c->centres + 1);
        float cost = cost_of(c, point, candidate);
        switching[point] = cost < c->records[point].cost;
        if (switching[point]) own[c->centres] = cost - c->records[point].cost;
        else own[c->centre_indices[c->records[point].centre]] = c->records[point].cost - cost;
    }
}

/* Opens the candidate if that lowers the total cost. It gets the points for which it is cheaper,
 * and the points of centres whose closing saves more than their points then cost. */
static void decide(Workload *workload, Clustering *c, uint32_t candidate, const float *savings,
                   const uint8_t *switching) {
    double *changes = workload_host_alloc(workload, c->centres + 1, sizeof *changes);
    for (size_t i = 0; i < (size_t)c->points * (c->centres + 1); i++)
        changes[i % (c->centres + 1)] += (double)savings[i];
    double total = OPENING_COST + changes[c->centres];
    for (size_t i = 0; i < c->centres; i++) {
        changes[i] += OPENING_COST;
        if (changes[i] > 0.0) total -= changes[i];
    }
    if (total >= 0.0) return;
    for (size_t point = 0; point < c->points; point++) {
        if (!switching[point] && changes[c->centre_indices[c->records[point].centre]] <= 0.0)
            continue;
        c->records[point].centre = candidate;
        c->records[point].cost = cost_of(c, point, candidate);
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < c->centres; i++)
        if (changes[i] <= 0.0) c->open[kept++] = c->open[i];
    c->open[kept++] = candidate;
    for (unsigned i = 0; i < kept; i++)
        c->centre_indices[c->open[i]] = i;
    c->centres = kept;
}

/* One launch and its check. */
static bool try_candidate(Workload *workload, Clustering *c, uint32_t candidate,
                          CUdeviceptr coordinates) {
    size_t count = (size_t)c->points * (c->centres + 1);
    CUdeviceptr records = workload_upload(c->records, c->points * sizeof *c->records);
    CUdeviceptr centre_indices = workload_upload(c->centre_indices, c->points * sizeof(uint32_t));
    CUdeviceptr device_savings = workload_upload_zeros(count * sizeof(float));
    CUdeviceptr device_switching = workload_upload_zeros(c->points);
    workload_launch(workload, "streamcluster", workload_cover(c->points, THREADS),
                    (void *[]){&coordinates, &records, &centre_indices, &device_savings,
                               &device_switching, &c->points, &c->dimensions, &candidate,
                               &c->centres});

    float *savings = workload_host_alloc(workload, count, sizeof *savings);
    uint8_t *switching = workload_host_alloc(workload, c->points, sizeof *switching);
    find_savings(c, candidate, savings, switching);
    bool is_right = workload_verify_floats(workload, device_savings, savings, count, 0.0f) &&
                    workload_verify_bytes(workload, device_switching, switching, c->points);
    decide(workload, c, candidate, savings, switching);
    return is_right;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Clustering c = generate(&workload);
    CUdeviceptr coordinates =
        workload_upload(c.coordinates, (size_t)c.points * c.dimensions * sizeof(float));
    bool is_right = true;
    for (unsigned i = 0; i < workload.values[CANDIDATES]; i++) {
        uint32_t candidate = workload_random(&workload, c.points);
        if (c.records[candidate].centre == candidate) continue;
        is_right &= try_candidate(&workload, &c, candidate, coordinates);
    }
    return workload_finish(&workload, is_right, "points", c.points);
}
