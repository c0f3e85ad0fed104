/* Matches reads against a reference sequence by a suffix tree. Reads are parts of a genome that
 * begins with the reference. The expected result comes from a search in sorted suffixes instead. */
#include "common/suffix_tree.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 64 };

/* Nodes are numbered from 1, column by column in columns of 32 rows; a strip is 32 rows of a
 * texture. */
enum { COLUMNS = 4096, STRIP_ROWS = 32, STRIP_NODES = COLUMNS * STRIP_ROWS };
/* The reference is stored column by column in columns of four rows. */
enum {
    REFERENCE_ROWS = 4,
    REFERENCE_COLUMNS = 65536,
    REFERENCE_PART = REFERENCE_ROWS * REFERENCE_COLUMNS
};

enum { READS, READ_BASES, REFERENCE_BASES, GENOME_BASES, SHORTEST };

static const WorkloadInfo INFO = {
    .name = "mummer",
    .summary = "Matches reads against a reference sequence by a suffix tree.",
    .parameters =
        {
            [READS] = {"reads", "to match", {300, 2048, 50000}, 1u << 20, 0},
            [READ_BASES] = {"read-bases", "of each read", {20, 25, 25}, 1000, 0},
            [REFERENCE_BASES] = {"reference-bases",
                                 "at least as many as a read's",
                                 {2000, 16384, 140000},
                                 1u << 22,
                                 0},
            [GENOME_BASES] = {"genome-bases",
                              "that reads are from; the first of them are the reference",
                              {4000, 65536, 5227293},
                              1u << 24,
                              0},
            [SHORTEST] = {"shortest", "match that is kept, in bases", {10, 20, 20}, 1000, 0},
        },
};

static const char LETTERS[] = "ACGT";

/* The reads, one after another, each between an unused letter and a 0. */
static uint8_t *generate_reads(Workload *workload, const uint8_t *genome, uint32_t bases) {
    uint32_t reads = workload->values[READS], read_bases = workload->values[READ_BASES];
    uint8_t *all = workload_host_alloc(workload, (size_t)reads * (read_bases + 2), 1);
    for (uint8_t *next = all, *end = all + (size_t)reads * (read_bases + 2); next < end; next++) {
        uint32_t from = workload_random(workload, bases - read_bases + 1);
        *next++ = 'q';
        memcpy(next, genome + from, read_bases);
        next += read_bases;
    }
    return all;
}

/* ---- The tree and the reference as textures ---- */

/* Node and Children of the kernel. */
typedef struct Texel {
    uint32_t words[4];
} Texel;

/* The tree, with the numbers of its nodes in the textures. */
typedef struct Tree {
    const SuffixNode *nodes;
    uint32_t count;
    uint32_t *order;   /* the node with each number from 1 on, level by level from the root */
    uint32_t *numbers; /* the number of each node */
    uint32_t *above;   /* the depth of its parent */
} Tree;

static Tree number_nodes(Workload *workload, const SuffixNode *nodes, uint32_t count) {
    Tree tree = {nodes, count, workload_host_alloc(workload, count + 1u, sizeof(uint32_t)),
                 workload_host_alloc(workload, count, sizeof(uint32_t)),
                 workload_host_alloc(workload, count, sizeof(uint32_t))};
    uint32_t tail = 1;
    tree.order[tail++] = 0;
    tree.numbers[0] = 1;
    for (uint32_t head = 1; head < tail; head++) {
        const SuffixNode *parent = &nodes[tree.order[head]];
        for (int base = 0; base < 4; base++) {
            uint32_t child = parent->children[base];
            if (child == 0) continue;
            tree.above[child] = parent->depth;
            tree.numbers[child] = tail;
            tree.order[tail++] = child;
        }
    }
    return tree;
}

static uint32_t column_of(uint32_t number) { return number % STRIP_NODES / STRIP_ROWS; }

static uint32_t row_of(uint32_t number) {
    return number / STRIP_NODES * STRIP_ROWS + number % STRIP_ROWS;
}

static uint32_t place_of(const Tree *tree, uint32_t node) {
    uint32_t number = tree->numbers[node];
    return column_of(number) | row_of(number) << 16;
}

/* The texels of all nodes: with `edges` those with edges and links, else those with children. A
 * leaf's edge ends with the letters after the reference's `bases`. */
static void fill_texels(const Tree *tree, uint32_t bases, Texel *edges, Texel *children) {
    for (uint32_t number = 1; number <= tree->count; number++) {
        const SuffixNode *node = &tree->nodes[tree->order[number]];
        size_t at = row_of(number) * (size_t)COLUMNS + column_of(number);
        edges[at] = (Texel){{node->first + tree->above[tree->order[number]],
                             node->depth == UINT32_MAX ? bases : node->first + node->depth - 1,
                             place_of(tree, node->link)}};
        for (int base = 0; base < 4; base++)
            if (node->children[base])
                children[at].words[base] = place_of(tree, node->children[base]);
    }
}

/* The text of `length` letters in the reference's texture. */
static uint8_t *fill_reference(Workload *workload, const uint8_t *text, uint32_t length,
                               uint32_t rows) {
    uint8_t *letters = workload_host_alloc(workload, (size_t)rows * REFERENCE_COLUMNS, 1);
    for (uint32_t i = 0; i < length; i++) {
        size_t row = i / REFERENCE_PART * REFERENCE_ROWS + i % REFERENCE_ROWS;
        letters[row * REFERENCE_COLUMNS + i % REFERENCE_PART / REFERENCE_ROWS] = text[i];
    }
    return letters;
}

/* ---- Expected results ---- */

/* The text whose suffixes are compared. */
typedef struct Text {
    const uint8_t *bases;
    uint32_t length;
} Text;

static int compare_suffixes(const void *a, const void *b, void *text) {
    const Text *t = text;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int difference = memcmp(t->bases + i, t->bases + j, t->length - (i > j ? i : j));
    return difference ? difference : i > j ? -1 : i < j;
}

static uint32_t shared_bases(Text text, uint32_t suffix, const uint8_t *read, uint32_t most) {
    uint32_t count = 0;
    while (count < most && suffix + count < text.length &&
           text.bases[suffix + count] == read[count])
        count++;
    return count;
}

/* The longest match of the read's start, which is with one of the two suffixes around its position.
 */
static uint32_t search(Text text, const uint32_t *suffixes, const uint8_t *read, uint32_t bases) {
    uint32_t low = 0, high = text.length, longest = 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2, suffix = suffixes[middle];
        uint32_t shared = shared_bases(text, suffix, read, bases);
        if (shared > longest) longest = shared;
        if (shared == bases) break;
        bool is_before =
            suffix + shared == text.length || text.bases[suffix + shared] < read[shared];
        if (is_before) low = middle + 1;
        else high = middle;
    }
    return longest;
}

/* The bases of a match that the kernel found, or UINT32_MAX if the tree does not have those of the
 * read. */
static uint32_t bases_of(const Tree *tree, Text text, const uint8_t *read, const uint32_t *match) {
    if (match[0] == 0) return 0;
    if (match[0] > tree->count) return UINT32_MAX;
    uint32_t node = tree->order[match[0]];
    uint32_t length = match[1] ? tree->above[node] + match[1] : tree->nodes[node].depth;
    bool is_right = length <= text.length - tree->nodes[node].first &&
                    shared_bases(text, tree->nodes[node].first, read, length) == length;
    return is_right ? length : UINT32_MAX;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t reads = workload.values[READS], read_bases = workload.values[READ_BASES];
    uint32_t bases = workload.values[REFERENCE_BASES], shortest = workload.values[SHORTEST];
    if (bases < read_bases) bases = read_bases;
    if (shortest > read_bases) shortest = read_bases;
    uint32_t genome_bases = workload.values[GENOME_BASES];
    if (genome_bases < bases) genome_bases = bases;
    uint8_t *reference = workload_random_bytes(&workload, genome_bases, 4);
    uint8_t *letters = workload_host_alloc(&workload, genome_bases + 1u, 1);
    for (uint32_t i = 0; i < genome_bases; i++)
        letters[i] = (uint8_t)LETTERS[reference[i]];
    uint8_t *all = generate_reads(&workload, letters, genome_bases);
    letters[bases] = '$';
    uint32_t node_count;
    SuffixNode *nodes = suffix_tree_build(&workload, reference, bases, &node_count);
    Tree tree = number_nodes(&workload, nodes, node_count);

    uint32_t rows = (node_count / STRIP_NODES + 1) * STRIP_ROWS;
    Texel *edges = workload_host_alloc(&workload, (size_t)rows * COLUMNS, sizeof *edges);
    Texel *children = workload_host_alloc(&workload, (size_t)rows * COLUMNS, sizeof *children);
    fill_texels(&tree, bases, edges, children);
    uint32_t letter_rows = (bases / REFERENCE_PART + 1) * REFERENCE_ROWS;

    uint32_t *starts = workload_host_alloc(&workload, reads, sizeof *starts);
    uint32_t *lengths = workload_host_alloc(&workload, reads, sizeof *lengths);
    for (uint32_t i = 0; i < reads; i++) {
        starts[i] = i * (read_bases + 2);
        lengths[i] = read_bases;
    }
    uint32_t places =
        read_bases - shortest + 1; /* for each position in a read where a match may start */
    size_t count = (size_t)reads * places;
    CUdeviceptr device_matches = workload_upload_zeros(count * 2 * sizeof(uint32_t));
    CUdeviceptr device_reads = workload_upload(all, (size_t)reads * (read_bases + 2));
    CUdeviceptr device_starts = workload_upload(starts, reads * sizeof *starts);
    CUdeviceptr device_lengths = workload_upload(lengths, reads * sizeof *lengths);
    CUtexObject edge_texture = workload_upload_texture(
        edges, COLUMNS, rows, CU_AD_FORMAT_UNSIGNED_INT32, 4, CU_TRSF_READ_AS_INTEGER);
    CUtexObject child_texture = workload_upload_texture(
        children, COLUMNS, rows, CU_AD_FORMAT_UNSIGNED_INT32, 4, CU_TRSF_READ_AS_INTEGER);
    CUtexObject reference_texture = workload_upload_texture(
        fill_reference(&workload, letters, bases + 1, letter_rows), REFERENCE_COLUMNS, letter_rows,
        CU_AD_FORMAT_UNSIGNED_INT8, 1, CU_TRSF_READ_AS_INTEGER);
    workload_launch(&workload, "mummer", workload_cover(reads, THREADS),
                    (void *[]){&device_matches, &device_reads, &device_starts, &device_lengths,
                               &reads, &shortest, &edge_texture, &child_texture,
                               &reference_texture});

    Text text = {letters, bases};
    uint32_t *suffixes = workload_host_alloc(&workload, bases, sizeof *suffixes);
    for (uint32_t i = 0; i < bases; i++)
        suffixes[i] = i;
    qsort_r(suffixes, bases, sizeof *suffixes, compare_suffixes, &text);
    uint32_t *matches = workload_host_alloc(&workload, count, 2 * sizeof *matches);
    uint32_t *got = workload_host_alloc(&workload, count, sizeof *got);
    uint32_t *expected = workload_host_alloc(&workload, count, sizeof *expected);
    workload_copy_to_host(matches, device_matches, count * 2 * sizeof *matches);
    for (size_t i = 0; i < count; i++) {
        uint32_t place = (uint32_t)(i % places);
        const uint8_t *read = all + starts[i / places] + 1 + place;
        uint32_t longest = search(text, suffixes, read, read_bases - place);
        expected[i] = longest < shortest ? 0 : longest;
        got[i] = bases_of(&tree, text, read, matches + 2 * i);
    }
    bool is_right = workload_compare_words(&workload, got, expected, count);
    return workload_finish(&workload, is_right, "match lengths", count);
}
