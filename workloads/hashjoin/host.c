/* Joins two relations of random tuples. The keys of R are 1, 2, ... in random order, each once or
 * in several tuples. A tuple of S has one of them, uniform or with Zipf's distribution, or a key
 * that R lacks. The documentation of Balkesen et al.'s joins (Main-memory hash joins on multi-core
 * CPUs, ICDE 2013) names an exponent of 1.05. Sums are of whole numbers, so that the comparison is
 * exact. */
#include "common/workload.h"
#include "common/zipf.h"

enum { THREADS = 256, PAYLOADS = 1024 }; /* threads of a CTA, values of a payload from 1 */

enum { R_TUPLES, S_TUPLES, COPIES, EXPONENT, MISSES };

static const WorkloadInfo INFO = {
    .name = "hashjoin",
    .summary = "Joins two relations by a hash table, one tuple per thread.",
    .parameters =
        {
            [R_TUPLES] = {"r",
                          "tuples in relation R, from which the table is built",
                          {700, 65536, 524288},
                          1u << 26,
                          0},
            [S_TUPLES] = {"s",
                          "tuples in relation S, which look for matches",
                          {1500, 262144, 1048576},
                          1u << 28,
                          0},
            [COPIES] = {"copies", "of each key in R", {1, 1, 1}, 1u << 10, 0},
            [EXPONENT] = {"exponent",
                          "of the distribution of S's keys, in hundredths; 0: uniform",
                          {0, 0, 0},
                          1000,
                          0},
            [MISSES] = {"misses", "per cent of S without a match", {10, 0, 0}, 100, 0},
        },
};

typedef struct Relation {
    uint32_t count;     /* of tuples */
    uint32_t *keys;     /* of each tuple, never 0 */
    uint32_t *payloads; /* of each tuple; NULL: not needed */
} Relation;

/* Makes R with the keys 1 to `distinct`. */
static Relation generate_r(Workload *workload, uint32_t distinct) {
    Relation r = {.count = workload->values[R_TUPLES]};
    r.keys = workload_host_alloc(workload, r.count, sizeof *r.keys);
    r.payloads = workload_host_alloc(workload, r.count, sizeof *r.payloads);
    for (uint32_t i = 0; i < r.count; i++) {
        r.keys[i] = 1 + i % distinct;
        r.payloads[i] = 1 + workload_random(workload, PAYLOADS);
    }
    for (uint32_t i = r.count; i-- > 1;) { /* Fisher and Yates's shuffle */
        uint32_t other = workload_random(workload, i + 1), key = r.keys[i];
        r.keys[i] = r.keys[other];
        r.keys[other] = key;
    }
    return r;
}

static Relation generate_s(Workload *workload, uint32_t distinct) {
    Relation s = {.count = workload->values[S_TUPLES]};
    s.keys = workload_host_alloc(workload, s.count, sizeof *s.keys);
    Zipf zipf = zipf_new(workload, distinct, workload->values[EXPONENT]);
    for (uint32_t i = 0; i < s.count; i++) {
        uint32_t key = 1 + zipf_scatter(zipf_draw(workload, &zipf), distinct);
        bool is_miss = workload_random(workload, 100) < workload->values[MISSES];
        s.keys[i] = is_miss ? key + distinct : key;
    }
    return s;
}

/* The sum of the payloads of R's tuples that match each tuple of S. */
static uint32_t *join(Workload *workload, const Relation *r, const Relation *s, uint32_t distinct) {
    uint32_t *sums = workload_host_alloc(workload, s->count, sizeof *sums);
    uint32_t *sum_of_key = workload_host_alloc(workload, 2 * (size_t)distinct + 1, sizeof *sums);
    for (uint32_t i = 0; i < r->count; i++)
        sum_of_key[r->keys[i]] += r->payloads[i];
    for (uint32_t i = 0; i < s->count; i++)
        sums[i] = sum_of_key[s->keys[i]];
    return sums;
}

/* Builds a table of at most half full slots and probes it; returns the sums on the device. */
static CUdeviceptr launch(const Workload *workload, const Relation *r, const Relation *s) {
    uint32_t slots = 2, r_count = r->count, s_count = s->count;
    while (slots / 2 < r_count)
        slots *= 2;
    uint32_t mask = slots - 1;
    CUdeviceptr r_keys = workload_upload(r->keys, r_count * sizeof(uint32_t));
    CUdeviceptr payloads = workload_upload(r->payloads, r_count * sizeof(uint32_t));
    CUdeviceptr s_keys = workload_upload(s->keys, s_count * sizeof(uint32_t));
    CUdeviceptr table = workload_upload_zeros(slots * sizeof(uint64_t));
    CUdeviceptr sums = workload_device_alloc(s_count * sizeof(uint32_t));
    workload_launch(workload, "hashjoin_build", workload_cover(r_count, THREADS),
                    (void *[]){&r_keys, &payloads, &table, &mask, &r_count});
    bool is_unique = workload->values[COPIES] == 1;
    workload_launch(workload, is_unique ? "hashjoin_probe_unique" : "hashjoin_probe_copies",
                    workload_cover(s_count, THREADS),
                    (void *[]){&s_keys, &table, &sums, &mask, &s_count});
    return sums;
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    uint32_t distinct = workload_divide_up(workload.values[R_TUPLES], workload.values[COPIES]);
    Relation r = generate_r(&workload, distinct), s = generate_s(&workload, distinct);
    uint32_t *expected = join(&workload, &r, &s, distinct);

    CUdeviceptr sums = launch(&workload, &r, &s);
    bool is_right = workload_verify_words(&workload, sums, expected, s.count);
    return workload_finish(&workload, is_right, "tuples", s.count);
}
