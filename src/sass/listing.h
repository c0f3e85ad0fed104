/* Prints the machine code of a file: its functions, instruction by instruction, as text for people
 * or as JSON (docs/machine-code.md). */
#ifndef TYTO_SASS_LISTING_H
#define TYTO_SASS_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

typedef struct ListingOptions {
    const char *file;      /* name of the file, for messages and headings */
    const char *function;  /* only this function, by its name in the code or source; NULL: all */
    unsigned architecture; /* only code for sm_N; 0: all */
    bool is_json;
    bool has_words; /* also print the bits of each instruction */
    void (*write)(void *context, const char *text,
                  size_t length); /* receives the next piece of text */
    void *context;
} ListingOptions;

typedef struct ListingCounts {
    uint64_t instructions;
    uint64_t unknown; /* instructions with an unknown operation */
} ListingCounts;

typedef enum ListingStatus {
    LISTING_DONE,
    LISTING_BAD_FILE,  /* damaged, of another kind, or without machine code */
    LISTING_BAD_CHOICE /* no such function, or no code for this architecture */
} ListingStatus;

/* Prints the code in the `size` bytes of a file. Other results than LISTING_DONE come with a
 * message, and what was written before is incomplete. */
ListingStatus listing_write(const void *bytes, size_t size, const ListingOptions *options,
                            ListingCounts *counts, Diag *diag);

#endif
