/* One Jacobi step of Laplace's equation in three dimensions. A CTA of 32 x 4 threads walks through
 * the planes of its columns and keeps the last three, with a halo, in shared memory. Points on the
 * boundary keep their value. */
#include "tyto_device.h"

enum { X = 32, Y = 4, PLANES = 3, ROW = X + 2, HALO = 2 * (ROW + Y) };

extern "C" __global__ void laplace(const float *in, float *out, int nx, int ny, int nz) {
    __shared__ float planes[PLANES][Y + 2][ROW];
    int x = (int)threadIdx.x, y = (int)threadIdx.y, thread = x + y * X;
    int left = (int)blockIdx.x * X, top = (int)blockIdx.y * Y;
    int i = left + x, j = top + y, plane_points = nx * ny;
    bool is_inside = i < nx && j < ny;

    /* The first threads also load a point of the halo each: two rows, then the ends of the others.
     */
    int rest = thread - 2 * ROW;
    int halo_x = rest < 0 ? thread % ROW - 1 : (rest % 2 ? X : -1);
    int halo_y = rest < 0 ? (thread < ROW ? -1 : Y) : rest / 2;
    int halo_i = left + halo_x, halo_j = top + halo_y;
    bool has_halo = thread < HALO && halo_i >= 0 && halo_i < nx && halo_j >= 0 && halo_j < ny;

    for (int k = -1; k < nz; k++) {
        if (k + 1 < nz) {
            float(*next)[ROW] = planes[(k + 1) % PLANES];
            const float *plane = in + (k + 1) * plane_points;
            if (is_inside) next[y + 1][x + 1] = plane[j * nx + i];
            if (has_halo) next[halo_y + 1][halo_x + 1] = plane[halo_j * nx + halo_i];
        }
        __syncthreads();
        if (k >= 0 && is_inside) {
            float(*here)[ROW] = planes[k % PLANES];
            float value = here[y + 1][x + 1];
            bool is_boundary =
                i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1;
            if (!is_boundary)
                value = (here[y + 1][x] + here[y + 1][x + 2] + here[y][x + 1] + here[y + 2][x + 1] +
                         planes[(k + 2) % PLANES][y + 1][x + 1] +
                         planes[(k + 1) % PLANES][y + 1][x + 1]) *
                        (1.0f / 6.0f);
            out[k * plane_points + j * nx + i] = value;
        }
        __syncthreads();
    }
}
