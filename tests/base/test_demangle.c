/* Names of C++ functions, whole and for listings. */
#include "base/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_names(const char *name, const char *whole, const char *brief) {
    Text text = {0};
    demangle(name, &text);
    assert_string_equal(text_string(&text), whole);
    text_clear(&text);
    demangle_short(name, &text);
    assert_string_equal(text_string(&text), brief);
    text_free(&text);
}

static void a_listing_leaves_out_what_a_function_returns_and_takes(void **state) {
    (void)state;
    expect_names("_Z5firstv", "first()", "first");
    expect_names("_ZN5space5plainEPi", "space::plain(int*)", "space::plain");
    expect_names("_Z5twiceIfEvPiT_", "void twice<float>(int*, float)", "twice<float>");
    expect_names("_ZN12_GLOBAL__N_16kernelEPFviE", "(anonymous namespace)::kernel(void (*)(int))",
                 "(anonymous namespace)::kernel");
}

static void what_is_no_cpp_name_stays_as_it_is(void **state) {
    (void)state;
    expect_names("spmv", "spmv", "spmv");
    expect_names("_Z", "_Z", "_Z");
    expect_names("_Znonsense)", "_Znonsense)", "_Znonsense)");
    expect_names("", "", "");
}

static void long_arguments_of_templates_become_dots(void **state) {
    (void)state;
    Text name = {0}, brief = {0};
    text_add(&name, "_ZN3one3mapI1AIJ");
    for (int i = 0; i < DEMANGLE_SHORT_BYTES; i++)
        text_add(&name, "i");
    text_add(&name, "EEEEvT_");
    demangle_short(text_string(&name), &brief);
    assert_string_equal(text_string(&brief), "one::map<...>");
    text_free(&name);
    text_free(&brief);
}

static void a_json_object_has_the_whole_name_beside_the_mangled_one(void **state) {
    (void)state;
    static const char *const names[] = {"_Z5firstv", "spmv"};
    for (int i = 0; i < 2; i++) {
        Text text = {0};
        Json json;
        json_begin(&json, &text);
        json_object(&json);
        demangle_write_json(names[i], &json);
        json_end_object(&json);
        if (i == 0) assert_non_null(strstr(text_string(&text), "\"demangled\": \"first()\""));
        else assert_null(strstr(text_string(&text), "demangled"));
        text_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listing_leaves_out_what_a_function_returns_and_takes),
        cmocka_unit_test(what_is_no_cpp_name_stays_as_it_is),
        cmocka_unit_test(long_arguments_of_templates_become_dots),
        cmocka_unit_test(a_json_object_has_the_whole_name_beside_the_mangled_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
