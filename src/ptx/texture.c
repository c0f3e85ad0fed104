/* Operands of texture and surface instructions: d, [t, {x, y}], level or gradients, offsets.
 * Source: PTX ISA 9.0, sections on tex, tld4, txq, suld, sust, sured, suq. */
#include "ptx/texture.h"

#include "ptx/reader.h"

static const PtxGeometry geometries[] = {
    {PTX_SUB_TEX_1D, 1, 1, false, false},  {PTX_SUB_TEX_2D, 2, 2, false, false},
    {PTX_SUB_TEX_3D, 4, 3, false, false},  {PTX_SUB_TEX_A1D, 2, 1, true, false},
    {PTX_SUB_TEX_A2D, 4, 2, true, false},  {PTX_SUB_TEX_CUBE, 4, 3, false, true},
    {PTX_SUB_TEX_ACUBE, 4, 3, true, true},
};

const PtxGeometry *ptx_geometry(PtxSub sub) {
    const PtxGeometry *geometry = geometries;
    while (geometry->sub != sub)
        geometry++;
    return geometry;
}

/* The instruction being read. */
typedef struct Statement {
    Reader *reader;
    const PtxShape *shape;
    PtxInst *inst;
    const PtxGeometry *geometry; /* NULL for a query */
} Statement;

static bool check_value(const Statement *s, char name, PtxType type, PtxOperand *operand) {
    const PtxSlot slot = {.type = type, .name = name, .elements = 1};
    return operand_check(s->reader, s->shape, &slot, s->inst, operand);
}

/* The data that is read or stored. Data that is read may be followed by a predicate. */
static bool read_data(const Statement *s, const PtxSlot *slot, PtxOperand *data) {
    Reader *reader = s->reader;
    if (!operand_read(reader, data)) return false;
    const bool is_braced = data->kind == PTX_OPERAND_VECTOR && slot->elements == 1;
    PtxOperand *value = is_braced && data->count == 1 ? data->items : data;
    if (!operand_check(reader, s->shape, slot, s->inst, value)) return false;
    if (!slot->can_pair || !reader_accept(reader, '|')) return true;
    const PtxSlot flag = {.type = PTX_PRED, .name = 'p', .elements = 1, .is_destination = true};
    PtxOperand *items = ARENA_ARRAY(reader->arena, PtxOperand, 2);
    items[0] = *data;
    *data = (PtxOperand){
        .kind = PTX_OPERAND_PAIR, .reg = -1, .column = data->column, .count = 2, .items = items};
    return operand_read(reader, &items[1]) &&
           operand_check(reader, s->shape, &flag, s->inst, &items[1]);
}

/* A texture, surface or sampler: a handle in a register, or a variable. */
static bool read_handle(const Statement *s, PtxOpaque opaque, PtxOperand *operand) {
    static const char *const names[] = {"", ".texref", ".samplerref", ".surfref"};
    Reader *reader = s->reader;
    const int line = reader->token.line;
    if (!operand_read(reader, operand)) return false;
    const bool is_handle = operand->kind == PTX_OPERAND_REG &&
                           operand_register_fits(reader->regs[operand->reg].type, PTX_U64, false);
    const bool is_variable = operand->kind == PTX_OPERAND_ADDRESS && operand->var->opaque == opaque;
    return is_handle || is_variable ||
           reader_error_at(reader, line, operand->column,
                           "a 64-bit register or a %s variable is expected here", names[opaque]);
}

/* A list in braces, or a single element if `count` is 1. With `may_exceed`, a list of two or four
 * elements is accepted in place of a shorter one; additional elements are checked and ignored. */
static bool read_list(const Statement *s, int count, bool may_exceed, PtxOperand *list) {
    Reader *reader = s->reader;
    const int line = reader->token.line;
    if (!operand_read(reader, list)) return false;
    if (list->kind != PTX_OPERAND_VECTOR) {
        PtxOperand *item = ARENA_NEW(reader->arena, PtxOperand);
        *item = *list;
        *list = (PtxOperand){.kind = PTX_OPERAND_VECTOR,
                             .reg = -1,
                             .column = item->column,
                             .count = 1,
                             .items = item};
    }
    const bool is_longer =
        may_exceed && list->count > count && (list->count == 2 || list->count == 4);
    return list->count == count || is_longer ||
           reader_error_at(reader, line, list->column, "'%s': %d element%s expected here, not %d",
                           s->shape->spelling, count, count == 1 ? " is" : "s are", list->count);
}

static bool read_coordinates(const Statement *s, PtxOperand *coordinates) {
    const PtxType type = s->inst->op == PTX_OP_TEX    ? s->inst->type2
                         : s->inst->op == PTX_OP_TLD4 ? PTX_F32
                                                      : PTX_S32;
    if (!read_list(s, s->geometry->coordinates, true, coordinates)) return false;
    for (int i = 0; i < coordinates->count; i++) {
        const bool is_layer = i == 0 && s->geometry->has_layer;
        if (!check_value(s, 'c', is_layer ? PTX_U32 : type, &coordinates->items[i])) return false;
    }
    coordinates->count = s->geometry->coordinates;
    return true;
}

/* Whether the operand before the coordinates is a sampler: a name and a comma. */
static bool at_sampler(const Reader *reader) {
    Lexer lexer = reader->lexer;
    Token ahead = reader->token;
    if (ahead.kind != LEX_NAME) return false;
    lex_next(&lexer, &ahead);
    return ahead.kind == LEX_SYMBOL && ahead.symbol == ',';
}

/* [t, {x, y}], [t, s, {x, y}]; [t] for a query. */
static bool read_place(const Statement *s, PtxOperand *operands) {
    Reader *reader = s->reader;
    const PtxOpcode op = s->inst->op;
    const bool is_texture = op == PTX_OP_TEX || op == PTX_OP_TLD4 || op == PTX_OP_TXQ;
    if (!reader_expect(reader, '[', "before the texture or surface") ||
        !read_handle(s, is_texture ? PTX_OPAQUE_TEXTURE : PTX_OPAQUE_SURFACE,
                     &operands[PTX_TEXTURE_HANDLE]))
        return false;
    if (!s->geometry) return reader_expect(reader, ']', "behind the texture or surface");
    if (!reader_expect(reader, ',', "behind the texture or surface")) return false;
    if (is_texture && at_sampler(reader) &&
        (!read_handle(s, PTX_OPAQUE_SAMPLER, &operands[PTX_TEXTURE_SAMPLER]) ||
         !reader_expect(reader, ',', "behind the sampler")))
        return false;
    return read_coordinates(s, &operands[PTX_TEXTURE_COORDINATES]) &&
           reader_expect(reader, ']', "behind the coordinates");
}

/* As many elements as the geometry has axes; four for three axes. */
static bool read_axes(const Statement *s, char name, PtxType type, PtxOperand *list) {
    const int axes = s->geometry->axes == 3 ? 4 : s->geometry->axes;
    const bool is_offset = type == PTX_S32; /* gradients have no additional elements */
    if (!read_list(s, axes, is_offset, list)) return false;
    for (int i = 0; i < list->count; i++)
        if (!check_value(s, name, type, &list->items[i])) return false;
    list->count = (uint16_t)axes;
    return true;
}

/* The level, or the two gradients. */
static bool read_level(const Statement *s, PtxOperand *operands) {
    Reader *reader = s->reader;
    const PtxOpcode op = s->inst->op;
    const bool is_query = op == PTX_OP_TXQ && s->shape->slot_count == 3;
    if (is_query || s->inst->sub == PTX_SUB_TEX_LEVEL) {
        const PtxType type = is_query ? PTX_U32 : s->inst->type2;
        PtxOperand *level = &operands[PTX_TEXTURE_LEVEL];
        return reader_expect(reader, ',', "before the level") && operand_read(reader, level) &&
               check_value(s, 'b', type, level);
    }
    return s->inst->sub != PTX_SUB_TEX_GRAD ||
           (reader_expect(reader, ',', "before the gradients") &&
            read_axes(s, 'b', PTX_F32, &operands[PTX_TEXTURE_LEVEL]) &&
            reader_expect(reader, ',', "between the gradients") &&
            read_axes(s, 'c', PTX_F32, &operands[PTX_TEXTURE_GRADIENT_Y]));
}

/* Offsets in texels, then a depth for the comparison. */
static bool read_offsets(const Statement *s, PtxOperand *operands) {
    Reader *reader = s->reader;
    if ((s->inst->op != PTX_OP_TEX && s->inst->op != PTX_OP_TLD4) || !reader_accept(reader, ','))
        return true;
    const bool is_list = s->geometry->axes == 1 || reader_at(reader, '{');
    if (is_list && !read_axes(s, 'e', PTX_S32, &operands[PTX_TEXTURE_OFFSET])) return false;
    if (is_list && !reader_accept(reader, ',')) return true;
    return reader_refuse(reader, s->inst->line, s->inst->column,
                         "not supported: '%s' that compares depths", s->shape->spelling);
}

bool texture_read(Reader *reader, const PtxShape *shape, PtxInst *inst) {
    const bool has_place = inst->op != PTX_OP_TXQ && inst->op != PTX_OP_SUQ;
    const Statement s = {reader, shape, inst, has_place ? ptx_geometry(inst->sub2) : NULL};
    const bool stores = shape->slots[0].kind == PTX_SLOT_TEXTURE;
    PtxOperand *operands = ARENA_ARRAY(reader->arena, PtxOperand, PTX_TEXTURE_OPERANDS);
    for (int i = 0; i < PTX_TEXTURE_OPERANDS; i++)
        operands[i] = (PtxOperand){.reg = -1};
    inst->operands = operands;
    inst->operand_count = PTX_TEXTURE_OPERANDS;
    PtxOperand *data = &operands[PTX_TEXTURE_DATA];
    if (stores)
        return read_place(&s, operands) && reader_expect(reader, ',', "before what is stored") &&
               read_data(&s, &shape->slots[1], data);
    return read_data(&s, &shape->slots[0], data) &&
           reader_expect(reader, ',', "behind the destination") && read_place(&s, operands) &&
           read_level(&s, operands) && read_offsets(&s, operands);
}
