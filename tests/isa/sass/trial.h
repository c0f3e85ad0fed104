/* Kernels of one instruction each, by PTX and by machine code: both must give the same bits. */
#ifndef TYTO_TESTS_ISA_SASS_TRIAL_H
#define TYTO_TESTS_ISA_SASS_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction as PTX has it. In its text >LN is a destination and <LN a source of N registers,
 * which are a list in braces where N is more than 1; L says what they are: r .b32, f .f32, d .f64,
 * l .b64, h .b16, p .pred; s a small
 * number of either sign, y one from 0 to 7, x 16 times one from 0 to 7. %h is the handle that the
 * kernel is given. */
typedef struct TrialRow {
    int first_sm; /* that has it */
    const char *text;
    int last_sm; /* 0: all later ones */
} TrialRow;

enum { TRIAL_SKIPPED = 77 };

typedef struct Trial Trial;

/* The rows that this architecture has, by PTX and assembled; `directives`: of the module. Exit with
 * TRIAL_SKIPPED where there is no ptxas. */
Trial *trial_new(int sm, int level, const char *directives, const TrialRow *rows, size_t count);
void trial_free(Trial *trial);
/* Runs each kernel both ways on some inputs; prints what differs; the number of rows that do.
 * Inputs of kernels whose text has no matrix are floats between 0 and 1 where `is_texture`. */
unsigned trial_run(Trial *trial, uint64_t handle, bool is_texture);
/* Compares `size` more bytes after each run, which `read` gives. */
typedef void TrialRead(void *bytes, size_t size);
void trial_compare_more(Trial *trial, TrialRead *read, size_t size);
/* The modules: of PTX 0, of machine code 1. */
void *trial_module(Trial *trial, int which);

#endif
