/* Multiplies matrices of halves on tensor cores (see the header). Entries are whole numbers below
 * 8, so that sums are exact in a float in any order, and so is the comparison. */
#include "common/gemm.h"

#include <stdio.h>

enum { TILE_ROWS = 128, TILE_COLUMNS = 256, THREADS = 256 };

/* A whole number below 8 as a half. */
static uint16_t half_of(float value) {
    static const uint16_t halves[8] = {0, 0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};
    return halves[(int)value];
}

static uint16_t *halves_of(Workload *workload, const float *values, size_t count) {
    uint16_t *halves = workload_host_alloc(workload, count, sizeof *halves);
    for (size_t i = 0; i < count; i++)
        halves[i] = half_of(values[i]);
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

static int attribute(CUdevice_attribute which) {
    CUdevice device = 0;
    int value = 0;
    workload_check(cuCtxGetDevice(&device), "cuCtxGetDevice");
    workload_check(cuDeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
}

/* Reports a tile that does not fit into a block of this GPU, before a call fails. */
static void ask_room(const WorkloadInfo *info, unsigned shared_bytes) {
    int room = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if ((unsigned)room >= shared_bytes) return;
    workload_fail(info->name,
                  "its tiles take %u bytes of shared memory, and a block of this GPU has %d; the "
                  "A100 has enough (tyto run --machine a100)",
                  shared_bytes, room);
}

/* SM cycles of a kernel, by the GPU's own clock of the stream. */
static double timed(const Workload *workload, const char *kernel, WorkloadShape shape,
                    unsigned shared_bytes, void **arguments) {
    CUfunction function = NULL;
    CUevent start, end;
    float milliseconds = 0;
    workload_check(cuModuleGetFunction(&function, workload->module, kernel), "cuModuleGetFunction");
    workload_check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      (int)shared_bytes),
                   "cuFuncSetAttribute");
    workload_check(cuEventCreate(&start, CU_EVENT_DEFAULT), "cuEventCreate");
    workload_check(cuEventCreate(&end, CU_EVENT_DEFAULT), "cuEventCreate");
    workload_check(cuEventRecord(start, NULL), "cuEventRecord");
    workload_check(cuLaunchKernel(function, shape.grid_x, shape.grid_y, 1, shape.block_x,
                                  shape.block_y, 1, shared_bytes, NULL, arguments, NULL),
                   "cuLaunchKernel");
    workload_check(cuEventRecord(end, NULL), "cuEventRecord");
    workload_check(cuEventSynchronize(end), "cuEventSynchronize");
    workload_check(cuEventElapsedTime(&milliseconds, start, end), "cuEventElapsedTime");
    workload_check(cuEventDestroy(start), "cuEventDestroy");
    workload_check(cuEventDestroy(end), "cuEventDestroy");
    return (double)milliseconds * attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
}

/* Products of halves that the tensor cores of an SM add up per cycle: NVIDIA's white papers of the
 * V100, the Turing TU102, the A100, the GA102 and AD102. */
static double peak(void) {
    int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return major == 8 && minor == 0 ? 1024 : 512;
}

int gemm_main(const WorkloadInfo *info, unsigned shared_bytes, int argc, char **argv) {
    Workload workload = workload_open(info, argc, argv);
    ask_room(info, shared_bytes);
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
    WorkloadShape shape = {columns / TILE_COLUMNS, rows / TILE_ROWS, THREADS, 1};
    double empty = timed(&workload, "nothing", (WorkloadShape){1, 1, 32, 1}, 0, NULL);
    double cycles =
        timed(&workload, "gemm", shape, shared_bytes,
              (void *[]){&device_a, &device_b, &device_c, &columns, &depth, &conflicts}) -
        empty;

    unsigned ctas = shape.grid_x * shape.grid_y;
    unsigned sms = (unsigned)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    double products = (double)rows * columns * depth;
    if (cycles > 0)
        printf("%.1f%% of the tensor cores' peak, of %u SMs\n",
               100 * products / cycles / peak() / (ctas < sms ? ctas : sms),
               ctas < sms ? ctas : sms);
    bool is_right = workload_verify_floats(&workload, device_c, expected, c_count, 0.0f);
    return workload_finish(&workload, is_right, "products", c_count);
}
