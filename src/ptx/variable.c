/* Declarations of variables, parameters and registers, and initialisers.
 * Source: PTX ISA 9.0, sections 5.1 to 5.4. */
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

enum { MAX_DIMENSIONS = 16, MAX_ALIGN = 4096 };

static const struct {
    const char *word;
    PtxSpace space;
    uint64_t max_bytes; /* limit per variable */
} spaces[] = {
    {".global", PTX_SPACE_GLOBAL, READER_MAX_VAR_BYTES},
    {".const", PTX_SPACE_CONST, READER_MAX_VAR_BYTES},
    {".shared", PTX_SPACE_SHARED, READER_MAX_SHARED_BYTES},
    {".local", PTX_SPACE_LOCAL, READER_MAX_LOCAL_BYTES},
    {".param", PTX_SPACE_PARAM, READER_MAX_PARAM_BYTES},
    {".tex", PTX_SPACE_TEX, READER_MAX_PARAM_BYTES},
};

/* The words between the state space and the name. */
typedef struct Specifier {
    PtxSpace space;
    uint64_t max_bytes;
    PtxType type;
    uint32_t vector; /* 1, 2, 4 */
    uint64_t align;  /* bytes; 0: natural */
    bool is_managed;
    bool is_pointer;
    PtxOpaque opaque;
} Specifier;

/* The array part of a declarator. */
typedef struct Shape {
    uint64_t extent[MAX_DIMENSIONS]; /* elements; [0] is 0 for x[] */
    int dimensions;
    uint64_t size; /* in bytes; for x[] the size of one row */
} Shape;

/* ---- Specifiers ---- */

static bool read_align(Reader *reader, uint64_t *align) {
    int line = reader->token.line, column = reader->token.column;
    if (!constant_read_integer(reader, "alignment", 1, MAX_ALIGN, align)) return false;
    if (bits_is_power_of_two(*align)) return true;
    return reader_error_at(reader, line, column, "alignment %llu is not a power of two",
                           (unsigned long long)*align);
}

static bool read_attribute(Reader *reader, Specifier *specifier) {
    if (!reader_expect(reader, '(', "behind .attribute")) return false;
    do {
        if (reader_accept_word(reader, ".managed")) {
            specifier->is_managed = true;
        } else if (reader_accept_word(reader, ".unified")) {
            uint64_t unused;
            if (!reader_expect(reader, '(', "behind .unified") ||
                !constant_read_integer(reader, "identifier", 0, UINT64_MAX, &unused) ||
                !reader_expect(reader, ',', "between identifiers") ||
                !constant_read_integer(reader, "identifier", 0, UINT64_MAX, &unused) ||
                !reader_expect(reader, ')', "behind identifiers"))
                return false;
        } else {
            return reader_unknown_word(reader, "the attribute .managed or .unified");
        }
    } while (reader_accept(reader, ','));
    return reader_expect(reader, ')', "to close .attribute");
}

/* Reads ".ptr .global .align 4" of a kernel parameter. */
static bool read_pointer(Reader *reader, Specifier *specifier) {
    static const char *const pointees[] = {".const", ".global", ".local", ".shared"};
    specifier->is_pointer = true;
    for (size_t i = 0; i < sizeof pointees / sizeof *pointees; i++) {
        if (reader_accept_word(reader, pointees[i])) break;
    }
    uint64_t align;
    return !reader_accept_word(reader, ".align") || read_align(reader, &align);
}

/* .texref and similar types: a 64-bit handle, at module level in a space of its own. */
static bool accept_opaque_type(Reader *reader, Specifier *specifier) {
    static const struct {
        const char *word;
        PtxOpaque opaque;
    } types[] = {{".texref", PTX_OPAQUE_TEXTURE},
                 {".samplerref", PTX_OPAQUE_SAMPLER},
                 {".surfref", PTX_OPAQUE_SURFACE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!reader_accept_word(reader, types[i].word)) continue;
        specifier->type = PTX_B64;
        if (specifier->space == PTX_SPACE_PARAM) return true;
        specifier->space = PTX_SPACE_TEX;
        specifier->max_bytes = sizeof(uint64_t);
        specifier->opaque = types[i].opaque;
        return true;
    }
    return false;
}

/* Reads alignment, attributes, vector size and type, in any order. */
static bool read_specifier(Reader *reader, Specifier *specifier) {
    while (reader->token.kind == LEX_WORD) {
        PtxType type = reader_type_of(&reader->token);
        if (reader_accept_word(reader, ".align")) {
            if (!read_align(reader, &specifier->align)) return false;
        } else if (reader_accept_word(reader, ".attribute")) {
            if (!read_attribute(reader, specifier)) return false;
        } else if (reader_accept_word(reader, ".ptr")) {
            if (!read_pointer(reader, specifier)) return false;
        } else if (reader_accept_word(reader, ".v2")) {
            specifier->vector = 2;
        } else if (reader_accept_word(reader, ".v4")) {
            specifier->vector = 4;
        } else if (reader_accept_word(reader, ".volatile") ||
                   accept_opaque_type(reader, specifier)) {
            continue;
        } else if (type != PTX_TYPE_NONE) {
            specifier->type = type;
            reader_next(reader);
        } else {
            return reader_unknown_word(reader, "a type or attribute of a variable");
        }
    }
    if (specifier->space == PTX_SPACE_TEX && !specifier->opaque) { /* .tex .u32 t of PTX 1 */
        specifier->type = PTX_B64;
        specifier->opaque = PTX_OPAQUE_TEXTURE;
    }
    return specifier->type != PTX_TYPE_NONE ||
           reader_error(reader, "expected a type such as .u32, not %s", reader_token_text(reader));
}

bool variable_at_space(const Reader *reader) {
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (reader_at_word(reader, spaces[i].word)) return true;
    return false;
}

static bool read_space(Reader *reader, Specifier *specifier) {
    *specifier = (Specifier){.vector = 1};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (!reader_accept_word(reader, spaces[i].word)) continue;
        specifier->space = spaces[i].space;
        specifier->max_bytes = spaces[i].max_bytes;
        if (specifier->space != PTX_SPACE_CONST || !reader_accept(reader, '[')) return true;
        uint64_t bank; /* .const[3] of PTX 2: today there is only one bank */
        return constant_read_integer(reader, "constant bank", 0, 10, &bank) &&
               reader_expect(reader, ']', "behind the constant bank");
    }
    return reader_unknown_word(reader, "a directive or a state space such as .global");
}

static uint32_t element_bytes(const Specifier *specifier) {
    return (uint32_t)ptx_type_bits(specifier->type) / 8 * specifier->vector;
}

/* ---- Declarators ---- */

static bool read_dimensions(Reader *reader, const Specifier *specifier, Shape *shape) {
    *shape = (Shape){.size = element_bytes(specifier)};
    while (reader_at(reader, '[')) {
        int line = reader->token.line, column = reader->token.column;
        reader_next(reader);
        if (shape->dimensions == MAX_DIMENSIONS)
            return reader_error(reader, "array of more than %d dimensions", MAX_DIMENSIONS);
        uint64_t extent = 0;
        bool is_open = shape->dimensions == 0 && reader_at(reader, ']');
        if (!is_open &&
            !constant_read_integer(reader, "array size", 0, READER_MAX_VAR_BYTES, &extent))
            return false;
        if (!reader_expect(reader, ']', "behind the array size")) return false;
        shape->extent[shape->dimensions++] = extent;
        bool is_huge = !is_open && __builtin_mul_overflow(shape->size, extent, &shape->size);
        if (is_huge || shape->size > specifier->max_bytes)
            return reader_error_at(
                reader, line, column, "variable is too large: at most %llu bytes in %s",
                (unsigned long long)specifier->max_bytes, ptx_space_name(specifier->space));
    }
    return true;
}

static void set_declaration(PtxVar *var, const Specifier *specifier, const Shape *shape) {
    uint32_t natural = element_bytes(specifier);
    var->space = specifier->space;
    var->type = specifier->type;
    var->align = specifier->align ? (uint32_t)specifier->align : natural ? natural : 1;
    var->is_incomplete = shape->dimensions > 0 && shape->extent[0] == 0;
    var->size = var->is_incomplete ? 0 : shape->size;
    var->is_managed = specifier->is_managed;
    var->opaque = specifier->opaque;
    var->is_pointer = specifier->is_pointer;
    var->vector = 1;
    var->reg = -1;
}

/* ---- Initialisers ---- */

/* State while an initialiser is read. */
typedef struct Builder {
    PtxVar *var;
    PtxInit *inits;
    int32_t count, capacity;
    uint8_t *bytes; /* of the current run */
    int32_t byte_count, byte_capacity;
    uint64_t run_start; /* offset of the current run, bytes */
    uint64_t highest;   /* end of the highest bytes written */
} Builder;

static PtxInit *add_init(Builder *builder, uint64_t offset, uint64_t size) {
    builder->inits =
        reader_grow(builder->inits, builder->count, &builder->capacity, sizeof(PtxInit));
    PtxInit *init = &builder->inits[builder->count++];
    *init = (PtxInit){.offset = offset, .size = size, .byte = 255};
    return init;
}

static void flush_run(Reader *reader, Builder *builder) {
    if (builder->byte_count == 0) return;
    uint8_t *bytes = ARENA_ARRAY(reader->arena, uint8_t, builder->byte_count);
    memcpy(bytes, builder->bytes, (size_t)builder->byte_count);
    add_init(builder, builder->run_start, (uint64_t)builder->byte_count)->bytes = bytes;
    builder->byte_count = 0;
}

static void add_bytes(Reader *reader, Builder *builder, uint64_t offset, uint64_t value,
                      uint32_t size) {
    bool is_gap = offset != builder->run_start + (uint64_t)builder->byte_count;
    if (is_gap || builder->byte_count > INT32_MAX / 4) flush_run(reader, builder);
    if (builder->byte_count == 0) builder->run_start = offset;
    for (uint32_t i = 0; i < size; i++) {
        builder->bytes =
            reader_grow(builder->bytes, builder->byte_count, &builder->byte_capacity, 1);
        builder->bytes[builder->byte_count++] = (uint8_t)(i < 8 ? value >> 8 * i : 0);
    }
}

/* symbol, symbol+4, generic(symbol), generic(symbol)-8. */
static bool read_address(Reader *reader, PtxInit *init) {
    int line = reader->token.line, column = reader->token.column;
    Name *name = reader_expect_name(reader, "a variable or function");
    if (!name) return false;
    if (!strcmp(name->text, "generic") && reader_accept(reader, '(')) {
        init->is_generic = true;
        line = reader->token.line;
        column = reader->token.column;
        name = reader_expect_name(reader, "a variable");
        if (!name || !reader_expect(reader, ')', "behind generic(")) return false;
    }
    Binding *binding = names_meaning(name);
    if (!binding) return operand_undeclared(reader, name, "variable or function", line, column);
    if (binding->kind == BINDING_VAR) {
        init->var = binding->var;
    } else if (binding->kind == BINDING_FUNCTION) {
        init->function = binding->function;
    } else {
        return reader_error_at(reader, line, column, "'%s' has no address", name->text);
    }
    if (!reader_at(reader, '+') && !reader_at(reader, '-')) return true;
    Constant addend;
    if (!constant_read(reader, &addend)) return false;
    init->addend = addend.value;
    return true;
}

static bool add_address(Reader *reader, Builder *builder, uint64_t offset, uint8_t byte) {
    int line = reader->token.line, column = reader->token.column;
    uint32_t size = (uint32_t)ptx_type_bits(builder->var->type) / 8;
    if (size < 4 && byte == 255)
        return reader_error_at(reader, line, column, "an address does not fit in %s",
                               ptx_type_name(builder->var->type));
    flush_run(reader, builder);
    PtxInit *init = add_init(builder, offset, size);
    init->byte = byte;
    return read_address(reader, init);
}

/* 0xFF00(symbol): the byte of the address that the mask selects. */
static bool read_mask(Reader *reader, const Constant *mask, uint8_t *byte) {
    for (*byte = 0; *byte < 8; ++*byte) {
        if (!mask->is_float && mask->value == UINT64_C(0xFF) << 8 * *byte) return true;
    }
    return reader_error_at(reader, mask->line, mask->column,
                           "mask of an address must be 0xFF, 0xFF00, ...: one byte");
}

static bool read_element(Reader *reader, Builder *builder, uint64_t offset) {
    bool is_name = reader->token.kind == LEX_NAME &&
                   !(reader->token.length == 7 && !memcmp(reader->token.text, "WARP_SZ", 7));
    if (is_name) return add_address(reader, builder, offset, 255);
    Constant constant;
    uint64_t bits;
    if (!constant_read(reader, &constant)) return false;
    if (reader_accept(reader, '(')) {
        uint8_t byte;
        return read_mask(reader, &constant, &byte) && add_address(reader, builder, offset, byte) &&
               reader_expect(reader, ')', "behind a masked address");
    }
    if (!constant_convert_initial(reader, &constant, builder->var->type, &bits)) return false;
    add_bytes(reader, builder, offset, bits, (uint32_t)ptx_type_bits(builder->var->type) / 8);
    return true;
}

/* Reads "{...}" that fills [offset, end). Braces inside fill `inner[0]` bytes each, and so on. */
static bool read_braces(Reader *reader, Builder *builder, uint64_t offset, uint64_t end,
                        const uint64_t *inner) {
    uint64_t element = (uint64_t)ptx_type_bits(builder->var->type) / 8;
    if (!reader_expect(reader, '{', "to open an initialiser")) return false;
    if (reader_accept(reader, '}')) return true;
    do {
        bool is_nested = reader_at(reader, '{');
        uint64_t size = is_nested ? *inner : element;
        if (size == 0) return reader_error(reader, "initialiser has more braces than dimensions");
        if (end - offset < size)
            return reader_error(reader, "initialiser has more values than the variable holds");
        bool is_read = is_nested ? read_braces(reader, builder, offset, offset + size, inner + 1)
                                 : read_element(reader, builder, offset);
        if (!is_read) return false;
        offset += size;
        if (offset > builder->highest) builder->highest = offset;
    } while (reader_accept(reader, ','));
    return reader_expect(reader, '}', "to close the initialiser");
}

/* Sets the number of bytes that inner braces fill, by depth, terminated by 0: for int a[2][3], 12,
 * then 0. The elements of a vector have their own braces. */
static void set_inner_sizes(const Specifier *specifier, const Shape *shape, uint64_t *inner) {
    uint64_t size = element_bytes(specifier);
    int dimensions = shape->dimensions, depth = dimensions > 0 ? dimensions - 1 : 0;
    for (int i = depth - 1; i >= 0; i--) {
        size *= shape->extent[i + 1];
        inner[i] = size;
    }
    if (dimensions > 0 && specifier->vector > 1) inner[depth++] = element_bytes(specifier);
    inner[depth] = 0;
}

/* Sets a sampler's property. Properties of textures and surfaces are ignored, because the host sets
 * them. */
static bool set_property(PtxVar *var, const char *property, const Token *value) {
    static const char *const modes[] = {"wrap", "mirror", "clamp_ogl", "clamp_to_edge",
                                        "clamp_to_border"};
    const bool is_one = value->kind == LEX_INTEGER && value->value != 0;
    if (var->opaque != PTX_OPAQUE_SAMPLER) return true;
    if (strcmp(property, "force_unnormalized_coords") == 0) {
        var->sampler.is_unnormalised = is_one;
    } else if (strcmp(property, "filter_mode") == 0) {
        var->sampler.is_linear = value->length == 6 && !memcmp(value->text, "linear", 6);
    } else if (strncmp(property, "addr_mode_", 10) == 0 && property[10] >= '0' &&
               property[10] <= '2' && !property[11]) {
        for (uint8_t i = 0; i < 5; i++)
            if (value->length == strlen(modes[i]) && !memcmp(value->text, modes[i], value->length))
                var->sampler.mode[property[10] - '0'] = i;
    } else {
        return false;
    }
    return true;
}

/* { filter_mode = linear, addr_mode_0 = wrap } */
static bool read_properties(Reader *reader, PtxVar *var) {
    if (!reader_expect(reader, '{', "to open an initialiser")) return false;
    do {
        const Token place = reader->token;
        Name *property = reader_expect_name(reader, "a property such as filter_mode");
        if (!property || !reader_expect(reader, '=', "behind a property")) return false;
        if (!set_property(var, property->text, &reader->token))
            return reader_refuse(reader, place.line, place.column, "a sampler has no property '%s'",
                                 property->text);
        reader_next(reader);
    } while (reader_accept(reader, ','));
    return reader_expect(reader, '}', "to close the initialiser");
}

static bool read_initialiser(Reader *reader, PtxVar *var, const Specifier *specifier,
                             const Shape *shape) {
    if (var->opaque) return read_properties(reader, var);
    if (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST)
        return reader_error(reader, "'%s' cannot be initialised: only .global and .const can",
                            var->name);
    uint64_t inner[MAX_DIMENSIONS + 2];
    set_inner_sizes(specifier, shape, inner);
    Builder builder = {.var = var};
    uint64_t end = var->is_incomplete ? READER_MAX_VAR_BYTES : var->size;
    bool is_read = reader_at(reader, '{') ? read_braces(reader, &builder, 0, end, inner)
                                          : read_element(reader, &builder, 0);
    flush_run(reader, &builder);
    if (!is_read) builder.count = 0; /* the last address may be incomplete */
    if (var->is_incomplete) {
        uint64_t row = shape->size;
        var->size = row ? bits_align_up(builder.highest, row) : 0;
        var->is_incomplete = false;
    }
    var->init_count = (uint32_t)builder.count;
    var->inits = ARENA_ARRAY(reader->arena, PtxInit, builder.count);
    if (builder.count)
        memcpy(var->inits, builder.inits, sizeof *builder.inits * (size_t)builder.count);
    free(builder.inits);
    free(builder.bytes);
    return is_read;
}

/* ---- Variables ---- */

/* The variable that a declaration creates or completes; NULL after an error. */
static PtxVar *declare(Reader *reader, Name *name, const Token *place, PtxLinkage linkage) {
    Binding *here = names_here(&reader->names, name);
    if (here) {
        bool is_completed = here->kind == BINDING_VAR && !reader->function &&
                            (here->var->linkage == PTX_EXTERN || linkage == PTX_EXTERN);
        if (is_completed) return here->var;
        reader_error_at(reader, place->line, place->column,
                        "'%s' is declared twice: first at line %d", name->text, here->line);
        return NULL;
    }
    PtxVar *var = ARENA_NEW(reader->arena, PtxVar);
    var->name = name->text;
    var->linkage = PTX_EXTERN;
    var->line = place->line;
    var->column = place->column;
    names_bind(&reader->names, name, BINDING_VAR, place->line)->var = var;
    return var;
}

static void add_module_var(Reader *reader, PtxVar *var) {
    PtxModule *module = reader->module;
    module->vars =
        reader_grow(module->vars, module->var_count, &reader->var_capacity, sizeof *module->vars);
    module->vars[module->var_count++] = var;
}

/* Assigns a variable of the function an offset in the local frame or the call-site area. */
static bool add_function_var(Reader *reader, PtxVar *var, const Token *place) {
    PtxFunction *function = reader->function;
    uint64_t local = function->local_bytes;
    uint64_t *top = var->space == PTX_SPACE_LOCAL ? &local : &reader->param_top;
    uint64_t limit =
        var->space == PTX_SPACE_LOCAL ? READER_MAX_LOCAL_BYTES : READER_MAX_PARAM_BYTES;
    var->owner = function;
    if (var->space != PTX_SPACE_SHARED) {
        var->address = bits_align_up(*top, var->align);
        *top = var->address + var->size;
        if (*top > limit)
            return reader_error_at(reader, place->line, place->column,
                                   "'%s' has more than %llu bytes of %s variables", function->name,
                                   (unsigned long long)limit, ptx_space_name(var->space));
    }
    function->local_bytes = (uint32_t)local;
    if (reader->param_top > function->param_area_bytes)
        function->param_area_bytes = (uint32_t)reader->param_top;
    reader->locals = reader_grow(reader->locals, reader->local_count, &reader->local_capacity,
                                 sizeof *reader->locals);
    reader->locals[reader->local_count++] = var;
    return true;
}

static bool has_function_scope(const Reader *reader, PtxSpace space) {
    return reader->function &&
           (space == PTX_SPACE_LOCAL || space == PTX_SPACE_SHARED || space == PTX_SPACE_PARAM);
}

static bool read_declarator(Reader *reader, const Specifier *specifier, PtxLinkage linkage) {
    Token place = reader->token;
    Shape shape;
    Name *name = reader_expect_name(reader, "the name of a variable");
    if (!name || !read_dimensions(reader, specifier, &shape)) return false;
    bool is_new = !names_here(&reader->names, name);
    PtxVar *var = declare(reader, name, &place, linkage);
    if (!var) return false;
    bool keeps_definition = !is_new && linkage == PTX_EXTERN;
    if (!keeps_definition) {
        set_declaration(var, specifier, &shape);
        var->linkage = linkage;
    }
    if (is_new && has_function_scope(reader, var->space) && linkage != PTX_EXTERN) {
        if (!add_function_var(reader, var, &place)) return false;
    } else if (is_new) {
        add_module_var(reader, var);
    }
    if (reader_accept(reader, '=')) {
        if (read_initialiser(reader, var, specifier, &shape)) return true;
        if (!reader->function && reader->refusal)
            names_bind_unknown(&reader->names, name, reader->refusal, place.line);
        return false;
    }
    if (!var->is_incomplete || linkage == PTX_EXTERN) return true;
    return reader_error_at(reader, place.line, place.column,
                           "'%s' has no size: only .extern arrays may leave it out", var->name);
}

bool variable_read(Reader *reader, PtxLinkage linkage) {
    Specifier specifier;
    Token place = reader->token;
    if (!read_space(reader, &specifier) || !read_specifier(reader, &specifier)) return false;
    if (specifier.type == PTX_PRED)
        return reader_error_at(reader, place.line, place.column,
                               ".pred is a type of registers only");
    if (!reader->function && specifier.space == PTX_SPACE_PARAM)
        return reader_refuse(reader, place.line, place.column,
                             "not supported: %s variables outside of a function",
                             ptx_space_name(specifier.space));
    do {
        if (!read_declarator(reader, &specifier, linkage)) return false;
    } while (reader_accept(reader, ','));
    return reader_expect(reader, ';', "behind a variable");
}

/* ---- Parameters ---- */

static bool read_parameter(Reader *reader, bool is_kernel, PtxVar *var) {
    Specifier specifier = {.vector = 1};
    Shape shape;
    Token place = reader->token;
    bool is_register = !is_kernel && reader_accept_word(reader, ".reg");
    if (!is_register && !reader_at_word(reader, ".param"))
        return reader_unknown_word(reader, is_kernel ? ".param" : ".param or .reg");
    if (!is_register && !read_space(reader, &specifier)) return false;
    if (!read_specifier(reader, &specifier)) return false;
    if (specifier.type == PTX_PRED && !is_register)
        return reader_error_at(reader, place.line, place.column,
                               ".pred is a type of registers only");
    if (reader->token.kind == LEX_NAME) place = reader->token;
    Name *name = reader_expect_name(reader, "the name of a parameter");
    if (is_register) specifier.max_bytes = READER_MAX_PARAM_BYTES;
    if (!name || !read_dimensions(reader, &specifier, &shape)) return false;
    set_declaration(var, &specifier, &shape);
    if (is_register) var->vector = (uint8_t)specifier.vector;
    var->name = name->text;
    var->is_parameter = true;
    var->line = place.line;
    var->column = place.column;
    return true;
}

bool variable_read_parameters(Reader *reader, bool is_kernel, PtxVar **vars, uint16_t *count) {
    PtxVar *list = NULL;
    int32_t used = 0, capacity = 0;
    bool is_read = reader_expect(reader, '(', "to open the parameters");
    if (is_read && !reader_at(reader, ')')) {
        do {
            list = reader_grow(list, used, &capacity, sizeof *list);
            list[used] = (PtxVar){0};
            if (used >= READER_MAX_LIST)
                is_read = reader_error(reader, "more than %d parameters", READER_MAX_LIST);
            else if (ptx_has_rest(list, used))
                is_read = reader_error(reader,
                                       "'%s' has no size: only the last parameter may "
                                       "leave it out",
                                       list[used - 1].name);
            else is_read = read_parameter(reader, is_kernel, &list[used]);
            if (is_read) used++;
        } while (is_read && reader_accept(reader, ','));
    }
    is_read = is_read && reader_expect(reader, ')', "to close the parameters");
    *vars = ARENA_ARRAY(reader->arena, PtxVar, used);
    if (used) memcpy(*vars, list, sizeof *list * (size_t)used);
    *count = (uint16_t)used;
    free(list);
    return is_read;
}

/* ---- Registers ---- */

int32_t variable_new_register(Reader *reader, const char *name, PtxType type, int32_t ordinal,
                              int line) {
    if (reader->reg_count >= READER_MAX_REGS) {
        reader_error(reader, "'%s' has more than %d registers", reader->function->name,
                     READER_MAX_REGS);
        return -1;
    }
    reader->regs =
        reader_grow(reader->regs, reader->reg_count, &reader->reg_capacity, sizeof *reader->regs);
    reader->regs[reader->reg_count] =
        (PtxReg){.name = name, .type = type, .ordinal = ordinal, .slot = -1, .line = line};
    return reader->reg_count++;
}

bool variable_new_vector(Reader *reader, const char *name, PtxType type, int count, int32_t ordinal,
                         int line, Binding *binding) {
    const int32_t first = reader->reg_count;
    binding->count = count;
    for (int i = 0; i < count; i++) {
        const char *text = arena_printf(reader->arena, "%s.%c", name, "xyzw"[i]);
        if (variable_new_register(reader, text, type, ordinal + i, line) < 0) return false;
    }
    binding->index = first; /* set only now that all registers exist: after an error, a use of the
                             * name must not get these registers */
    return true;
}

bool variable_new_pair(Reader *reader, const char *name, int32_t ordinal, int line,
                       Binding *binding) {
    const int32_t first = reader->reg_count;
    binding->count = 2;
    for (int half = 0; half < 2; half++) {
        const char *text = arena_printf(reader->arena, "%s.%s", name, half ? "high" : "low");
        if (variable_new_register(reader, text, PTX_B64, ordinal, line) < 0) return false;
    }
    binding->index = first;
    return true;
}

/* The first of `count` numbers for declared registers: numbers of the function or, outside of
 * functions, of the module. Returns -1, after an error, if the module has too many. */
static int32_t number_registers(Reader *reader, int64_t count) {
    int32_t *declared = reader->function ? &reader->declared_regs : &reader->module_regs;
    const int32_t first = *declared;
    if (!reader->function && first + count > READER_MAX_REGS) {
        reader_error(reader, "more than %d registers outside of functions", READER_MAX_REGS);
        return -1;
    }
    if (first < READER_MAX_ORDINAL) *declared += (int32_t)count;
    return first;
}

static bool read_range(Reader *reader, Name *name, const Specifier *specifier, const Token *place) {
    const Binding *here = name->range;
    if (here && here->depth == reader->names.depth)
        return reader_error_at(reader, place->line, place->column,
                               "'%s<>' is declared twice: first at line %d", name->text,
                               here->line);
    reader_next(reader);
    uint64_t count = reader->token.value;
    if (reader->token.kind != LEX_INTEGER)
        return reader_error(reader, "expected the number of registers, not %s",
                            reader_token_text(reader));
    if (count > READER_MAX_REGS)
        return reader_error(reader, "%s<%llu>: too many registers: at most %d in a function",
                            name->text, (unsigned long long)count, READER_MAX_REGS);
    reader_next(reader);
    if (!reader_expect(reader, '>', "behind the number of registers")) return false;
    const Binding *alone = names_alone(&reader->names, name, (int32_t)count);
    if (alone)
        return reader_error_at(reader, place->line, place->column,
                               "'%s' of '%s<%llu>' is declared twice: first at line %d",
                               alone->name->text, name->text, (unsigned long long)count,
                               alone->line);
    Binding *range = names_bind(&reader->names, name, BINDING_RANGE, place->line);
    range->count = (int32_t)count;
    range->index = number_registers(reader, (int64_t)(count * specifier->vector));
    range->type = specifier->type;
    range->vector = (uint8_t)specifier->vector;
    return range->index >= 0;
}

static bool declare_register(Reader *reader, const Specifier *specifier) {
    Token place = reader->token;
    Name *name = reader_expect_name(reader, "the name of a register");
    if (!name) return false;
    if (reader_at(reader, '<')) return read_range(reader, name, specifier, &place);
    Binding *here = names_here(&reader->names, name);
    if (here)
        return reader_error_at(reader, place.line, place.column,
                               "'%s' is declared twice: first at line %d", name->text, here->line);
    if (!reader->function) {
        Binding *binding = names_bind(&reader->names, name, BINDING_MODULE_REG, place.line);
        binding->index = number_registers(reader, specifier->vector);
        binding->type = specifier->type;
        binding->vector = (uint8_t)specifier->vector;
        return binding->index >= 0;
    }
    if (specifier->type == PTX_B128) {
        Binding *binding = names_bind(&reader->names, name, BINDING_VECTOR_REG, place.line);
        return variable_new_pair(reader, name->text, reader->declared_regs++, place.line, binding);
    }
    if (specifier->vector > 1) {
        Binding *binding = names_bind(&reader->names, name, BINDING_VECTOR_REG, place.line);
        const int32_t ordinal = reader->declared_regs;
        reader->declared_regs += (int32_t)specifier->vector;
        return variable_new_vector(reader, name->text, specifier->type, (int)specifier->vector,
                                   ordinal, place.line, binding);
    }
    int32_t index = variable_new_register(reader, name->text, specifier->type,
                                          reader->declared_regs++, place.line);
    names_bind(&reader->names, name, BINDING_REG, place.line)->index = index;
    return index >= 0;
}

bool variable_read_registers(Reader *reader) {
    Specifier specifier = {.vector = 1};
    if (!read_specifier(reader, &specifier)) return false;
    if (!reader->function && specifier.type == PTX_B128)
        return reader_refuse(reader, reader->token.line, reader->token.column,
                             "not supported: .b128 registers outside of functions");
    do {
        if (!declare_register(reader, &specifier)) return false;
    } while (reader_accept(reader, ','));
    return reader_expect(reader, ';', "behind a register declaration");
}
