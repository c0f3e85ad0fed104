/* Reads a module: directives, functions and their attributes, and the checks that need the whole
 * module. Source: PTX ISA 9.0, chapter 11. */
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "ptx/analysis.h"

enum { MAX_TEXT_BYTES = 1 << 30, KERNEL_PARAM_BYTES = 32764 /* of CUDA 12.1 and later */ };

/* ---- Module directives ---- */

static bool read_version(Reader *reader) {
    PtxModule *module = reader->module;
    Token token = reader->token;
    const char *p = token.text, *end = token.text + token.length;
    bool is_version = token.kind == LEX_FLOAT && token.float_bits == 0;
    int numbers[2] = {0, 0};
    for (int i = 0; is_version && p < end; p++) {
        if (*p == '.' && i == 0) {
            i = 1;
        } else if (*p >= '0' && *p <= '9' && numbers[i] < 100) {
            numbers[i] = numbers[i] * 10 + *p - '0';
        } else {
            is_version = false;
        }
    }
    if (!is_version)
        return reader_error(reader, "expected a version such as 8.0, not %s",
                            reader_token_text(reader));
    module->version_major = numbers[0];
    module->version_minor = numbers[1];
    reader_next(reader);
    bool is_known =
        numbers[0] <= PTX_LAST_MAJOR && (numbers[0] > 1 || numbers[1] >= 4) && numbers[0] > 0;
    return is_known || reader_error_at(reader, token.line, token.column,
                                       "PTX ISA %d.%d is not supported: versions are 1.4 to %d.x",
                                       numbers[0], numbers[1], PTX_LAST_MAJOR);
}

static bool read_target(Reader *reader) {
    static const char *const options[] = {"texmode_unified", "texmode_independent", "debug",
                                          "map_f64_to_f32"};
    do {
        Token place = reader->token;
        Name *name = reader_expect_name(reader, "a target such as sm_80");
        if (!name) return false;
        bool is_option = false;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            is_option |= !strcmp(name->text, options[i]);
        if (is_option) continue;
        char *rest = NULL;
        long target = !strncmp(name->text, "sm_", 3) ? strtol(name->text + 3, &rest, 10) : 0;
        bool is_target = target >= 10 && target < 1000 && (*rest == '\0' || rest[1] == '\0');
        if (!is_target)
            return reader_error_at(reader, place.line, place.column,
                                   "unknown target '%s': expected sm_ and a number", name->text);
        reader->module->target = (int)target;
    } while (reader_accept(reader, ','));
    return true;
}

static bool read_address_size(Reader *reader) {
    int line = reader->token.line, column = reader->token.column;
    uint64_t bits;
    if (!constant_read_integer(reader, "address size", 32, 64, &bits)) return false;
    reader->module->address_bits = (int)bits;
    return bits == 32 || bits == 64 ||
           reader_error_at(reader, line, column, "address size must be 32 or 64");
}

/* .file index "name" [, time, size] */
static bool read_file(Reader *reader) {
    enum { MAX_FILES = 65536 };
    PtxModule *module = reader->module;
    uint64_t index, unused;
    if (!constant_read_integer(reader, "file index", 0, MAX_FILES, &index)) return false;
    if (reader->token.kind != LEX_STRING)
        return reader_error(reader, "expected the name of a file, not %s",
                            reader_token_text(reader));
    while (module->source_file_count <= (int)index) {
        module->source_files = reader_grow(module->source_files, module->source_file_count,
                                           &reader->file_capacity, sizeof *module->source_files);
        module->source_files[module->source_file_count++] = NULL;
    }
    char *name = arena_strndup(reader->arena, reader->token.text, reader->token.length);
    text_show_controls(name); /* for messages and reports */
    module->source_files[index] = name;
    reader_next(reader);
    while (reader_accept(reader, ',')) {
        if (!constant_read_integer(reader, "number", 0, UINT64_MAX, &unused)) return false;
    }
    return true;
}

/* .section name { ... }: debug information, skipped. */
static bool read_section(Reader *reader) {
    int line = reader->token.line, column = reader->token.column;
    while (!reader_at(reader, '{') && reader->token.kind != LEX_END)
        reader_next(reader);
    while (!reader_at(reader, '}') && reader->token.kind != LEX_END)
        reader_next(reader);
    return reader_accept(reader, '}') ||
           reader_error_at(reader, line, column, "section is not closed: '}' is missing");
}

/* .alias name, function; completed after all functions have been read. */
static bool read_alias(Reader *reader) {
    Token places[2];
    Name *names[2];
    for (int i = 0; i < 2; i++) {
        places[i] = reader->token;
        names[i] = reader_expect_name(reader, "the name of a function");
        if (!names[i]) return false;
        if (!names[i]->binding || names[i]->binding->kind != BINDING_FUNCTION)
            return operand_undeclared(reader, names[i], "function", places[i].line,
                                      places[i].column);
        if (i == 0 && !reader_expect(reader, ',', "between alias and function")) return false;
    }
    PtxFunction *alias = names[0]->binding->function;
    if (alias->is_defined || alias == names[1]->binding->function)
        return reader_error_at(reader, places[0].line, places[0].column,
                               "'%s' cannot be an alias: it is %s", alias->name,
                               alias->is_defined ? "defined" : "itself");
    alias->alias = names[1]->binding->function;
    return reader_expect(reader, ';', "behind .alias");
}

/* ---- Functions ---- */

/* Places a list of parameters from `*top` on. Returns false, after an error, if they have too many
 * bytes. */
static bool place_parameters(Reader *reader, const PtxFunction *function, PtxVar *vars, int count,
                             uint64_t *top) {
    uint64_t limit = function->is_kernel ? KERNEL_PARAM_BYTES : READER_MAX_PARAM_BYTES;
    for (int i = 0; i < count; i++) {
        vars[i].address = bits_align_up(*top, vars[i].align);
        *top = vars[i].address + vars[i].size;
        if (*top > limit)
            return reader_error_at(reader, vars[i].line, vars[i].column,
                                   "parameters of '%s' take more than %llu bytes", function->name,
                                   (unsigned long long)limit);
    }
    return true;
}

static bool has_same_parameters(const PtxVar *a, int a_count, const PtxVar *b, int b_count) {
    if (a_count != b_count) return false;
    for (int i = 0; i < a_count; i++) {
        if (a[i].size != b[i].size && !a[i].is_incomplete && !b[i].is_incomplete) return false;
    }
    return true;
}

/* The three numbers of .maxntid and similar directives; omitted ones are 1. */
static bool read_dimensions(Reader *reader, uint32_t dimensions[3]) {
    int count = 0;
    dimensions[1] = dimensions[2] = 1;
    do {
        uint64_t value;
        if (count == 3) return reader_error(reader, "more than three dimensions");
        if (!constant_read_integer(reader, "number of threads", 1, UINT32_MAX, &value))
            return false;
        dimensions[count++] = (uint32_t)value;
    } while (reader_accept(reader, ','));
    return true;
}

static bool read_count(Reader *reader, uint32_t *count) {
    uint64_t value = 0;
    if (!constant_read_integer(reader, "number", 0, UINT32_MAX, &value)) return false;
    *count = (uint32_t)value;
    return true;
}

/* Skips an unknown directive and the words after it. */
static bool refuse_attribute(Reader *reader) {
    if (!reader_unknown_word(reader, "a directive of a function such as .maxntid") &&
        !reader->function->refusal)
        return false;
    do
        reader_next(reader);
    while (reader->token.kind != LEX_WORD && reader->token.kind != LEX_END &&
           !reader_at(reader, ';') && !reader_at(reader, '{') && !reader_at(reader, '}'));
    return true;
}

/* Whether the module's next directive begins here. Compilers of 2010 wrote prototypes without a
 * semicolon, and ptxas still accepts them. */
static bool at_directive(const Reader *reader) {
    return reader->token.kind == LEX_END ||
           (reader_at_directive(reader) && !reader_at_word(reader, ".pragma"));
}

/* The directives between a function's parameters and its body. */
static bool read_attributes(Reader *reader, PtxFunction *function) {
    uint32_t unused;
    while (reader->token.kind == LEX_WORD && (function->is_kernel || !at_directive(reader))) {
        bool is_read;
        if (reader_accept_word(reader, ".maxntid")) {
            is_read = read_dimensions(reader, function->max_threads);
        } else if (reader_accept_word(reader, ".reqntid")) {
            is_read = read_dimensions(reader, function->required_threads);
        } else if (reader_accept_word(reader, ".minnctapersm")) {
            is_read = read_count(reader, &function->min_ctas_per_sm);
        } else if (reader_accept_word(reader, ".maxnreg")) {
            is_read = read_count(reader, &function->max_registers);
        } else if (reader_accept_word(reader, ".maxclusterrank")) {
            is_read = read_count(reader, &function->max_cluster);
        } else if (reader_accept_word(reader, ".reqnctapercluster")) {
            is_read = read_dimensions(reader, function->cluster);
        } else if (reader_accept_word(reader, ".explicitcluster")) {
            is_read = function->needs_cluster = true;
        } else if (reader_accept_word(reader, ".maxnctapersm") ||
                   reader_accept_word(reader, ".abi_preserve") ||
                   reader_accept_word(reader, ".abi_preserve_control")) {
            is_read = read_count(reader, &unused);
        } else if (reader_accept_word(reader, ".noreturn")) {
            is_read = function->is_noreturn = true;
        } else if (reader_accept_word(reader, ".pragma")) {
            is_read = body_read_pragma(reader);
        } else if (reader_accept_word(reader, ".blocksareclusters")) {
            is_read = function->counts_clusters = true;
        } else {
            is_read = refuse_attribute(reader);
        }
        if (!is_read) return false;
    }
    return true;
}

/* The function that a header declares or defines, new or declared before; NULL after an error. */
static PtxFunction *declare_function(Reader *reader, Name *name, const Token *place) {
    Binding *here = names_here(&reader->names, name);
    if (here && here->kind == BINDING_FUNCTION) return here->function;
    if (here) {
        reader_error_at(reader, place->line, place->column,
                        "'%s' is declared twice: first at line %d", name->text, here->line);
        return NULL;
    }
    PtxModule *module = reader->module;
    PtxFunction *function = ARENA_NEW(reader->arena, PtxFunction);
    function->name = name->text;
    function->line = place->line;
    function->column = place->column;
    names_bind(&reader->names, name, BINDING_FUNCTION, place->line)->function = function;
    module->functions = reader_grow(module->functions, module->function_count,
                                    &reader->function_capacity, sizeof *module->functions);
    module->functions[module->function_count++] = function;
    return function;
}

/* Copies a header to the function. A repeated header must match the earlier declaration. */
static bool merge_header(Reader *reader, PtxFunction *function, const PtxFunction *header,
                         bool is_new, bool is_definition) {
    bool is_same = has_same_parameters(function->returns, function->return_count, header->returns,
                                       header->return_count) &&
                   has_same_parameters(function->parameters, function->parameter_count,
                                       header->parameters, header->parameter_count) &&
                   function->is_kernel == header->is_kernel;
    if (!is_new && !is_same && !function->refusal && !header->refusal)
        return reader_error_at(reader, header->line, header->column,
                               "'%s' does not fit its declaration at line %d", header->name,
                               function->line);
    if (is_definition && function->is_defined)
        return reader_error_at(reader, header->line, header->column,
                               "'%s' is defined twice: first at line %d", header->name,
                               function->line);
    if (!is_new && !is_definition) return true;
    PtxLinkage linkage = function->linkage;
    const char *refusal = function->refusal;
    *function = *header;
    if (!function->refusal) function->refusal = refusal;
    if (!is_new && header->linkage == PTX_LINK_NONE && linkage != PTX_EXTERN)
        function->linkage = linkage;
    return true;
}

/* Reads a list of parameters. A list that is not supported is skipped, and the function is
 * refused. */
static bool read_parameters(Reader *reader, PtxVar **vars, uint16_t *count) {
    const ReaderPlace place = reader_place(reader);
    if (variable_read_parameters(reader, reader->function->is_kernel, vars, count)) return true;
    if (!reader->function->refusal) return false;
    *count = 0;
    reader_go_back(reader, &place);
    int depth = 0;
    do {
        depth += reader_at(reader, '(') - reader_at(reader, ')');
        reader_next(reader);
    } while (depth > 0 && reader->token.kind != LEX_END && !reader_at(reader, ';') &&
             !reader_at(reader, '{'));
    return depth == 0;
}

/* Checks that directives which need others have them, as ptxas does. */
static bool check_attributes(Reader *reader, const PtxFunction *function) {
    if (!function->counts_clusters) return true;
    if (function->is_kernel && function->required_threads[0] && function->cluster[0]) return true;
    reader_error_at(reader, function->line, function->column,
                    "'%s' has .blocksareclusters, which only an .entry with .reqntid and "
                    ".reqnctapercluster may have",
                    function->name);
    return false;
}

/* Assigns offsets to the parameters and returns. */
static bool place_all(Reader *reader, PtxFunction *header) {
    uint64_t top = 0;
    if (!place_parameters(reader, header, header->parameters, header->parameter_count, &top) ||
        !place_parameters(reader, header, header->returns, header->return_count, &top) ||
        !call_check_predicates(reader, header)) {
        if (!header->refusal) return false;
        header->parameter_count = header->return_count = 0;
        top = 0;
    }
    header->parameter_bytes = (uint32_t)top;
    return true;
}

/* Reads a function's header. If a part is not supported, the function is refused. */
static bool read_header(Reader *reader, PtxFunction *header, Name **name, Token *place) {
    if (reader_at_word(reader, ".attribute")) {
        while (!reader_at(reader, ')') && !reader_at(reader, ';') && !reader_at(reader, '{') &&
               reader->token.kind != LEX_END)
            reader_next(reader);
        reader_accept(reader, ')');
    }
    while (reader->token.kind == LEX_WORD) {
        if (!reader_unknown_word(reader, "the name of a function") && !header->refusal)
            return false;
        reader_next(reader);
    }
    if (reader_at(reader, '(') && !header->is_kernel &&
        !read_parameters(reader, &header->returns, &header->return_count))
        return false;
    *place = reader->token;
    *name = reader_expect_name(reader, "the name of a function");
    if (!*name) return false;
    header->name = (*name)->text;
    header->line = place->line;
    header->column = place->column;
    if (reader_at(reader, '(') &&
        !read_parameters(reader, &header->parameters, &header->parameter_count))
        return false;
    return read_attributes(reader, header) && check_attributes(reader, header) &&
           place_all(reader, header);
}

/* Reads .entry or .func, after that word. */
static bool read_function(Reader *reader, PtxLinkage linkage, bool is_kernel) {
    PtxFunction header = {.is_kernel = is_kernel, .linkage = linkage, .refusal = reader->refusal};
    Token place;
    Name *name = NULL;
    reader->function = &header;
    bool is_read = read_header(reader, &header, &name, &place);
    reader->function = NULL;
    reader->refusal = is_read ? NULL : header.refusal;
    if (!is_read) return false;
    bool is_new = !names_meaning(name), is_definition = reader_at(reader, '{');
    PtxFunction *function = declare_function(reader, name, &place);
    if (!function || !merge_header(reader, function, &header, is_new, is_definition)) return false;
    if (is_definition) return body_read(reader, function);
    if (!is_kernel && at_directive(reader)) return true;
    return reader_expect(reader, ';', "or a body behind the header of a function");
}

/* After an error in a variable: skips to after its ';', including its initialiser. */
static void skip_declaration(Reader *reader) {
    while (reader->token.kind != LEX_END && !reader_accept(reader, ';'))
        reader_next(reader);
}

/* After an error outside of bodies: skips a function with its body, or an unknown directive. */
static void skip_function(Reader *reader) {
    int depth = 0;
    while (reader->token.kind != LEX_END) {
        bool is_end = depth == 0 && reader_at(reader, ';');
        if (reader_at(reader, '{')) depth++;
        if (reader_at(reader, '}')) is_end = --depth <= 0;
        reader_next(reader);
        if (is_end) break;
    }
    reader_accept(reader, ';');
}

/* Skips a directive of the module that is not supported, from its start to after its ';' or '}', or
 * to the line where another directive begins. Names in it that have no other meaning are bound to
 * it. */
static bool skip_unknown(Reader *reader) {
    const int line = reader->token.line, column = reader->token.column;
    int depth = 0, last_line = line;
    while (reader->token.kind != LEX_END) {
        const bool is_other = reader_at_directive(reader) && reader->token.line != last_line;
        if (depth == 0 && (is_other || reader_at(reader, '}'))) return true;
        if (reader->token.kind == LEX_NAME) {
            Name *name = names_intern(&reader->names, reader->token.text, reader->token.length);
            if (!name->binding && !names_range(&reader->names, name))
                names_bind_unknown(&reader->names, name, reader->refusal, reader->token.line);
        }
        depth += reader_at(reader, '{') - reader_at(reader, '}');
        const bool is_end = depth == 0 && (reader_at(reader, ';') || reader_at(reader, '}'));
        last_line = reader->token.line;
        reader_next(reader);
        if (!is_end || reader_at(reader, ',')) continue; /* x = {1}, y */
        reader_accept(reader, ';');
        return true;
    }
    reader->refusal = NULL;
    return depth == 0 ||
           reader_error_at(reader, line, column, "this is not closed: '}' is missing");
}

/* ---- The module ---- */

static PtxLinkage read_linkage(Reader *reader) {
    static const struct {
        const char *word;
        PtxLinkage linkage;
    } words[] = {{".visible", PTX_VISIBLE},
                 {".extern", PTX_EXTERN},
                 {".weak", PTX_WEAK},
                 {".common", PTX_COMMON}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (reader_accept_word(reader, words[i].word)) return words[i].linkage;
    }
    return PTX_LINK_NONE;
}

static const struct {
    const char *word;
    bool (*read)(Reader *reader); /* called after the word */
} directives[] = {
    {".version", read_version},           {".target", read_target},
    {".address_size", read_address_size}, {".file", read_file},
    {".section", read_section},           {".alias", read_alias},
    {".pragma", body_read_pragma},        {".reg", variable_read_registers},
};

/* Handles an unknown directive. Words before .entry or .func belong to the function. */
static bool unknown_directive(Reader *reader) {
    const Token place = reader->token;
    const char *text = reader_token_text(reader);
    if (place.kind != LEX_WORD || reader_at_directive(reader))
        return reader_error(reader, "expected a directive, not %s", text);
    char word[64] = "";
    if (place.length < sizeof word) memcpy(word, place.text, place.length);
    const char *nearest = diag_nearest(word, reader_directives, READER_DIRECTIVES);
    reader_refuse(reader, place.line, place.column, "expected a directive, not %s%s%s%s", text,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    PtxLinkage linkage = PTX_VISIBLE;
    while (reader->token.kind == LEX_WORD && reader->token.line == place.line) {
        const bool is_kernel = reader_at_word(reader, ".entry");
        const bool is_function = is_kernel || reader_at_word(reader, ".func");
        const PtxLinkage said = read_linkage(reader);
        if (said == PTX_LINK_NONE) reader_next(reader);
        else linkage = said;
        if (is_function) return read_function(reader, linkage, is_kernel);
    }
    return false;
}

static bool read_directive(Reader *reader) {
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        if (reader_accept_word(reader, directives[i].word)) return directives[i].read(reader);
    }
    PtxLinkage linkage = read_linkage(reader);
    if (reader_accept_word(reader, ".entry")) return read_function(reader, linkage, true);
    if (reader_accept_word(reader, ".func")) return read_function(reader, linkage, false);
    if (!variable_at_space(reader)) return unknown_directive(reader);
    if (variable_read(reader, linkage)) return true;
    if (!reader->refusal) skip_declaration(reader);
    return !reader->refusal;
}

static void read_all(Reader *reader) {
    reader_next(reader);
    if (!reader_at_word(reader, ".version")) {
        reader_error(reader, "this is not PTX: it must begin with .version, not %s",
                     reader_token_text(reader));
        return;
    }
    while (reader->token.kind != LEX_END) {
        int line = reader->token.line, column = reader->token.column;
        const ReaderPlace start = reader_place(reader);
        reader->refusal = NULL;
        if (read_directive(reader)) continue;
        if (reader->refusal) {
            reader_go_back(reader, &start);
            skip_unknown(reader);
            continue;
        }
        bool is_stuck = line == reader->token.line && column == reader->token.column;
        if (is_stuck) reader_next(reader);
        skip_function(reader);
    }
    reader->refusal = NULL;
    if (reader->module->target == 0) reader_error(reader, "the .target directive is missing");
}

/* ---- Checks of the whole module, and analysis ---- */

/* Gives an alias the body of its target. */
static void resolve_alias(Reader *reader, PtxFunction *function) {
    PtxFunction *target = function->alias;
    for (int steps = 0; target && target->alias; target = target->alias) {
        if (steps++ < reader->module->function_count && target != function) continue;
        reader_error_at(reader, function->line, function->column, "'%s' is an alias of itself",
                        function->name);
        return;
    }
    if (!target) return;
    const char *name = function->name;
    PtxLinkage linkage = function->linkage;
    *function = *target;
    function->name = name;
    function->linkage = linkage;
}

static void check_module(Reader *reader) {
    PtxModule *module = reader->module;
    if (module->address_bits == 0) module->address_bits = 32; /* no address is used */
    for (int i = 0; i < module->function_count; i++)
        resolve_alias(reader, module->functions[i]);
    for (int i = 0; i < module->function_count; i++)
        call_check_all(reader, module->functions[i]);
    if (reader->module_regs > 0 && reader->errors == 0) module_registers_pass(reader);
}

static void bind_special_registers(Names *names) {
    for (int i = 0; i < PTX_SREG_COUNT; i++) {
        const char *text = ptx_sreg_name((PtxSreg)i);
        const char *element = strchr(text, '.');
        if (*text != '%' || i == PTX_SREG_ENVREG || (element && element[1] != 'x')) continue;
        size_t length = element ? (size_t)(element - text) : strlen(text);
        Binding *binding = names_bind(names, names_intern(names, text, length), BINDING_SREG, 0);
        binding->index = i;
        binding->count = element ? 4 : 1;
    }
}

static void *into_arena(Arena *arena, void *items, int count, size_t item_bytes) {
    void *copy = arena_alloc(arena, (size_t)count * item_bytes);
    if (count) memcpy(copy, items, (size_t)count * item_bytes);
    free(items);
    return copy;
}

static void finish_module(Reader *reader) {
    PtxModule *m = reader->module;
    m->vars = into_arena(m->arena, m->vars, m->var_count, sizeof *m->vars);
    m->functions = into_arena(m->arena, m->functions, m->function_count, sizeof *m->functions);
    m->locs = into_arena(m->arena, m->locs, m->loc_count, sizeof *m->locs);
    m->source_files =
        into_arena(m->arena, m->source_files, m->source_file_count, sizeof *m->source_files);
    names_free(&reader->names);
    free(reader->insts);
    free(reader->regs);
    free(reader->locals);
    free(reader->references);
}

static PtxModule *read(const char *name, const char *text, size_t length, bool is_compiled,
                       Diag *diag) {
    while (length > 0 && text[length - 1] == '\0') /* fatbins pad their PTX with NULs */
        length--;
    if (length > MAX_TEXT_BYTES) {
        diag_error(diag, name, 0, 0, "PTX of more than 1 GiB");
        return NULL;
    }
    Arena *arena = arena_new();
    char *copy = base_malloc(length + 1);
    if (length) memcpy(copy, text, length);
    copy[length] = '\0';
    PtxModule *module = ARENA_NEW(arena, PtxModule);
    char *shown = arena_strdup(arena, name); /* the name in messages */
    text_show_controls(shown);
    *module = (PtxModule){.arena = arena, .file = shown};
    Reader reader = {.module = module, .arena = arena, .diag = diag};
    names_init(&reader.names, arena);
    bind_special_registers(&reader.names);
    lex_begin(&reader.lexer, copy, length);
    read_all(&reader);
    if (reader.errors == 0) check_module(&reader);
    finish_module(&reader);
    free(copy);
    if (reader.errors == 0 && ptx_analyse(module, is_compiled, diag)) return module;
    ptx_module_free(module);
    return NULL;
}

PtxModule *ptx_read(const char *name, const char *text, size_t length, Diag *diag) {
    return read(name, text, length, false, diag);
}

PtxModule *ptx_read_compiled(const char *name, const char *text, size_t length, Diag *diag) {
    return read(name, text, length, true, diag);
}
