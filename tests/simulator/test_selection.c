/* Which launches --kernels and --skip select, and the warnings when they select none. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "simulator/selection.h"

static Selection *make(const char *names, uint64_t skip) {
    Diag *diag = diag_new();
    Selection *selection = selection_new(names, skip, diag);
    assert_non_null(selection);
    assert_int_equal(diag_error_count(diag), 0);
    diag_free(diag);
    return selection;
}

/* Whether a launch of `kernel` is timed under --kernels `names`. */
static bool takes(const char *names, const char *kernel) {
    Selection *selection = make(names, 0);
    bool is_taken = selection_takes(selection, kernel);
    selection_free(selection);
    return is_taken;
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *kernel;
        bool is_taken;
    } rows[] = {
        {NULL, "anything", true},
        {"bfs", "bfs", true},
        {"bfs", "bfs2", false},
        {"bf*", "bfs2", true},
        {"b?s", "bfs", true},
        {"a,bfs", "bfs", true},
        {"saxpy", "_Z5saxpyifPKfPf", true},
        {"_Z5saxpyifPKfPf", "_Z5saxpyifPKfPf", true},
        {"axpy", "_Z5saxpyifPKfPf", false},
        {"scan", "_Z4scanIfLi256EEvPKT_PS0_i", true},     /* scan<float, 256> */
        {"*scanIf*", "_Z4scanIfLi256EEvPKT_PS0_i", true}, /* by its mangled name */
        {"*scanId*", "_Z4scanIfLi256EEvPKT_PS0_i", false},
        {"reduce", "_ZN3sum4fast6reduceEPf", true}, /* sum::fast::reduce */
        {"sum::fast::reduce", "_ZN3sum4fast6reduceEPf", true},
        {"fast::reduce", "_ZN3sum4fast6reduceEPf", false},
        {"sum::*", "_ZN3sum4fast6reduceEPf", true},
        {"hidden", "_ZL6hiddenv", true}, /* a static kernel */
        {"hidden", "_ZN1aL6hiddenEv", true},
        {"_Z99short", "_Z99short", true}, /* not a valid mangled name */
        {"_Z", "_Z", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (takes(rows[i].pattern, rows[i].kernel) != rows[i].is_taken)
            fail_msg("--kernels %s and kernel %s", rows[i].pattern, rows[i].kernel);
    }
}

static void test_skip_counts_the_kernels_named(void **state) {
    (void)state;
    Selection *selection = make("step", 2);
    static const char *const launches[] = {"step", "other", "step", "other", "step", "step"};
    static const bool timed[] = {false, false, false, false, true, true};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(selection_takes(selection, launches[i]), timed[i]);
        assert_int_equal(selection_takes(selection, launches[i]),
                         timed[i]); /* the same: not counted yet */
        selection_count(selection, launches[i]);
    }
    selection_free(selection);
}

static void test_empty_names_are_refused(void **state) {
    (void)state;
    static const char *const lists[] = {",", "a,", ",a", "a,,b"};
    for (size_t i = 0; i < 4; i++) {
        Diag *diag = diag_new();
        assert_null(selection_new(lists[i], 0, diag));
        assert_non_null(strstr(diag_text(diag), "a name is empty"));
        diag_free(diag);
    }
}

/* The warnings after these launches; the caller frees them. */
static Diag *warnings_after(const char *names, uint64_t skip, const char *const *kernels,
                            int count) {
    Selection *selection = make(names, skip);
    Map *launched = map_new();
    Diag *diag = diag_new();
    for (int i = 0; i < count; i++) {
        selection_count(selection, kernels[i]);
        map_put(launched, kernels[i], strlen(kernels[i]), NULL);
    }
    selection_check(selection, launched, diag);
    map_free(launched);
    selection_free(selection);
    return diag;
}

static void test_warnings(void **state) {
    (void)state;
    static const char *const few[] = {"_Z7scatterPi", "_Z6gatherPi", "_Z6gatherPf"};
    static const char *const many[] = {"aa", "bb", "cc", "dd", "ee", "ff", "gg", "hh", "ii", "jj"};
    const struct {
        const char *names;
        uint64_t skip;
        const char *const *kernels;
        int count;
        const char *warning; /* "": none */
    } rows[] = {
        {"gather,scatter", 2, few, 3, ""},
        {"gather,scater", 0, few, 3,
         "tyto: warning: --kernels scater: no kernel of this name was launched; did you mean "
         "'scatter'?\n"},
        {"zz*", 0, few, 3,
         "tyto: warning: --kernels zz*: no kernel of this name was launched; launched were "
         "scatter, "
         "gather\n"},
        {"long_name", 0, many, 10,
         "tyto: warning: --kernels long_name: no kernel of this name was launched; launched were "
         "aa, "
         "bb, cc, dd, ee, ff, gg, hh and 2 more\n"},
        {"x", 0, NULL, 0,
         "tyto: warning: --kernels x: no kernel of this name was launched; the program launched "
         "none\n"},
        {NULL, 3, few, 3,
         "tyto: warning: --skip 3: the program made only 3 launches, so none was timed\n"},
        {"gather", 2, few, 3,
         "tyto: warning: --skip 2: the program made only 2 launches of the kernels named, so none "
         "was "
         "timed\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Diag *diag = warnings_after(rows[i].names, rows[i].skip, rows[i].kernels, rows[i].count);
        assert_string_equal(diag_text(diag), rows[i].warning);
        diag_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_skip_counts_the_kernels_named),
        cmocka_unit_test(test_empty_names_are_refused),
        cmocka_unit_test(test_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
