/* sass_dump SM: decodes lines `OFFSET CODE` of hexadecimal numbers from standard input. For each
 * line it prints, separated by tabs, the control bits as CuAssembler writes them, the text, the
 * bits without a meaning, and whether the operation is known. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sass/sass.h"

enum { LINE_BYTES = 256, TEXT_BYTES = 1024 };

static uint64_t hex(const char *digits, size_t count) {
    char part[17] = {0};
    memcpy(part, digits, count);
    return strtoull(part, NULL, 16);
}

static char counter(unsigned number) {
    return number == SASS_NO_COUNTER ? '-' : (char)('0' + number);
}

static void print_control(const SassControl *control) {
    char waits[7] = "------";
    for (int i = 0; i < 6; i++)
        if (control->wait_mask >> i & 1) waits[i] = (char)('0' + i);
    printf("B%s:R%c:W%c:%c:S%02u\t", waits, counter(control->read_counter),
           counter(control->write_counter), control->yields ? 'Y' : '-', control->stall);
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    unsigned sm = (unsigned)strtoul(arguments[1], NULL, 10);
    char line[LINE_BYTES], text[TEXT_BYTES];
    while (fgets(line, sizeof line, stdin)) {
        uint64_t pc;
        char code[33];
        if (sscanf(line, "%" SCNx64 " %32s", &pc, code) != 2 || strlen(code) != 32) return 2;
        uint64_t words[2] = {hex(code + 16, 16), hex(code, 16)};
        SassInst inst;
        bool is_known = sass_decode(sm, words, &inst);
        sass_print(&inst, pc, text, sizeof text);
        print_control(&inst.control);
        printf("%s\t%016" PRIx64 "%016" PRIx64 "\t%d\n", text, inst.unknown[1], inst.unknown[0],
               is_known);
    }
    return 0;
}
