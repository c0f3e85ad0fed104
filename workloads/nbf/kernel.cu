/* Non-bonded forces of molecular dynamics, one atom per thread: each sums the forces of the
 * partners in its list. Coordinates and lists are arrays over the atoms; forces are stored in the
 * atoms' records. */
#include "tyto_device.h"

enum : unsigned { PARTNERS = 18 };

struct Atom {
    float force[3];
    float others[9]; /* the data for moving the atom, which another kernel uses */
};

extern "C" __global__ void nbf(const unsigned *partners, const float *x, const float *y,
                               const float *z, Atom *records, unsigned atoms) {
    unsigned atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= atoms) return;
    float own_x = x[atom], own_y = y[atom], own_z = z[atom];
    float sum_x = 0.0f, sum_y = 0.0f, sum_z = 0.0f;
#pragma unroll 1
    for (unsigned i = 0; i < PARTNERS; i++) {
        unsigned other = partners[i * atoms + atom];
        float dx = own_x - x[other], dy = own_y - y[other], dz = own_z - z[other];
        float inverse = 1.0f / (dx * dx + dy * dy + dz * dz);
        float strength = inverse * inverse * (inverse - 0.5f);
        sum_x += strength * dx;
        sum_y += strength * dy;
        sum_z += strength * dz;
    }
    records[atom].force[0] = sum_x;
    records[atom].force[1] = sum_y;
    records[atom].force[2] = sum_z;
}
