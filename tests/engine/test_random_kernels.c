/* Random kernels, timed and functional: the bytes in memory and the number of instructions must be
 * equal.
 *
 * usage: test_random_kernels [NUMBER [FIRST]] */
#include <stdio.h>
#include <stdlib.h>

#include "kernel_maker.h"
#include "random_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes,
                           size_t size); /* fuzz/fuzz_kernel.c: aborts if they differ */

int main(int argc, char **argv) {
    int number = argc > 1 ? atoi(argv[1]) : 100, first = argc > 2 ? atoi(argv[2]) : 0;
    for (int i = first; i < first + number; i++) {
        uint8_t bytes[RANDOM_BYTES];
        fprintf(stderr, "kernel %d\n", i); /* the last number printed is the one that fails */
        LLVMFuzzerTestOneInput(bytes, random_bytes((uint64_t)i, bytes));
    }
    printf("%d passed, 0 failed\n", number);
    return EXIT_SUCCESS;
}
