/* k-means clustering: the device assigns points to centres, the host moves the centres. Features
 * are whole numbers below 256, and the centres are rounded to whole numbers, so that squared
 * distances are exact in a float and every assignment can be compared. */
#include "common/workload.h"

#include <math.h>
#include <string.h>

enum { THREADS = 256, MOST_FIXED = 1088 };

enum { POINTS, FEATURES, CLUSTERS, ITERATIONS, TEXTURES };

static const WorkloadInfo INFO = {
    .name = "kmeans",
    .summary = "Clusters points by k-means.",
    .parameters =
        {
            [POINTS] = {"points", "to cluster", {1000, 16384, 65536}, 1u << 22, 0},
            [FEATURES] = {"features", "of a point", {34, 34, 34}, 200, 0},
            [CLUSTERS] = {"clusters", "", {5, 5, 5}, 200, 0},
            [ITERATIONS] = {"iterations", "assignments of all points", {3, 1, 1}, 500, 0},
            [TEXTURES] = {"textures",
                          "1: features in a texture, centres in constant memory",
                          {0, 0, 0},
                          1,
                          0},
        },
};

typedef struct Clustering {
    unsigned points, features, clusters; /* counts */
    float *rows;                         /* points x features */
    float *centres;                      /* clusters x features */
    uint32_t *membership;                /* the cluster of each point */
} Clustering;

static void assign(Clustering *c) {
    for (size_t point = 0; point < c->points; point++) {
        float least = INFINITY;
        for (size_t cluster = 0; cluster < c->clusters; cluster++) {
            float distance = 0.0f;
            for (size_t i = 0; i < c->features; i++) {
                float difference =
                    c->rows[point * c->features + i] - c->centres[cluster * c->features + i];
                distance += difference * difference;
            }
            if (distance >= least) continue;
            least = distance;
            c->membership[point] = (uint32_t)cluster;
        }
    }
}

/* Moves each centre to the mean of its points; a centre without points stays. */
static void move_centres(Clustering *c) {
    for (size_t cluster = 0; cluster < c->clusters; cluster++)
        for (size_t i = 0; i < c->features; i++) {
            double sum = 0.0, count = 0.0;
            for (size_t point = 0; point < c->points; point++) {
                if (c->membership[point] != cluster) continue;
                sum += (double)c->rows[point * c->features + i];
                count += 1.0;
            }
            if (count > 0.0) c->centres[cluster * c->features + i] = (float)rint(sum / count);
        }
}

/* Addresses on the device. */
typedef struct Buffers {
    CUdeviceptr columns; /* features x points */
    CUtexObject texture; /* texture of the columns, or 0 */
    CUdeviceptr centres, membership;
} Buffers;

static void launch_assign(const Workload *workload, const Clustering *c, Buffers *buffers) {
    size_t centres = (size_t)c->clusters * c->features;
    WorkloadShape shape = workload_cover(c->points, THREADS);
    unsigned points = c->points, features = c->features, clusters = c->clusters;
    if (!buffers->texture) {
        workload_copy_to_device(buffers->centres, c->centres, centres * sizeof *c->centres);
        workload_launch(workload, "kmeans_assign", shape,
                        (void *[]){&buffers->columns, &buffers->centres, &buffers->membership,
                                   &points, &features, &clusters});
        return;
    }
    float fixed[MOST_FIXED] = {0};
    memcpy(fixed, c->centres, centres * sizeof *fixed);
    workload_set_variable(workload, "fixed_centres", fixed, sizeof fixed);
    workload_launch(
        workload, "kmeans_assign_textures", shape,
        (void *[]){&buffers->texture, &buffers->membership, &points, &features, &clusters});
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Clustering c = {.points = workload.values[POINTS],
                    .features = workload.values[FEATURES],
                    .clusters = workload.values[CLUSTERS]};
    size_t count = (size_t)c.points * c.features;
    size_t centres = (size_t)c.clusters * c.features;
    bool has_textures = workload.values[TEXTURES];
    if (has_textures && centres > MOST_FIXED)
        workload_fail(INFO.name, "constant memory holds %d features of centres, not %zu",
                      MOST_FIXED, centres);
    c.rows = workload_random_floats(&workload, count, 256);
    c.centres = workload_random_floats(&workload, centres, 256);
    c.membership = workload_host_alloc(&workload, c.points, sizeof *c.membership);

    CUdeviceptr rows = workload_upload(c.rows, count * sizeof(float));
    Buffers buffers = {.columns = workload_device_alloc(count * sizeof(float)),
                       .centres = workload_upload(c.centres, centres * sizeof(float)),
                       .membership = workload_device_alloc(c.points * sizeof(uint32_t))};
    if (has_textures) buffers.texture = workload_bind_texture(buffers.columns, count);
    workload_launch(&workload, "kmeans_transpose", workload_cover(c.points, THREADS),
                    (void *[]){&rows, &buffers.columns, &c.points, &c.features});
    bool is_right = true;
    for (unsigned i = 0; i < workload.values[ITERATIONS]; i++) {
        launch_assign(&workload, &c, &buffers);
        assign(&c);
        is_right &= workload_verify_words(&workload, buffers.membership, c.membership, c.points);
        move_centres(&c);
    }
    return workload_finish(&workload, is_right, "assignments", c.points);
}
