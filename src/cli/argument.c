/* Reading kernel arguments: one row for each form. */
#include "cli/argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/files.h"

static bool refuse(const Argument *argument, const char *reason) {
    say_error("--arg %s: %s", argument->word, reason);
    return false;
}

/* ---- Numbers ---- */

/* A whole number of `bytes` bytes. */
static bool read_integer(Argument *argument, const char *text, bool is_signed, unsigned bytes) {
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
    return true;
}

static bool read_u32(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, false, 4);
}

static bool read_s32(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, true, 4);
}

static bool read_u64(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, false, 8);
}

static bool read_s64(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    return read_integer(argument, text, true, 8);
}

static bool read_f32(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    char *end;
    float value = strtof(text, &end);
    if (end == text || *end) return refuse(argument, "not a number");
    argument->size_bytes = sizeof value;
    memcpy(&argument->bits, &value, sizeof value);
    return true;
}

static bool read_f64(Argument *argument, TytoSimulator *simulator, char *text) {
    (void)simulator;
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end) return refuse(argument, "not a number");
    argument->size_bytes = sizeof value;
    memcpy(&argument->bits, &value, sizeof value);
    return true;
}

/* ---- Buffers ---- */

/* Allocates the buffer; `bytes` (NULL: zeros) are its contents. */
static bool make_buffer(Argument *argument, TytoSimulator *simulator, const void *bytes,
                        uint64_t size) {
    argument->size_bytes = sizeof argument->bits;
    argument->buffer_bytes = size;
    if (tyto_alloc(simulator, size, &argument->bits) != TYTO_OK)
        return refuse(argument, tyto_message(simulator));
    return !bytes || tyto_write(simulator, argument->bits, bytes, size) == TYTO_OK;
}

static bool read_size(const Argument *argument, const char *text, uint64_t *size) {
    char *end;
    errno = 0;
    *size = strtoull(text, &end, 0);
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && *size > 0) return true;
    return refuse(argument, "the number of bytes is not a whole number above 0");
}

static bool read_zero(Argument *argument, TytoSimulator *simulator, char *text) {
    uint64_t size;
    return read_size(argument, text, &size) && make_buffer(argument, simulator, NULL, size);
}

static bool read_in(Argument *argument, TytoSimulator *simulator, char *text) {
    size_t size;
    char *bytes = file_read(text, FILE_DATA_MAX, &size);
    if (!bytes) return false;
    bool is_right = size > 0 ? make_buffer(argument, simulator, bytes, size)
                             : refuse(argument, "the file is empty");
    free(bytes);
    return is_right;
}

/* Cuts text at its last colon and returns what follows; NULL after a message. */
static char *cut_last(const Argument *argument, char *text) {
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || !colon[1]) {
        refuse(argument, "a part is missing; see tyto help launch");
        return NULL;
    }
    *colon = '\0';
    return colon + 1;
}

static bool read_out(Argument *argument, TytoSimulator *simulator, char *text) {
    char *size = cut_last(argument, text);
    if (!size || !read_zero(argument, simulator, size)) return false;
    argument->output = strdup(text);
    return true;
}

static bool read_inout(Argument *argument, TytoSimulator *simulator, char *text) {
    char *output = cut_last(argument, text);
    if (!output || !read_in(argument, simulator, text)) return false;
    argument->output = strdup(output);
    return true;
}

/* ---- Forms ---- */

typedef struct Form {
    const char *prefix;
    bool (*read)(Argument *argument, TytoSimulator *simulator, char *text);
} Form;

static const Form forms[] = {
    {"u32:", read_u32}, {"s32:", read_s32},     {"u64:", read_u64},   {"s64:", read_s64},
    {"f32:", read_f32}, {"f64:", read_f64},     {"zero:", read_zero}, {"in:", read_in},
    {"out:", read_out}, {"inout:", read_inout},
};

bool argument_read(Argument *argument, TytoSimulator *simulator, const char *word) {
    *argument = (Argument){.word = word};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t length = strlen(forms[i].prefix);
        if (strncmp(word, forms[i].prefix, length) != 0) continue;
        char *text = strdup(word + length);
        bool is_right = forms[i].read(argument, simulator, text);
        free(text);
        return is_right;
    }
    return refuse(argument, "write for example u32:7, f32:1.5, in:FILE or out:FILE:BYTES; "
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
