/* Random instructions decode and print without a fault: test_fuzz COUNT. Half of them have the
 * opcode of a row, so that its fields are read. The checksum of all text shows whether two hosts
 * agree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sass/form.h"

enum { TEXT_BYTES = 512, GUARD_BYTES = 16 };

static uint64_t next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* The length of the text, or 0 if it exceeded its bounds. */
static size_t print_within(const SassInst *inst, uint64_t pc, size_t size, char *text) {
    memset(text, '#', TEXT_BYTES + GUARD_BYTES);
    const size_t length = sass_print(inst, pc, text, size);
    if (size && text[length < size ? length : size - 1] != 0) return 0;
    for (size_t i = size; i < size + GUARD_BYTES; i++)
        if (text[i] != '#') return 0;
    return length < TEXT_BYTES ? length : 0;
}

int main(int count, char **arguments) {
    static const unsigned architectures[] = {70,  75,  80,  86,  87, 89, 90,
                                             100, 103, 110, 120, 0,  255};
    enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };
    const uint64_t times = count > 1 ? strtoull(arguments[1], NULL, 10) : 1000000;
    uint64_t state = 1, known = 0, sum = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t words[2] = {next(&state), next(&state)};
        if (i & 1) {
            const SassForm *form = &sass_forms[next(&state) % sass_form_count];
            words[0] = (words[0] & ~UINT64_C(0x1ff)) | form->opcode;
        }
        SassInst inst;
        char text[TEXT_BYTES + GUARD_BYTES];
        known += sass_decode(architectures[i % ARCHITECTURES], words, &inst);
        const size_t length = print_within(&inst, words[0], TEXT_BYTES, text);
        for (size_t at = 0; at < length; at++)
            sum = sum * 31 + (unsigned char)text[at];
        const size_t shorter = next(&state) % 64;
        if (!length || print_within(&inst, words[0], shorter, text) != length) {
            printf("%016" PRIx64 "%016" PRIx64 ": its text leaves its bounds\n", words[1],
                   words[0]);
            return EXIT_FAILURE;
        }
        if (inst.operand_count > SASS_MAX_OPERANDS) return EXIT_FAILURE;
    }
    printf("%" PRIu64 " instructions, of %" PRIu64
           " the operation is known, sum of texts %016" PRIx64 "\n",
           times, known, sum);
    return EXIT_SUCCESS;
}
