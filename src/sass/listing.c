/* Prints a file's machine code: chooses the cubins and functions, and passes their parts to a
 * writer. Errors list the names or architectures that exist. */
#include "sass/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "sass/code_file.h"
#include "sass/listing_internal.h"

enum { FIRST_ARCHITECTURE = 70 }; /* the first with 128-bit instructions */

/* The state of a listing. */
typedef struct Listing {
    const ListingOptions *options;
    ListingWriter writer;
    ListingCounts *counts;
    CodeFile file;
    Diag *diag;
    uint32_t functions; /* listed so far */
    bool was_chosen;    /* there was a cubin for the requested architecture */
    char **names;       /* names of other functions than the requested one; owned */
    int name_count, name_capacity;
} Listing;

/* ---- Choosing functions ---- */

/* Whether `wanted` is the name in the machine code, in the source, or in the source without its
 * arguments. */
static bool is_called(const char *name, const char *wanted) {
    if (strcmp(name, wanted) == 0) return true;
    Text text = {0};
    demangle(name, &text);
    bool is_it = strcmp(text_string(&text), wanted) == 0;
    text_clear(&text);
    demangle_short(name, &text);
    is_it |= strcmp(text_string(&text), wanted) == 0;
    text_free(&text);
    return is_it;
}

enum { NAMES_MAX = 4096 }; /* limit of names that are searched for the most similar one */

static void keep_name(Listing *listing, const char *name) {
    if (listing->name_count >= NAMES_MAX) return;
    if (listing->name_count == listing->name_capacity) {
        listing->name_capacity = listing->name_capacity ? listing->name_capacity * 2 : 16;
        listing->names =
            base_realloc(listing->names, (size_t)listing->name_capacity * sizeof *listing->names);
    }
    Text text = {0};
    demangle_short(name, &text);
    text_add(&text, "");
    listing->names[listing->name_count++] = strdup(text_string(&text));
    text_free(&text);
}

/* Chooses the functions of a section: all, or the requested one. */
static bool choose(Listing *listing, const CubinFunction **first, uint32_t *count) {
    const char *wanted = listing->options->function;
    for (uint32_t i = 0; wanted && i < *count; i++) {
        if (!is_called((*first)[i].name, wanted)) {
            keep_name(listing, (*first)[i].name);
            continue;
        }
        *first += i;
        *count = i ? 1 : *count; /* a kernel with the functions after it */
        return true;
    }
    return !wanted;
}

/* ---- Cubins ---- */

/* Passes the text to the caller once it is longer than `least`. */
static void flush(Listing *listing, size_t least) {
    Text *text = &listing->writer.text;
    if (text->length <= least) return;
    listing->options->write(listing->options->context, text->bytes, text->length);
    text_clear(text);
}

static void list_block(Listing *listing, const ListingBlock *block) {
    enum { PIECE = 1 << 16 };
    ListingWriter *writer = &listing->writer;
    writer->begin_block(writer, block);
    for (uint64_t offset = block->start; offset < block->end; offset += SASS_INST_BYTES) {
        ListingInst inst;
        listing_decode(block, offset, &inst);
        listing->counts->instructions++;
        listing->counts->unknown += !inst.is_known;
        writer->instruction(writer, block, &inst);
        flush(listing, PIECE);
    }
    writer->end_block(writer, block);
    listing->functions++;
}

static uint32_t count_in_section(const Cubin *cubin, uint32_t first) {
    uint32_t i = first;
    while (i < cubin->function_count &&
           cubin->functions[i].code_section == cubin->functions[first].code_section)
        i++;
    return i - first;
}

static void list_cubin(Listing *listing, const Cubin *cubin, Arena *arena) {
    ListingCubin of = {.cubin = cubin};
    ListingWriter *writer = &listing->writer;
    bool is_begun = false;      /* (a cubin without a listed function is not named) */
    Diag *ignored = diag_new(); /* damaged line tables count as absent */
    cubin_read_lines(cubin, false, arena, &of.lines, ignored);
    diag_free(ignored);
    for (uint32_t i = 0; i < cubin->function_count;) {
        const CubinFunction *first = &cubin->functions[i];
        uint32_t count = count_in_section(cubin, i);
        i += count;
        if (!choose(listing, &first, &count)) continue;
        if (!is_begun) writer->begin_cubin(writer, cubin);
        is_begun = true;
        ListingBlock block = listing_block(&of, first, count, arena);
        list_block(listing, &block);
    }
    if (is_begun) writer->end_cubin(writer);
}

/* One image; returns false after a message if it is damaged. */
static bool list_image(Listing *listing, const CodeImage *image) {
    unsigned wanted = listing->options->architecture;
    if (!image->is_cubin || (wanted && image->architecture != wanted)) return true;
    listing->was_chosen = true;
    Arena *arena = arena_new();
    size_t size = 0;
    const void *bytes = code_image_open(image, arena, &size);
    const Cubin *cubin =
        bytes ? cubin_open(bytes, size, listing->options->file, arena, listing->diag) : NULL;
    if (!bytes)
        diag_error(listing->diag, listing->options->file, 0, 0,
                   "the machine code for sm_%u is damaged, or compressed in a way that Tyto does "
                   "not know",
                   image->architecture);
    else if (cubin && cubin->architecture < FIRST_ARCHITECTURE)
        diag_warning(listing->diag, listing->options->file, 0, 0,
                     "machine code for sm_%u is left out: Tyto knows that of sm_70 and later",
                     cubin->architecture);
    else if (cubin) list_cubin(listing, cubin, arena);
    arena_free(arena);
    return cubin != NULL;
}

/* ---- Available architectures and functions ---- */

/* The architectures of the cubins (of the PTX texts) of a file: "sm_75, sm_80"; "" for none. */
static void put_architectures(Text *out, const CodeFile *file, bool of_cubins) {
    bool has[1024] = {false};
    for (uint32_t i = 0; i < file->count; i++) {
        unsigned architecture = file->images[i].architecture;
        if (file->images[i].is_cubin == of_cubins && architecture < 1024) has[architecture] = true;
    }
    for (unsigned i = 0; i < 1024; i++) {
        if (has[i])
            text_printf(out, "%s%s%u", out->length ? ", " : "", of_cubins ? "sm_" : "compute_", i);
    }
}

static void say_no_code(const Listing *listing) {
    Text cubins = {0}, texts = {0};
    const ListingOptions *options = listing->options;
    put_architectures(&cubins, &listing->file, true);
    put_architectures(&texts, &listing->file, false);
    const char *joint = cubins.length && texts.length ? " and " : "";
    if (cubins.length)
        diag_error(listing->diag, options->file, 0, 0,
                   "no machine code for sm_%u; there is for %s%s%s%s", options->architecture,
                   text_string(&cubins), joint, texts.length ? "PTX for " : "",
                   text_string(&texts));
    else if (texts.length)
        diag_error(listing->diag, options->file, 0, 0,
                   "no machine code, but PTX for %s; nvcc -arch=sm_90 makes machine code",
                   text_string(&texts));
    else diag_error(listing->diag, options->file, 0, 0, "no machine code of a GPU");
    text_free(&cubins);
    text_free(&texts);
}

static void say_no_function(const Listing *listing) {
    const char *wanted = listing->options->function;
    const char *nearest =
        diag_nearest(wanted, (const char *const *)listing->names, listing->name_count);
    if (nearest)
        diag_error(listing->diag, listing->options->file, 0, 0,
                   "there is no function %s; did you mean '%s'?", wanted, nearest);
    else
        diag_error(listing->diag, listing->options->file, 0, 0, "there is no function %s among %d",
                   wanted, listing->name_count);
}

/* ---- The whole listing ---- */

static ListingStatus list_images(Listing *listing) {
    ListingWriter *writer = &listing->writer;
    writer->begin_file(writer);
    for (uint32_t i = 0; i < listing->file.count; i++) {
        if (!list_image(listing, &listing->file.images[i])) return LISTING_BAD_FILE;
    }
    writer->end_file(writer);
    if (!listing->was_chosen) {
        say_no_code(listing);
        return listing->options->architecture ? LISTING_BAD_CHOICE : LISTING_BAD_FILE;
    }
    if (listing->options->function && !listing->functions) {
        say_no_function(listing);
        return LISTING_BAD_CHOICE;
    }
    flush(listing, 0);
    return LISTING_DONE;
}

ListingStatus listing_write(const void *bytes, size_t size, const ListingOptions *options,
                            ListingCounts *counts, Diag *diag) {
    Arena *arena = arena_new();
    Listing listing = {.options = options,
                       .writer = options->is_json ? listing_json_writer : listing_text_writer,
                       .counts = counts,
                       .diag = diag};
    ListingStatus status = LISTING_BAD_FILE;
    *counts = (ListingCounts){0};
    listing.writer.options = options;
    listing.writer.counts = counts;
    if (code_file_read(bytes, size, options->file, arena, &listing.file, diag))
        status = list_images(&listing);
    for (int i = 0; i < listing.name_count; i++)
        free(listing.names[i]);
    free(listing.names);
    text_free(&listing.writer.text);
    arena_free(arena);
    return status;
}
