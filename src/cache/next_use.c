/* The backward pass over an L1D trace (see the header). */
#include "cache/next_use.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/text.h"
#include "cache/line_table.h"

struct NextUse {
    const L1dReader *reader; /* borrowed */
    FILE *file;              /* the results, by record number; the file has no name */
    uint64_t *answers;       /* results of one block */
};

/* Opens a file that disappears when it is closed. */
static FILE *open_temporary(Diag *diag) {
    const char *folder = getenv("TMPDIR");
    Text path = {0};
    text_printf(&path, "%s/tyto-XXXXXX", folder && *folder ? folder : "/tmp");
    int descriptor = mkstemp(path.bytes);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w+b");
    if (!file) diag_error(diag, path.bytes, 0, 0, "cannot be written: %s", strerror(errno));
    if (descriptor >= 0) unlink(path.bytes);
    text_free(&path);
    return file;
}

/* Processes the records of a block from last to first. `wanted` has a table per SM, from line to
 * the number of the record that uses the line next, plus 1. */
static void look_back(const L1dRecord *records, uint32_t count, uint64_t first, int line_shift,
                      LineTable *wanted, uint64_t *answers) {
    for (uint32_t i = count; i-- > 0;) {
        const L1dRecord *record = &records[i];
        L1dKind kind = (L1dKind)record->kind;
        LineTable *table = &wanted[record->sm];
        answers[i] = NEXT_USE_NEVER;
        if (kind == L1D_FLUSH) line_table_clear(table);
        if (!l1d_kind_takes_line(kind) && kind != L1D_STORE_EVICT) continue;
        uint64_t *number = line_table_at(table, record->address >> line_shift);
        if (*number) answers[i] = *number - 1;
        *number = kind == L1D_STORE_EVICT ? 0 : first + i + 1;
    }
}

static bool write_answers(NextUse *next, L1dReader *reader, int line_shift, LineTable *wanted,
                          Diag *diag) {
    for (uint64_t block = l1d_reader_blocks(reader); block-- > 0;) {
        uint32_t count;
        const L1dRecord *records = l1d_reader_block(reader, block, &count, diag);
        if (!records) return false;
        uint64_t first = l1d_reader_first(reader, block);
        look_back(records, count, first, line_shift, wanted, next->answers);
        if (fseeko(next->file, (off_t)(first * sizeof *next->answers), SEEK_SET) ||
            fwrite(next->answers, sizeof *next->answers, count, next->file) != count ||
            fflush(next->file)) {
            diag_error(diag, NULL, 0, 0,
                       "the temporary file of Belady's policy cannot be written: %s "
                       "(TMPDIR names another place)",
                       strerror(errno));
            return false;
        }
    }
    return true;
}

NextUse *next_use_new(L1dReader *reader, int line_shift, Diag *diag) {
    FILE *file = open_temporary(diag);
    if (!file) return NULL;
    NextUse *next = base_calloc(1, sizeof *next);
    uint32_t sms = l1d_reader_header(reader)->sms;
    LineTable *wanted = base_calloc(sms, sizeof *wanted);
    next->reader = reader;
    next->file = file;
    next->answers = base_malloc(L1D_TRACE_BLOCK_RECORDS * sizeof *next->answers);
    bool is_written = write_answers(next, reader, line_shift, wanted, diag);
    for (uint32_t sm = 0; sm < sms; sm++)
        line_table_free(&wanted[sm]);
    free(wanted);
    if (is_written) return next;
    next_use_free(next);
    return NULL;
}

void next_use_free(NextUse *next) {
    if (!next) return;
    fclose(next->file);
    free(next->answers);
    free(next);
}

const uint64_t *next_use_block(NextUse *next, uint64_t block, Diag *diag) {
    uint64_t first = l1d_reader_first(next->reader, block);
    size_t count = (size_t)(l1d_reader_first(next->reader, block + 1) - first);
    if (!fseeko(next->file, (off_t)(first * sizeof *next->answers), SEEK_SET) &&
        fread(next->answers, sizeof *next->answers, count, next->file) == count)
        return next->answers;
    diag_error(diag, NULL, 0, 0, "the temporary file of Belady's policy cannot be read");
    return NULL;
}
