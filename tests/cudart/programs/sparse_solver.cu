// Heat in a plate: conjugate gradients whose products are cuSPARSE's, then a product with the transposed matrix.
#include <cusparse.h>

#include <vector>

#include "check.h"

enum { SIDE = 20, CELLS = SIDE * SIDE, BLOCK = 256, MOST_STEPS = 200 };

static void check_sparse(cusparseStatus_t status, int line) {
    if (status == CUSPARSE_STATUS_SUCCESS) return;
    std::printf("line %d: %s of cuSPARSE\n", line, cusparseGetErrorName(status));
    std::exit(1);
}
#define SPARSE(call) check_sparse(call, __LINE__)

// The sum of a[i] * b[i], by one block.
__global__ void dot(const double *a, const double *b, double *sum) {
    __shared__ double sums[BLOCK];
    double mine = 0;
    for (int i = threadIdx.x; i < CELLS; i += BLOCK)
        mine += a[i] * b[i];
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (int half = BLOCK / 2; half; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) *sum = sums[0];
}

// x += factor * p, r -= factor * q, where factor is the quotient of two numbers on the device
__global__ void step(double *x, double *r, const double *p, const double *q, const double *up, const double *down) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= CELLS) return;
    double factor = *up / *down;
    x[i] += factor * p[i];
    r[i] -= factor * q[i];
}

__global__ void turn(double *p, const double *r, const double *up, const double *down) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < CELLS) p[i] = r[i] + *up / *down * p[i];
}

struct Csr {
    std::vector<int> offsets{0}, columns;
    std::vector<double> values;
    void add(int column, double value) {
        columns.push_back(column);
        values.push_back(value);
    }
    void end_row() { offsets.push_back((int)columns.size()); }
};

// Each cell has the mean of its neighbours, and loses some heat.
static Csr plate() {
    Csr m;
    for (int i = 0; i < CELLS; i++) {
        int x = i % SIDE, y = i / SIDE;
        if (y > 0) m.add(i - SIDE, -1);
        if (x > 0) m.add(i - 1, -1);
        m.add(i, 4.25);
        if (x < SIDE - 1) m.add(i + 1, -1);
        if (y < SIDE - 1) m.add(i + SIDE, -1);
        m.end_row();
    }
    return m;
}

template <class T> static T *upload(const std::vector<T> &data) {
    T *copy;
    CHECK(cudaMalloc(&copy, data.size() * sizeof(T)));
    CHECK(cudaMemcpy(copy, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice));
    return copy;
}

static std::vector<double> download(const double *data) {
    std::vector<double> copy(CELLS);
    CHECK(cudaMemcpy(copy.data(), data, CELLS * sizeof(double), cudaMemcpyDeviceToHost));
    return copy;
}

static cusparseDnVecDescr_t vector_of(double *values) {
    cusparseDnVecDescr_t vector;
    SPARSE(cusparseCreateDnVec(&vector, CELLS, values, CUDA_R_64F));
    return vector;
}

static void multiply(cusparseHandle_t handle, cusparseOperation_t op, cusparseSpMatDescr_t a, double *x, double *y) {
    const double one = 1, zero = 0;
    cusparseDnVecDescr_t from = vector_of(x), to = vector_of(y);
    size_t bytes;
    void *buffer = nullptr;
    SPARSE(cusparseSpMV_bufferSize(handle, op, &one, a, from, &zero, to, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    SPARSE(cusparseSpMV(handle, op, &one, a, from, &zero, to, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    CHECK(cudaFree(buffer));
    SPARSE(cusparseDestroyDnVec(from));
    SPARSE(cusparseDestroyDnVec(to));
}

// Solves A x = r; returns the number of steps. x starts as 0.
static int solve(cusparseHandle_t handle, cusparseSpMatDescr_t a, double *x, double *r) {
    const int blocks = (CELLS + BLOCK - 1) / BLOCK;
    double *p, *q, *sums, rest = 1;
    CHECK(cudaMalloc(&p, CELLS * sizeof *p));
    CHECK(cudaMalloc(&q, CELLS * sizeof *q));
    CHECK(cudaMalloc(&sums, 3 * sizeof *sums));
    CHECK(cudaMemcpy(p, r, CELLS * sizeof *p, cudaMemcpyDeviceToDevice));
    dot<<<1, BLOCK>>>(r, r, sums);
    int steps = 0;
    for (; steps < MOST_STEPS && rest > 1e-20; steps++) {
        double *before = sums + steps % 2, *after = sums + (steps + 1) % 2;
        multiply(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, a, p, q);
        dot<<<1, BLOCK>>>(p, q, sums + 2);
        step<<<blocks, BLOCK>>>(x, r, p, q, before, sums + 2);
        dot<<<1, BLOCK>>>(r, r, after);
        turn<<<blocks, BLOCK>>>(p, r, after, before);
        CHECK(cudaMemcpy(&rest, after, sizeof rest, cudaMemcpyDeviceToHost));
    }
    for (double *buffer : {p, q, sums})
        CHECK(cudaFree(buffer));
    return steps;
}

int main() {
    Csr m = plate();
    std::vector<double> truth(CELLS), heat(CELLS);
    unsigned state = 7;
    for (double &t : truth)
        t = next_random(state) % 1000 / 1000.0;
    for (int i = 0; i < CELLS; i++)
        for (int k = m.offsets[i]; k < m.offsets[i + 1]; k++)
            heat[i] += m.values[k] * truth[m.columns[k]];

    cusparseHandle_t handle;
    cusparseSpMatDescr_t a;
    double *x = upload(std::vector<double>(CELLS)), *r = upload(heat), *y = upload(truth);
    SPARSE(cusparseCreate(&handle));
    SPARSE(cusparseCreateCsr(&a, CELLS, CELLS, (int64_t)m.values.size(), upload(m.offsets), upload(m.columns),
                             upload(m.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                             CUDA_R_64F));
    int steps = solve(handle, a, x, r);
    EXPECT(steps < MOST_STEPS);
    std::vector<double> found = download(x);
    for (int i = 0; i < CELLS; i++)
        EXPECT(is_near(found[i], truth[i], 1e-9));

    // The matrix is symmetric: the transposed product gives the heat too.
    multiply(handle, CUSPARSE_OPERATION_TRANSPOSE, a, y, x);
    found = download(x);
    for (int i = 0; i < CELLS; i++)
        EXPECT(is_near(found[i], heat[i], 1e-12));
    SPARSE(cusparseDestroySpMat(a));
    SPARSE(cusparseDestroy(handle));
    return passed();
}
