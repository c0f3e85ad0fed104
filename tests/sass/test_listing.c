/* Listings of machine code: as text and as JSON, of files of every kind, and the messages if there
 * is nothing to list. */
#include "sass/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "cubin_maker.h"

static void keep(void *context, const char *text, size_t length) {
    text_add_bytes(context, text, length);
}

typedef struct Listed {
    Text text;
    Diag *diag;
    ListingStatus status;
    ListingCounts counts;
} Listed;

static Listed list(const Text *file, ListingOptions options) {
    Listed listed = {.diag = diag_new()};
    options.file = "made";
    options.write = keep;
    options.context = &listed.text;
    listed.status =
        listing_write(text_string(file), file->length, &options, &listed.counts, listed.diag);
    return listed;
}

static void end(Listed *listed) {
    text_free(&listed->text);
    diag_free(listed->diag);
}

static Text make(bool is_relocatable) {
    Text file = {0};
    cubin_make(&(CubinMade){.architecture = 80, .is_relocatable = is_relocatable}, &file);
    return file;
}

static void expect_error(const Text *file, ListingOptions options, ListingStatus status,
                         const char *message) {
    Listed listed = list(file, options);
    assert_int_equal(listed.status, status);
    assert_string_equal(diag_text(listed.diag), message);
    end(&listed);
}

static void a_listing_has_lines_labels_names_and_control_bits(void **state) {
    (void)state;
    static const char expected[] =
        "// made: machine code for sm_80, by ptxas, Cuda compilation tools, release 13.0\n"
        "\n"
        "//--------------------- .text._Z5scalePfi --------------------------\n"
        "// scale(float*, int)\n"
        "// kernel, 18 registers, 128 B of shared memory, 24 B of local memory, 1 barrier, at most "
        "128x2x1, 12 B of parameters at c[0x0][0x160]\n"
        "_Z5scalePfi:\n"
        "    //## File \"/src/a.cu\", line 12\n"
        "    [B------:R-:W-:-:S02] /*0000*/        MOV R1, c[0x0][0x28] ;\n"
        "    [B------:R-:W-:-:S02] /*0010*/        MOV R2, 32@lo(counter) ;\n"
        "    //## File \"/src/a.cu\", line 20\n"
        "    [B------:R-:W-:-:S02] /*0020*/        MOV R3, 32@hi(counter) ;\n"
        "    //## File \"/src/b.h\", line 3 inlined at \"/src/a.cu\", line 20\n"
        "    //## File \"/src/a.cu\", line 20\n"
        "    [B------:R-:W-:-:S05] /*0030*/    @P0 BRA `(.L_x_0) ;\n"
        "    [B------:R-:W-:-:S05] /*0040*/        CALL.REL.NOINC `($_Z5scalePfi$_Z5twicef) ;\n"
        ".L_x_0:\n"
        "    //## File \"/src/a.cu\", line 21\n"
        "    [B------:R-:W-:-:S05] /*0050*/        EXIT ;\n"
        ".L_x_1:\n"
        "    [B------:R-:W-:Y:S00] /*0060*/        BRA `(.L_x_1) ;\n"
        "$_Z5scalePfi$_Z5twicef:\n"
        "    [B------:R-:W-:-:S05] /*0070*/        RET.REL.NODEC R20 `(_Z5scalePfi) ;\n"
        "    [B------:R-:W-:Y:S00] /*0080*/        .dword 0x0000000000000fff, 0x000fc00000000000 "
        ";\n"
        "\n";
    Text file = make(false);
    Listed listed = list(&file, (ListingOptions){0});
    assert_int_equal(listed.status, LISTING_DONE);
    assert_string_equal(text_string(&listed.text), expected);
    assert_int_equal(listed.counts.instructions, 9);
    assert_int_equal(listed.counts.unknown, 1);
    end(&listed);
    text_free(&file);
}

static void words_are_printed_where_asked_for(void **state) {
    (void)state;
    Text file = make(true);
    Listed listed = list(&file, (ListingOptions){.has_words = true});
    assert_non_null(
        strstr(text_string(&listed.text), "// made: relocatable machine code for sm_80"));
    assert_non_null(strstr(text_string(&listed.text),
                           "EXIT ;\n                              /* 0x000000000000794d "
                           "0x000fea0003800000 */\n"));
    end(&listed);
    text_free(&file);
}

static void one_function_is_found_by_any_of_its_names(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t instructions;
    } names[] = {
        {"_Z5scalePfi", 9}, {"scale", 9}, {"scale(float*, int)", 9}, {"$_Z5scalePfi$_Z5twicef", 2}};
    Text file = make(false);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Listed listed = list(&file, (ListingOptions){.function = names[i].name});
        assert_int_equal(listed.status, LISTING_DONE);
        assert_int_equal(listed.counts.instructions, names[i].instructions);
        end(&listed);
    }
    expect_error(&file, (ListingOptions){.function = "scald"}, LISTING_BAD_CHOICE,
                 "made: error: there is no function scald; did you mean 'scale'?\n");
    expect_error(&file, (ListingOptions){.function = "quicksort"}, LISTING_BAD_CHOICE,
                 "made: error: there is no function quicksort among 2\n");
    text_free(&file);
}

static void code_is_found_in_fat_binaries_and_programs(void **state) {
    (void)state;
    Text cubin = make(false), fatbin = {0}, program = {0}, archive = {0};
    cubin_make_fatbin(&cubin, 80, &fatbin);
    cubin_make_fatbin(&cubin, 80, &fatbin); /* linked from two objects */
    cubin_make_program(&fatbin, &program);
    text_printf(&archive, "!<arch>\n%-48s%-10zu`\n", "a.o/", program.length);
    text_add_bytes(&archive, program.bytes, program.length);
    const Text *files[] = {&fatbin, &program, &archive};
    for (int i = 0; i < 3; i++) {
        Listed listed = list(files[i], (ListingOptions){.architecture = 80});
        assert_string_equal(diag_text(listed.diag), "");
        assert_int_equal(listed.counts.instructions, 18);
        end(&listed);
        expect_error(files[i], (ListingOptions){.architecture = 75}, LISTING_BAD_CHOICE,
                     "made: error: no machine code for sm_75; there is for sm_80 and PTX "
                     "for compute_90\n");
    }
    text_free(&cubin);
    text_free(&fatbin);
    text_free(&program);
    text_free(&archive);
}

static void what_has_no_code_is_told(void **state) {
    (void)state;
    Text fatbin = {0}, program = {0}, empty = {0}, words = {0}, old = {0};
    cubin_make_fatbin(NULL, 0, &fatbin);
    expect_error(&fatbin, (ListingOptions){0}, LISTING_BAD_FILE,
                 "made: error: no machine code, but PTX for compute_90; nvcc -arch=sm_90 "
                 "makes machine code\n");
    cubin_make_program(&empty, &program);
    expect_error(&program, (ListingOptions){0}, LISTING_BAD_FILE,
                 "made: error: no machine code of a GPU\n");
    text_add(&words, "hello");
    static const char other[] = "made: error: this is no cubin, fat binary, executable, shared "
                                "object, object file or archive\n";
    expect_error(&words, (ListingOptions){0}, LISTING_BAD_FILE, other);
    expect_error(&empty, (ListingOptions){0}, LISTING_BAD_FILE, other);
    cubin_make(&(CubinMade){.architecture = 61, .is_old = true}, &old);
    Listed listed = list(&old, (ListingOptions){0});
    assert_string_equal(diag_text(listed.diag),
                        "made: warning: machine code for sm_61 is left out: "
                        "Tyto knows that of sm_70 and later\n");
    end(&listed);
    text_free(&fatbin);
    text_free(&program);
    text_free(&words);
    text_free(&old);
}

static void damaged_containers_are_refused(void **state) {
    (void)state;
    Text cubin = make(false), fatbin = {0}, program = {0};
    cubin_make_fatbin(&cubin, 80, &fatbin);
    cubin_make_program(&fatbin, &program);
    fatbin.length -= 8;
    expect_error(&fatbin, (ListingOptions){0}, LISTING_BAD_FILE,
                 "made: error: the fat binary is damaged\n");
    program.length -= 8;
    expect_error(&program, (ListingOptions){0}, LISTING_BAD_FILE,
                 "made: error: the ELF file is damaged\n");
    cubin.length -= 8;
    expect_error(
        &cubin, (ListingOptions){0}, LISTING_BAD_FILE,
        "made: error: the cubin is damaged: the table of sections is not in the file (22)\n");
    text_free(&cubin);
    text_free(&fatbin);
    text_free(&program);
}

static void a_json_document_has_what_the_text_has(void **state) {
    (void)state;
    static const char *const parts[] = {
        "{\n  \"schema\": \"tyto-disasm-1\",\n  \"file\": \"made\",\n",
        "\"architecture\": \"sm_80\"",
        "\"demangled\": \"scale(float*, int)\"",
        "\"kind\": \"R_CUDA_ABS32_HI_32\"",
        "\"text\": \"@P0 BRA 0x50\"",
        "\"target\": 80",
        "\"inlined\": \"_Z5twicef\"",
        "\"0x0000000000000fff\"",
        "\"instructions\": 9,\n  \"unknown\": 1\n}\n",
    };
    Text file = make(false);
    Listed listed = list(&file, (ListingOptions){.is_json = true});
    const char *at = text_string(&listed.text);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *found = strstr(at, parts[i]);
        if (!found) fail_msg("%s is not in\n%s", parts[i], text_string(&listed.text));
        at = found;
    }
    end(&listed);
    text_free(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listing_has_lines_labels_names_and_control_bits),
        cmocka_unit_test(words_are_printed_where_asked_for),
        cmocka_unit_test(one_function_is_found_by_any_of_its_names),
        cmocka_unit_test(code_is_found_in_fat_binaries_and_programs),
        cmocka_unit_test(what_has_no_code_is_told),
        cmocka_unit_test(damaged_containers_are_refused),
        cmocka_unit_test(a_json_document_has_what_the_text_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
