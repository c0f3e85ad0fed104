/* Reads fat binaries: chooses the PTX text or the cubin to run. */
#include "driver/module/fatbin.h"

#include <stdint.h>
#include <string.h>

#include "driver/module/image.h"
#include "sass/cubin.h"
#include "sass/fatbin_entries.h"

enum { OBJECTS_MAX = 65536 }; /* linked into one program, against endless lists */
/* Bytes of one binary that a program hands over, whose size only it can tell: against absurd sizes.
 */
static const uint64_t binary_max = UINT64_C(1) << 32;

bool fatbin_is(const void *image) {
    static const uint32_t magics[] = {FATBIN_WRAPPER_MAGIC, FATBIN_MAGIC};
    /* neither holds a NUL, which ends texts that are shorter */
    return strncmp(image, (const char *)&magics[0], sizeof magics[0]) == 0 ||
           strncmp(image, (const char *)&magics[1], sizeof magics[1]) == 0;
}

/* ---- Choosing among entries ---- */

/* Whether PTX for `architecture` suits `device` better than PTX for `than` (0: there is none). */
static bool is_better(uint32_t architecture, uint32_t than, uint32_t device) {
    bool fits = architecture <= device, than_fits = than <= device;
    if (!than || fits != than_fits) return !than || fits;
    return fits ? architecture > than : architecture < than;
}

/* Whether a device runs machine code for `architecture`. */
static bool runs_on(uint32_t architecture, uint32_t device) {
    return architecture / 10 == device / 10 && architecture <= device;
}

/* What one fat binary holds. */
typedef struct Contents {
    FatbinItem best;  /* PTX entry to take, all 0 when there is none */
    FatbinItem cubin; /* the same of machine code that the device runs */
    uint32_t machine; /* an architecture with machine code, 0: none */
} Contents;

/* Reads nothing past `size` bytes. */
static bool read_entries(const char *binary, uint64_t size, uint32_t device, Contents *contents) {
    FatbinReader reader;
    FatbinItem item;
    FatbinNext next;
    *contents = (Contents){0};
    if (!fatbin_begin(binary, size, &reader, NULL)) return false;
    while ((next = fatbin_next(&reader, &item)) == FATBIN_ITEM) {
        uint32_t architecture = item.entry.architecture;
        if (item.entry.kind != FATBIN_KIND_PTX) {
            contents->machine = architecture;
            if (runs_on(architecture, device) && architecture > contents->cubin.entry.architecture)
                contents->cubin = item;
        } else if (is_better(architecture, contents->best.entry.architecture, device)) {
            contents->best = item;
        }
    }
    return next == FATBIN_END;
}

/* The content of an entry; false when its sizes or its bytes make no sense. */
static bool read_text(const FatbinItem *item, Arena *arena, GpuImage *text) {
    size_t size;
    text->text = fatbin_unpack(item, arena, &size);
    const bool is_text = item->entry.kind == FATBIN_KIND_PTX;
    text->length = !text->text ? 0 : is_text ? strnlen(text->text, size) : size;
    return text->text != NULL;
}

/* ---- Whole images ---- */

static CUresult say_no_ptx(uint32_t machine, uint32_t device, const char *name, Diag *diag) {
    if (machine)
        diag_error(
            diag, "tyto", 0, 0,
            "the program holds machine code for sm_%u, which the device (sm_%u) does not run, and "
            "no PTX; choose another device with --compute-capability, or build the program with "
            "nvcc -gencode arch=compute_%u,code=compute_%u",
            machine, device, machine, machine);
    else diag_error(diag, name, 0, 0, "the fat binary is empty");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult say_damaged(const char *name, Diag *diag) {
    diag_error(diag, name, 0, 0, "the fat binary is damaged, or of a form that Tyto does not know");
    return CUDA_ERROR_INVALID_IMAGE;
}

CUresult fatbin_open(const void *image, size_t size, const char *name, const ImageTarget *target,
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
        if (!read_entries(binaries[i], most, target->architecture, &contents))
            return say_damaged(name, diag);
        if (contents.machine) machine = contents.machine;
        const bool has_ptx = contents.best.entry.kind, has_cubin = contents.cubin.entry.kind;
        const bool takes_cubin = has_cubin && total == 1 && (target->prefers_machine || !has_ptx);
        const FatbinItem *best = takes_cubin ? &contents.cubin : &contents.best;
        if (!best->entry.kind) continue;
        GpuImage *text = &(*texts)[*count];
        text->name = best->name ? arena_strndup(arena, best->name, best->entry.name_bytes) : name;
        if (!read_text(best, arena, text)) return say_damaged(name, diag);
        if (takes_cubin && !cubin_is(text->text, text->length)) { /* what else is in there? */
            if (!has_ptx) continue;
            if (!read_text(&contents.best, arena, text)) return say_damaged(name, diag);
        }
        *count += 1;
    }
    return *count ? CUDA_SUCCESS : say_no_ptx(machine, target->architecture, name, diag);
}
