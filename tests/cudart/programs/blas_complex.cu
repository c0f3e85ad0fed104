// A small linear algebra program as HPC codes have it: complex products, a Hermitian rank, triangles solved, batches of
// LU factors, and a kernel with complex arithmetic of its own; sizes of 64 bits where the newest programs have them.
#include "check.h"

#include <complex>
#include <cuComplex.h>
#include <cublas_v2.h>
#include <vector>

typedef std::complex<float> Number;
typedef std::vector<Number> Matrix; // by columns

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

__global__ void turn(cuComplex *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = cuCdivf(cuCmulf(x[i], make_cuComplex(0, 2)), make_cuComplex(cuCabsf(make_cuComplex(3, 4)), 0));
}

static cuComplex *put(const Matrix &m) {
    cuComplex *device;
    CHECK(cudaMalloc((void **)&device, m.size() * sizeof(Number)));
    CHECK(cudaMemcpy(device, m.data(), m.size() * sizeof(Number), cudaMemcpyHostToDevice));
    return device;
}

static Matrix get(const cuComplex *device, size_t count) {
    Matrix m(count);
    CHECK(cudaMemcpy(m.data(), device, count * sizeof(Number), cudaMemcpyDeviceToHost));
    return m;
}

static bool are_near(const Matrix &a, const Matrix &b) {
    for (size_t i = 0; i < a.size(); i++)
        if (std::abs(a[i] - b[i]) > 1e-4f * (1 + std::abs(b[i]))) return false;
    return a.size() == b.size();
}

int main() {
    const int n = 48;
    unsigned state = 5;
    Matrix a(n * n), b(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = Number((float)(next_random(state) % 9) - 4, (float)(next_random(state) % 9) - 4);
        b[i] = Number((float)(next_random(state) % 5) - 2, (float)(next_random(state) % 5) - 2);
        if (i % (n + 1) == 0) a[i] += 200;
    }
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    cuComplex *d_a = put(a), *d_b = put(b), *d_c = put(b), one = make_cuComplex(1, 0), zero = make_cuComplex(0, 0);

    turn<<<(n * n + 127) / 128, 128>>>(d_b, n * n); // by 2i / 5
    for (Number &x : b)
        x *= Number(0, 0.4f);
    BLAS(cublasCgemm_64(handle, CUBLAS_OP_C, CUBLAS_OP_N, n, n, n, &one, d_a, n, d_b, n, &zero, d_c, n));
    Matrix expected(n * n), rank(n * n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                expected[i + j * n] += std::conj(a[k + i * n]) * b[k + j * n];
                if (i >= j) rank[i + j * n] += a[i + k * n] * std::conj(a[j + k * n]);
            }
        }
    }
    EXPECT(are_near(get(d_c, n * n), expected));

    // what was multiplied by A' is solved for again, by LU
    cuComplex **lists, *host_lists[] = {d_a, d_c};
    int *pivots, info;
    CHECK(cudaMalloc((void **)&lists, sizeof host_lists));
    CHECK(cudaMalloc((void **)&pivots, (n + 1) * sizeof *pivots));
    CHECK(cudaMemcpy(lists, host_lists, sizeof host_lists, cudaMemcpyHostToDevice));
    cuComplex *d_rank = put(Matrix(n * n));
    const float real_one = 1, real_zero = 0;
    BLAS(cublasCherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, n, &real_one, d_a, n, &real_zero, d_rank, n));
    EXPECT(are_near(get(d_rank, n * n), rank));
    BLAS(cublasCgetrfBatched(handle, n, lists, n, pivots, pivots + n, 1));
    BLAS(cublasCgetrsBatched(handle, CUBLAS_OP_C, n, n, lists, n, pivots, lists + 1, n, &info, 1));
    EXPECT(info == 0);
    EXPECT(are_near(get(d_c, n * n), b));

    cuComplex dot;
    float norm;
    int largest;
    BLAS(cublasCdotc(handle, n * n, d_b, 1, d_b, 1, &dot));
    BLAS(cublasScnrm2(handle, n * n, d_b, 1, &norm));
    BLAS(cublasIcamax(handle, n * n, d_a, 1, &largest));
    EXPECT(is_near(dot.x, norm * norm, 1e-4) && is_near(dot.y, 0, 1e-3) && largest >= 1);
    BLAS(cublasDestroy(handle));
    return passed();
}
