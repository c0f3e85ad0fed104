/* Textures and surfaces.
 *
 * How ptxas packs the operands of a texture instruction (seen in its code for PTX of known
 * meaning): The arguments are a list: the handle (TXD.B and TXQ.B), the layer, the coordinates, the
 * handle (other .B forms), the level, the offsets. With .SCR the first operand has the first half
 * of the list, and the second operand the rest. Otherwise the first operand has the layer and the
 * coordinates. TXD has the layer after the coordinates, and in its second operand d/dx and d/dy of
 * x, then of y. Offsets are signed numbers of 4 bits (TLD4: 6 bits, a byte each) in one word, x
 * lowest. The results are in pairs of registers: the first two channels in the mask, and the
 * others. Only 32 bits of a handle are used. Coordinates of a surface: x, y, z or the layer. */
#include "isa/sass/translate.h"

#include <string.h>

#include "isa/exec/texture_inst.h"
#include "ptx/texture.h"

enum { /* operands of TEX, TLD, TLD4, TXD, TMML */
       TEX_PREDICATE,
       TEX_UPPER,
       TEX_LOWER,
       TEX_A,
       TEX_B,
       TEX_HANDLE, /* two operands: bank and offset, or a uniform register; .B forms lack them */
       HANDLE_AT = 4,
       PREDICATE_AT = 5
};

bool tr_bank_of_handle(const SassInst *inst, uint8_t *bank, uint32_t *offset) {
    enum { BY_CONSTANT = 5, BY_CONSTANT_SURED = 2 }; /* values of bits 9 to 11 */
    if (!inst->form || inst->form->unit != SASS_UNIT_TEXTURE) return false;
    const unsigned encoding = inst->bits[0] >> 9 & 7;
    if (encoding != (inst->op == SASS_OP_SURED ? BY_CONSTANT_SURED : BY_CONSTANT)) return false;
    *bank = inst->bits[0] >> 54 & 31;
    *offset = 4 * (uint32_t)(inst->bits[0] >> 40 & 0x3fff);
    return true;
}

/* ---- Arguments ---- */

typedef struct Arguments {
    const SassOperand *a, *b;
    int in_a, next; /* number of arguments in a; index of the next one */
} Arguments;

static IsaOperand take(Translator *t, Arguments *list) {
    const int i = list->next++;
    return i < list->in_a ? tr_register(t, list->a, (uint32_t)i)
                          : tr_register(t, list->b, (uint32_t)(i - list->in_a));
}

/* Extends a handle of 32 bits to 64. */
static IsaOperand handle_of(Translator *t, IsaOperand low) {
    IsaInst *step = tr_step(t, ISA_DO_JOIN);
    step->operand[1] = low;
    step->operand[2] = tr_constant(t, 0);
    step->operand[3] = ISA_SINK;
    step->sub = ISA_JOIN_LOW_ONLY;
    return step->operand[0] = tr_scratch_pair(t);
}

/* The handle in a register. ptxas sets the highest bit of handles that it creates itself, for
 * texture or surface references whose address a program takes. */
static IsaOperand handle_in(Translator *t, IsaOperand reg) {
    const IsaOperand low = tr_scratch(t);
    tr_step3(t, ISA_DO_AND_32, low, reg, tr_constant(t, INT32_MAX));
    return handle_of(t, low);
}

/* The handle that the two operands from `at` on give: a word of a bank, or a uniform register. */
static IsaOperand bound_handle(Translator *t, int at) {
    const SassOperand *first = tr_operand(t, at), *second = tr_operand(t, at + 1);
    if (first->kind == SASS_UREG) {
        const int64_t none = second->kind == SASS_UREG ? SASS_URZ : 0;
        if (second->value != none) tr_refuse(t, "a handle behind a uniform register");
        return handle_of(t, tr_row(t, first));
    }
    const SassOperand word = {.kind = SASS_CONST,
                              .bank = (uint8_t)first->value,
                              .value = 4 * second->value,
                              .reg = SASS_RZ,
                              .ureg = SASS_URZ};
    return handle_of(t, tr_row(t, &word));
}

/* `bits` bits of a word, starting at `from`, as a signed number. */
static IsaOperand signed_part(Translator *t, IsaOperand word, uint32_t from, uint32_t bits) {
    const IsaOperand raised = tr_scratch(t), part = tr_scratch(t);
    tr_step3(t, ISA_DO_SHL_32, raised, word, tr_constant(t, 32 - bits - from));
    tr_step3(t, ISA_DO_SHR_S32, part, raised, tr_constant(t, 32 - bits));
    return part;
}

static PtxSub geometry_of(uint8_t dim) {
    static const PtxSub geometries[] = {PTX_SUB_TEX_1D,   PTX_SUB_TEX_2D,   PTX_SUB_TEX_3D,
                                        PTX_SUB_TEX_CUBE, PTX_SUB_TEX_A1D,  PTX_SUB_TEX_A2D,
                                        PTX_SUB_NONE,     PTX_SUB_TEX_ACUBE};
    return geometries[dim & 7];
}

/* ---- Building blocks ---- */

typedef struct Fetch {
    IsaTexture how;
    IsaTextureRows rows;
    IsaOperand handle;
} Fetch;

static void clear(Fetch *fetch) {
    IsaOperand all[sizeof fetch->rows / sizeof(IsaOperand)];
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        all[i] = ISA_SINK;
    *fetch = (Fetch){.handle = ISA_SINK};
    memcpy(&fetch->rows, all, sizeof all);
}

/* Adds the step itself, without its data. */
static IsaInst *put(Translator *t, IsaHandler handler, const Fetch *fetch) {
    IsaOperand all[sizeof fetch->rows / sizeof(IsaOperand)];
    memcpy(all, &fetch->rows, sizeof all);
    IsaInst *step = tr_step(t, handler);
    step->reconverge = t->wide_count;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        tr_add_wide(t, all[i]);
    memcpy(&step->imm, &fetch->how, sizeof fetch->how);
    step->operand[HANDLE_AT] = fetch->handle;
    step->operand[PREDICATE_AT] = ISA_SINK;
    for (int i = 0; i < 4; ++i)
        step->operand[i] = ISA_SINK;
    return step;
}

static void fill_access(Translator *t, IsaMemoryKind kind, PtxSpace space, int size, int vector) {
    t->info.op_class = ISA_CLASS_MEMORY;
    t->info.memory = (uint8_t)kind;
    t->info.space = (uint8_t)space;
    t->info.element_bytes = (uint8_t)size;
    t->info.vector = (uint8_t)vector;
}

/* Sets the results: the channels in the mask, one register each, in two pairs. */
static void put_channels(Translator *t, IsaInst *step, uint8_t mask) {
    int count = 0;
    for (int channel = 0; channel < 4; ++channel) {
        if (!(mask >> channel & 1)) continue;
        const SassOperand *to = tr_operand(t, count < 2 ? TEX_LOWER : TEX_UPPER);
        step->operand[channel] = tr_to_register(t, to, (uint32_t)count & 1);
        count++;
    }
}

/* ---- Fetches ---- */

/* The arguments, and how many of them are in the first operand. */
static Arguments arguments_of(Translator *t, const PtxGeometry *geometry, bool has_level,
                              bool has_offset) {
    const int places = geometry->axes + geometry->has_layer;
    const int all = places + has_level + has_offset + tr_mod(t, SASS_MOD_BINDLESS);
    return (Arguments){tr_operand(t, TEX_A), tr_operand(t, TEX_B),
                       tr_mod(t, SASS_MOD_SCR) ? (all + 1) / 2 : places, 0};
}

static void take_places(Translator *t, Arguments *list, const PtxGeometry *geometry, Fetch *fetch) {
    if (geometry->has_layer) fetch->rows.layer = take(t, list);
    for (int axis = 0; axis < geometry->axes; ++axis)
        fetch->rows.at[axis] = take(t, list);
}

static void take_offsets(Translator *t, Arguments *list, const PtxGeometry *geometry, Fetch *fetch,
                         uint32_t bits, uint32_t apart) {
    const IsaOperand word = take(t, list);
    for (int axis = 0; axis < geometry->axes; ++axis)
        fetch->rows.offset[axis] = signed_part(t, word, apart * (uint32_t)axis, bits);
}

/* Sets data, predicate and class of a fetch. The predicate reports missing texels, so it is always
 * false. */
static bool finish_fetch(Translator *t, IsaHandler handler, Fetch *fetch) {
    const uint8_t mask = (uint8_t)tr_operand(t, t->sass->operand_count - 1)->value & 15;
    const bool is_half = tr_mod(t, SASS_MOD_HALVES);
    if (is_half && mask != 15) return tr_refuse(t, "some channels as halves");
    fetch->how.type = is_half ? PTX_F16X2 : PTX_F32;
    IsaInst *step = put(t, handler, fetch);
    if (is_half) {
        step->operand[0] = tr_to(t, tr_operand(t, TEX_LOWER));
        step->operand[1] = tr_to(t, tr_operand(t, TEX_UPPER));
    } else {
        put_channels(t, step, mask);
    }
    step->size = 4;
    step->vector = 4;
    step->space = PTX_SPACE_TEX;
    if (tr_operand(t, TEX_PREDICATE)->value != SASS_PT) {
        tr_step2(t, ISA_DO_PRED_MOV, tr_word_to(t, tr_operand(t, TEX_PREDICATE)), ISA_PRED_FALSE);
    }
    fill_access(t, ISA_MEMORY_TEXTURE, PTX_SPACE_TEX, 4, 4);
    return true;
}

/* Common to TEX, TLD and TLD4: geometry, places, handle. Returns false if refused. */
static bool begin_fetch(Translator *t, Fetch *fetch, const PtxGeometry **geometry) {
    clear(fetch);
    *geometry = ptx_geometry(geometry_of(tr_mod(t, SASS_MOD_DIM)));
    if (!*geometry) return tr_refuse(t, "this geometry");
    if (tr_mod(t, SASS_MOD_DC)) return tr_refuse(t, "a comparison of depths");
    fetch->how.geometry = (uint8_t)(*geometry)->sub;
    return true;
}

/* How the level is chosen. TLD has a field of its own from sm_100 on. */
static uint8_t level_of(const Translator *t) {
    if (t->sass->op != SASS_OP_TLD || t->sass->sm < 100) return tr_mod(t, SASS_MOD_LOD);
    return tr_mod(t, SASS_MOD_TLD_LOD) ? SASS_LOD_LL : SASS_LOD_LZ;
}

bool tr_op_fetch(Translator *t) {
    Fetch fetch;
    const PtxGeometry *geometry;
    const bool is_texel = t->sass->op == SASS_OP_TLD, is_gather = t->sass->op == SASS_OP_TLD4;
    const uint8_t lod = level_of(t);
    const bool has_level = !is_gather && lod == SASS_LOD_LL;
    const uint8_t offsets = tr_mod(t, SASS_MOD_OFFSETS) | tr_mod(t, SASS_MOD_AOFFI);
    /* ptxas uses TEX without a level for PTX without one only from sm_120 on */
    const bool has_none = !is_gather && lod == SASS_LOD_AUTO && t->sass->sm >= 120;
    if (!begin_fetch(t, &fetch, &geometry)) return false;
    if (tr_mod(t, SASS_MOD_MS)) return tr_refuse(t, "several samples");
    if (!is_gather && !has_none && lod != SASS_LOD_LL && lod != SASS_LOD_LZ)
        return tr_refuse(t, "a level by the neighbours' coordinates");
    if (offsets > 1) return tr_refuse(t, "an offset for each texel");
    Arguments list = arguments_of(t, geometry, has_level, offsets);
    take_places(t, &list, geometry, &fetch);
    fetch.handle =
        tr_mod(t, SASS_MOD_BINDLESS) ? handle_in(t, take(t, &list)) : bound_handle(t, TEX_HANDLE);
    fetch.how.has_texel = is_texel;
    fetch.how.component = tr_mod(t, SASS_MOD_COMPONENT);
    const bool names_level = is_texel ? tr_mod(t, SASS_MOD_CL) : !has_none; /* LZ: level 0 */
    fetch.how.chooses = is_gather     ? PTX_SUB_TEX_BASE
                        : names_level ? PTX_SUB_TEX_LEVEL
                                      : PTX_SUB_NONE;
    if (has_level && is_texel && !names_level) return tr_refuse(t, "a level without .CL");
    if (has_level) fetch.rows.level = take(t, &list);
    if (offsets && is_gather) take_offsets(t, &list, geometry, &fetch, 6, 8);
    else if (offsets) take_offsets(t, &list, geometry, &fetch, 4, 4);
    return finish_fetch(t, is_gather ? ISA_DO_TLD4 : ISA_DO_TEX, &fetch);
}

/* a: (handle,) coordinates, layer; b: gradients */
bool tr_op_txd(Translator *t) {
    Fetch fetch;
    const PtxGeometry *geometry;
    if (!begin_fetch(t, &fetch, &geometry)) return false;
    if (tr_mod(t, SASS_MOD_AOFFI) || tr_mod(t, SASS_MOD_OFFSETS) || tr_mod(t, SASS_MOD_LC))
        return tr_refuse(t, "an offset");
    if (geometry->axes > 2) return tr_refuse(t, "this geometry");
    const bool is_bindless = tr_mod(t, SASS_MOD_BINDLESS);
    Arguments list = {tr_operand(t, TEX_A), tr_operand(t, TEX_B),
                      geometry->axes + geometry->has_layer + is_bindless, 0};
    fetch.handle = is_bindless ? handle_in(t, take(t, &list)) : bound_handle(t, TEX_HANDLE);
    for (int axis = 0; axis < geometry->axes; ++axis)
        fetch.rows.at[axis] = take(t, &list);
    if (geometry->has_layer) fetch.rows.layer = take(t, &list);
    for (int axis = 0; axis < geometry->axes; ++axis)
        for (int along = 0; along < 2; ++along)
            fetch.rows.gradient[along][axis] = take(t, &list);
    fetch.how.chooses = PTX_SUB_TEX_GRAD;
    return finish_fetch(t, ISA_DO_TEX, &fetch);
}

/* upper, lower, a, query, (handle), mask. a: (the handle,) the level. The instruction does not say
 * whether the handle is that of a texture or of a surface. */
bool tr_op_txq(Translator *t) {
    static const PtxSub queries[] = {PTX_SUB_TXQ_WIDTH, PTX_SUB_TXQ_HEIGHT, PTX_SUB_TXQ_DEPTH,
                                     PTX_SUB_TXQ_LEVELS};
    enum { UPPER, LOWER, A, QUERY, BOUND };
    Fetch fetch;
    clear(&fetch);
    const bool is_bindless = tr_mod(t, SASS_MOD_BINDLESS);
    const uint8_t mask = (uint8_t)tr_operand(t, t->sass->operand_count - 1)->value & 15;
    if (tr_mod(t, SASS_MOD_QUERY) != SASS_QUERY_DIMENSION) return tr_refuse(t, "this query");
    Arguments list = {tr_operand(t, A), tr_operand(t, A), 4, 0};
    fetch.handle = is_bindless ? handle_in(t, take(t, &list)) : bound_handle(t, BOUND);
    fetch.rows.level = tr_scratch(t); /* copied, because a result may use its register */
    tr_step2(t, ISA_DO_MOV_32, fetch.rows.level, take(t, &list));
    int count = 0;
    for (int i = 0; i < 4; ++i) {
        if (!(mask >> i & 1)) continue;
        fetch.how.query = (uint8_t)queries[i];
        IsaInst *step = put(t, ISA_DO_TXQ, &fetch);
        const SassOperand *to = tr_operand(t, count < 2 ? LOWER : UPPER);
        step->operand[0] = tr_to_register(t, to, (uint32_t)count & 1);
        step->sub = ISA_QUERY_EITHER;
        count++;
    }
    return true;
}

/* ---- Surfaces ---- */

/* Bytes per element, and number of elements. */
typedef struct Element {
    uint8_t size, vector;
} Element;

static Element element_of(const Translator *t) {
    static const Element plain[] = {{1, 1}, {1, 1}, {2, 1}, {2, 1}, {4, 1}, {4, 2}, {4, 4}, {4, 4}};
    if (tr_mod(t, SASS_MOD_SURFACE_ACCESS) == SASS_SURFACE_ACCESS_D)
        return plain[tr_mod(t, SASS_MOD_MEM_TYPE) & 7];
    const uint8_t channels = tr_mod(t, SASS_MOD_SURFACE_CHANNELS);
    return (Element){4, channels == SASS_SURFACE_CHANNELS_R    ? 1
                        : channels == SASS_SURFACE_CHANNELS_RG ? 2
                                                               : 4};
}

static bool begin_surface(Translator *t, Fetch *fetch, int address_at, int handle_at) {
    static const PtxSub geometries[] = {PTX_SUB_TEX_1D, PTX_SUB_TEX_1D,  PTX_SUB_TEX_A1D,
                                        PTX_SUB_TEX_2D, PTX_SUB_TEX_A2D, PTX_SUB_TEX_3D};
    static const PtxBoundary boundaries[] = {PTX_BOUNDARY_ZERO, PTX_BOUNDARY_CLAMP,
                                             PTX_BOUNDARY_TRAP};
    const uint8_t dim = tr_mod(t, SASS_MOD_SURFACE_DIM), clamp = tr_mod(t, SASS_MOD_CLAMP);
    clear(fetch);
    if (dim > 5 || clamp > 2) return tr_refuse(t, "this geometry");
    const bool is_reduction = t->sass->op == SASS_OP_SURED, counts_bytes = tr_mod(t, SASS_MOD_BA);
    const bool is_formatted =
        is_reduction ? !counts_bytes : tr_mod(t, SASS_MOD_SURFACE_ACCESS) == SASS_SURFACE_ACCESS_P;
    if (!is_formatted && !counts_bytes) return tr_refuse(t, "x that counts no bytes");
    const PtxGeometry *geometry = ptx_geometry(geometries[dim]);
    const SassOperand *address = tr_operand(t, address_at);
    const SassOperand places = {.kind = SASS_REG, .value = address->reg};
    if (address->value || (address->has_ureg && address->ureg != SASS_URZ))
        return tr_refuse(t, "this address");
    fetch->how = (IsaTexture){.geometry = (uint8_t)geometries[dim],
                              .boundary = (uint8_t)boundaries[clamp],
                              .type = PTX_U32,
                              .is_formatted = is_formatted};
    for (uint32_t axis = 0; axis < geometry->axes; ++axis)
        fetch->rows.at[axis] = tr_register(t, &places, axis);
    if (geometry->has_layer) fetch->rows.layer = tr_register(t, &places, geometry->axes);
    fetch->handle = handle_at + 1 < t->sass->operand_count
                        ? bound_handle(t, handle_at)
                        : handle_in(t, tr_row(t, tr_operand(t, handle_at)));
    return true;
}

static void finish_surface(Translator *t, IsaInst *step, IsaMemoryKind kind, Element element) {
    step->size = element.size;
    step->vector = element.vector;
    step->space = PTX_SPACE_GLOBAL;
    fill_access(t, kind, PTX_SPACE_GLOBAL, element.size, element.vector);
    t->info.evict[0] = t->info.evict[1] = PTX_EVICT_NONE;
    if (kind != ISA_MEMORY_LOAD) t->inst.flow = ISA_FLOW_STORE;
    if (kind == ISA_MEMORY_ATOMIC) t->info.flags |= ISA_LOOKS | ISA_IS_REDUCTION;
}

/* p, d, coordinates, handle */
bool tr_op_suld(Translator *t) {
    Fetch fetch;
    const Element element = element_of(t);
    if (!begin_surface(t, &fetch, 2, 3)) return false;
    if (fetch.how.is_formatted) return tr_refuse(t, "a formatted load");
    if (tr_operand(t, 0)->value != SASS_PT) return tr_refuse(t, "a predicate as result");
    IsaInst *step = put(t, ISA_DO_SULD, &fetch);
    for (uint32_t i = 0; i < element.vector; ++i)
        step->operand[i] = tr_to_register(t, tr_operand(t, 1), i);
    finish_surface(t, step, ISA_MEMORY_LOAD, element);
    return true;
}

/* coordinates, a, handle */
bool tr_op_sust(Translator *t) {
    Fetch fetch;
    const Element element = element_of(t);
    if (!begin_surface(t, &fetch, 0, 2)) return false;
    IsaOperand data[4];
    for (uint32_t i = 0; i < element.vector; ++i)
        data[i] = tr_register(t, tr_operand(t, 1), i);
    IsaInst *step = put(t, ISA_DO_SUST, &fetch);
    for (uint32_t i = 0; i < element.vector; ++i)
        step->operand[i] = data[i];
    finish_surface(t, step, ISA_MEMORY_STORE, element);
    return true;
}

/* coordinates, a, handle */
bool tr_op_sured(Translator *t) {
    static const PtxSub subs[] = {PTX_SUB_ADD,  PTX_SUB_MIN, PTX_SUB_MAX, PTX_SUB_NONE,
                                  PTX_SUB_NONE, PTX_SUB_AND, PTX_SUB_OR,  PTX_SUB_NONE};
    Fetch fetch;
    const PtxSub sub = subs[tr_mod(t, SASS_MOD_ATOM_OP) & 7];
    const uint8_t type = tr_mod(t, SASS_MOD_SURED_TYPE);
    if (!begin_surface(t, &fetch, 0, 2)) return false;
    if (sub == PTX_SUB_NONE || type == SASS_SURED_TYPE_F32) return tr_refuse(t, "this operation");
    const bool is_wide =
        type == SASS_SURED_TYPE_U64 || type == SASS_SURED_TYPE_S64 || type == SASS_SURED_TYPE_SD64;
    fetch.how.query = (uint8_t)sub;
    fetch.how.type = type == SASS_SURED_TYPE_S32   ? PTX_S32
                     : type == SASS_SURED_TYPE_S64 ? PTX_S64
                                                   : PTX_U32;
    const IsaOperand data = is_wide ? tr_joined(t, tr_operand(t, 1)) : tr_row(t, tr_operand(t, 1));
    IsaInst *step = put(t, ISA_DO_SURED, &fetch);
    step->operand[0] = data;
    if (is_wide) step->flags |= ISA_DST_IS_64;
    finish_surface(t, step, ISA_MEMORY_ATOMIC, (Element){is_wide ? 8 : 4, 1});
    return true;
}
