/* Kernels with one instruction each, as PTX and as machine code: both must give the same bits. */
#ifndef TYTO_TESTS_ISA_SASS_TRIAL_H
#define TYTO_TESTS_ISA_SASS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction in PTX. In its text, >LN is a destination and <LN a source of N registers, which
 * are a list in braces if N is more than 1. L is their type: r .b32, f .f32, d .f64, l .b64, h
 * .b16, p .pred; s a small number of either sign, y a number from 0 to 7, x 16 times a number from
 * 0 to 7. %h is the handle that the kernel receives. */
typedef struct TrialRow {
    int first_sm; /* first architecture that supports it */
    const char *text;
    int last_sm;      /* 0: all later ones */
    const char *same; /* what runs as PTX, if PTX lacks the instruction; NULL: `text` */
} TrialRow;

enum { TRIAL_SKIPPED = 77 };

typedef struct Trial Trial;

/* Loads the rows that this architecture supports, as PTX and assembled, with the module's
 * `directives`. Exits with TRIAL_SKIPPED if there is no ptxas. */
Trial *trial_new(int sm, int level, const char *directives, const TrialRow *rows, size_t count);
void trial_free(Trial *trial);
/* Runs each kernel both ways on some inputs and prints the differences. Returns the number of rows
 * that differ. With `is_texture`, inputs of kernels without a matrix are floats between 0 and 1. */
unsigned trial_run(Trial *trial, uint64_t handle, bool is_texture);
/* Also compares `size` bytes from `read` after each run. */
typedef void TrialRead(void *bytes, size_t size);
void trial_compare_more(Trial *trial, TrialRead *read, size_t size);
/* The modules: 0 for PTX, 1 for machine code. */
void *trial_module(Trial *trial, int which);

#endif
