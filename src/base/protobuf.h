/* Fields of a protobuf message, added to a text byte by byte. A nested message is first built in a
 * separate text.
 *
 * Source: protobuf.dev, "Encoding". */
#ifndef TYTO_BASE_PROTOBUF_H
#define TYTO_BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

void protobuf_uint(Text *out, uint32_t field, uint64_t value); /* also bool and enum */
void protobuf_double(Text *out, uint32_t field, double value);
void protobuf_string(Text *out, uint32_t field, const char *value);
void protobuf_message(Text *out, uint32_t field, const Text *value);

#endif
