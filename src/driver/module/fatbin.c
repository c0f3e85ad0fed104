/* Reads fat binaries. Left out: machine code, and compressed entries of other kinds than zstd
 * frames and LZ4 blocks. */
#include "driver/module/fatbin.h"

#include <lz4.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "driver/module/fatbin_format.h"
#include "driver/module/image.h"

enum {
    OBJECTS_MAX = 65536, /* linked into one program, against endless lists */
    /* A text is at most so many times as long as what it was compressed to: a byte of an LZ4 block
     * stands for 255 at most; four of a zstd frame, a block of one byte repeated, for 128 KiB. */
    LZ4_GROWTH = 255,
    ZSTD_GROWTH = 1 << 15,
};
/* Bytes of one binary that a program hands over, whose size only it can tell: against absurd sizes.
 */
static const uint64_t binary_max = UINT64_C(1) << 32;

bool fatbin_is(const void *image) {
    static const uint32_t magics[] = {FATBIN_WRAPPER_MAGIC, FATBIN_MAGIC};
    /* neither holds a NUL, which ends texts that are shorter */
    return strncmp(image, (const char *)&magics[0], sizeof magics[0]) == 0 ||
           strncmp(image, (const char *)&magics[1], sizeof magics[1]) == 0;
}

/* ---- Payloads ---- */

/* Whether the sizes of a compressed text can be right. */
static bool is_plausible(const FatbinEntry *entry) {
    uint64_t growth = entry->flags & FATBIN_FLAG_ZSTD ? ZSTD_GROWTH : LZ4_GROWTH;
    return entry->compressed_bytes <= entry->payload_bytes &&
           entry->compressed_bytes <= INT32_MAX && entry->text_bytes <= FATBIN_TEXT_MAX &&
           entry->text_bytes <= growth * entry->compressed_bytes;
}

/* The text of an entry; false when its sizes or its bytes make no sense. */
static bool read_text(const FatbinEntry *entry, const char *payload, Arena *arena, GpuImage *text) {
    if (!(entry->flags & (FATBIN_FLAG_LZ4 | FATBIN_FLAG_ZSTD))) {
        text->text = payload;
        text->length = strnlen(payload, entry->payload_bytes);
        return true;
    }
    if (!is_plausible(entry)) return false;
    size_t size = (size_t)entry->text_bytes, written = 0;
    char *bytes = arena_alloc(arena, size + 1);
    if (entry->flags & FATBIN_FLAG_ZSTD) {
        written = ZSTD_decompress(bytes, size, payload, entry->compressed_bytes);
    } else {
        int count = LZ4_decompress_safe(payload, bytes, (int)entry->compressed_bytes, (int)size);
        written = count < 0 ? SIZE_MAX : (size_t)count;
    }
    text->text = bytes;
    text->length = strnlen(bytes, size);
    return written == size;
}

/* ---- Choosing among entries ---- */

/* Whether PTX for `architecture` suits `device` better than PTX for `than` (0: there is none). */
static bool is_better(uint32_t architecture, uint32_t than, uint32_t device) {
    bool fits = architecture <= device, than_fits = than <= device;
    if (!than || fits != than_fits) return !than || fits;
    return fits ? architecture > than : architecture < than;
}

/* What one fat binary holds. */
typedef struct Contents {
    FatbinEntry best;    /* PTX entry to take, all 0 when there is none */
    const char *payload; /* of `best` */
    const char *name;    /* of best.name_bytes; NULL: it has none */
    uint32_t machine;    /* an architecture with machine code, 0: none */
} Contents;

/* The name in the header of one of Tyto's own entries. */
static const char *name_of(const FatbinEntry *entry, const char *at) {
    bool has_name = entry->flags & FATBIN_FLAG_NAMED && entry->name_offset &&
                    entry->name_offset <= entry->header_bytes &&
                    entry->name_bytes <= entry->header_bytes - entry->name_offset;
    return has_name ? at + entry->name_offset : NULL;
}

/* Reads nothing past `size` bytes. */
static bool read_entries(const char *binary, uint64_t size, uint32_t device, Contents *contents) {
    FatbinHeader header;
    *contents = (Contents){0};
    if (size < sizeof header) return false;
    memcpy(&header, binary, sizeof header);
    if (header.magic != FATBIN_MAGIC || header.header_bytes < sizeof header ||
        header.header_bytes > size || header.size > size - header.header_bytes)
        return false;
    const char *at = binary + header.header_bytes;
    uint64_t left = header.size;
    while (left) {
        FatbinEntry entry;
        if (left < sizeof entry) return false;
        memcpy(&entry, at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
            entry.payload_bytes > left - entry.header_bytes)
            return false;
        if (entry.kind != FATBIN_KIND_PTX) {
            contents->machine = entry.architecture;
        } else if (is_better(entry.architecture, contents->best.architecture, device)) {
            contents->best = entry;
            contents->payload = at + entry.header_bytes;
            contents->name = name_of(&entry, at);
        }
        uint64_t step = entry.header_bytes + entry.payload_bytes;
        at += step;
        left -= step;
    }
    return true;
}

/* ---- Whole images ---- */

static CUresult say_no_ptx(uint32_t machine, const char *name, Diag *diag) {
    if (machine)
        diag_error(diag, "tyto", 0, 0,
                   "the program holds machine code for sm_%u and no PTX, which is what Tyto runs; "
                   "build it with nvcc -gencode arch=compute_%u,code=compute_%u",
                   machine, machine, machine);
    else diag_error(diag, name, 0, 0, "the fat binary is empty");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult say_damaged(const char *name, Diag *diag) {
    diag_error(diag, name, 0, 0, "the fat binary is damaged, or of a form that Tyto does not know");
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult fatbin_open(const void *image, size_t size, const char *name, uint32_t architecture,
                     Arena *arena, GpuImage **texts, int *count, Diag *diag) {
    FatbinWrapper wrapper;
    const void *single[] = {image, NULL}, *const *binaries = single;
    static const uint32_t wrapper_magic = FATBIN_WRAPPER_MAGIC;
    if (memcmp(image, &wrapper_magic, sizeof wrapper_magic) == 0) {
        /* it holds addresses, which mean nothing in a file */
        if (size != IMAGE_UNBOUNDED) return say_damaged(name, diag);
        memcpy(&wrapper, image, sizeof wrapper);
        single[0] = wrapper.binary;
        if (wrapper.version == FATBIN_WRAPPER_LINKED) binaries = wrapper.objects;
    }
    uint64_t most = size == IMAGE_UNBOUNDED ? binary_max : size; /* bytes of each binary */
    int total = 0;
    while (binaries && binaries[total] && total < OBJECTS_MAX)
        total++;
    *texts = ARENA_ARRAY(arena, GpuImage, total + 1);
    *count = 0;
    uint32_t machine = 0;
    for (int i = 0; i < total; i++) {
        Contents contents;
        if (!read_entries(binaries[i], most, architecture, &contents))
            return say_damaged(name, diag);
        if (contents.machine) machine = contents.machine;
        if (!contents.best.kind) continue;
        GpuImage *text = &(*texts)[*count];
        text->name =
            contents.name ? arena_strndup(arena, contents.name, contents.best.name_bytes) : name;
        if (!read_text(&contents.best, contents.payload, arena, text))
            return say_damaged(name, diag);
        *count += 1;
    }
    return *count ? CUDA_SUCCESS : say_no_ptx(machine, name, diag);
}
