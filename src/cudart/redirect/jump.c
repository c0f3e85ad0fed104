/* The code for x86-64 and aarch64. It uses only registers that a call may change, and reaches any
 * address. */
#include "cudart/redirect/jump.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
static const uint8_t landing[] = {0xf3, 0x0f, 0x1e, 0xfa};       /* endbr64 */
static const uint8_t jump[] = {0xff, 0x25, 0x00, 0x00, 0x00, 0}; /* jmp *0(%rip); the address */
static const uint8_t load[] = {0x48, 0xbf};                      /* movabs $argument, %rdi */
#elif defined(__aarch64__)
static const uint8_t landing[] = {0x5f, 0x24, 0x03, 0xd5}; /* bti c */
static const uint8_t jump[] = {0x50, 0x00, 0x00, 0x58,     /* ldr x16, 8 bytes ahead */
                               0x00, 0x02, 0x1f, 0xd6};    /* br x16; the address */
static const uint8_t load[] = {0x40, 0x00, 0x00, 0x58,     /* ldr x0, 8 bytes ahead */
                               0x03, 0x00, 0x00, 0x14};    /* b 12 bytes ahead; the argument */
#else
#error "state this machine's jump"
#endif

/* Code that is being assembled. */
typedef struct Code {
    uint8_t bytes[JUMP_MOST_BYTES];
    size_t length;
} Code;

static void add(Code *code, const void *bytes, size_t length) {
    memcpy(code->bytes + code->length, bytes, length);
    code->length += length;
}

static bool put(uint8_t *place, size_t room_bytes, const Code *code) {
    if (room_bytes < code->length) return false;
    memcpy(place, code->bytes, code->length);
    __builtin___clear_cache((char *)place, (char *)place + code->length);
    return true;
}

/* If indirect calls must find a landing pad, the function's own one stays, provided that there is
 * room. */
static size_t landing_bytes(const uint8_t *place, size_t room_bytes, size_t code_bytes) {
    bool is_kept =
        room_bytes >= sizeof landing + code_bytes && memcmp(place, landing, sizeof landing) == 0;
    return is_kept ? sizeof landing : 0;
}

static bool put_after_landing(void *place, size_t room_bytes, const Code *code) {
    size_t skipped = landing_bytes(place, room_bytes, code->length);
    return put((uint8_t *)place + skipped, room_bytes - skipped, code);
}

bool jump_write(void *place, size_t room_bytes, const void *target) {
    Code code = {.length = 0};
    add(&code, jump, sizeof jump);
    add(&code, &target, sizeof target);
    return put_after_landing(place, room_bytes, &code);
}

bool jump_write_with(void *place, size_t room_bytes, const void *target, const void *argument) {
    Code code = {.length = 0};
    add(&code, load, sizeof load);
    add(&code, &argument, sizeof argument);
    add(&code, jump, sizeof jump);
    add(&code, &target, sizeof target);
    return put_after_landing(place, room_bytes, &code);
}

bool jump_is_at(const void *place) {
    const uint8_t *bytes = place;
    size_t skipped = memcmp(bytes, landing, sizeof landing) == 0 ? sizeof landing : 0;
    return memcmp(bytes + skipped, jump, sizeof jump) == 0;
}
