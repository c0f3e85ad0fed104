/* Finds the documents of each link with MapReduce: a record is a piece of an HTML document, which a
 * thread scans for links character by character. */
#include "../common/mapreduce_text.cuh"

struct Piece {
    int offset, bytes, document;
};

enum State { TEXT, TAG, ANCHOR, REFERENCE, ADDRESS };

static __device__ bool is_reference(const unsigned char *text) {
    return text[1] == 'r' && text[2] == 'e' && text[3] == 'f';
}

/* Calls `found` with the start and the end of each quoted address after "<a href=". */
template <typename Found>
static __device__ void scan(unsigned char *text, int bytes, Found found) {
    State state = TEXT;
    for (int i = 0; i < bytes; i++) {
        unsigned char c = text[i];
        switch (state) {
        case TEXT:
            if (c == '<') state = TAG;
            break;
        case TAG:
            if (c != ' ') state = c == 'a' ? ANCHOR : TEXT;
            break;
        case ANCHOR:
            if (c == ' ') break;
            state = TEXT;
            if (c != 'h' || !is_reference(text + i)) break;
            state = REFERENCE;
            i += 3;
            break;
        case REFERENCE:
            if (c != ' ' && c != '=') state = c == '"' ? ADDRESS : TEXT;
            break;
        case ADDRESS: {
            unsigned char *end = text + i;
            while (*end != '"')
                end++;
            found(text + i, end);
            i = (int)(end - text);
            state = TEXT;
            break;
        }
        }
    }
}

extern "C" __global__ void invertedindex_count(Input input, Totals totals) {
    unsigned i = map_thread();
    if (i >= input.count) return;
    Record record = input.records[i];
    const TextKey *key = (const TextKey *)(input.keys + record.x);
    const Piece *piece = (const Piece *)(input.values + record.z);
    scan(key->text + piece->offset, piece->bytes,
         [&](unsigned char *, unsigned char *) { count_record(totals, sizeof *key, sizeof(int)); });
}

/* Ends each address with a zero in place of its closing quote. */
extern "C" __global__ void invertedindex_map(Input input, Output output) {
    unsigned i = map_thread();
    if (i >= input.count) return;
    Record record = input.records[i];
    TextKey *key = (TextKey *)(input.keys + record.x);
    const Piece *piece = (const Piece *)(input.values + record.z);
    scan(key->text + piece->offset, piece->bytes,
         [&](unsigned char *start, unsigned char *end) {
             *end = '\0';
             key->offset = (int)(start - key->text);
             key->hash = hash_bytes(start, (int)(end - start));
             emit(output, key, &piece->document, sizeof *key, sizeof piece->document);
         });
}
