/* tyto_disassemble: machine code as text. */
#include "tyto/tyto.h"

#include <stdio.h>

#include "sass/listing.h"

TytoStatus tyto_disassemble(const char *name, const void *bytes, size_t size,
                            TytoDisassembly *disassembly,
                            void (*write)(void *context, const char *text, size_t length),
                            void *context, char *message, size_t size_bytes) {
    static const TytoStatus statuses[] = {[LISTING_DONE] = TYTO_OK,
                                          [LISTING_BAD_FILE] = TYTO_BAD_FILE,
                                          [LISTING_BAD_CHOICE] = TYTO_BAD_OPTION};
    const ListingOptions options = {.file = name,
                                    .function = disassembly->function,
                                    .architecture = disassembly->architecture,
                                    .is_json = disassembly->as_json,
                                    .has_words = disassembly->with_words,
                                    .write = write,
                                    .context = context};
    Diag *diag = diag_new();
    ListingCounts counts;
    ListingStatus status = listing_write(bytes, size, &options, &counts, diag);
    disassembly->instructions = counts.instructions;
    disassembly->unknown = counts.unknown;
    if (size_bytes) snprintf(message, size_bytes, "%s", diag_text(diag));
    diag_free(diag);
    return statuses[status];
}
