/* Non-bonded forces on every atom of a random molecule, each with 4 to 10 partners among the atoms
 * near it in the numbering. With these a CTA's working set and what it reads from DRAM when it is
 * alone are about those that MD publishes: 65 lines, and 169 with an L1D of 64 lines. The device
 * fuses multiplications and additions, which calls for the tolerance. */
#include "common/workload.h"

enum { THREADS = 192, FEWEST_PARTNERS = 4, MOST_PARTNERS = 10, REACH = 48, LATTICE = 32 };

static const float TOLERANCE = 1e-4f;

enum { ATOMS };

static const WorkloadInfo INFO = {
    .name = "nbf",
    .summary = "Non-bonded forces on the atoms of a molecule, one atom per thread.",
    .parameters =
        {
            [ATOMS] = {"atoms", "4 to 10 partners each", {500, 4096, 112500}, 1u << 22, 2},
        },
};

typedef struct Vector {
    float x, y, z;
} Vector;

typedef struct Molecule {
    uint32_t atoms;          /* count */
    Vector *positions;       /* of each atom */
    uint32_t *first_partner; /* of each atom, and the count of partners at the end */
    uint32_t *partners;      /* atoms */
} Molecule;

/* Another atom within REACH of this one. */
static uint32_t pick_partner(Workload *workload, uint32_t atom, uint32_t atoms) {
    uint32_t distance = 1 + workload_random(workload, atoms > REACH ? REACH : atoms - 1);
    return (atom + (workload_random(workload, 2) ? distance : atoms - distance)) % atoms;
}

/* Atoms near the points of a lattice, so that no two meet. */
static Molecule generate_molecule(Workload *workload, uint32_t atoms) {
    Molecule molecule = {
        .atoms = atoms,
        .positions = workload_host_alloc(workload, atoms, sizeof(Vector)),
        .first_partner = workload_host_alloc(workload, (size_t)atoms + 1, sizeof(uint32_t)),
    };
    float *offsets = workload_random_fractions(workload, 3 * (size_t)atoms, 0.0f, 0.5f);
    for (uint32_t atom = 0; atom < atoms; atom++, offsets += 3) {
        molecule.positions[atom] = (Vector){offsets[0] + (float)(atom % LATTICE),
                                            offsets[1] + (float)(atom / LATTICE % LATTICE),
                                            offsets[2] + (float)(atom / (LATTICE * LATTICE))};
        molecule.first_partner[atom + 1] =
            molecule.first_partner[atom] + FEWEST_PARTNERS +
            workload_random(workload, MOST_PARTNERS - FEWEST_PARTNERS + 1);
    }
    molecule.partners =
        workload_host_alloc(workload, molecule.first_partner[atoms], sizeof(uint32_t));
    for (uint32_t atom = 0; atom < atoms; atom++)
        for (uint32_t i = molecule.first_partner[atom]; i < molecule.first_partner[atom + 1]; i++)
            molecule.partners[i] = pick_partner(workload, atom, atoms);
    return molecule;
}

static Vector sum_forces(const Molecule *molecule, uint32_t atom) {
    Vector own = molecule->positions[atom], force = {0.0f, 0.0f, 0.0f};
    for (uint32_t i = molecule->first_partner[atom]; i < molecule->first_partner[atom + 1]; i++) {
        Vector other = molecule->positions[molecule->partners[i]];
        float dx = own.x - other.x, dy = own.y - other.y, dz = own.z - other.z;
        float inverse = 1.0f / (dx * dx + dy * dy + dz * dz);
        float strength = inverse * inverse * (inverse - 0.5f);
        force.x += strength * dx;
        force.y += strength * dy;
        force.z += strength * dz;
    }
    return force;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Molecule molecule = generate_molecule(&workload, workload.values[ATOMS]);
    uint32_t atoms = molecule.atoms;

    CUdeviceptr positions = workload_upload(molecule.positions, atoms * sizeof(Vector));
    CUdeviceptr first_partner =
        workload_upload(molecule.first_partner, ((size_t)atoms + 1) * sizeof(uint32_t));
    CUdeviceptr partners =
        workload_upload(molecule.partners, molecule.first_partner[atoms] * sizeof(uint32_t));
    CUdeviceptr forces = workload_device_alloc(atoms * sizeof(Vector));
    workload_launch(&workload, "nbf", workload_cover(atoms, THREADS),
                    (void *[]){&positions, &first_partner, &partners, &forces, &atoms});

    Vector *expected = workload_host_alloc(&workload, atoms, sizeof *expected);
    for (uint32_t atom = 0; atom < atoms; atom++)
        expected[atom] = sum_forces(&molecule, atom);
    bool is_right =
        workload_verify_floats(&workload, forces, &expected->x, 3 * (size_t)atoms, TOLERANCE);
    return workload_finish(&workload, is_right, "atoms", atoms);
}
