/* tyto disasm: prints the machine code in a file. */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"

/* Reads "sm_90" or "90". Letters after the number ("sm_90a") are not part of the code's
 * architecture. False after a message. */
static bool read_architecture(const char *text, uint32_t *architecture) {
    const char *digits = strncmp(text, "sm_", 3) == 0 ? text + 3 : text;
    size_t count = strspn(digits, "0123456789");
    bool is_right = count && count < 4 && strlen(digits) <= count + 1 &&
                    (!digits[count] || strchr("af", digits[count]));
    if (is_right) *architecture = (uint32_t)strtoul(digits, NULL, 10);
    else say_error("--arch %s: not an architecture such as sm_75 or sm_90", text);
    return is_right;
}

/* Removes control characters, which JSON strings must not contain. */
static void put(void *context, const char *text, size_t length) {
    const TytoDisassembly *what = context;
    if (what->as_json) fwrite(text, 1, length, stdout);
    else put_text("%.*s", (int)length, text);
}

static void say_unknown(const TytoDisassembly *done) {
    if (done->unknown)
        fprintf(stderr, "tyto: %llu of %llu instructions have unknown operations\n",
                (unsigned long long)done->unknown, (unsigned long long)done->instructions);
}

static int run_disasm(Arguments *arguments) {
    const char *path = arguments->operands[0];
    const char *architecture = arguments_value(arguments, "--arch");
    TytoDisassembly what = {.function =
                                arguments->operand_count > 1 ? arguments->operands[1] : NULL,
                            .as_json = arguments_has(arguments, "--json"),
                            .with_words = arguments_has(arguments, "--raw")};
    if (architecture && !read_architecture(architecture, &what.architecture)) return EXIT_USAGE;
    size_t length;
    char *bytes = file_read(path, FILE_DATA_MAX, &length);
    if (!bytes) return EXIT_FAILED;
    char message[4096];
    TytoStatus status =
        tyto_disassemble(path, bytes, length, &what, put, &what, message, sizeof message);
    free(bytes);
    fflush(stdout);
    fputs(message, stderr);
    say_unknown(&what);
    return status == TYTO_OK ? EXIT_DONE : EXIT_FAILED;
}

static const TytoOption options[] = {
    {"--arch", "SM", NULL, "Print the code for this architecture only: sm_90.", NULL, 0},
    {"--json", NULL, NULL, "Print one JSON document.", NULL, 0},
    {"--raw", NULL, NULL, "Print the 128 bits of each instruction too.", NULL, 0},
};

const Command command_disasm = {
    .name = "disasm",
    .operands = "FILE [KERNEL]",
    .summary = "Print the machine code in a file",
    .text =
        "FILE is a cubin, a fat binary, an executable, a shared object, an object file or an "
        "archive\n"
        "of nvcc's or clang's; KERNEL is one function of it, by its name in the machine code or in "
        "the\n"
        "source. Instructions are in the notation of NVIDIA's disassembler. The column before them "
        "is\n"
        "how they are issued: [B0-----:R-:W1:-:S04] waits for counter 0, releases no counter when "
        "the\n"
        "sources are read and counter 1 when the result is written, does not yield, and the "
        "warp's\n"
        "next instruction follows in 4 cycles at the earliest. docs/machine-code.md says more.\n"
        "FILE - is standard input.\n"
        "\n"
        "  tyto disasm ./my-program spmv\n"
        "  tyto disasm --arch sm_90 --json libkernels.so > kernels.json\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .lowest_operands = 1,
    .most_operands = 2,
    .run = run_disasm,
};
