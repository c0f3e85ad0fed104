/* ptxas: checks the PTX with Tyto's own reader, so that errors are reported when the program is
 * built, and writes an empty file instead of machine code. fatbinary: packs the PTX of its inputs,
 * uncompressed, into a fat binary, and leaves out machine code. ld: runs the host's linker and
 * defines the registration function of each of clang's objects for -rdc=true, as nvlink does; then
 * checks the linked file as a device linker does. */
#include "cli/toolchain/toolkit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/toolchain/device_link.h"
#include "cli/files.h"

/* The value of an option, in the next word or after a '='; NULL: not given. */
static const char *value_of(int count, char **words, const char *option) {
    size_t length = strlen(option);
    for (int i = 0; i < count; i++) {
        if (strncmp(words[i], option, length) != 0) continue;
        if (words[i][length] == '=') return words[i] + length + 1;
        if (words[i][length] == '\0' && i + 1 < count) return words[i + 1];
    }
    return NULL;
}

/* ---- ptxas ---- */

static bool check_ptx(const char *path) {
    static const char *const quiet[] = {"--functional", "--quiet", "--code", "ptx"};
    size_t length;
    char message[1024];
    char *text = file_read(path, FILE_TEXT_MAX, &length);
    if (!text) return false;
    TytoSimulator *simulator = tyto_new(4, quiet, message, sizeof message);
    TytoModule *module;
    bool is_right = simulator && tyto_load(simulator, path, text, length, &module) == TYTO_OK;
    if (!is_right) fprintf(stderr, "%s\n", simulator ? tyto_message(simulator) : message);
    tyto_free(simulator);
    free(text);
    return is_right;
}

static bool has_word(int count, char **words, const char *wanted) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], wanted) == 0) return true;
    return false;
}

/* With -c the PTX may use definitions of other files, so it is checked when all files are linked.
 */
static int run_ptxas(int count, char **words) {
    const char *out = value_of(count, words, "--output-file");
    if (!out || (!has_word(count, words, "-c") && !check_ptx(words[count - 1]))) return EXIT_FAILED;
    return file_write(out, "", 0) ? EXIT_DONE : EXIT_FAILED;
}

/* ---- fatbinary ---- */

enum { HEADER_BYTES = 16, ENTRY_BYTES = 64 };
#define FLAG_NAMED (UINT64_C(1) << 40) /* Tyto's own */

/* Little-endian, as the format is. */
static void put(unsigned char *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

/* A growing file in memory. */
typedef struct Bytes {
    unsigned char *items;
    size_t count;
} Bytes;

static unsigned char *grow(Bytes *bytes, size_t count) {
    unsigned char *items = realloc(bytes->items, bytes->count + count);
    if (!items) {
        say_error("out of memory");
        exit(EXIT_FAILED);
    }
    bytes->items = items;
    unsigned char *start = bytes->items + bytes->count;
    memset(start, 0, count);
    bytes->count += count;
    return start;
}

/* The name in messages of PTX that clang compiled into a temporary file NAME-sm_75-1a2b3c.s;
 * returns its length. */
static size_t name_source(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    const char *end = strstr(start, "-sm_");
    for (const char *next; end && (next = strstr(end + 1, "-sm_")) != NULL;)
        end = next;
    int length = snprintf(name, size, "PTX of %.*s.cu",
                          end ? (int)(end - start) : (int)strlen(start), start);
    return length < (int)size ? (size_t)length : size - 1;
}

/* Appends the entry of one `--image=profile=compute_75,file=NAME`; machine code adds none. The
 * fields are explained in src/sass/fatbin_format.h. */
static bool add_image(Bytes *out, const char *image, bool is_named) {
    const char *profile = strstr(image, "profile=compute_");
    const char *path = strstr(image, ",file=");
    if (!profile || !path) return true;
    size_t length;
    char *text = file_read(path + strlen(",file="), FILE_TEXT_MAX, &length);
    if (!text) return false;
    char name[256];
    size_t name_bytes = is_named ? name_source(path + strlen(",file="), name, sizeof name) : 0;
    size_t padded = (length + 8) / 8 * 8; /* at least one NUL ends the text */
    size_t header = ENTRY_BYTES + (name_bytes + 7) / 8 * 8;
    unsigned char *entry = grow(out, header + padded);
    put(entry, 1, 2);
    put(entry + 2, 0x0101, 2);
    put(entry + 4, header, 4);
    put(entry + 8, padded, 8);
    put(entry + 28, strtoul(profile + strlen("profile=compute_"), NULL, 10), 4);
    put(entry + 40, is_named ? FLAG_NAMED | 0x11 : 0x11, 8);
    if (is_named) {
        put(entry + 32, ENTRY_BYTES, 4);
        put(entry + 36, name_bytes, 4);
        memcpy(entry + ENTRY_BYTES, name, name_bytes);
    }
    memcpy(entry + header, text, length);
    free(text);
    return true;
}

static int run_fatbinary(int count, char **words) {
    const char *out = value_of(count, words, "--create");
    Bytes bytes = {0};
    grow(&bytes, HEADER_BYTES);
    bool is_right = out != NULL, is_named = has_word(count, words, "--named");
    for (int i = 0; i < count && is_right; i++) {
        if (strncmp(words[i], "--image=", strlen("--image=")) == 0)
            is_right = add_image(&bytes, words[i], is_named);
    }
    put(bytes.items, 0xba55ed50, 4);
    put(bytes.items + 4, 1, 2);
    put(bytes.items + 6, HEADER_BYTES, 2);
    put(bytes.items + 8, bytes.count - HEADER_BYTES, 8);
    is_right = is_right && file_write(out, bytes.items, bytes.count);
    free(bytes.items);
    return is_right ? EXIT_DONE : EXIT_FAILED;
}

ToolkitTool *toolkit_find(const char *name) {
    if (strcmp(name, "ptxas") == 0) return run_ptxas;
    if (strcmp(name, "ld") == 0) return device_link_run;
    return strcmp(name, "fatbinary") == 0 ? run_fatbinary : NULL;
}
