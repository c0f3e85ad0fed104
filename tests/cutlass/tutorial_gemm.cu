/*
 * Checks a GEMM of CUTLASS's CuTe tutorials, which do not check themselves. EXAMPLE is the tutorial's source, and ELEMENT the type of
 * its matrices. The tutorial's own main runs afterwards, with this program's arguments.
 *
 * A and B hold -1, 0 and 1, so that every sum is a small integer and exact in any order. The matrices are column-major: A is M x K and
 * B is N x K; a tutorial multiplies A by the transpose of B.
 */
#define main tutorial_main
#include EXAMPLE
#undef main

#include <vector>

enum { M = 256, N = 384, K = 192 };

static int element_of(unsigned seed, int row, int column)
{
    unsigned const hash = (seed + row * 7919u + column * 104729u) * 2654435761u;
    return (int)(hash >> 16) % 3 - 1;
}

/* The matrix of `rows` x `columns` with columns one after the other, or its rows if `is_transposed`. */
static std::vector<ELEMENT> matrix_of(unsigned seed, int rows, int columns, bool is_transposed)
{
    std::vector<ELEMENT> matrix(rows * columns);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            matrix[is_transposed ? row * columns + column : column * rows + row] = ELEMENT(element_of(seed, row, column));
    return matrix;
}

static ELEMENT* on_device(std::vector<ELEMENT> const& matrix)
{
    ELEMENT* copy = nullptr;
    cudaMalloc(&copy, matrix.size() * sizeof(ELEMENT));
    cudaMemcpy(copy, matrix.data(), matrix.size() * sizeof(ELEMENT), cudaMemcpyHostToDevice);
    return copy;
}

static int count_wrong(std::vector<ELEMENT> const& product)
{
    int wrong = 0;
    for (int column = 0; column < N; column++)
        for (int row = 0; row < M; row++) {
            int sum = 0;
            for (int i = 0; i < K; i++)
                sum += element_of(1, row, i) * element_of(2, column, i);
            wrong += (float)product[column * M + row] != (float)sum;
        }
    return wrong;
}

static int run_gemm(char form_a, char form_b)
{
    ELEMENT* a = on_device(matrix_of(1, M, K, form_a == 'T'));
    ELEMENT* b = on_device(matrix_of(2, N, K, form_b == 'N'));
    ELEMENT* c = on_device(std::vector<ELEMENT>(M * N, ELEMENT(7)));
    gemm(form_a, form_b, M, N, K, ELEMENT(1), a, form_a == 'T' ? K : M, b, form_b == 'N' ? K : N, ELEMENT(0), c, M);
    std::vector<ELEMENT> product(M * N);
    cudaError_t const error = cudaMemcpy(product.data(), c, product.size() * sizeof(ELEMENT), cudaMemcpyDeviceToHost);
    int const wrong = count_wrong(product);
    printf("%c%c: %s, %d of %d elements wrong\n", form_a, form_b, cudaGetErrorString(error), wrong, M * N);
    return error || wrong;
}

int main(int argc, char** argv)
{
    int const failures = run_gemm('N', 'T') + run_gemm('T', 'N');
    return failures ? 1 : tutorial_main(argc, argv);
}
