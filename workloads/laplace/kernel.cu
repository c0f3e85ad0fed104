/* One Jacobi step of Laplace's equation in three dimensions. A CTA of 32 x 4 threads goes through
 * the planes of its columns and keeps three of them, with a halo, in shared memory. At each step
 * every thread moves its points of the upper two planes down by one and reads the next point from
 * global memory. Each of the first 76 threads has a point of the halo: 64 the upper and lower row,
 * 12 the left and right column, with the corners. Points on the boundary keep their value. */
#include "tyto_device.h"

enum { X = 32, Y = 4, ROW = X + 2, PLANE = ROW * (Y + 2), PLANES = 3, HALO = 2 * (X + Y + 2) };

/* The index of (i, j) in rows of `pitch`. */
static __device__ int place(int i, int j, int pitch) { return i + __mul24(j, pitch); }

extern "C" __global__ void laplace(int nx, int ny, int nz, int pitch, const float *in, float *out) {
    __shared__ float planes[PLANES * PLANE];
    int x = (int)threadIdx.x, y = (int)threadIdx.y, thread = x + y * X;
    int left = (int)blockIdx.x, top = (int)blockIdx.y;

    /* `mid` is a thread's point in the middle plane; it is read at `from` and written at `to`. */
    bool has_halo = thread < HALO;
    int mid_halo = 0, from_halo = 0;
    if (has_halo) {
        int i = y < 2 ? x : thread % 2 * (X + 1) - 1;
        int j = y < 2 ? y * (Y + 1) - 1 : thread / 2 - X - 1;
        mid_halo = place(i + 1, j + 1, ROW) + PLANE;
        i = place(i, left, X);
        j = place(j, top, Y);
        from_halo = place(i, j, pitch);
        has_halo = i >= 0 && i < nx && j >= 0 && j < ny;
    }
    int mid = place(x + 1, y + 1, ROW) + PLANE;
    int i = place(x, left, X), j = place(y, top, Y), from = place(i, j, pitch);
    bool is_inside = i < nx && j < ny;

    /* The middle plane is moved down before it is read; it has zeros, which are not used. */
    if (is_inside) {
        planes[mid] = 0.0f;
        planes[mid + PLANE] = in[from];
    }
    if (has_halo) {
        planes[mid_halo] = 0.0f;
        planes[mid_halo + PLANE] = in[from_halo];
    }
    for (int k = 0; k < nz; k++) {
        int to = from;
        if (is_inside) {
            from = place(from, ny, pitch);
            planes[mid - PLANE] = planes[mid];
            planes[mid] = planes[mid + PLANE];
            if (k < nz - 1) planes[mid + PLANE] = in[from];
        }
        if (has_halo) {
            from_halo = place(from_halo, ny, pitch);
            planes[mid_halo - PLANE] = planes[mid_halo];
            planes[mid_halo] = planes[mid_halo + PLANE];
            if (k < nz - 1) planes[mid_halo + PLANE] = in[from_halo];
        }
        __syncthreads();
        if (is_inside) {
            float value;
            if (i == 0 || i == nx - 1 || j == 0 || j == ny - 1 || k == 0 || k == nz - 1)
                value = planes[mid];
            else
                value = (planes[mid - 1] + planes[mid + 1] + planes[mid - ROW] + planes[mid + ROW] +
                         planes[mid - PLANE] + planes[mid + PLANE]) *
                        (1.0f / 6.0f);
            out[to] = value;
        }
        __syncthreads();
    }
}
