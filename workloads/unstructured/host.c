/* Sweeps over the edges, surface triangles and nodes of a random mesh. Velocities, pressures,
 * weights and normals are small whole numbers and the step a power of two, so that with the few
 * steps allowed sums are exact in any order and the comparison can be. */
#include "common/edges.h"

enum { THREADS = 192, CORNERS = 3, AXES = 3, MOST_STEPS = 2 };

static const float STEP = 1.0f / 64.0f;

enum { NODES, STEPS };

static const WorkloadInfo INFO = {
    .name = "unstructured",
    .summary = "Fluid dynamics on an unstructured mesh, one edge, triangle or node per thread.",
    .parameters =
        {
            [NODES] =
                {"nodes", "7 edges and 2 triangles for each", {300, 4096, 63800}, 1u << 24, 2},
            [STEPS] = {"steps", "in time", {2, 1, 1}, MOST_STEPS, 0},
        },
};

typedef struct Mesh {
    uint32_t nodes, edges, faces; /* counts */
    uint32_t *ends;               /* 2 x edges: nodes */
    float *weights;               /* of each edge */
    uint32_t *corners;            /* CORNERS x faces: nodes */
    float *normals;               /* AXES x faces */
    float *velocities;            /* AXES x nodes */
    float *pressures;             /* of each node */
} Mesh;

static Mesh generate_mesh(Workload *workload, uint32_t nodes) {
    Mesh mesh = {.nodes = nodes, .edges = EDGES_PER_NODE * nodes, .faces = 2 * nodes};
    mesh.ends = edges_generate(workload, nodes);
    mesh.weights = workload_random_floats(workload, mesh.edges, 4);
    mesh.corners = workload_host_alloc(workload, CORNERS * (size_t)mesh.faces, sizeof(uint32_t));
    for (size_t face = 0; face < mesh.faces; face++) {
        uint32_t *corners = &mesh.corners[CORNERS * face];
        corners[0] = (uint32_t)(face / 2);
        corners[1] = edges_pick_neighbour(workload, corners[0], nodes);
        corners[2] = edges_pick_neighbour(workload, corners[1], nodes);
    }
    mesh.normals = workload_random_floats(workload, AXES * (size_t)mesh.faces, 4);
    mesh.velocities = workload_random_floats(workload, AXES * (size_t)nodes, 16);
    mesh.pressures = workload_random_floats(workload, nodes, 16);
    return mesh;
}

static void add_forces(const Mesh *mesh, float *forces) {
    for (size_t i = 0; i < mesh->edges; i++) {
        size_t first = AXES * mesh->ends[2 * i], second = AXES * mesh->ends[2 * i + 1];
        for (size_t axis = 0; axis < AXES; axis++) {
            float force = mesh->weights[i] *
                          (mesh->velocities[second + axis] - mesh->velocities[first + axis]);
            forces[first + axis] += force;
            forces[second + axis] -= force;
        }
    }
    for (size_t i = 0; i < mesh->faces; i++) {
        const uint32_t *corners = &mesh->corners[CORNERS * i];
        float pressure = 0.0f;
        for (size_t corner = 0; corner < CORNERS; corner++)
            pressure += mesh->pressures[corners[corner]];
        for (size_t corner = 0; corner < CORNERS; corner++)
            for (size_t axis = 0; axis < AXES; axis++)
                forces[AXES * corners[corner] + axis] -= pressure * mesh->normals[AXES * i + axis];
    }
}

static void step_on_cpu(Workload *workload, Mesh *mesh) {
    float *forces = workload_host_alloc(workload, AXES * (size_t)mesh->nodes, sizeof *forces);
    add_forces(mesh, forces);
    for (size_t i = 0; i < AXES * (size_t)mesh->nodes; i++) {
        mesh->velocities[i] += STEP * forces[i];
        mesh->pressures[i / AXES] -= STEP * forces[i];
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Mesh mesh = generate_mesh(&workload, workload.values[NODES]);
    size_t edges = mesh.edges, faces = mesh.faces, nodes = mesh.nodes;
    float step = STEP;

    CUdeviceptr ends = workload_upload(mesh.ends, 2 * edges * sizeof(uint32_t));
    CUdeviceptr weights = workload_upload(mesh.weights, edges * sizeof(float));
    CUdeviceptr corners = workload_upload(mesh.corners, CORNERS * faces * sizeof(uint32_t));
    CUdeviceptr normals = workload_upload(mesh.normals, AXES * faces * sizeof(float));
    CUdeviceptr velocities = workload_upload(mesh.velocities, AXES * nodes * sizeof(float));
    CUdeviceptr pressures = workload_upload(mesh.pressures, nodes * sizeof(float));
    CUdeviceptr forces = workload_upload_zeros(AXES * nodes * sizeof(float));
    for (unsigned i = 0; i < workload.values[STEPS]; i++) {
        workload_launch(&workload, "unstructured_edges", workload_cover(mesh.edges, THREADS),
                        (void *[]){&ends, &weights, &velocities, &forces, &mesh.edges});
        workload_launch(&workload, "unstructured_faces", workload_cover(mesh.faces, THREADS),
                        (void *[]){&corners, &normals, &pressures, &forces, &mesh.faces});
        workload_launch(&workload, "unstructured_nodes", workload_cover(mesh.nodes, THREADS),
                        (void *[]){&velocities, &pressures, &forces, &step, &mesh.nodes});
        step_on_cpu(&workload, &mesh);
    }

    bool is_right =
        workload_verify_floats(&workload, velocities, mesh.velocities, AXES * nodes, 0.0f) &&
        workload_verify_floats(&workload, pressures, mesh.pressures, nodes, 0.0f);
    return workload_finish(&workload, is_right, "nodes", nodes);
}
