/* The sum of each row of a matrix, one thread for each row. docs/tutorial.md profiles it.
 *
 *   tyto cc -O2 -lineinfo -o rows rows.cu       (or nvcc -lineinfo -o rows rows.cu)
 *   tyto run --profile ./rows */
#include <cstdio>
#include <vector>

__global__ void sum_rows(const float *matrix, float *sums, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = 0; i < columns; i++)
        sum += matrix[row * columns + i];
    sums[row] = sum;
}

int main() {
    const int rows = 4096, columns = 64;
    std::vector<float> matrix(rows * columns, 1.0f), sums(rows);
    float *device_matrix, *device_sums;
    cudaMalloc(&device_matrix, matrix.size() * sizeof(float));
    cudaMalloc(&device_sums, sums.size() * sizeof(float));
    cudaMemcpy(device_matrix, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice);

    sum_rows<<<rows / 128, 128>>>(device_matrix, device_sums, rows, columns);

    cudaMemcpy(sums.data(), device_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (float sum : sums)
        wrong += sum != columns;
    printf("rows: %d sums, %d wrong\n", rows, wrong);
    return wrong != 0;
}
