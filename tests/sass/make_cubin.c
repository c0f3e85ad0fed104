/* make_cubin cubin|old|relocatable|fatbin|program|ptx FILE: writes a file with the code that
 * cubin_maker.h describes, for tests of the command and for the corpus of the fuzzer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cubin_maker.h"

int main(int argc, char **argv) {
    if (argc != 3) return EXIT_FAILURE;
    const char *kind = argv[1];
    const CubinMade what = {.architecture = strcmp(kind, "old") == 0 ? 75 : 80,
                            .is_old = strcmp(kind, "old") == 0,
                            .is_relocatable = strcmp(kind, "relocatable") == 0};
    Text cubin = {0}, fatbin = {0}, program = {0};
    bool has_code = strcmp(kind, "ptx") != 0;
    cubin_make(&what, &cubin);
    cubin_make_fatbin(has_code ? &cubin : NULL, what.architecture, &fatbin);
    cubin_make_program(&fatbin, &program);
    bool is_program = strcmp(kind, "program") == 0 || !has_code;
    const Text *out = is_program ? &program : strcmp(kind, "fatbin") == 0 ? &fatbin : &cubin;
    bool is_written = text_write_file(argv[2], out->bytes, out->length);
    text_free(&cubin);
    text_free(&fatbin);
    text_free(&program);
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}
