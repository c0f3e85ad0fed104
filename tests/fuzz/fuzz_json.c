/* From any bytes of a name, the JSON writer makes a valid string: no control characters, one pair
 * of quotes, and every backslash followed by what RFC 8259 allows. */
#include "base/arena.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The position after one character inside the quotes. Aborts if the character is not legal. */
static const char *check_character(const char *at) {
    if ((unsigned char)*at < ' ' || *at == 0x7f) abort();
    if (*at != '\\') return at + 1;
    if (at[1] == 'u') return strspn(at + 2, "0123456789abcdef") >= 4 ? at + 6 : (abort(), at);
    if (!at[1] || !strchr("\"\\nt", at[1])) abort();
    return at + 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    Arena *arena = arena_new();
    Text out = {0};
    Json json;
    json_begin(&json, &out);
    json_string(&json, arena_strndup(arena, (const char *)bytes, size));
    if (out.bytes[0] != '"') abort();
    const char *at = out.bytes + 1;
    while (*at != '"')
        at = check_character(at);
    if (at != out.bytes + out.length - 1) abort();
    text_free(&out);
    arena_free(arena);
    return 0;
}
