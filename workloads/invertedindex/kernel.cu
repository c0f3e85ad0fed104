/* Finds in which documents each link occurs, as MapReduce: an item is a line of a document, which
 * is scanned for addresses in quotes after "href=". */
#include "../common/mapreduce.cuh"

enum { MARK_BYTES = 6 };

static __device__ bool is_mark(const unsigned char *text) {
    return text[0] == 'h' && text[1] == 'r' && text[2] == 'e' && text[3] == 'f' && text[4] == '=' &&
           text[5] == '"';
}

/* How many links a line has, and how many bytes of keys. Lines end with a zero. */
extern "C" __global__ void invertedindex_measure(const unsigned char *text, const unsigned *lines,
                                                 unsigned *links, unsigned *key_bytes,
                                                 unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned found = 0, bytes = 0;
    for (const unsigned char *at = text + lines[i]; *at; at++) {
        if (!is_mark(at)) continue;
        found++;
        for (at += MARK_BYTES; *at != '"'; at++)
            bytes++;
    }
    links[i] = found;
    key_bytes[i] = bytes;
}

/* Emits every link with its document. */
extern "C" __global__ void invertedindex_map(const unsigned char *text, const unsigned *lines,
                                             const unsigned *documents,
                                             const unsigned *first_records,
                                             const unsigned *first_bytes, unsigned char *pool,
                                             Record *records, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned record = first_records[i], byte = first_bytes[i];
    for (const unsigned char *at = text + lines[i]; *at; at++) {
        if (!is_mark(at)) continue;
        unsigned start = byte;
        for (at += MARK_BYTES; *at != '"'; at++)
            pool[byte++] = *at;
        records[record] = {start, byte - start, documents[i], record};
        record++;
    }
}
