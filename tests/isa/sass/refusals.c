/* Lists machine code that cannot run: `sass_refusals FILE...` translates each cubin and prints one
 * line for each function that is refused, and a count. Exit status 1: a file cannot be read. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/sass/code.h"

static void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size + 1);
    const bool is_read = bytes && fread(bytes, 1, *size, file) == *size;
    fclose(file);
    if (is_read) return bytes;
    free(bytes);
    return NULL;
}

static unsigned functions, refused;

static void print_refusals(const char *path, const IsaProgram *program) {
    for (uint32_t f = 0; f < program->function_count; f++) {
        functions++;
        if (!program->functions[f].refusal) continue;
        refused++;
        printf("%s: %s\n", path, program->functions[f].refusal);
    }
}

static bool list(const char *path) {
    size_t size;
    Diag *diag = diag_new();
    void *bytes = read_file(path, &size);
    PtxModule *module = bytes ? isa_sass_module(bytes, size, path, diag) : NULL;
    IsaProgram *program =
        module ? isa_translate_variant(module, isa_find_variant(NULL), diag) : NULL;
    if (program) print_refusals(path, program);
    else fprintf(stderr, "%s: cannot be read: %s\n", path, diag_text(diag));
    if (program) isa_program_free(program);
    if (module) ptx_module_free(module);
    diag_free(diag);
    free(bytes);
    return program != NULL;
}

int main(int argc, char **argv) {
    int status = 0;
    for (int i = 1; i < argc; i++)
        if (!list(argv[i])) status = 1;
    printf("%u functions, %u refused\n", functions, refused);
    return status;
}
