/* Non-bonded forces of molecular dynamics, one atom per thread: each sums the forces of the
 * partners in its list. */
#include "tyto_device.h"

struct Vector {
    float x, y, z;
};

extern "C" __global__ void nbf(const Vector *positions, const unsigned *first_partner,
                               const unsigned *partners, Vector *forces, unsigned atoms) {
    unsigned atom = blockIdx.x * blockDim.x + threadIdx.x;
    if (atom >= atoms) return;
    Vector own = positions[atom], force = {0.0f, 0.0f, 0.0f};
    unsigned end = first_partner[atom + 1];
    for (unsigned i = first_partner[atom]; i < end; i++) {
        Vector other = positions[partners[i]];
        float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        float inverse = 1.0f / (dx * dx + dy * dy + dz * dz);
        float strength = inverse * inverse * (inverse - 0.5f);
        force.x += strength * dx;
        force.y += strength * dy;
        force.z += strength * dz;
    }
    forces[atom] = force;
}
