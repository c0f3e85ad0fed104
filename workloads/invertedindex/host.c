/* Makes an inverted index of links: the documents that link to each address. Documents are three
 * pages of HTML, each repeated many times, as in the suite; some addresses have far more links than
 * others. A record is a piece of about 1 KB, up to the end of a line. */
#include "common/mapreduce.h"

#include <stdio.h>
#include <string.h>

enum { DOCUMENTS = 3, PAGE_BYTES = 9 * 1024, LINE_BYTES = 256, PIECE_BYTES = 1024 };

enum { COPIES, ADDRESSES, PHASES };

static const WorkloadInfo INFO = {
    .name = "invertedindex",
    .summary = "Finds the documents that link to each address with MapReduce.",
    .parameters =
        {
            [COPIES] = {"copies", "of a page in each of 3 documents", {2, 8, 1024}, 8192, 0},
            [ADDRESSES] = {"addresses", "of links", {50, 300, 300}, 1u << 20, 0},
            [PHASES] = MAPREDUCE_PHASES(MAPREDUCE_COUNT),
        },
};

/* The same layout as in the kernels. */
typedef struct Piece {
    uint32_t offset, bytes, document;
} Piece;

/* The documents one after another, each ending with a zero. */
typedef struct Documents {
    char *text;
    uint32_t starts[DOCUMENTS + 1];
} Documents;

/* Writes some words; returns their end. */
static char *write_words(Workload *workload, char *end) {
    static const char *const words[] = {"owl ", "barn ", "night ", "hears ", "a ", "mouse "};
    for (uint32_t word = workload_random(workload, 6); word > 0; word--)
        end = stpcpy(end, words[workload_random(workload, 6)]);
    return end;
}

/* Writes a paragraph on a separate line, with up to two links; returns its end. */
static char *write_line(Workload *workload, char *end) {
    end = stpcpy(end, "<p>");
    for (uint32_t links = workload_random(workload, 3); links > 0; links--) {
        uint32_t addresses = workload->values[ADDRESSES];
        uint32_t address = workload_random(workload, workload_random(workload, addresses) + 1);
        end = write_words(workload, end);
        end += sprintf(end, "<a href=\"site%u.org/p%u\">", address % 13, address);
        end = stpcpy(write_words(workload, end), "</a>");
    }
    return stpcpy(write_words(workload, end), "</p>\n");
}

static Documents generate(Workload *workload) {
    uint32_t copies = workload->values[COPIES];
    size_t most = DOCUMENTS * ((size_t)copies * (PAGE_BYTES + LINE_BYTES) + 1);
    Documents documents = {.text = workload_host_alloc(workload, most, 1)};
    char *end = documents.text;
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        char *page = end;
        while (end - page < PAGE_BYTES)
            end = write_line(workload, end);
        size_t page_bytes = (size_t)(end - page);
        for (uint32_t copy = 1; copy < copies; copy++)
            end = mempcpy(end, page, page_bytes);
        *end++ = '\0';
        documents.starts[i + 1] = (uint32_t)(end - documents.text);
    }
    return documents;
}

/* Cuts the documents into pieces, one record each. */
static RecordSet cut(Workload *workload, const Documents *documents, CUdeviceptr device_text) {
    uint32_t most = documents->starts[DOCUMENTS] / PIECE_BYTES + DOCUMENTS;
    RecordSet pieces = mapreduce_records(workload, most, sizeof(TextKey), sizeof(Piece));
    TextKey key = {.text = device_text};
    pieces.count = 0;
    for (uint32_t document = 0; document < DOCUMENTS; document++) {
        uint32_t last = documents->starts[document + 1] - 1; /* its zero */
        for (uint32_t start = documents->starts[document], end; start < last; start = end) {
            end = start + PIECE_BYTES;
            while (end < last && documents->text[end - 1] != '\n')
                end++;
            if (end > last) end = last;
            Piece piece = {start, end - start, document};
            memcpy(pieces.keys + pieces.count * sizeof key, &key, sizeof key);
            memcpy(pieces.values + pieces.count++ * sizeof piece, &piece, sizeof piece);
        }
    }
    return pieces;
}

/* The next quoted address after "<a href=", from `at` on; NULL: none. */
static char *find_link(char *at) {
    static const char mark[] = "<a href=\"";
    at = strstr(at, mark);
    return at ? at + strlen(mark) : NULL;
}

/* True if all links are counted, with a key and a value for each. */
static bool verify_counts(Workload *workload, const Documents *documents, const MapCounts *counts) {
    uint32_t links = 0;
    for (uint32_t document = 0; document < DOCUMENTS; document++)
        for (char *at = documents->text + documents->starts[document];
             (at = find_link(at)) != NULL;)
            links++;
    uint32_t key_bytes = links * (uint32_t)sizeof(TextKey);
    uint32_t value_bytes = links * (uint32_t)sizeof(uint32_t);
    return workload_compare_words(workload, &counts->emitted, &links, 1) &&
           workload_compare_words(workload, &counts->key_bytes, &key_bytes, 1) &&
           workload_compare_words(workload, &counts->value_bytes, &value_bytes, 1);
}

/* True if these are the links of the documents, in their order, with their hashes. Ends each
 * address with a zero, as the kernel does. */
static bool verify_map(Workload *workload, Documents *documents, CUdeviceptr device_text,
                       const RecordSet *emitted) {
    const Record *record = emitted->records;
    for (uint32_t document = 0; document < DOCUMENTS; document++) {
        char *at = documents->text + documents->starts[document];
        for (; (at = find_link(at)) != NULL; record++) {
            uint32_t bytes = (uint32_t)strcspn(at, "\"");
            TextKey key = {device_text, (uint32_t)(at - documents->text),
                           mapreduce_hash((uint8_t *)at, bytes)};
            at[bytes] = '\0';
            at += bytes + 1;
            if (!workload_compare_bytes(workload, emitted->keys + record->key, (uint8_t *)&key,
                                        sizeof key) ||
                !workload_compare_bytes(workload, emitted->values + record->value,
                                        (uint8_t *)&document, sizeof document))
                return false;
        }
    }
    return true;
}

/* The phases after the count; true if all results are right. */
static bool emit_and_sort(Workload *workload, Documents *documents, CUdeviceptr device_text,
                          const MapCounts *counts) {
    uint32_t phases = workload->values[PHASES], groups;
    DeviceRecords device = mapreduce_map(workload, counts);
    RecordSet emitted = mapreduce_fetch(workload, &device, false);
    const uint8_t *texts = (uint8_t *)documents->text;
    if (!verify_map(workload, documents, device_text, &emitted)) return false;
    if (phases == MAPREDUCE_MAP) return true;
    return mapreduce_sort(workload, &device, &emitted, mapreduce_runs(&device, phases, 0),
                          mapreduce_compare_texts, texts) &&
           (phases == MAPREDUCE_RUNS ||
            mapreduce_group(workload, &device, &emitted, mapreduce_compare_texts, texts, &groups));
}

int main(int argc, char **argv) {
    Workload workload = workload_open(&INFO, argc, argv);
    Documents documents = generate(&workload);
    CUdeviceptr device_text = workload_upload(documents.text, documents.starts[DOCUMENTS]);
    RecordSet pieces = cut(&workload, &documents, device_text);
    MapCounts counts = mapreduce_count(&workload, &pieces);
    bool is_right = verify_counts(&workload, &documents, &counts);
    if (is_right && workload.values[PHASES] != MAPREDUCE_COUNT)
        is_right = emit_and_sort(&workload, &documents, device_text, &counts);
    return workload_finish(&workload, is_right, "links", counts.emitted);
}
