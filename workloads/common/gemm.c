/* Multiplies matrices of halves on tensor cores (see the header). Entries are whole numbers below
 * 8, so that sums are exact in a float in any order, and so is the comparison. */
#include "common/gemm.h"

#include "common/tensor.h"

enum { TILE_ROWS = 128, TILE_COLUMNS = 256, THREADS = 256 };

static uint16_t *halves_of(Workload *workload, const float *values, size_t count) {
    uint16_t *halves = workload_host_alloc(workload, count, sizeof *halves);
    for (size_t i = 0; i < count; i++)
        halves[i] = tensor_half(values[i]);
    return halves;
}

/* Both matrices are stored by rows of `depth`: B is transposed. */
static void multiply(const float *a, const float *b, float *c, size_t rows, size_t columns,
                     size_t depth) {
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            float sum = 0;
            for (size_t k = 0; k < depth; k++)
                sum += a[row * depth + k] * b[column * depth + k];
            c[row * columns + column] = sum;
        }
}

int gemm_main(const WorkloadInfo *info, unsigned shared_bytes, int argc, char **argv) {
    Workload workload = workload_open(info, argc, argv);
    tensor_ask_room(info, shared_bytes, "a100");
    unsigned rows = workload.values[GEMM_ROWS], columns = workload.values[GEMM_COLUMNS];
    unsigned depth = workload.values[GEMM_DEPTH], conflicts = workload.values[GEMM_CONFLICTS];
    size_t a_count = (size_t)rows * depth, b_count = (size_t)columns * depth;
    size_t c_count = (size_t)rows * columns;
    float *a = workload_random_floats(&workload, a_count, 8);
    float *b = workload_random_floats(&workload, b_count, 8);
    float *expected = workload_host_alloc(&workload, c_count, sizeof *expected);
    multiply(a, b, expected, rows, columns, depth);

    CUdeviceptr device_a =
        workload_upload(halves_of(&workload, a, a_count), a_count * sizeof(uint16_t));
    CUdeviceptr device_b =
        workload_upload(halves_of(&workload, b, b_count), b_count * sizeof(uint16_t));
    CUdeviceptr device_c = workload_device_alloc(c_count * sizeof(float));
    TensorLaunch launch = {
        .kernel = "gemm",
        .grid_x = columns / TILE_COLUMNS,
        .grid_y = rows / TILE_ROWS,
        .threads = THREADS,
        .shared_bytes = shared_bytes,
        .arguments = (void *[]){&device_a, &device_b, &device_c, &columns, &depth, &conflicts}};
    double cycles = tensor_time(&workload, &launch);
    unsigned ctas = launch.grid_x * launch.grid_y;
    unsigned sms = (unsigned)tensor_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    tensor_print_share((double)rows * columns * depth, cycles, ctas < sms ? ctas : sms);
    bool is_right = workload_verify_floats(&workload, device_c, expected, c_count, 0.0f);
    return workload_finish(&workload, is_right, "products", c_count);
}
