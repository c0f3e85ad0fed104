/* Reads kernel arguments; the table has one row for each form. */
#include "cli/argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/files.h"

/* Reports what is wrong with an argument; returns the exit status. */
static int refuse_with(const Argument *argument, const char *reason, int status) {
    say_error("--arg %s: %s", argument->word, reason);
    return status;
}

static int refuse(const Argument *argument, const char *reason) {
    return refuse_with(argument, reason, EXIT_USAGE);
}

/* ---- Numbers ---- */

/* A whole number of `bytes` bytes. */
static int read_integer(Argument *argument, const char *text, bool is_signed, unsigned bytes) {
    char *end;
    errno = 0;
    bool is_negative = text[0] == '-';
    uint64_t value = is_negative ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    if (end == text || *end) return refuse(argument, "not a whole number");
    unsigned bits = 8 * bytes - (is_signed ? 1 : 0);
    uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    bool fits = is_negative ? is_signed && ~value <= most : value <= most;
    if (errno || !fits) return refuse(argument, "does not fit its type");
    argument->size_bytes = bytes;
    argument->bits = value;
    return EXIT_DONE;
}

static int read_u32(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, false, 4);
}

static int read_s32(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, true, 4);
}

static int read_u64(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, false, 8);
}

static int read_s64(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, true, 8);
}

static int read_f32(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    char *end;
    float value = strtof(text, &end);
    if (end == text || *end) return refuse(argument, "not a number");
    argument->size_bytes = sizeof value;
    memcpy(&argument->bits, &value, sizeof value);
    return EXIT_DONE;
}

static int read_f64(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end) return refuse(argument, "not a number");
    argument->size_bytes = sizeof value;
    memcpy(&argument->bits, &value, sizeof value);
    return EXIT_DONE;
}

/* ---- Buffers ---- */

/* Allocates the buffer; `bytes` (NULL: zeros) are its contents. */
static int make_buffer(Argument *argument, TytoSimulator *simulator, const void *bytes,
                       uint64_t size) {
    argument->size_bytes = sizeof argument->bits;
    argument->buffer_bytes = size;
    if (tyto_alloc(simulator, size, &argument->bits) != TYTO_OK ||
        (bytes && tyto_write(simulator, argument->bits, bytes, size) != TYTO_OK))
        return refuse_with(argument, tyto_message(simulator), EXIT_FAILED);
    return EXIT_DONE;
}

static bool read_size(const Argument *argument, const char *text, uint64_t *size) {
    char *end;
    errno = 0;
    *size = strtoull(text, &end, 0);
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && *size > 0) return true;
    refuse(argument, "the number of bytes must be a whole number above 0");
    return false;
}

static int read_zero(Argument *argument, TytoSimulator *simulator, char *text) {
    uint64_t size;
    if (!read_size(argument, text, &size)) return EXIT_USAGE;
    return make_buffer(argument, simulator, NULL, size);
}

static int read_in(Argument *argument, TytoSimulator *simulator, char *text) {
    size_t size;
    char *bytes = file_read(text, FILE_DATA_MAX, &size);
    if (!bytes) return EXIT_FAILED;
    int status = size > 0 ? make_buffer(argument, simulator, bytes, size)
                          : refuse_with(argument, "the file is empty", EXIT_FAILED);
    free(bytes);
    return status;
}

/* Cuts the text at its last colon and returns the part after it; NULL after a message. */
static char *cut_last(const Argument *argument, char *text) {
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1]) {
        refuse(argument, "a part is missing; see tyto help launch");
        return NULL;
    }
    *colon = '\0';
    return colon + 1;
}

static int read_out(Argument *argument, TytoSimulator *simulator, char *text) {
    char *size = cut_last(argument, text);
    int status = size ? read_zero(argument, simulator, size) : EXIT_USAGE;
    if (status == EXIT_DONE) argument->output = strdup(text);
    return status;
}

static int read_inout(Argument *argument, TytoSimulator *simulator, char *text) {
    char *output = cut_last(argument, text);
    int status = output ? read_in(argument, simulator, text) : EXIT_USAGE;
    if (status == EXIT_DONE) argument->output = strdup(output);
    return status;
}

/* ---- Forms ---- */

typedef struct Form {
    const char *prefix;
    int (*read)(Argument *argument, TytoSimulator *simulator, char *text);
} Form;

static const Form forms[] = {
    {"u32:", read_u32}, {"s32:", read_s32},     {"u64:", read_u64},   {"s64:", read_s64},
    {"f32:", read_f32}, {"f64:", read_f64},     {"zero:", read_zero}, {"in:", read_in},
    {"out:", read_out}, {"inout:", read_inout},
};

int argument_read(Argument *argument, TytoSimulator *simulator, const char *word) {
    *argument = (Argument){.word = word};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t length = strlen(forms[i].prefix);
        if (strncmp(word, forms[i].prefix, length) != 0) continue;
        char *text = strdup(word + length);
        int status = forms[i].read(argument, simulator, text);
        free(text);
        return status;
    }
    return refuse(argument, "expected, for example, u32:7, f32:1.5, in:FILE or out:FILE:BYTES; "
                            "tyto help launch lists all forms");
}

bool argument_write_output(const Argument *argument, TytoSimulator *simulator) {
    if (!argument->output) return true;
    char *bytes = allocate(argument->buffer_bytes, 1);
    bool is_right =
        tyto_read(simulator, argument->bits, bytes, argument->buffer_bytes) == TYTO_OK &&
        file_write(argument->output, bytes, argument->buffer_bytes);
    free(bytes);
    return is_right;
}

void argument_free(Argument *argument) { free(argument->output); }
