/* Matches reads against a reference sequence by a suffix tree. Reads are copies of stretches of the
 * reference with some bases changed. The reference result searches sorted suffixes instead. */
#include "common/suffix_tree.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, CHANGED_OF_100 = 4 };

enum { READS, READ_BASES, REFERENCE_BASES };

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
        },
};

static uint8_t *generate_reads(Workload *workload, const uint8_t *reference, uint32_t bases) {
    uint32_t reads = workload->values[READS], read_bases = workload->values[READ_BASES];
    uint8_t *all = workload_host_alloc(workload, (size_t)reads * read_bases, 1);
    for (size_t i = 0; i < reads; i++) {
        uint32_t from = workload_random(workload, bases - read_bases + 1);
        for (uint32_t j = 0; j < read_bases; j++) {
            bool is_changed = workload_random(workload, 100) < CHANGED_OF_100;
            all[i * read_bases + j] =
                is_changed ? (uint8_t)workload_random(workload, 4) : reference[from + j];
        }
    }
    return all;
}

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

/* The longest match of the read's start: that with one of the two suffixes around its place. */
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

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t reads = workload.values[READS], read_bases = workload.values[READ_BASES];
    uint32_t bases = workload.values[REFERENCE_BASES], node_count;
    if (bases < read_bases) bases = read_bases;
    size_t count = (size_t)reads * read_bases;
    uint8_t *reference = workload_random_bytes(&workload, bases, 4);
    uint8_t *all = generate_reads(&workload, reference, bases);
    SuffixNode *nodes = suffix_tree_build(&workload, reference, bases, &node_count);

    CUdeviceptr device_nodes = workload_upload(nodes, node_count * sizeof *nodes);
    CUdeviceptr device_reference = workload_upload(reference, bases);
    CUdeviceptr device_reads = workload_upload(all, count);
    CUdeviceptr lengths = workload_device_alloc(count * sizeof(uint32_t));
    workload_launch(&workload, "mummer", workload_cover(reads, THREADS),
                    (void *[]){&device_nodes, &device_reference, &device_reads, &lengths, &bases,
                               &read_bases, &reads});

    Text text = {reference, bases};
    uint32_t *suffixes = workload_host_alloc(&workload, bases, sizeof *suffixes);
    uint32_t *expected = workload_host_alloc(&workload, count, sizeof *expected);
    for (uint32_t i = 0; i < bases; i++)
        suffixes[i] = i;
    qsort_r(suffixes, bases, sizeof *suffixes, compare_suffixes, &text);
    for (size_t i = 0; i < count; i++)
        expected[i] = search(text, suffixes, all + i, read_bases - (uint32_t)(i % read_bases));
    bool is_right = workload_verify_words(&workload, lengths, expected, count);
    return workload_finish(&workload, is_right, "match lengths", count);
}
