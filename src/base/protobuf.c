/* The wire format of protobuf, see the header. */
#include "base/protobuf.h"

#include <string.h>

/* The wire types of a field. */
enum { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2, WIRE_BITS = 3 };

/* Seven bits per byte, lowest first; all bytes but the last have their highest bit set. */
static void add_varint(Text *out, uint64_t value) {
    uint8_t bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    text_add_bytes(out, bytes, count);
}

static void add_key(Text *out, uint32_t field, uint32_t wire) {
    add_varint(out, (uint64_t)field << WIRE_BITS | wire);
}

static void add_bytes(Text *out, uint32_t field, const void *bytes, size_t length) {
    add_key(out, field, WIRE_BYTES);
    add_varint(out, length);
    text_add_bytes(out, bytes, length);
}

void protobuf_uint(Text *out, uint32_t field, uint64_t value) {
    add_key(out, field, WIRE_VARINT);
    add_varint(out, value);
}

void protobuf_double(Text *out, uint32_t field, double value) {
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    add_key(out, field, WIRE_64_BITS);
    text_add_bytes(out, bytes, sizeof bytes);
}

void protobuf_string(Text *out, uint32_t field, const char *value) {
    add_bytes(out, field, value, strlen(value));
}

void protobuf_message(Text *out, uint32_t field, const Text *value) {
    add_bytes(out, field, text_string(value), value->length);
}
