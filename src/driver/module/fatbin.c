/* Reads fat binaries: selects the PTX text or the cubin to run. */
#include "driver/module/fatbin.h"

#include <stdint.h>
#include <string.h>

#include "driver/module/image.h"
#include "isa/sass/code.h"
#include "sass/cubin.h"
#include "sass/fatbin_entries.h"

enum { OBJECTS_MAX = 65536 }; /* most objects of a program, to stop at endless lists */
/* Most bytes of a binary in memory, whose size only the binary itself states, to reject absurd
 * sizes. */
static const uint64_t binary_max = UINT64_C(1) << 32;

bool fatbin_is(const void *image) {
    static const uint32_t magics[] = {FATBIN_WRAPPER_MAGIC, FATBIN_MAGIC};
    /* neither magic contains a NUL, which ends shorter texts */
    return strncmp(image, (const char *)&magics[0], sizeof magics[0]) == 0 ||
           strncmp(image, (const char *)&magics[1], sizeof magics[1]) == 0;
}

/* ---- Selecting an entry ---- */

/* Whether an entry is only for its own architecture (sm_90a). */
static bool is_specific(const FatbinEntry *entry) { return entry->flags & FATBIN_FLAG_SPECIFIC; }

/* Whether a device accepts the PTX. */
static bool takes(const FatbinEntry *entry, uint32_t device) {
    return is_specific(entry) ? entry->architecture == device : entry->architecture <= device;
}

/* Whether PTX suits `device` better than other PTX (kind 0: none yet). PTX for this architecture
 * only is preferred, because it may use more of it. */
static bool is_better(const FatbinEntry *entry, const FatbinEntry *than, uint32_t device) {
    const bool fits = takes(entry, device), than_fits = takes(than, device);
    if (!than->kind || fits != than_fits) return !than->kind || fits;
    if (entry->architecture == than->architecture) return is_specific(entry) && !is_specific(than);
    return fits ? entry->architecture > than->architecture
                : entry->architecture < than->architecture;
}

/* Whether a device runs machine code, and Tyto executes it. */
static bool runs_on(const FatbinEntry *entry, uint32_t device) {
    return takes(entry, device) && entry->architecture / 10 == device / 10 &&
           isa_sass_runs(entry->architecture);
}

/* The contents of one fat binary. */
typedef struct Contents {
    FatbinItem best;  /* the best PTX entry; all 0 if there is none */
    FatbinItem cubin; /* the best entry of machine code that the device runs; likewise */
    uint32_t machine; /* an architecture that has machine code; 0: none */
} Contents;

/* Reads the entries of a binary of at most `size` bytes; returns false if it is damaged. */
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
            if (runs_on(&item.entry, device) &&
                is_better(&item.entry, &contents->cubin.entry, device))
                contents->cubin = item;
        } else if (is_better(&item.entry, &contents->best.entry, device)) {
            contents->best = item;
        }
    }
    return next == FATBIN_END;
}

/* Reads the content of an entry; returns false if its sizes or bytes are invalid. */
static bool read_text(const FatbinItem *item, Arena *arena, GpuImage *text) {
    size_t size;
    text->text = fatbin_unpack(item, arena, &size);
    const bool is_text = item->entry.kind == FATBIN_KIND_PTX;
    text->length = !text->text ? 0 : is_text ? strnlen(text->text, size) : size;
    return text->text != NULL;
}

/* ---- Whole images ---- */

static CUresult say_no_ptx(uint32_t machine, uint32_t device, const char *name, Diag *diag) {
    if (machine && !isa_sass_runs(machine))
        diag_error(diag, "tyto", 0, 0,
                   "the program holds machine code for sm_%u, which Tyto does not execute, and no "
                   "PTX; build it with nvcc -gencode arch=compute_%u,code=compute_%u",
                   machine, machine, machine);
    else if (machine)
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

/* The parts of an image from a program. */
typedef struct Given {
    const void *single[2];
    const void *const *objects; /* fat binaries, terminated by NULL; NULL: none */
    int count;                  /* number of objects */
    const void *linked;         /* binary with nvlink's machine code of all; NULL: none */
    uint64_t most;              /* most bytes of each binary */
} Given;

/* Finds the parts of an image; returns false if it is damaged. */
static bool take_apart(const void *image, size_t size, Given *given) {
    static const uint32_t wrapper_magic = FATBIN_WRAPPER_MAGIC;
    FatbinWrapper wrapper;
    *given = (Given){.single = {image}, .most = size == IMAGE_UNBOUNDED ? binary_max : size};
    given->objects = given->single;
    if (memcmp(image, &wrapper_magic, sizeof wrapper_magic) == 0) {
        if (size != IMAGE_UNBOUNDED) return false; /* addresses are meaningless in a file */
        memcpy(&wrapper, image, sizeof wrapper);
        given->single[0] = wrapper.binary;
        if (wrapper.version == FATBIN_WRAPPER_LINKED) {
            given->objects = wrapper.objects;
            given->linked = wrapper.binary;
        }
    }
    while (given->objects && given->objects[given->count] && given->count < OBJECTS_MAX)
        given->count++;
    return true;
}

/* What is selected from the image. */
typedef struct Chosen {
    GpuImage *texts;
    int count;
    uint32_t machine;  /* an architecture that has machine code; 0: none */
    bool lacks_ptx;    /* one of the objects lacks PTX */
    const char *lacks; /* a function of the driver that machine code calls, and Tyto does not have
                        * for it; NULL: none */
    const char *name;  /* name of the whole image, for messages */
    Arena *arena;
} Chosen;

/* Adds the content of an entry; returns false if it is damaged. */
static bool add_text(const FatbinItem *item, Chosen *chosen) {
    GpuImage *text = &chosen->texts[chosen->count];
    text->name = item->name ? arena_strndup(chosen->arena, item->name, item->entry.name_bytes)
                            : chosen->name;
    if (!read_text(item, chosen->arena, text)) return false;
    chosen->count++;
    return true;
}

/* Adds machine code, unless its form is unknown or it needs what Tyto does not have; returns false
 * if the entry is damaged. */
static bool add_cubin(const FatbinItem *item, Chosen *chosen) {
    if (!add_text(item, chosen)) return false;
    const GpuImage *cubin = &chosen->texts[chosen->count - 1];
    const bool is_known = cubin_is(cubin->text, cubin->length);
    if (is_known) chosen->lacks = isa_sass_lacks(cubin->text, cubin->length, chosen->arena);
    if (!is_known || chosen->lacks) chosen->count--;
    return true;
}

static CUresult say_lacks(const Chosen *chosen, Diag *diag) {
    diag_error(diag, chosen->name, 0, 0,
               "the machine code calls %s, which Tyto only has for PTX, and the program does not "
               "hold all its PTX; build it with nvcc -gencode arch=compute_N,code=compute_N",
               chosen->lacks);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Adds the machine code that the linker made, if the target runs it; returns false if it is
 * damaged. */
static bool add_linked(const Given *given, const ImageTarget *target, Chosen *chosen) {
    Contents contents;
    if (!given->linked ||
        !read_entries(given->linked, given->most, target->architecture, &contents))
        return true;
    return !contents.cubin.entry.kind || add_cubin(&contents.cubin, chosen);
}

/* Adds the text or the machine code of one fat binary; returns false if it is damaged. */
static bool add_object(const Given *given, int i, const ImageTarget *target, Chosen *chosen) {
    Contents contents;
    if (!read_entries(given->objects[i], given->most, target->architecture, &contents))
        return false;
    if (contents.machine) chosen->machine = contents.machine;
    const bool has_ptx = contents.best.entry.kind;
    const bool is_alone = given->count == 1 && !given->linked;
    chosen->lacks_ptx |= !has_ptx;
    if (contents.cubin.entry.kind && is_alone && (target->prefers_machine || !has_ptx)) {
        if (!add_cubin(&contents.cubin, chosen)) return false;
        if (chosen->count) return true;
    }
    return !has_ptx || add_text(&contents.best, chosen);
}

CUresult fatbin_open(const void *image, size_t size, const char *name, const ImageTarget *target,
                     Arena *arena, GpuImage **texts, int *count, Diag *diag) {
    Given given;
    if (!take_apart(image, size, &given)) return say_damaged(name, diag);
    Chosen chosen = {
        .texts = ARENA_ARRAY(arena, GpuImage, given.count + 1), .name = name, .arena = arena};
    bool is_whole = !target->prefers_machine || add_linked(&given, target, &chosen);
    const bool has_linked = chosen.count != 0;
    for (int i = 0; is_whole && !has_linked && i < given.count; i++)
        is_whole = add_object(&given, i, target, &chosen);
    if (is_whole && chosen.lacks_ptx && given.linked) {
        const int before = chosen.count;
        is_whole = add_linked(&given, target, &chosen);
        if (chosen.count > before) {
            chosen.texts[0] = chosen.texts[before];
            chosen.count = 1;
        }
    }
    if (!is_whole) return say_damaged(name, diag);
    if (chosen.lacks && (chosen.lacks_ptx || !chosen.count)) return say_lacks(&chosen, diag);
    *texts = chosen.texts;
    *count = chosen.count;
    return chosen.count ? CUDA_SUCCESS
                        : say_no_ptx(chosen.machine, target->architecture, name, diag);
}
