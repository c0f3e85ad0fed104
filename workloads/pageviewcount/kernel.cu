/* Counts the visitors of each page in a web server's log, with MapReduce in two passes. A line is
 * "address, tab, visitor, tab, cookie". In the first pass lines are keys, so that one of several
 * equal lines remains. In the second pass addresses are keys, and their visitors are the values. */
#include "../common/mapreduce_text.cuh"

struct Line {
    int bytes; /* with the zero at its end */
    int pass;
};

extern "C" __global__ void pageviewcount_count(Input input, Totals totals) {
    unsigned i = map_thread();
    if (i >= input.count) return;
    const Line *line = (const Line *)(input.values + input.records[i].z);
    count_record(totals, sizeof(TextKey), line->pass == 0 ? sizeof(Line) : sizeof(int));
}

/* Ends the text at the next tab. */
static __device__ unsigned char *cut(unsigned char *text) {
    while (*text != '\t')
        text++;
    *text = '\0';
    return text;
}

extern "C" __global__ void pageviewcount_map(Input input, Output output) {
    unsigned i = map_thread();
    if (i >= input.count) return;
    Record record = input.records[i];
    TextKey *key = (TextKey *)(input.keys + record.x);
    const Line *line = (const Line *)(input.values + record.z);
    unsigned char *text = key->text + key->offset;
    if (line->pass == 0) {
        key->hash = hash_bytes(text, line->bytes);
        __syncthreads();
        emit(output, key, line, sizeof *key, sizeof *line);
        return;
    }
    unsigned char *end = cut(text);
    cut(end + 1);
    int *visitor = own_words();
    *visitor = (int)(end + 1 - key->text);
    key->hash = hash_bytes(text, (int)(end - text));
    __syncthreads();
    emit(output, key, visitor, sizeof *key, sizeof *visitor);
}

/* Keeps the first record of each group with equal keys, for the second pass. */
extern "C" __global__ void pageviewcount_reduce(const Record *records, const unsigned *starts,
                                                const unsigned char *keys,
                                                const unsigned char *values, TextKey *left_keys,
                                                Line *left_lines, unsigned groups) {
    unsigned i = map_thread();
    if (i >= groups) return;
    Record first = records[starts[i]];
    left_keys[i] = *(const TextKey *)(keys + first.x);
    Line line = *(const Line *)(values + first.z);
    line.pass = 1;
    left_lines[i] = line;
}
