/* Clusters of a launch: their size, and whether the device supports them. */
#include "engine/launch/gpu_internal.h"

#include <inttypes.h>

void gpu_cluster(const GpuLaunch *request, uint32_t *shape) {
    const uint32_t *own = request->module->program->functions[request->function].ptx->cluster;
    const uint32_t *given = request->cluster[0] ? request->cluster : own;
    for (int axis = 0; axis < 3; ++axis)
        shape[axis] = given[axis] ? given[axis] : 1;
}

void gpu_count_ctas(GpuLaunch *launch) {
    const PtxFunction *kernel = launch->module->program->functions[launch->function].ptx;
    if (!kernel->counts_clusters) return;
    for (int axis = 0; axis < 3; ++axis) {
        const uint64_t ctas =
            (uint64_t)launch->grid[axis] * (kernel->cluster[axis] ? kernel->cluster[axis] : 1);
        launch->grid[axis] = ctas > UINT32_MAX ? UINT32_MAX : (uint32_t)ctas;
    }
    if (launch->block[0] != 1 || launch->block[1] != 1 || launch->block[2] != 1) return;
    for (int axis = 0; axis < 3; ++axis)
        launch->block[axis] = kernel->required_threads[axis] ? kernel->required_threads[axis] : 1;
}

/* Whether the shape agrees with the kernel's own and divides the grid. */
static bool check_shape(const GpuLaunch *request, const PtxFunction *kernel, const uint32_t *shape,
                        GpuResult *result) {
    if (kernel->needs_cluster && !request->cluster[0] && !kernel->cluster[0]) {
        gpu_refuse_kernel(result, kernel,
                          ": it needs a cluster size, but the launch does not give one");
        return false;
    }
    for (int axis = 0; axis < 3; ++axis) {
        const char name = (char)('x' + axis);
        if (kernel->cluster[0] && shape[axis] != kernel->cluster[axis]) {
            gpu_refuse_kernel(result, kernel,
                              ": cluster %c is %u, but the kernel requires %u (.reqnctapercluster)",
                              name, shape[axis], kernel->cluster[axis]);
            return false;
        }
        if (request->grid[axis] % shape[axis]) {
            gpu_refuse_kernel(result, kernel, ": grid %c is %u, not a multiple of cluster %c, %u",
                              name, request->grid[axis], name, shape[axis]);
            return false;
        }
    }
    return true;
}

/* Whether the device supports clusters of `ctas` CTAs and the kernel allows them. */
static bool check_size(const Gpu *gpu, const PtxFunction *kernel, uint64_t ctas,
                       GpuResult *result) {
    uint32_t most = gpu_limits(gpu).max_cluster;
    if (most == 1)
        gpu_refuse_kernel(result, kernel,
                          ": clusters of %" PRIu64 " thread blocks; devices below compute "
                          "capability 9.0 do not support clusters",
                          ctas);
    if (most == 1) return false;
    if (kernel->max_cluster && kernel->max_cluster < most) most = kernel->max_cluster;
    if (ctas > most)
        gpu_refuse_kernel(result, kernel,
                          ": clusters of %" PRIu64 " thread blocks; at most %u are possible", ctas,
                          most);
    return ctas <= most;
}

bool gpu_check_cluster(const Gpu *gpu, const GpuLaunch *request, GpuResult *result) {
    const IsaFunction *function = &request->module->program->functions[request->function];
    const uint32_t threads = request->block[0] * request->block[1] * request->block[2];
    uint32_t shape[3];
    gpu_cluster(request, shape);
    const uint64_t ctas = (uint64_t)shape[0] * shape[1] * shape[2];
    if (!check_shape(request, function->ptx, shape, result)) return false;
    if (ctas == 1) return true;
    if (!check_size(gpu, function->ptx, ctas, result)) return false;
    if (gpu_most_clusters(gpu, request->module, request->function, threads,
                          request->dynamic_shared_bytes, (uint32_t)ctas))
        return true;
    gpu_refuse_kernel(result, function->ptx,
                      ": a cluster of %" PRIu64 " thread blocks does not fit into a GPC (gpu.gpcs)",
                      ctas);
    return false;
}
