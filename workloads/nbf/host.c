/* Non-bonded forces on every atom of a random molecule, each with 18 partners within 250 of it in
 * the numbering. So the coordinates that a CTA of 192 threads reads are in 66 lines (MD section
 * 5.1: about 65). A list is sorted by number, so that the atoms of a warp reach the same part of
 * the molecule at the same step. Alone on an SM, a CTA reads 183 lines from DRAM; one of seven
 * reads 1,613 (MD table 5: 169 and 1,570). The miss rates next to these reads in table 5 correspond
 * to 3,007 to 3,080 accesses, including 214 to 246 stores that miss. Here they are 2,496 and 216,
 * because partners of the same rank are close together, and forces are three words of records of 48
 * bytes. A tolerance covers the device's fused multiplications and additions. */
#include "common/edges.h"

enum { THREADS = 192, PARTNERS = 18, REACH = 250, LATTICE = 32, AXES = 3 };
enum { RECORD = 12 }; /* words of an atom's record, its force first */

static const float TOLERANCE = 1e-4f;

enum { ATOMS };

static const WorkloadInfo INFO = {
    .name = "nbf",
    .summary = "Non-bonded forces on the atoms of a molecule, one atom per thread.",
    .parameters =
        {
            [ATOMS] = {"atoms", "18 partners each", {500, 4096, 184256}, 1u << 22, 2},
        },
};

/* Atoms near the points of a lattice, so that no two meet: all x, all y, all z. */
static float *generate_positions(Workload *workload, uint32_t atoms) {
    float *positions = workload_random_fractions(workload, AXES * (size_t)atoms, 0.0f, 0.5f);
    for (size_t atom = 0; atom < atoms; atom++) {
        positions[atom] += (float)(atom % LATTICE);
        positions[atoms + atom] += (float)(atom / LATTICE % LATTICE);
        positions[2 * (size_t)atoms + atom] += (float)(atom / (LATTICE * LATTICE));
    }
    return positions;
}

/* The distance of a partner from the first possible partner of `atom`, in the numbering. */
static size_t place_of(size_t atom, size_t partner, size_t atoms) {
    return (partner + REACH + atoms - atom) % atoms;
}

/* Sorts every atom's partners by number, the order in which a loop over all atoms fills the list.
 */
static void sort_partners(uint32_t *partners, size_t atoms) {
    for (size_t atom = 0; atom < atoms; atom++)
        for (size_t i = 1; i < PARTNERS; i++)
            for (size_t at = i * atoms + atom; at >= atoms; at -= atoms) {
                uint32_t one = partners[at], before = partners[at - atoms];
                if (place_of(atom, before, atoms) <= place_of(atom, one, atoms)) break;
                partners[at] = before;
                partners[at - atoms] = one;
            }
}

static void sum_forces(const uint32_t *partners, const float *positions, float *records,
                       size_t atoms, size_t atom) {
    for (size_t i = 0; i < PARTNERS; i++) {
        size_t other = partners[i * atoms + atom];
        float difference[AXES], distance_2 = 0.0f;
        for (size_t axis = 0; axis < AXES; axis++) {
            difference[axis] = positions[axis * atoms + atom] - positions[axis * atoms + other];
            distance_2 += difference[axis] * difference[axis];
        }
        float inverse = 1.0f / distance_2, strength = inverse * inverse * (inverse - 0.5f);
        for (size_t axis = 0; axis < AXES; axis++)
            records[RECORD * atom + axis] += strength * difference[axis];
    }
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t atoms = workload.values[ATOMS];
    size_t bytes = atoms * sizeof(float);
    float *positions = generate_positions(&workload, atoms);
    uint32_t *partners = edges_generate(&workload, atoms, PARTNERS, REACH);
    sort_partners(partners, atoms);

    CUdeviceptr lists = workload_upload(partners, PARTNERS * (size_t)atoms * sizeof *partners);
    CUdeviceptr x = workload_upload(positions, AXES * bytes), y = x + bytes, z = y + bytes;
    size_t words = RECORD * (size_t)atoms;
    CUdeviceptr records = workload_upload_zeros(words * sizeof(float));
    workload_launch(&workload, "nbf", workload_cover(atoms, THREADS),
                    (void *[]){&lists, &x, &y, &z, &records, &atoms});

    float *expected = workload_host_alloc(&workload, words, sizeof *expected);
    for (size_t atom = 0; atom < atoms; atom++)
        sum_forces(partners, positions, expected, atoms, atom);
    bool is_right = workload_verify_floats(&workload, records, expected, words, TOLERANCE);
    return workload_finish(&workload, is_right, "atoms", atoms);
}
