/* y = A x for a square sparse matrix, in CSR or in jagged diagonal form: a random one with 0 to 32
 * entries a row, or that of a mesh of finite elements. Entries and vector are whole numbers below
 * 8, so that sums are exact, and so is the comparison. */
#include "common/workload.h"

#include <stdlib.h>

enum { THREADS = 256, MOST_RANDOM_ENTRIES = 32, MOST_MESH_ENTRIES = 49, WARP = 32 };

/* The same values as in the kernel. */
enum { MOST_WARPS = 5000, MOST_DIAGONALS = 64 };

/* Threads of a CTA for the jagged form, as in Parboil for compute capability 1.2 or 1.3: an eighth
 * of the threads of an SM. */
enum { JAGGED_THREADS = 128 };

enum { ROWS, BAND, JAGGED, ELEMENTS, RUNS };

static const WorkloadInfo INFO = {
    .name = "spmv",
    .summary = "Multiplies a sparse matrix by a vector, one row per thread.",
    .parameters =
        {
            [ROWS] = {"rows", "and columns, 16 entries a row", {500, 16384, 65536}, 1u << 24, 0},
            [BAND] = {"band",
                      "largest distance of entries from the diagonal; 0: no limit",
                      {0, 0, 0},
                      1u << 24,
                      0},
            [JAGGED] = {"jagged", "1: jagged diagonals; 0: CSR", {0, 0, 0}, 1, 0},
            [ELEMENTS] = {"elements",
                          "on each side of the square mesh of the matrix; 0: a random matrix",
                          {0, 0, 0},
                          1024,
                          0},
            [RUNS] = {"runs", "of the kernel", {1, 1, 1}, 100, 0},
        },
};

/* A square sparse matrix in CSR form. */
typedef struct Matrix {
    uint32_t rows;         /* count; as many columns */
    uint32_t entries;      /* count */
    uint32_t *row_offsets; /* first entry of each row, and the count of entries at the end */
    uint32_t *columns;     /* of each entry */
    float *values;         /* of each entry */
} Matrix;

/* Along one side of the mesh: the nodes with which node `at`, from 1, shares an element. Every
 * third node is between two elements; nodes on the border are not in the matrix. */
static void find_couplings(uint32_t elements, uint32_t at, uint32_t *first, uint32_t *last) {
    uint32_t from = at % 3 ? at - at % 3 : at - 3, to = at - at % 3 + 3;
    *first = from ? from : 1;
    *last = to < 3 * elements ? to : to - 1;
}

/* Nodes of the mesh by their position, row by row, and their numbers, from 0. */
typedef struct Numbering {
    uint32_t side; /* nodes along it */
    uint32_t count;
    uint32_t *number_at; /* number of each position, plus 1; 0: none so far */
    uint32_t *place_of;  /* position of each number */
} Numbering;

/* Gives the node at (x, y), from 1, the next number, unless it has one or is on the border. */
static void number_node(Numbering *numbering, uint32_t x, uint32_t y) {
    if (x - 1 >= numbering->side || y - 1 >= numbering->side) return;
    uint32_t place = (y - 1) * numbering->side + x - 1;
    if (numbering->number_at[place]) return;
    numbering->place_of[numbering->count++] = place;
    numbering->number_at[place] = numbering->count;
}

/* Numbers an element's nodes: its corners in turn, each followed by the nodes of the next edge,
 * then the inner nodes. `x`, `y`: its first corner. */
static void number_element(Numbering *numbering, uint32_t x, uint32_t y) {
    static const uint32_t CORNERS[5][2] = {{0, 0}, {3, 0}, {3, 3}, {0, 3}, {0, 0}};
    for (int i = 0; i < 4; i++)
        for (uint32_t step = 0; step < 3; step++)
            number_node(numbering, x + (CORNERS[i][0] * (3 - step) + CORNERS[i + 1][0] * step) / 3,
                        y + (CORNERS[i][1] * (3 - step) + CORNERS[i + 1][1] * step) / 3);
    for (uint32_t i = 0; i < 4; i++)
        number_node(numbering, x + 1 + i % 2, y + 1 + i / 2);
}

/* Numbers nodes element by element. The order of the elements comes from recursively quartering a
 * square: its quarters, in the order of its corners, replace it. */
static Numbering number_nodes(Workload *workload, uint32_t elements) {
    uint32_t side = 3 * elements - 1, levels = 0;
    Numbering numbering = {
        .side = side,
        .number_at = workload_host_alloc(workload, (size_t)side * side, sizeof(uint32_t)),
        .place_of = workload_host_alloc(workload, (size_t)side * side, sizeof(uint32_t)),
    };
    while (1u << levels < elements)
        levels++;
    for (uint32_t index = 0; index < 1u << 2 * levels; index++) {
        uint32_t x = 0, y = 0;
        for (uint32_t level = 0; level < levels; level++) {
            uint32_t quarter = index >> 2 * level & 3;
            x |= (quarter ^ quarter >> 1) % 2 << level;
            y |= (quarter >> 1) << level;
        }
        if (x < elements && y < elements) number_element(&numbering, 3 * x, 3 * y);
    }
    return numbering;
}

static int compare_words(const void *a, const void *b) {
    const uint32_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The matrix of `elements` squared finite elements of the third order, in the order of node
 * numbers. A row has 49, 28 or 16 entries if its node is a corner, on an edge or inside an element,
 * and fewer near the border. */
static Matrix generate_mesh(Workload *workload, uint32_t elements) {
    Numbering numbering = number_nodes(workload, elements);
    uint32_t side = numbering.side, rows = numbering.count;
    Matrix matrix = {
        .rows = rows,
        .row_offsets = workload_host_alloc(workload, (size_t)rows + 1, sizeof(uint32_t)),
        .columns =
            workload_host_alloc(workload, (size_t)rows * MOST_MESH_ENTRIES, sizeof(uint32_t)),
    };
    for (uint32_t node = 0; node < rows; node++) {
        uint32_t left, right, top, bottom, *row = &matrix.columns[matrix.entries];
        find_couplings(elements, numbering.place_of[node] % side + 1, &left, &right);
        find_couplings(elements, numbering.place_of[node] / side + 1, &top, &bottom);
        for (uint32_t y = top; y <= bottom; y++)
            for (uint32_t x = left; x <= right; x++)
                matrix.columns[matrix.entries++] = numbering.number_at[(y - 1) * side + x - 1] - 1;
        matrix.row_offsets[node + 1] = matrix.entries;
        qsort(row, matrix.entries - matrix.row_offsets[node], sizeof *row, compare_words);
    }
    matrix.values = workload_random_floats(workload, matrix.entries, 8);
    return matrix;
}

static Matrix generate_random(Workload *workload, uint32_t rows) {
    uint32_t band = workload->values[BAND] < rows / 2 ? workload->values[BAND] : 0;
    Matrix matrix = {
        .rows = rows,
        .row_offsets = workload_host_alloc(workload, (size_t)rows + 1, sizeof(uint32_t)),
    };
    for (uint32_t row = 0; row < rows; row++)
        matrix.row_offsets[row + 1] =
            matrix.row_offsets[row] + workload_random(workload, MOST_RANDOM_ENTRIES + 1);
    matrix.entries = matrix.row_offsets[rows];
    matrix.columns = workload_random_words(workload, matrix.entries, band ? 2 * band + 1 : rows);
    for (uint32_t row = 0; band && row < rows; row++)
        for (uint32_t i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; i++)
            matrix.columns[i] = (row + rows - band + matrix.columns[i]) % rows;
    matrix.values = workload_random_floats(workload, matrix.entries, 8);
    return matrix;
}

static void multiply(const Matrix *matrix, const float *x, float *y) {
    for (uint32_t row = 0; row < matrix->rows; row++)
        for (uint32_t i = matrix->row_offsets[row]; i < matrix->row_offsets[row + 1]; i++)
            y[row] += matrix->values[i] * x[matrix->columns[i]];
}

/* Multiplies on the device; returns the product's address there. */
static CUdeviceptr launch_csr(const Workload *workload, const Matrix *matrix, const float *host_x) {
    uint32_t rows = matrix->rows;
    CUdeviceptr row_offsets =
        workload_upload(matrix->row_offsets, ((size_t)rows + 1) * sizeof(uint32_t));
    CUdeviceptr columns = workload_upload(matrix->columns, matrix->entries * sizeof(uint32_t));
    CUdeviceptr values = workload_upload(matrix->values, matrix->entries * sizeof(float));
    CUdeviceptr x = workload_upload(host_x, rows * sizeof(float));
    CUdeviceptr y = workload_device_alloc(rows * sizeof(float));
    for (unsigned i = 0; i < workload->values[RUNS]; i++)
        workload_launch(workload, "spmv", workload_cover(rows, THREADS),
                        (void *[]){&row_offsets, &columns, &values, &x, &y, &rows});
    return y;
}

static uint32_t length_of(const Matrix *matrix, uint32_t row) {
    return matrix->row_offsets[row + 1] - matrix->row_offsets[row];
}

/* The rows, longest first; rows of equal length keep their order. */
static uint32_t *sort_rows(Workload *workload, const Matrix *matrix) {
    uint32_t *sorted = workload_host_alloc(workload, matrix->rows, sizeof *sorted), count = 0;
    for (uint32_t length = MOST_DIAGONALS; length-- > 0;)
        for (uint32_t row = 0; row < matrix->rows; row++)
            if (length_of(matrix, row) == length) sorted[count++] = row;
    return sorted;
}

/* The same with the matrix in diagonals. Each diagonal has a place for every row of the warps that
 * reach it; missing entries stay 0. */
static CUdeviceptr launch_jagged(Workload *workload, const Matrix *matrix, const float *host_x) {
    uint32_t rows = matrix->rows, warps = workload_divide_up(rows, WARP), entries = 0;
    if (warps > MOST_WARPS)
        workload_fail(INFO.name, "constant memory holds the lengths of %d rows, not %u",
                      MOST_WARPS * WARP, rows);
    uint32_t *sorted = sort_rows(workload, matrix);
    uint32_t lengths[MOST_WARPS] = {0}, diagonals[MOST_DIAGONALS];
    for (uint32_t warp = 0; warp < warps; warp++) {
        uint32_t longest = length_of(matrix, sorted[warp * WARP]);
        lengths[warp] = longest ? longest : 1;
    }
    for (uint32_t k = 0; k < MOST_DIAGONALS; k++) {
        diagonals[k] = entries;
        for (uint32_t warp = 0; warp < warps && lengths[warp] > k; warp++)
            entries += WARP;
    }
    uint32_t *columns = workload_host_alloc(workload, entries, sizeof *columns);
    float *values = workload_host_alloc(workload, entries, sizeof *values);
    for (uint32_t rank = 0; rank < rows; rank++)
        for (uint32_t k = 0; k < length_of(matrix, sorted[rank]); k++) {
            uint32_t from = matrix->row_offsets[sorted[rank]] + k;
            columns[diagonals[k] + rank] = matrix->columns[from];
            values[diagonals[k] + rank] = matrix->values[from];
        }
    workload_set_variable(workload, "diagonals", diagonals, sizeof diagonals);
    workload_set_variable(workload, "lengths", lengths, sizeof lengths);
    CUdeviceptr device_columns = workload_upload(columns, entries * sizeof *columns);
    CUdeviceptr device_values = workload_upload(values, entries * sizeof *values);
    CUdeviceptr device_rows = workload_upload(sorted, rows * sizeof *sorted);
    CUdeviceptr x = workload_upload(host_x, rows * sizeof(float));
    CUdeviceptr y = workload_device_alloc(rows * sizeof(float));
    for (unsigned i = 0; i < workload->values[RUNS]; i++)
        workload_launch(workload, "spmv_jagged", workload_cover(rows, JAGGED_THREADS),
                        (void *[]){&device_columns, &device_values, &device_rows, &x, &y, &rows});
    return y;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Matrix matrix = workload.values[ELEMENTS] ? generate_mesh(&workload, workload.values[ELEMENTS])
                                              : generate_random(&workload, workload.values[ROWS]);
    float *x = workload_random_floats(&workload, matrix.rows, 8);
    float *expected = workload_host_alloc(&workload, matrix.rows, sizeof *expected);
    multiply(&matrix, x, expected);

    CUdeviceptr y = workload.values[JAGGED] ? launch_jagged(&workload, &matrix, x)
                                            : launch_csr(&workload, &matrix, x);
    bool is_right = workload_verify_floats(&workload, y, expected, matrix.rows, 0.0f);
    return workload_finish(&workload, is_right, "rows", matrix.rows);
}
