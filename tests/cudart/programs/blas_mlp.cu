// A network of two layers learns exclusive or with cuBLAS: its products, its sums, its steps. Half of the work is
// given to cuBLASLt, with bias and activation fused.
#include <cublasLt.h>
#include <cublas_v2.h>

#include "check.h"

enum { IN = 2, HIDDEN = 16, SAMPLES = 4, STEPS = 150 };

static void check_blas(cublasStatus_t status, int line) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "line %d: %s\n", line, cublasGetStatusString(status));
    exit(1);
}
#define BLAS(call) check_blas(call, __LINE__)

// d = 2 (y - target) / SAMPLES
__global__ void loss_gradient(const float *y, const float *target, float *d) {
    d[threadIdx.x] = 2 * (y[threadIdx.x] - target[threadIdx.x]) / SAMPLES;
}

// Through relu.
__global__ void mask(const float *h, float *d) {
    if (h[threadIdx.x] <= 0) d[threadIdx.x] = 0;
}

static float *put(const float *numbers, int count) {
    float *device;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemcpy(device, numbers, count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

// h = relu(w1 x + b1)
static void forward_hidden(cublasHandle_t handle, const float *w1, const float *x, const float *b1, float *h) {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t w, in, out;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    float one = 1, zero = 0;
    BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &b1, sizeof b1));
    BLAS(cublasLtMatrixLayoutCreate(&w, CUDA_R_32F, HIDDEN, IN, HIDDEN));
    BLAS(cublasLtMatrixLayoutCreate(&in, CUDA_R_32F, IN, SAMPLES, IN));
    BLAS(cublasLtMatrixLayoutCreate(&out, CUDA_R_32F, HIDDEN, SAMPLES, HIDDEN));
    BLAS(cublasLtMatmul((cublasLtHandle_t)handle, desc, &one, w1, w, x, in, &zero, h, out, h, out, NULL, NULL, 0, 0));
    BLAS(cublasLtMatrixLayoutDestroy(w));
    BLAS(cublasLtMatrixLayoutDestroy(in));
    BLAS(cublasLtMatrixLayoutDestroy(out));
    BLAS(cublasLtMatmulDescDestroy(desc));
}

int main() {
    const float x_host[IN * SAMPLES] = {0, 0, 0, 1, 1, 0, 1, 1}, target_host[SAMPLES] = {0, 1, 1, 0};
    float w1_host[HIDDEN * IN], w2_host[HIDDEN], zeros[HIDDEN * SAMPLES] = {}, ones[SAMPLES] = {1, 1, 1, 1};
    for (int i = 0; i < HIDDEN * IN; i++)
        w1_host[i] = (float)((i * 37 + 11) % 32 - 15) / 16;
    for (int i = 0; i < HIDDEN; i++)
        w2_host[i] = (float)((i * 23 + 5) % 16 - 7) / 16;
    float *x = put(x_host, IN * SAMPLES), *target = put(target_host, SAMPLES), *w1 = put(w1_host, HIDDEN * IN),
          *w2 = put(w2_host, HIDDEN), *b1 = put(zeros, HIDDEN), *h = put(zeros, HIDDEN * SAMPLES),
          *dh = put(zeros, HIDDEN * SAMPLES), *y = put(zeros, SAMPLES), *dy = put(zeros, SAMPLES), *one_each = put(ones, SAMPLES);
    const float one = 1, zero = 0, rate = -0.35f;
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    float first = 0, last = 0;
    for (int step = 0; step < STEPS; step++) {
        forward_hidden(handle, w1, x, b1, h);
        BLAS(cublasSgemv(handle, CUBLAS_OP_T, HIDDEN, SAMPLES, &one, h, HIDDEN, w2, 1, &zero, y, 1));
        loss_gradient<<<1, SAMPLES>>>(y, target, dy);
        BLAS(cublasSnrm2(handle, SAMPLES, dy, 1, step ? &last : &first));
        // dh = w2 dy', through relu; then every weight a step down
        BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, HIDDEN, SAMPLES, 1, &one, w2, HIDDEN, dy, 1, &zero, dh, HIDDEN));
        mask<<<1, HIDDEN * SAMPLES>>>(h, dh);
        BLAS(cublasSgemv(handle, CUBLAS_OP_N, HIDDEN, SAMPLES, &rate, h, HIDDEN, dy, 1, &one, w2, 1));
        BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, HIDDEN, IN, SAMPLES, &rate, dh, HIDDEN, x, IN, &one, w1, HIDDEN));
        BLAS(cublasSgemv(handle, CUBLAS_OP_N, HIDDEN, SAMPLES, &rate, dh, HIDDEN, one_each, 1, &one, b1, 1));
    }
    float y_host[SAMPLES];
    CHECK(cudaMemcpy(y_host, y, sizeof y_host, cudaMemcpyDeviceToHost));
    BLAS(cublasDestroy(handle));
    for (int i = 0; i < SAMPLES; i++)
        if (fabsf(y_host[i] - target_host[i]) > 0.05f) {
            fprintf(stderr, "sample %d: %f, not %f\n", i, y_host[i], target_host[i]);
            return 1;
        }
    printf("loss gradient %f to %f\n", first, last);
    return last < first / 10 ? 0 : 1;
}
