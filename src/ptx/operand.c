/* Operands of instructions: reads them, and checks them against the instruction's shape. Source:
 * PTX ISA 9.0, chapter 6, and the operand size rules of section 9.5. */
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

/* The meaning, in this function, of the name of a register outside of functions: a register, or a
 * vector of registers, valid in the whole body. */
static Binding *resolve_module_register(Reader *reader, Name *name, const Binding *of) {
    enum { BODY = 1 }; /* depth of the body's scope */
    const bool is_vector = of->vector > 1;
    const int32_t number =
        of->kind == BINDING_RANGE ? (int32_t)strtol(name->text + of->name->length, NULL, 10) : 0;
    const int32_t first = reader->reg_count, ordinal = reader->declared_regs;
    reader->declared_regs += of->vector;
    Binding *binding = names_bind_at(&reader->names, name,
                                     is_vector ? BINDING_VECTOR_REG : BINDING_REG, BODY, of->line);
    if (is_vector)
        variable_new_vector(reader, name->text, of->type, of->vector, ordinal, of->line, binding);
    else if (variable_new_register(reader, name->text, of->type, ordinal, of->line) >= 0)
        binding->index = first;
    for (int32_t i = first; i < reader->reg_count; i++)
        reader->regs[i].module_reg = 1 + of->index + number * of->vector + (i - first);
    return binding;
}

Binding *operand_resolve(Reader *reader, Name *name) {
    Binding *range = names_range(&reader->names, name);
    if (range && range->depth == 0) return resolve_module_register(reader, name, range);
    if (!range && name->binding && name->binding->kind == BINDING_MODULE_REG)
        return resolve_module_register(reader, name, name->binding);
    if (!range) return names_meaning(name);
    if (range->type == PTX_B128) {
        Binding *pair =
            names_bind_at(&reader->names, name, BINDING_VECTOR_REG, range->depth, range->line);
        variable_new_pair(reader, name->text, range->index + name->number, range->line, pair);
        return pair;
    }
    if (range->vector > 1) {
        Binding *vector =
            names_bind_at(&reader->names, name, BINDING_VECTOR_REG, range->depth, range->line);
        variable_new_vector(reader, name->text, range->type, range->vector,
                            range->index + name->number * range->vector, range->line, vector);
        return vector;
    }
    int32_t index = variable_new_register(reader, name->text, range->type,
                                          range->index + name->number, range->line);
    Binding *binding = names_bind_at(&reader->names, name, BINDING_REG, range->depth, range->line);
    binding->index = index < 0 ? 0 : index;
    return binding;
}

/* Special registers that exist in PTX but not in this machine. */
static bool is_unsupported_sreg(const Name *name) {
    static const char *const prefixes[] = {"%pm", "%reserved_smem"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (!strncmp(name->text, prefixes[i], strlen(prefixes[i]))) return true;
    }
    return false;
}

/* The visible name most similar to `name`, or NULL. Limits the number of names that it compares. */
static const char *nearest_name(const Reader *reader, const Name *name) {
    enum { MAX_NAMES = 1024 };
    const char *names[MAX_NAMES];
    int count = 0;
    for (int depth = reader->names.depth; depth >= 0; depth--) {
        for (Binding *b = reader->names.scopes[depth]; b && count < MAX_NAMES; b = b->next_in_scope)
            names[count++] = b->name->text;
    }
    return diag_nearest(name->text, names, count);
}

bool operand_undeclared(Reader *reader, Name *name, const char *what, int line, int column) {
    const Binding *unknown = names_unknown(name);
    if (unknown)
        return reader_refuse(reader, line, column, "'%s' is of what is not supported: %s",
                             name->text, unknown->refusal);
    if (is_unsupported_sreg(name))
        return reader_refuse(reader, line, column, "not supported: special register '%s'",
                             name->text);
    Binding *range = name->prefix ? name->prefix->range : NULL;
    if (range)
        return reader_error_at(reader, line, column, "'%s' is not declared: %s<%d> ends at %s%d",
                               name->text, range->name->text, range->count, range->name->text,
                               range->count - 1);
    const char *nearest = nearest_name(reader, name);
    return reader_error_at(reader, line, column, "'%s' is not declared: no %s has this name%s%s%s",
                           name->text, what, nearest ? "; did you mean '" : "",
                           nearest ? nearest : "", nearest ? "'?" : "");
}

/* ---- Reading ---- */

/* At the .x of %tid.x or v.x, or the .b0 of a video operand: a word directly after the name. */
static bool at_suffix(const Reader *reader, const Token *name) {
    return reader->token.kind == LEX_WORD && reader->token.text == name->text + name->length;
}

static void set_reg(PtxOperand *operand, int32_t reg) {
    operand->kind = PTX_OPERAND_REG;
    operand->reg = reg;
}

/* The single selected part of a register, if there is exactly one. */
static PtxSelect select_of(const PtxPick *pick) {
    if (pick->count != 1 || pick->at[0] >= 32 / pick->bits) return PTX_SELECT_NONE;
    return (PtxSelect)((pick->bits == 8 ? PTX_SELECT_B0 : PTX_SELECT_H0) + pick->at[0]);
}

/* .b0, .h1 of a scalar video instruction; .h10, .b7654 of a packed one. */
static bool read_selector(Reader *reader, PtxOperand *operand) {
    const char *text = reader->token.text;
    const size_t length = reader->token.length;
    PtxPick pick = {.bits = text[1] == 'b' ? 8 : 16};
    const size_t elements = 32 / pick.bits;
    bool is_right = length > 2 && length <= 2 + elements && (text[1] == 'b' || text[1] == 'h');
    for (size_t i = 0; is_right && i < length - 2; i++) {
        const int digit = text[length - 1 - i] - '0';
        is_right = digit >= 0 && digit < (int)(2 * elements);
        pick.at[pick.count++] = (uint8_t)digit;
    }
    if (!is_right)
        return reader_error(reader, "%s is not a part of a register that can be selected here",
                            reader_token_text(reader));
    operand->pick = pick;
    operand->select = select_of(&pick);
    reader_next(reader);
    return true;
}

/* The .x of v.x: the index among `count` elements. */
static bool read_element(Reader *reader, int32_t count, int32_t *index) {
    static const char *const names[] = {"xyzw", "rgba"};
    for (size_t i = 0; i < 2; i++) {
        const char *at = strchr(names[i], reader->token.text[1]);
        if (reader->token.length != 2 || !at || at - names[i] >= count) continue;
        *index = (int32_t)(at - names[i]);
        reader_next(reader);
        return true;
    }
    return reader_error(reader, "%s is not an element of this vector", reader_token_text(reader));
}

/* v.x of a vector register, or v: all its elements. */
static bool read_vector_register(Reader *reader, const Binding *binding, const Token *name,
                                 PtxOperand *operand) {
    if (!at_suffix(reader, name)) {
        operand->kind = PTX_OPERAND_VECTOR;
        operand->count = (uint16_t)binding->count;
        operand->items = ARENA_ARRAY(reader->arena, PtxOperand, binding->count);
        for (int32_t i = 0; i < binding->count; i++) {
            operand->items[i].column = operand->column;
            set_reg(&operand->items[i], binding->index + i);
        }
        return true;
    }
    int32_t index = 0;
    if (!read_element(reader, binding->count, &index)) return false;
    set_reg(operand, binding->index + index);
    return true;
}

/* %tid.x, or %tid: all its elements. */
static bool read_special(Reader *reader, const Binding *binding, const Token *name,
                         PtxOperand *operand) {
    int32_t index = 0;
    const bool is_vector = binding->count > 1, has_suffix = at_suffix(reader, name);
    if (is_vector && has_suffix && !read_element(reader, binding->count, &index)) return false;
    operand->kind = PTX_OPERAND_SREG;
    operand->sreg = (PtxSreg)(binding->index + index);
    operand->is_whole = is_vector && !has_suffix;
    return true;
}

/* a[3], a+8: adds the offset to an address. */
static bool read_offset(Reader *reader, PtxOperand *operand) {
    if (operand->var && reader_accept(reader, '[')) {
        uint64_t index, element = (uint64_t)ptx_type_bits(operand->var->type) / 8;
        if (!constant_read_integer(reader, "index", 0, READER_MAX_VAR_BYTES, &index)) return false;
        operand->imm = (int64_t)(index * element);
        return reader_expect(reader, ']', "behind the index");
    }
    if (!reader_at(reader, '+') && !reader_at(reader, '-')) return true;
    Constant offset;
    if (!constant_read(reader, &offset)) return false;
    if (offset.is_float)
        return reader_error_at(reader, offset.line, offset.column, "offset must be an integer");
    operand->imm = (int64_t)offset.value;
    return true;
}

static bool is_sink(const Token *token) {
    return token->kind == LEX_NAME && token->length == 1 && *token->text == '_';
}

static bool read_envreg(const Name *name, PtxOperand *operand) {
    if (!name->prefix || strcmp(name->prefix->text, "%envreg") != 0 || name->number > 31)
        return false;
    operand->kind = PTX_OPERAND_SREG;
    operand->sreg = PTX_SREG_ENVREG;
    operand->imm = name->number;
    return true;
}

/* Whether an undeclared name may be a special register of a later version of the ISA. Such names
 * are words; compilers name registers with one or two letters and a number. */
static bool is_like_special(const Name *name) {
    enum { FEWEST_LETTERS = 3 };
    const char *p = name->text + 1;
    while ((*p >= 'a' && *p <= 'z') || *p == '_')
        p++;
    return *name->text == '%' && p - name->text > FEWEST_LETTERS &&
           !(name->prefix && name->prefix->range) && !names_unknown(name);
}

static bool refuse_special(Reader *reader, const Name *name, const Token *place) {
    const char *nearest = nearest_name(reader, name);
    return reader_refuse(reader, place->line, place->column,
                         "'%s' is neither declared nor a special register that is known%s%s%s",
                         name->text, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "");
}

static bool read_name(Reader *reader, PtxOperand *operand) {
    Token place = reader->token;
    Name *name = reader_expect_name(reader, "an operand");
    if (!name) return false;
    Binding *binding = operand_resolve(reader, name);
    if (!binding) {
        if (read_envreg(name, operand)) return true;
        if (reader->may_be_special && is_like_special(name) && !is_unsupported_sreg(name))
            return refuse_special(reader, name, &place);
        return operand_undeclared(reader, name, "register or variable", place.line, place.column);
    }
    switch (binding->kind) {
    case BINDING_REG:
        set_reg(operand, binding->index);
        return !at_suffix(reader, &place) || read_selector(reader, operand);
    case BINDING_VECTOR_REG: return read_vector_register(reader, binding, &place, operand);
    case BINDING_VAR:
        operand->kind = PTX_OPERAND_ADDRESS;
        operand->var = binding->var;
        return read_offset(reader, operand);
    case BINDING_FUNCTION:
        operand->kind = PTX_OPERAND_FUNC;
        operand->function = binding->function;
        return true;
    case BINDING_SREG: return read_special(reader, binding, &place, operand);
    default:
        return reader_error_at(reader, place.line, place.column, "'%s' is a label, not a value",
                               name->text);
    }
}

static bool read_constant(Reader *reader, PtxOperand *operand) {
    Constant constant;
    if (!constant_read(reader, &constant)) return false;
    operand->kind = PTX_OPERAND_IMM;
    operand->imm = (int64_t)constant.value;
    operand->is_float = constant.is_float;
    operand->reg = constant.float_bits;
    return true;
}

static bool read_vector(Reader *reader, PtxOperand *operand) {
    enum { MAX_ITEMS = 128 }; /* D of wgmma */
    PtxOperand items[MAX_ITEMS];
    operand->kind = PTX_OPERAND_VECTOR;
    reader_next(reader);
    do {
        if (operand->count == MAX_ITEMS)
            return reader_error(reader, "vector of more than %d elements", MAX_ITEMS);
        if (reader_at(reader, '{') || reader_at(reader, '['))
            return reader_error(reader, "%s inside a vector", reader_token_text(reader));
        if (!operand_read(reader, &items[operand->count])) return false;
        operand->count++;
    } while (reader_accept(reader, ','));
    operand->items = ARENA_ARRAY(reader->arena, PtxOperand, operand->count);
    memcpy(operand->items, items, sizeof *items * operand->count);
    return reader_expect(reader, '}', "to close the vector");
}

/* [reg+imm], [variable+imm], [imm]. The brackets of a texture contain a list. */
static bool read_memory(Reader *reader, PtxOperand *operand) {
    reader_next(reader);
    bool is_name = reader->token.kind == LEX_NAME;
    if (!(is_name ? read_name(reader, operand) : read_constant(reader, operand))) return false;
    if (operand->kind == PTX_OPERAND_REG) {
        if (!read_offset(reader, operand)) return false;
    } else if (operand->kind == PTX_OPERAND_IMM) {
        operand->reg = -1;
    } else if (operand->kind != PTX_OPERAND_ADDRESS) {
        return reader_error_at(reader, reader->token.line, operand->column,
                               "this cannot be the address of memory");
    }
    operand->kind = PTX_OPERAND_MEM;
    operand->is_open = reader_at(reader, ',');
    if (!operand->is_open && !reader_expect(reader, ']', "to close the address")) return false;
    reader_accept_word(reader, ".unified"); /* a hint */
    return true;
}

/* The second element of a pair d|p. */
static bool read_pair(Reader *reader, PtxOperand *operand) {
    PtxOperand *items = ARENA_ARRAY(reader->arena, PtxOperand, 2);
    items[0] = *operand;
    *operand = (PtxOperand){
        .kind = PTX_OPERAND_PAIR, .reg = -1, .column = items[0].column, .count = 2, .items = items};
    items[1] = (PtxOperand){.reg = -1, .column = reader->token.column};
    if (is_sink(&reader->token)) {
        items[1].kind = PTX_OPERAND_SINK;
        reader_next(reader);
        return true;
    }
    return read_name(reader, &items[1]);
}

static bool is_warp_size(const Token *token) {
    return token->length == 7 && !memcmp(token->text, "WARP_SZ", 7);
}

/* !p and -a, as opposed to constant expressions such as !1. */
static bool at_signed_name(const Reader *reader, char sign) {
    if (!reader_at(reader, sign)) return false;
    Lexer lexer = reader->lexer;
    Token next;
    lex_next(&lexer, &next);
    return next.kind == LEX_NAME && (sign == '!' || !is_warp_size(&next));
}

bool operand_read(Reader *reader, PtxOperand *operand) {
    *operand = (PtxOperand){.reg = -1, .column = reader->token.column};
    if (reader_at(reader, '{')) return read_vector(reader, operand);
    if (reader_at(reader, '[')) return read_memory(reader, operand);
    if (is_sink(&reader->token)) {
        operand->kind = PTX_OPERAND_SINK;
        reader_next(reader);
        return !reader_accept(reader, '|') || read_pair(reader, operand);
    }
    operand->negate = at_signed_name(reader, '!');
    operand->is_minus = at_signed_name(reader, '-');
    if (operand->negate || operand->is_minus) {
        reader_next(reader);
        return read_name(reader, operand);
    }
    if (reader->token.kind != LEX_NAME || is_warp_size(&reader->token))
        return read_constant(reader, operand);
    if (!read_name(reader, operand)) return false;
    bool is_pair = operand->kind == PTX_OPERAND_REG && reader_accept(reader, '|');
    return !is_pair || read_pair(reader, operand);
}

/* ---- Checks ---- */

/* The place of an operand, for error messages. */
typedef struct Place {
    Reader *reader;
    const PtxShape *shape;
    const PtxSlot *slot;
    int line; /* of the instruction */
} Place;

static bool mismatch(const Place *place, const PtxOperand *operand, const char *is,
                     const char *needed) {
    return reader_error_at(place->reader, place->line, operand->column,
                           "'%s': operand %c is %s, but must be %s", place->shape->spelling,
                           place->slot->name, is, needed);
}

static bool is_packed(PtxType type) {
    return type == PTX_F16X2 || type == PTX_BF16X2 || type == PTX_U16X2 || type == PTX_S16X2 ||
           type == PTX_F32X2 || type == PTX_TF32 || type == PTX_E4M3X2 || type == PTX_E5M2X2;
}

bool operand_register_fits(PtxType reg, PtxType want, bool is_relaxed) {
    if (reg == PTX_PRED || want == PTX_PRED) return reg == want;
    int reg_bits = ptx_type_bits(reg), want_bits = ptx_type_bits(want);
    if (want == PTX_TYPE_NONE) return !ptx_type_is_float(reg) && reg_bits >= 32;
    if (reg_bits < want_bits || (reg_bits > want_bits && !is_relaxed)) return false;
    if (reg == want || ptx_type_is_bits(reg) || ptx_type_is_bits(want)) return true;
    if (is_packed(want) || is_packed(reg)) return false;
    bool is_float = ptx_type_is_float(want);
    return ptx_type_is_float(reg) == is_float && (!is_float || reg_bits == want_bits);
}

/* A scalar video instruction takes one part of a register. A packed one writes some elements, the
 * highest first, and selects as many elements as it computes from its two sources. */
static bool check_pick(const Place *place, const PtxOperand *operand) {
    const PtxSlot *slot = place->slot;
    const PtxPick *pick = &operand->pick;
    if (slot->can_select)
        return operand->select != PTX_SELECT_NONE ||
               mismatch(place, operand, "not a part of a register", "one, such as .b0 or .h1");
    if (!slot->picks) return mismatch(place, operand, "a part of a register", "a whole register");
    bool is_right = 32 / pick->bits == slot->picks;
    if (!slot->is_destination) is_right = is_right && pick->count == slot->picks;
    for (int i = 0; is_right && slot->is_destination && i < pick->count; i++)
        is_right = pick->at[i] < slot->picks && (i == 0 || pick->at[i] > pick->at[i - 1]);
    return is_right || mismatch(place, operand, "a selection that does not suit",
                                slot->is_destination ? slot->picks == 2 ? "like .h0, .h1 or .h10"
                                                                        : "like .b0, .b31 or .b3210"
                                : slot->picks == 2   ? "like .h10, of .h0 to .h3"
                                                     : "like .b3210, of .b0 to .b7");
}

static bool check_register(const Place *place, const PtxOperand *operand, PtxType want) {
    const Reader *reader = place->reader;
    const PtxReg *reg = &reader->regs[operand->reg];
    if (place->slot->can_be_pred && reg->type == PTX_PRED) want = PTX_PRED;
    if (operand->pick.count && !check_pick(place, operand)) return false;
    if (operand->is_minus && !place->slot->can_minus)
        return mismatch(place, operand, "negated by '-'", "written without '-'");
    if (operand->negate && want != PTX_PRED)
        return mismatch(place, operand, "negated by '!'", "written without '!'");
    if (operand->negate && place->slot->is_destination)
        return mismatch(place, operand, "negated by '!'", "a register to write to");
    if (operand_register_fits(reg->type, want, place->slot->is_relaxed)) return true;
    const char *is =
        arena_printf(reader->arena, "%s, a %s register", reg->name, ptx_type_name(reg->type));
    const char *needed = want == PTX_TYPE_NONE ? "a 32- or 64-bit integer register"
                         : place->slot->is_relaxed
                             ? arena_printf(reader->arena, "%s or wider", ptx_type_name(want))
                             : ptx_type_name(want);
    return mismatch(place, operand, is, needed);
}

static bool check_constant(const Place *place, PtxOperand *operand, PtxType want) {
    if (place->slot->is_destination)
        return mismatch(place, operand, "a constant", "a register to write to");
    if (want == PTX_TYPE_NONE) want = PTX_U64;
    Constant constant = {.is_float = operand->is_float,
                         .float_bits = operand->reg,
                         .value = (uint64_t)operand->imm,
                         .line = place->line,
                         .column = operand->column};
    uint64_t bits;
    if (!constant_convert(place->reader, &constant, want, &bits)) return false;
    operand->imm = (int64_t)bits;
    operand->reg = -1;
    return true;
}

static bool is_wide_sreg(PtxSreg sreg) {
    return sreg == PTX_SREG_CLOCK64 || sreg == PTX_SREG_GLOBALTIMER ||
           sreg == PTX_SREG_CURRENT_GRAPH_EXEC;
}

/* Special registers are 32 or 64 bits wide, and one is a predicate; %tid and similar ones can be
 * read as 16 bits. */
static bool check_sreg(const Place *place, const PtxOperand *operand, PtxType want) {
    const PtxShape *shape = place->shape;
    PtxSreg sreg = operand->sreg;
    bool is_wide = is_wide_sreg(sreg), is_pred = sreg == PTX_SREG_IS_EXPLICIT_CLUSTER;
    int bits = ptx_type_bits(want);
    bool fits = is_wide ? bits == 64 : bits == 32 || bits == 16 || sreg == PTX_SREG_GRIDID;
    bool can_read = shape->inst.op == PTX_OP_MOV || shape->inst.op == PTX_OP_CVT;
    if (!can_read)
        return mismatch(place, operand, "a special register",
                        "a register: read special registers with mov");
    if (operand->is_whole && place->slot->kind != PTX_SLOT_SPECIAL)
        return mismatch(place, operand, "a special register of four elements",
                        "one of them, such as %tid.x; mov.v4 moves all");
    if (is_pred ? want != PTX_PRED : !fits || ptx_type_is_float(want) || want == PTX_PRED)
        return mismatch(place, operand, ptx_sreg_name(sreg),
                        is_pred   ? "read as a predicate"
                        : is_wide ? "read as 64 bits"
                                  : "read as 32 bits");
    return true;
}

int operand_address_bits(Reader *reader, int bits) {
    PtxModule *module = reader->module;
    if (module->address_bits == 0 && (bits == 32 || bits == 64)) module->address_bits = bits;
    return module->address_bits;
}

static bool check_address(const Place *place, const PtxOperand *operand, PtxType want) {
    if (place->slot->kind != PTX_SLOT_MOVE || place->slot->is_destination)
        return mismatch(place, operand, "the address of a symbol",
                        "a register or constant: take addresses with mov");
    int bits = ptx_type_bits(want);
    bool is_small_space = operand->var && operand->var->space != PTX_SPACE_GLOBAL;
    bool is_wrong = ptx_type_is_float(want) || bits < 32;
    bool can_be_short = bits == 32 && is_small_space; /* for any width of other addresses */
    if (!is_wrong && can_be_short) return true;
    int address_bits = operand_address_bits(place->reader, is_wrong ? 0 : bits);
    if (is_wrong || bits < address_bits)
        return mismatch(place, operand, "the address of a symbol",
                        address_bits == 64 ? "read as 64 bits" : "read as 32 bits");
    return true;
}

static bool check_value(const Place *place, PtxOperand *operand, PtxType want) {
    switch (operand->kind) {
    case PTX_OPERAND_REG: return check_register(place, operand, want);
    case PTX_OPERAND_IMM: return check_constant(place, operand, want);
    case PTX_OPERAND_SREG: return check_sreg(place, operand, want);
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_FUNC: return check_address(place, operand, want);
    case PTX_OPERAND_SINK:
        return place->slot->is_destination ||
               mismatch(place, operand, "'_'", "a register or constant");
    case PTX_OPERAND_MEM: return mismatch(place, operand, "an address in brackets", "a value");
    case PTX_OPERAND_VECTOR: return mismatch(place, operand, "a vector", "a single value");
    default: return mismatch(place, operand, "a pair", "a single value");
    }
}

static bool check_pair(const Place *place, PtxOperand *operand) {
    if (!place->slot->can_pair) return mismatch(place, operand, "a pair", "a single register");
    return check_value(place, &operand->items[0], place->slot->type) &&
           check_value(place, &operand->items[1], PTX_PRED);
}

/* One instruction moves elements between memory and registers of a single width, which may be
 * larger than the elements'. */
static bool check_same_width(const Place *place, const PtxOperand *operand) {
    const PtxReg *first = NULL;
    for (int i = 0; i < operand->count; i++) {
        if (operand->items[i].kind != PTX_OPERAND_REG) continue;
        const PtxReg *reg = &place->reader->regs[operand->items[i].reg];
        if (!first) first = reg;
        if (ptx_type_bits(reg->type) == ptx_type_bits(first->type)) continue;
        return reader_error_at(place->reader, place->line, operand->column,
                               "'%s': operand %c has registers of different widths: %s is a %s "
                               "register, %s a %s register",
                               place->shape->spelling, place->slot->name, first->name,
                               ptx_type_name(first->type), reg->name, ptx_type_name(reg->type));
    }
    return true;
}

/* The kind of value in an element of a vector, as far as the register's type or the notation shows
 * it. */
typedef enum Kind { KIND_ANY, KIND_INTEGER, KIND_FLOAT } Kind;

static Kind kind_of(const Reader *reader, const PtxOperand *element) {
    if (element->kind == PTX_OPERAND_IMM) return element->is_float ? KIND_FLOAT : KIND_INTEGER;
    if (element->kind != PTX_OPERAND_REG) return KIND_ANY;
    const PtxType type = reader->regs[element->reg].type;
    return ptx_type_is_bits(type) ? KIND_ANY : ptx_type_is_float(type) ? KIND_FLOAT : KIND_INTEGER;
}

/* A vector must not mix integers and floating-point numbers. Registers of bits may hold either and
 * may be next to both. ptxas has the same rule. */
static bool check_same_kind(const Place *place, const PtxOperand *operand) {
    Kind before = KIND_ANY;
    for (int i = 0; i < operand->count; i++) {
        if (operand->items[i].kind == PTX_OPERAND_SINK) continue;
        const Kind kind = kind_of(place->reader, &operand->items[i]);
        if (kind != before && kind != KIND_ANY && before != KIND_ANY)
            return reader_error_at(place->reader, place->line, operand->items[i].column,
                                   "'%s': operand %c has an integer and a floating-point "
                                   "number: the elements of a vector must be of one kind",
                                   place->shape->spelling, place->slot->name);
        before = kind;
    }
    return true;
}

void operand_spread_sink(Reader *reader, PtxOperand *operand, int count) {
    PtxOperand *items = ARENA_ARRAY(reader->arena, PtxOperand, count);
    for (int i = 0; i < count; i++)
        items[i] = *operand;
    operand->kind = PTX_OPERAND_VECTOR;
    operand->count = (uint16_t)count;
    operand->items = items;
}

static bool check_vector(const Place *place, PtxOperand *operand, int count, PtxType element) {
    if (operand->kind == PTX_OPERAND_SINK && place->slot->is_destination)
        operand_spread_sink(place->reader, operand, count);
    if (operand->kind != PTX_OPERAND_VECTOR)
        return mismatch(place, operand, "a single value", "a vector {a, b, ...}");
    if (operand->count != count)
        return reader_error_at(place->reader, place->line, operand->column,
                               "'%s': operand %c has %d elements, but must have %d",
                               place->shape->spelling, place->slot->name, operand->count, count);
    for (int i = 0; i < operand->count; i++) {
        if (!check_value(place, &operand->items[i], element)) return false;
    }
    return check_same_width(place, operand) && check_same_kind(place, operand);
}

/* The .bN type with that number of bits; NONE if there is none. */
static PtxType bits_type(int bits) {
    return bits == 8    ? PTX_B8
           : bits == 16 ? PTX_B16
           : bits == 32 ? PTX_B32
           : bits == 64 ? PTX_B64
                        : PTX_TYPE_NONE;
}

/* A vector of one element becomes that element. */
static void open_braces(PtxOperand *operand) {
    if (operand->kind == PTX_OPERAND_VECTOR && operand->count == 1) *operand = operand->items[0];
}

/* mov: apart from single values, it packs {a, b} into a wider register and unpacks it. */
static bool check_move(const Place *place, PtxOperand *operand) {
    PtxType type = place->slot->type;
    if (operand->kind != PTX_OPERAND_VECTOR && type == PTX_B128)
        return mismatch(place, operand, "a single value", "a .b128 register or a vector");
    if (operand->kind != PTX_OPERAND_VECTOR) return check_value(place, operand, type);
    PtxType element = bits_type(ptx_type_bits(type) / operand->count);
    bool is_even = element && ptx_type_bits(element) * operand->count == ptx_type_bits(type);
    if (!ptx_type_is_bits(type) || !is_even)
        return mismatch(place, operand, "a vector",
                        "as wide as the instruction's type in all, and that a .b type");
    open_braces(operand);
    if (operand->kind != PTX_OPERAND_VECTOR) return check_value(place, operand, type);
    return check_vector(place, operand, operand->count, element);
}

/* Whether an address register of `bits` may be used in `space`. In a 64-bit module, 32-bit
 * addresses can only access spaces that are always small, as in ptxas. */
static bool is_address_width(Reader *reader, PtxSpace space, int bits) {
    bool is_small_space = space != PTX_SPACE_NONE && space != PTX_SPACE_GLOBAL;
    if (bits == 32 && is_small_space) return true;
    return bits == operand_address_bits(reader, bits) || (bits == 64 && is_small_space);
}

static bool check_memory(const Place *place, PtxInst *inst, PtxOperand *operand) {
    Reader *reader = place->reader;
    const PtxSpace own = place->slot->space;
    PtxSpace space = own ? own : inst->space;
    if (operand->kind == PTX_OPERAND_ADDRESS) operand->kind = PTX_OPERAND_MEM;
    if (operand->kind != PTX_OPERAND_MEM)
        return mismatch(place, operand, "not in brackets", "an address such as [%rd1+4]");
    if (operand->reg >= 0) {
        const PtxReg *reg = &reader->regs[operand->reg];
        int bits = ptx_type_bits(reg->type);
        if (place->slot->is_shared_if_short && bits < reader->module->address_bits &&
            space == PTX_SPACE_NONE)
            space = inst->space = PTX_SPACE_SHARED;
        if (ptx_type_is_float(reg->type) || !is_address_width(reader, space, bits))
            return mismatch(place, operand,
                            arena_printf(reader->arena, "based on %s, a %s register", reg->name,
                                         ptx_type_name(reg->type)),
                            reader->module->address_bits == 64 ? "based on a 64-bit integer"
                                                               : "based on a 32-bit integer");
    }
    if (!operand->var) return true;
    if (space == PTX_SPACE_NONE) inst->space = operand->var->space;
    if (space == PTX_SPACE_NONE || space == operand->var->space) return true;
    if (space == PTX_SPACE_CLUSTER && operand->var->space == PTX_SPACE_SHARED) return true;
    return reader_error_at(reader, place->line, operand->column, "'%s': '%s' is a %s variable",
                           place->shape->spelling, operand->var->name,
                           ptx_space_name(operand->var->space));
}

static bool check_slot(const Place *place, PtxInst *inst, PtxOperand *operand) {
    const PtxSlot *slot = place->slot;
    switch (slot->kind) {
    case PTX_SLOT_MEMORY: return check_memory(place, inst, operand);
    case PTX_SLOT_MOVE: return check_move(place, operand);
    case PTX_SLOT_CONSTANT:
        if (operand->kind != PTX_OPERAND_IMM || operand->is_float)
            return mismatch(place, operand, "not an integer constant", "one");
        operand->reg = -1;
        return true;
    case PTX_SLOT_SPECIAL:
        if (operand->kind == PTX_OPERAND_VECTOR)
            return check_vector(place, operand, slot->elements, slot->type);
        if (operand->kind != PTX_OPERAND_SREG || !operand->is_whole)
            return mismatch(place, operand, "no special register of four elements",
                            "one, such as %tid, or a vector");
        return check_sreg(place, operand, slot->type);
    default: break;
    }
    if (slot->can_enclose && slot->elements == 1) open_braces(operand);
    if (slot->can_describe && operand->kind != PTX_OPERAND_VECTOR)
        return check_value(place, operand, PTX_U64);
    if (slot->elements > 1 || (slot->can_brace && operand->kind == PTX_OPERAND_VECTOR))
        return check_vector(place, operand, slot->elements, slot->type);
    if (operand->kind == PTX_OPERAND_PAIR) return check_pair(place, operand);
    return check_value(place, operand, slot->type);
}

bool operand_check(Reader *reader, const PtxShape *shape, const PtxSlot *slot, PtxInst *inst,
                   PtxOperand *operand) {
    const Place place = {reader, shape, slot, inst->line};
    return check_slot(&place, inst, operand);
}

/* reg + 1 as a source, which ptxas accepts outside of vectors and calls: the operand becomes a new
 * register, which an add before the instruction sets. */
static bool read_sum(Reader *reader, const PtxShape *shape, const PtxInst *inst, int index,
                     PtxOperand *operand) {
    const PtxSlot slot = {.name = index == 0 ? shape->slots[0].name
                                             : (char)('a' + index - inst->has_destination)};
    const Place place = {reader, shape, &slot, inst->line};
    const bool is_destination = index == 0 && inst->has_destination;
    const PtxReg reg = reader->regs[operand->reg];
    const int bits = ptx_type_bits(reg.type);
    const PtxType type = bits == 64 ? PTX_U64 : bits == 32 ? PTX_U32 : PTX_U16;
    PtxOperand addend = {.reg = -1, .column = reader->token.column};
    Constant constant;
    if (is_destination)
        return mismatch(&place, operand, "followed by '+'", "a register to write to");
    if (ptx_type_is_float(reg.type) || reg.type == PTX_PRED || bits < 16 || operand->pick.count ||
        operand->negate || operand->is_minus)
        return mismatch(&place, operand, "followed by '+'", "an integer register for that");
    if (!constant_read(reader, &constant)) return false;
    if (constant.is_float)
        return reader_error_at(reader, constant.line, constant.column,
                               "a constant added to a register must be an integer");
    if (!constant_convert(reader, &constant, type, (uint64_t *)&addend.imm)) return false;
    addend.kind = PTX_OPERAND_IMM;
    const int32_t sum = variable_new_register(
        reader, arena_printf(reader->arena, "%s+%lld", reg.name, (long long)addend.imm), type,
        reader->declared_regs++, inst->line);
    if (sum < 0) return false;
    PtxInst add = {.op = PTX_OP_ADD,
                   .type = type,
                   .vector = 1,
                   .guard = -1,
                   .reconverge = -1,
                   .has_destination = true,
                   .operand_count = 3,
                   .line = inst->line,
                   .column = operand->column,
                   .loc = inst->loc};
    add.operands = ARENA_ARRAY(reader->arena, PtxOperand, 3);
    add.operands[0] = add.operands[1] = *operand;
    add.operands[0].reg = sum;
    add.operands[2] = addend;
    operand->reg = sum;
    reader_add_instruction(reader, &add);
    return true;
}

/* Checks each operand against its slot. Slots of optional operands that are not written are
 * skipped. */
static bool check_all(Reader *reader, const PtxShape *shape, PtxInst *inst, PtxOperand *operands,
                      int count) {
    if (count < shape->required_count || count > shape->slot_count) {
        Text form = {0};
        ptx_form_write(shape->form, &form);
        reader_refuse(reader, inst->line, inst->column, "'%s' has %d operand%s; it is written: %s",
                      shape->spelling, count, text_plural((uint64_t)count), text_string(&form));
        text_free(&form);
        return false;
    }
    int spare = count - shape->required_count, used = 0;
    for (int i = 0; i < shape->slot_count; i++) {
        if (shape->slots[i].is_optional && spare-- <= 0) continue;
        Place place = {reader, shape, &shape->slots[i], inst->line};
        if (!check_slot(&place, inst, &operands[used++])) return false;
    }
    return true;
}

static void store(Reader *reader, PtxInst *inst, const PtxOperand *operands, int count) {
    inst->operands = ARENA_ARRAY(reader->arena, PtxOperand, count);
    inst->operand_count = (uint8_t)count;
    if (count) memcpy(inst->operands, operands, sizeof *operands * (size_t)count);
}

/* ---- Branches ---- */

static bool read_reference(Reader *reader, PtxInst *inst, int index, BindingKind kind,
                           const char *what) {
    Token place = reader->token;
    Name *name = reader_expect_name(reader, what);
    if (!name) return false;
    inst->operands[index] = (PtxOperand){.reg = -1, .column = place.column};
    reader_add_reference(reader, name, &inst->operands[index], kind, &place);
    return true;
}

/* bra L; and brx.idx r, T; */
static bool read_branch(Reader *reader, const PtxShape *shape, PtxInst *inst) {
    PtxOperand index;
    store(reader, inst, NULL, 0);
    inst->operands = ARENA_ARRAY(reader->arena, PtxOperand, 2);
    inst->operand_count = (uint8_t)shape->slot_count;
    if (inst->op == PTX_OP_BRA) return read_reference(reader, inst, 0, BINDING_LABEL, "a label");
    Place place = {reader, shape, &shape->slots[0], inst->line};
    if (!operand_read(reader, &index) || !check_slot(&place, inst, &index)) return false;
    inst->operands[0] = index;
    return reader_expect(reader, ',', "behind the index") &&
           read_reference(reader, inst, 1, BINDING_TARGETS, "the label of .branchtargets");
}

/* Reads operand *count; reads two if coordinates share its brackets. */
static bool read_next(Reader *reader, const PtxShape *shape, PtxInst *inst, PtxOperand *operands,
                      int *count) {
    PtxOperand *operand = &operands[*count];
    if (!operand_read(reader, operand)) return false;
    const bool is_sum = reader_at(reader, '+') && operand->kind == PTX_OPERAND_REG;
    if (is_sum && !read_sum(reader, shape, inst, *count, operand)) return false;
    ++*count;
    if (!operand->is_open) return true;
    if (*count >= shape->slot_count || !shape->slots[*count].is_in_brackets)
        return reader_expect(reader, ']', "to close the address");
    return reader_expect(reader, ',', "in front of coordinates") &&
           operand_read(reader, &operands[(*count)++]) &&
           reader_expect(reader, ']', "to close the address");
}

bool operand_read_all(Reader *reader, const PtxShape *shape, PtxInst *inst) {
    PtxOperand operands[PTX_MAX_OPERANDS + 1]; /* one more for a destination that is also read */
    int count = 0;
    PtxSlotKind last =
        shape->slot_count ? shape->slots[shape->slot_count - 1].kind : PTX_SLOT_VALUE;
    reader->may_be_special = false;
    if (last == PTX_SLOT_CALL) return call_read(reader, inst);
    if (last == PTX_SLOT_LABEL || last == PTX_SLOT_TARGETS) return read_branch(reader, shape, inst);
    for (int i = 0; i < shape->slot_count; i++) {
        if (shape->slots[i].kind == PTX_SLOT_TEXTURE) return texture_read(reader, shape, inst);
    }
    if (reader_at(reader, ';')) return check_all(reader, shape, inst, operands, 0);
    do {
        if (count == PTX_MAX_OPERANDS)
            return reader_error(reader, "'%s' has more than %d operands", shape->spelling,
                                PTX_MAX_OPERANDS);
        reader->may_be_special = inst->op == PTX_OP_MOV && count > 0;
        if (!read_next(reader, shape, inst, operands, &count)) return false;
    } while (reader_accept(reader, ','));
    if (!check_all(reader, shape, inst, operands, count)) return false;
    if (shape->reads_destination) operands[count++] = operands[0];
    store(reader, inst, operands, count);
    return true;
}
