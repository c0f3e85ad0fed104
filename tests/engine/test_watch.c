/* Records of a watch, with values set by the test: each sample of the timeline covers its own
 * interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/observe/watch.h"

/* The timeline of a kernel that issues in `first` of its first 100 cycles and in `second` of the
 * next 100. */
static char *timeline_of(uint64_t first, uint64_t second) {
    char path[] = "/tmp/tyto-watch-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    Diag *diag = diag_new();
    const TimelineShape shape = {.sms = 1};
    Watch watch = {.timeline = timeline_open(path, &shape, diag), .timeline_interval = 100};
    assert_non_null(watch.timeline);
    watch_start(&watch, "k", 3, 0);
    assert_int_equal(watch_due(&watch), 100);
    watch_sample(&watch, 100, &(Counters){.scheduler_cycles = 100, .issued = first});
    assert_int_equal(watch_due(&watch), 200);
    watch_end(&watch, 200, &(Counters){.scheduler_cycles = 200, .issued = first + second});
    assert_true(timeline_close(watch.timeline, NULL, diag));
    size_t length;
    char *text = text_read_file(path, 1 << 20, &length);
    unlink(path);
    diag_free(diag);
    assert_non_null(text);
    assert_non_null(strstr(text, "k (stream 3)"));
    return text;
}

/* A grid may have any number of CTAs. Those that ended are recorded, in the grid's order. */
static void only_ctas_that_ended_are_recorded(void **state) {
    (void)state;
    Watch watch = {.records_ctas = true};
    uint64_t count;
    watch_start(&watch, "k", 0, 100);
    for (uint64_t cta = 1000; cta; cta--)
        watch_cta(&watch, &(SmCtaEnd){.cta = 3 * cta, .sm = 1, .start = 100 + cta, .end = 2000});
    CtaRecord *ctas = watch_take_ctas(&watch, &count);
    assert_int_equal(count, 1000);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(ctas[i].cta, 3 * (i + 1));
        assert_int_equal(ctas[i].start, i + 1);
        assert_int_equal(ctas[i].end, 1900);
    }
    free(ctas);
    watch_start(&watch, "k", 0, 100);
    ctas = watch_take_ctas(&watch, &count);
    assert_non_null(ctas); /* a list without rows */
    assert_int_equal(count, 0);
    free(ctas);
}

static void a_sample_is_of_its_own_interval(void **state) {
    (void)state;
    char *text = timeline_of(80, 20);
    const char *first = strstr(text, "\"issued\":");
    assert_non_null(first);
    const char *second = strstr(first + 1, "\"issued\":");
    assert_non_null(second);
    /* 80 of 100, then 20 of 100 */
    double share = strtod(first + strlen("\"issued\":"), NULL);
    assert_true(share == 4 * strtod(second + strlen("\"issued\":"), NULL) && share > 0);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_ctas_that_ended_are_recorded),
                                       cmocka_unit_test(a_sample_is_of_its_own_interval)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
