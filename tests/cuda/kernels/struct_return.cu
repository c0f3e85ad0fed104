/* Functions that take and return structs by value, too large for registers alone. */
#include "kernel.h"

struct Matrix3 {
    int m[3][3];
};

static __device__ __noinline__ Matrix3 multiply(Matrix3 a, Matrix3 b) {
    Matrix3 c = {};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                c.m[i][j] += a.m[i][k] * b.m[k][j];
    return c;
}

static __device__ __noinline__ Matrix3 transposed(Matrix3 a) {
    Matrix3 t;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            t.m[i][j] = a.m[j][i];
    return t;
}

extern "C" __global__ void struct_return(const int *in, int *out, unsigned n) {
    unsigned i = global_index();
    if (i >= n / 9) return;
    Matrix3 a;
    for (int k = 0; k < 9; k++)
        a.m[k / 3][k % 3] = in[i * 9 + k];
    Matrix3 product = multiply(a, transposed(a));
    for (int k = 0; k < 9; k++)
        out[i * 9 + k] = product.m[k / 3][k % 3];
}
