/* Images of one or more PTX texts. Several texts are packed as: magic, u32 number, then for each
 * its name and its text, both as u64 length, bytes and a NUL. */
#include "driver/module/image.h"

#include <elf.h>
#include <string.h>

#include "driver/module/fatbin.h"
#include "sass/cubin.h"
#include "sass/fatbin_entries.h"

static const char pack_magic[8] = "\x7fTYTO\r\n"; /* no PTX text begins like this */

enum { TEXTS_MAX = 65536 }; /* most texts of an image, to reject absurd numbers */

/* The unread part of an image. */
typedef struct Rest {
    const char *at;
    size_t size; /* bytes; IMAGE_UNBOUNDED if unknown */
} Rest;

/* The next `size` bytes; NULL if there are not as many. */
static const char *take(Rest *rest, uint64_t size) {
    const char *bytes = rest->at;
    if (size > rest->size || size > FATBIN_TEXT_MAX) return NULL;
    rest->at += size;
    if (rest->size != IMAGE_UNBOUNDED) rest->size -= size;
    return bytes;
}

/* Reads a text with its length before it and a NUL after it; NULL if it is invalid. */
static const char *take_text(Rest *rest, size_t *length) {
    uint64_t stored;
    const char *bytes = take(rest, sizeof stored);
    if (!bytes) return NULL;
    memcpy(&stored, bytes, sizeof stored);
    const char *text = take(rest, stored), *nul = text ? take(rest, 1) : NULL;
    *length = (size_t)stored;
    return nul && !*nul && strlen(text) == stored ? text : NULL;
}

static CUresult open_pack(Rest rest, const char *name, Arena *arena, GpuImage **texts, int *count,
                          Diag *diag) {
    uint32_t stored = 0;
    const char *number = take(&rest, sizeof pack_magic) ? take(&rest, sizeof stored) : NULL;
    if (number) memcpy(&stored, number, sizeof stored);
    *texts = ARENA_ARRAY(arena, GpuImage, stored && stored <= TEXTS_MAX ? stored : 1);
    bool is_whole = stored && stored <= TEXTS_MAX;
    for (uint32_t i = 0; i < stored && is_whole; i++) {
        size_t name_length;
        GpuImage *text = &(*texts)[i];
        text->name = take_text(&rest, &name_length);
        text->text = text->name ? take_text(&rest, &text->length) : NULL;
        is_whole = text->text != NULL;
    }
    *count = (int)stored;
    if (is_whole) return CUDA_SUCCESS;
    diag_error(diag, name, 0, 0, "this is not a complete image of cuLinkComplete");
    return CUDA_ERROR_INVALID_IMAGE;
}

/* Bytes of a cubin, which ends with its table of sections or segments; 0 if it is not a cubin or is
 * damaged. */
static size_t cubin_size(const char *bytes, size_t size) {
    Elf64_Ehdr header;
    static const char start[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    /* no byte of the magic is NUL, which ends shorter texts */
    if (size < sizeof header || strncmp(bytes, start, sizeof start) != 0) return 0;
    memcpy(&header, bytes, sizeof header);
    if (!cubin_is(bytes, sizeof header)) return 0;
    const uint64_t sections = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
    const uint64_t segments = header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize;
    const uint64_t end = sections > segments ? sections : segments;
    return end < header.e_shoff || end > FATBIN_TEXT_MAX || end > size ? 0 : (size_t)end;
}

CUresult image_open(const void *image, size_t size, const char *name, const ImageTarget *target,
                    Arena *arena, GpuImage **texts, int *count, Diag *diag) {
    const char *bytes = image;
    /* every text ends with a NUL, so short ones are never read past their end */
    if (strncmp(bytes, pack_magic, sizeof pack_magic - 1) == 0)
        return open_pack((Rest){bytes, size}, name, arena, texts, count, diag);
    if (fatbin_is(image)) return fatbin_open(image, size, name, target, arena, texts, count, diag);
    const size_t machine_bytes = cubin_size(bytes, size);
    if (machine_bytes) {
        *texts = ARENA_NEW(arena, GpuImage);
        **texts = (GpuImage){name, bytes, machine_bytes};
        *count = 1;
        return CUDA_SUCCESS;
    }
    if (strncmp(bytes, ELFMAG, SELFMAG) == 0) {
        diag_error(diag, name, 0, 0, "this is not a complete file of machine code (a cubin)");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *texts = ARENA_NEW(arena, GpuImage);
    **texts = (GpuImage){name, bytes, size == IMAGE_UNBOUNDED ? strlen(bytes) : size};
    *count = 1;
    return CUDA_SUCCESS;
}

static void put_text(Text *out, const char *text, size_t length) {
    uint64_t stored = length;
    text_add_bytes(out, &stored, sizeof stored);
    text_add_bytes(out, text, length);
    text_add_bytes(out, "", 1);
}

void image_write(const GpuImage *texts, int count, Text *out) {
    if (count == 1) {
        text_add_bytes(out, texts[0].text, texts[0].length);
        text_add_bytes(out, "", 1);
        return;
    }
    uint32_t stored = (uint32_t)count;
    text_add_bytes(out, pack_magic, sizeof pack_magic);
    text_add_bytes(out, &stored, sizeof stored);
    for (int i = 0; i < count; i++) {
        put_text(out, texts[i].name, strlen(texts[i].name));
        put_text(out, texts[i].text, texts[i].length);
    }
}
