/* What the parts of a listing share. */
#ifndef TYTO_SASS_LISTING_INTERNAL_H
#define TYTO_SASS_LISTING_INTERNAL_H

#include "base/arena.h"
#include "base/text.h"
#include "sass/cubin.h"
#include "sass/listing.h"
#include "sass/sass.h"

enum { LISTING_NO_LABEL = -1 };

/* The next label number, which continues through all of a cubin. */
typedef struct ListingCubin {
    const Cubin *cubin;
    CubinLineTable lines;
    int32_t next_label;
} ListingCubin;

/* Code that is listed together: a function with those after it in its section. */
typedef struct ListingBlock {
    const Cubin *cubin;
    const CubinLineTable *lines;
    const CubinSection *section;
    const CubinFunction *first; /* of `count`, by increasing offset */
    uint32_t count;
    uint64_t start, end;   /* byte offsets in the section, of whole instructions */
    const int32_t *labels; /* by instruction from `start` on; LISTING_NO_LABEL: none */
} ListingBlock;

/* One instruction of a block. */
typedef struct ListingInst {
    SassInst inst;
    bool is_known;
    uint64_t offset;                   /* bytes, in the section */
    uint64_t target;                   /* byte offset of its branch target, if has_target */
    bool has_target;                   /* inside the section */
    const CubinRelocation *relocation; /* its relocation; or NULL */
} ListingInst;

/* Writes the parts of a document. Its functions are called in this order. */
typedef struct ListingWriter {
    void (*begin_file)(struct ListingWriter *writer);
    void (*begin_cubin)(struct ListingWriter *writer, const Cubin *cubin);
    void (*begin_block)(struct ListingWriter *writer, const ListingBlock *block);
    void (*instruction)(struct ListingWriter *writer, const ListingBlock *block,
                        const ListingInst *inst);
    void (*end_block)(struct ListingWriter *writer, const ListingBlock *block);
    void (*end_cubin)(struct ListingWriter *writer);
    void (*end_file)(struct ListingWriter *writer);
    const ListingOptions *options;
    ListingCounts *counts;
    Text text; /* not yet written out */
    Json json; /* used by the JSON writer; writes to `text` */
} ListingWriter;

extern const ListingWriter listing_text_writer; /* listing_text.c */
extern const ListingWriter listing_json_writer; /* listing_json.c */

/* The code of functions `first` to `first + count - 1`, which are in one section (listing_code.c).
 */
ListingBlock listing_block(ListingCubin *of, const CubinFunction *first, uint32_t count,
                           Arena *arena);
/* Decodes the instruction at a byte offset of a block's section. */
void listing_decode(const ListingBlock *block, uint64_t offset, ListingInst *inst);
/* The label at a byte offset of the section, or LISTING_NO_LABEL. */
int32_t listing_label(const ListingBlock *block, uint64_t offset);
/* The function that begins at a byte offset, or NULL. */
const CubinFunction *listing_function_at(const ListingBlock *block, uint64_t offset);
/* The control bits as "[B0-----:R-:W0:-:S04]". */
enum { LISTING_CONTROL_BYTES = 24 };
void listing_control(const SassControl *control, char text[LISTING_CONTROL_BYTES]);

#endif
