/* Images of one or several PTX texts. Several are packed as: magic, u32 number, then for each its
 * name and its text, each as u64 length, bytes and a NUL. */
#include "driver/image.h"

#include <string.h>

#include "driver/fatbin.h"

static const char pack_magic[8] = "\x7fTYTO\r\n"; /* no PTX text begins so */

/* Kinds of images that are not PTX, by their first bytes. */
static const struct {
    uint32_t magic;
    const char *what;
} binaries[] = {
    {0x464c457f, "a cubin (machine code)"},
};

static const char *take_text(const char **at, size_t *length) {
    uint64_t stored;
    memcpy(&stored, *at, sizeof stored);
    const char *text = *at + sizeof stored;
    *at = text + stored + 1;
    *length = (size_t)stored;
    return text;
}

static GpuImage *open_pack(const char *at, Arena *arena, int *count) {
    uint32_t stored;
    memcpy(&stored, at + sizeof pack_magic, sizeof stored);
    at += sizeof pack_magic + sizeof stored;
    GpuImage *texts = ARENA_ARRAY(arena, GpuImage, stored);
    for (uint32_t i = 0; i < stored; i++) {
        size_t name_length;
        texts[i].name = take_text(&at, &name_length);
        texts[i].text = take_text(&at, &texts[i].length);
    }
    *count = (int)stored;
    return texts;
}

CUresult image_open(const void *image, const char *name, Arena *arena, GpuImage **texts, int *count,
                    Diag *diag) {
    const char *bytes = image;
    /* a NUL ends every text, so that short ones are never read past their end */
    if (strncmp(bytes, pack_magic, sizeof pack_magic - 1) == 0) {
        *texts = open_pack(bytes, arena, count);
        return CUDA_SUCCESS;
    }
    if (fatbin_is(image)) return fatbin_open(image, name, arena, texts, count, diag);
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        if (strncmp(bytes, (const char *)&binaries[i].magic, 4) != 0) continue;
        diag_error(diag, name, 0, 0, "this is %s; Tyto runs PTX text", binaries[i].what);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    *texts = ARENA_NEW(arena, GpuImage);
    **texts = (GpuImage){name, bytes, strlen(bytes)};
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
