/* Text buffers and whole files. */
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_text_grows_and_can_be_used_again(void **state) {
    (void)state;
    Text text = {0};
    assert_string_equal(text_string(&text), "");
    text_clear(&text);
    for (int i = 0; i < 1000; i++)
        text_printf(&text, "%03d,", i);
    assert_int_equal(text.length, 4000);
    assert_memory_equal(text.bytes + 3996, "999,", 5);
    text_clear(&text);
    assert_string_equal(text_string(&text), "");
    text_add(&text, "again");
    text_add_bytes(&text, NULL, 0);
    text_add_bytes(&text, "\0x", 2);
    assert_int_equal(text.length, 7);
    assert_memory_equal(text.bytes, "again\0x", 8);
    text_free(&text);
    assert_null(text.bytes);
    text_free(&text);
}

static void control_characters_are_shown(void **state) {
    (void)state;
    char text[] = "\x1b[31m\ta\n\x7f\xc2\x9b\xc2\xa0\xc3\x9b";
    text_show_controls(text);
    assert_string_equal(text, "?[31m\ta????\xc2\xa0\xc3\x9b");
    char lines[] = "a\tb\nc\r\x1b";
    text_show_lines(lines);
    assert_string_equal(lines, "a\tb\nc??");
}

/* A new folder for one test; remove_folder frees its path. */
static int make_folder(void **state) {
    char name[] = "/tmp/tyto-test-XXXXXX";
    if (!mkdtemp(name)) return -1;
    *state = strdup(name);
    return *state ? 0 : -1;
}

static int remove_folder(void **state) {
    DIR *folder = opendir(*state);
    for (struct dirent *entry; (entry = readdir(folder));)
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    int status = rmdir(*state);
    free(*state);
    return status;
}

static int count_files(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(folder);
    return count;
}

static void path_in(char path[static 256], const char *folder, const char *name) {
    snprintf(path, 256, "%s/%s", folder, name);
}

static void what_is_written_is_read_back(void **state) {
    char path[256];
    path_in(path, *state, "file");
    size_t sizes[] = {0, 1, 65535, 65536, 65537, 1000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *bytes = malloc(sizes[i] + 1);
        for (size_t j = 0; j < sizes[i]; j++)
            bytes[j] = (char)(j * 31);
        assert_true(text_write_file(path, bytes, sizes[i]));
        size_t length = 1;
        char *back = text_read_file(path, sizes[i], &length);
        assert_non_null(back);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(back, bytes, length);
        assert_int_equal(back[length], 0);
        free(back);
        free(bytes);
    }
    assert_int_equal(count_files(*state), 1);
}

static void a_file_over_the_limit_is_refused(void **state) {
    char path[256];
    path_in(path, *state, "file");
    assert_true(text_write_file(path, "12345", 5));
    size_t length;
    errno = 0;
    assert_null(text_read_file(path, 4, &length));
    assert_int_equal(errno, EFBIG);
    assert_null(text_read_file("/dev/zero", 1 << 20, &length));
    assert_int_equal(errno, EFBIG);
}

static void failures_say_why_and_leave_nothing(void **state) {
    char path[256];
    size_t length;
    path_in(path, *state, "none/file");
    assert_false(text_write_file(path, "x", 1));
    assert_int_equal(errno, ENOENT);
    assert_null(text_read_file(path, 100, &length));
    assert_int_equal(errno, ENOENT);
    assert_null(text_read_file(*state, 100, &length));
    assert_int_equal(errno, EISDIR);
    assert_false(text_write_file(*state, "x", 1));
    assert_int_equal(errno, EISDIR);
    assert_false(text_write_file("/dev/full", "x", 1));
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(count_files(*state), 0);
}

static void a_link_stays_a_link_and_a_device_a_device(void **state) {
    char file[256], link[256];
    path_in(file, *state, "file");
    path_in(link, *state, "link");
    assert_true(text_write_file(file, "old", 3));
    assert_int_equal(symlink("file", link), 0);
    assert_true(text_write_file(link, "new", 3));
    struct stat information;
    assert_int_equal(lstat(link, &information), 0);
    assert_true(S_ISLNK(information.st_mode));
    size_t length;
    char *back = text_read_file(file, 100, &length);
    assert_string_equal(back, "new");
    free(back);
    assert_true(text_write_file("/dev/null", "x", 1));
    assert_int_equal(stat("/dev/null", &information), 0);
    assert_true(S_ISCHR(information.st_mode));
}

static void a_dash_reads_standard_input(void **state) {
    char path[256];
    path_in(path, *state, "input");
    assert_true(text_write_file(path, "from a pipe", 11));
    int saved = dup(STDIN_FILENO), input = open(path, O_RDONLY);
    assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
    size_t length;
    char *text = text_read_file("-", 100, &length);
    assert_string_equal(text, "from a pipe");
    free(text);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(input);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_grows_and_can_be_used_again),
        cmocka_unit_test(control_characters_are_shown),
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_over_the_limit_is_refused, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(failures_say_why_and_leave_nothing, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_link_stays_a_link_and_a_device_a_device, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_dash_reads_standard_input, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
