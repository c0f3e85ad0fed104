/* Files that Tyto writes: after any failure either the old file or the complete new one exists, and
 * no other file. */
#include "base/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"

static int make_folder(void **state) {
    char *folder = strdup("/tmp/tyto-test-XXXXXX");
    *state = mkdtemp(folder);
    return *state ? 0 : -1;
}

static int remove_folder(void **state) {
    DIR *folder = opendir(*state);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder) closedir(folder);
    int status = rmdir(*state);
    free(*state);
    return status;
}

/* Creates a file `name` with the old content in the folder. */
static void write_old(char path[static 512], const char *folder, const char *name) {
    snprintf(path, 512, "%s/%s", folder, name);
    assert_true(text_write_file(path, "old", 3));
}

/* Checks that the folder contains only that file, with this content. */
static void expect_alone(const char *folder, const char *path, const char *content) {
    DIR *stream = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    assert_int_equal(count, 1);
    size_t length;
    char *text = text_read_file(path, 1 << 20, &length);
    assert_non_null(text);
    assert_string_equal(text, content);
    free(text);
}

static void the_old_file_is_there_until_the_new_one_is_whole(void **state) {
    char path[512];
    write_old(path, *state, "file");
    OutputFile *file = output_file_open(path);
    for (int i = 0; i < 10000; i++)
        fprintf(output_file_stream(file), "%d", i % 10);
    size_t length;
    char *text = text_read_file(path, 100, &length);
    assert_string_equal(text, "old");
    free(text);
    fputs("end", output_file_stream(file));
    assert_true(output_file_close(file));
    text = text_read_file(path, 20000, &length);
    assert_int_equal(length, 10003);
    assert_string_equal(text + 10000, "end");
    free(text);
}

static void what_is_abandoned_leaves_nothing(void **state) {
    char path[512];
    write_old(path, *state, "file");
    OutputFile *file = output_file_open(path);
    fputs("new", output_file_stream(file));
    output_file_abandon(file);
    output_file_abandon(NULL);
    expect_alone(*state, path, "old");
}

static void a_file_beyond_the_limit_of_the_process_is_an_error_and_no_death(void **state) {
    char path[512], bytes[5000] = {0};
    struct rlimit before, low;
    write_old(path, *state, "file");
    getrlimit(RLIMIT_FSIZE, &before);
    low = (struct rlimit){1000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &low);
    bool is_written = text_write_file(path, bytes, sizeof bytes);
    int error = errno;
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(is_written);
    assert_int_equal(error, EFBIG);
    expect_alone(*state, path, "old");
}

static void a_process_that_dies_as_it_writes_leaves_nothing(void **state) {
    char path[512];
    int probe = open(*state, O_TMPFILE | O_WRONLY, 0600);
    if (probe < 0) skip(); /* a file system without unnamed files */
    close(probe);
    write_old(path, *state, "file");
    pid_t child = fork();
    if (child == 0) {
        OutputFile *file = output_file_open(path);
        fputs("new", output_file_stream(file));
        fflush(output_file_stream(file));
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    expect_alone(*state, path, "old");
}

static void permissions_are_kept(void **state) {
    char path[512];
    struct stat status;
    write_old(path, *state, "file");
    assert_int_equal(chmod(path, 0640), 0);
    assert_true(text_write_file(path, "new", 3));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    expect_alone(*state, path, "new");
}

static void a_name_may_be_as_long_as_the_system_lets_it(void **state) {
    char path[512], name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    write_old(path, *state, name);
    assert_true(text_write_file(path, "new", 3));
    expect_alone(*state, path, "new");
}

static void a_probe_changes_nothing(void **state) {
    char path[512], other[520];
    write_old(path, *state, "file");
    snprintf(other, sizeof other, "%s2", path);
    assert_true(output_file_probe(path));
    assert_true(output_file_probe(other));
    assert_true(output_file_probe("-"));
    assert_true(output_file_probe("/dev/null"));
    assert_false(output_file_probe(*state));
    assert_int_equal(errno, EISDIR);
    assert_false(output_file_probe("/none/at/all"));
    assert_int_equal(errno, ENOENT);
    expect_alone(*state, path, "old");
}

static void expect_place(const char *path, const char *wanted) {
    char *place = output_file_place(path);
    if (wanted) assert_string_equal(place, wanted);
    else assert_null(place);
    free(place);
}

static void a_link_to_no_file_yet_leads_to_its_place(void **state) {
    char path[512], link[512], second[512], self[512];
    char *folder = realpath(*state, NULL);
    snprintf(path, sizeof path, "%s/new", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(second, sizeof second, "%s/second", folder);
    snprintf(self, sizeof self, "%s/self", folder);
    assert_int_equal(symlink("new", link), 0);
    assert_int_equal(symlink(link, second), 0);
    assert_int_equal(symlink("self", self), 0);
    expect_place(path, path);
    expect_place(link, path);
    expect_place(second, path);
    expect_place(self, NULL);
    expect_place("/none/at/all", NULL);
    assert_true(text_write_file(second, "new", 3));
    expect_place(second, path);
    for (int i = 0; i < 3; i++)
        unlink((const char *[]){link, second, self}[i]);
    expect_alone(folder, path, "new");
    free(folder);
}

static void room_is_reserved_or_refused(void **state) {
    char path[512];
    struct stat status;
    write_old(path, *state, "file");
    int descriptor = open(path, O_RDWR);
    struct rlimit before, small = {.rlim_cur = 8192};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_true(output_file_reserve(descriptor, 8192));
    assert_false(output_file_reserve(descriptor, 8193)); /* and no signal (SIGXFSZ) is raised */
    assert_int_equal(errno, EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(fstat(descriptor, &status), 0);
    assert_int_equal(status.st_size, 8192);
    close(descriptor);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_old_file_is_there_until_the_new_one_is_whole),
        IN_FOLDER(what_is_abandoned_leaves_nothing),
        IN_FOLDER(a_file_beyond_the_limit_of_the_process_is_an_error_and_no_death),
        IN_FOLDER(a_process_that_dies_as_it_writes_leaves_nothing),
        IN_FOLDER(permissions_are_kept),
        IN_FOLDER(a_name_may_be_as_long_as_the_system_lets_it),
        IN_FOLDER(a_probe_changes_nothing),
        IN_FOLDER(a_link_to_no_file_yet_leads_to_its_place),
        IN_FOLDER(room_is_reserved_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
