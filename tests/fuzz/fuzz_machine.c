/* The machine-file reader: any bytes are read, or refused with messages. A machine that was read
 * prints as a file that reads back as the same machine. */
#include "machine/machine_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_round_trip(const Machine *machine, Diag *diag) {
    Text first = {0}, second = {0};
    machine_print(machine, &first);
    Machine *again = machine_parse("printed.yaml", first.bytes, first.length, diag);
    if (!again || !machine_finish(again, diag)) abort();
    machine_print(again, &second);
    if (strcmp(first.bytes, second.bytes) != 0) abort();
    machine_free(again);
    text_free(&first);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    Diag *diag = diag_new();
    Machine *machine = machine_parse("fuzz.yaml", (const char *)bytes, size, diag);
    bool is_read = machine && machine_finish(machine, diag);
    if (is_read != (diag_error_count(diag) == 0)) abort(); /* a refusal must have a reason */
    if (is_read) check_round_trip(machine, diag);
    machine_free(machine);
    diag_free(diag);
    return 0;
}
