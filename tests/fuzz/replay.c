/* Gives every file of a corpus folder to a fuzz target once, so that earlier findings are tested in
 * every build, without libFuzzer. */
#include "base/text.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int is_input(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static int replay_file(const char *folder, const char *name) {
    Text path = {0};
    text_printf(&path, "%s/%s", folder, name);
    size_t length;
    char *bytes = text_read_file(path.bytes, 1 << 26, &length);
    if (!bytes) perror(path.bytes);
    else LLVMFuzzerTestOneInput((const uint8_t *)bytes, length);
    free(bytes);
    text_free(&path);
    return bytes ? 1 : 0;
}

int main(int argc, char **argv) {
    struct dirent **entries;
    int count = argc == 2 ? scandir(argv[1], &entries, is_input, alphasort) : -1;
    if (count < 0) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return EXIT_FAILURE;
    }
    int passed = 0;
    for (int i = 0; i < count; i++) {
        passed += replay_file(argv[1], entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    printf("%d passed, %d failed\n", passed, count - passed);
    return count > 0 && passed == count ? EXIT_SUCCESS : EXIT_FAILURE;
}
