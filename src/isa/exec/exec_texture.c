/* tex, tld4, txq, suq and istypep, executed lane after lane. Source: PTX ISA, texture instructions.
 * The values of queries are from its tables of channel types, channel orders and modes. */
#include "isa/exec/exec_texture.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/check/check.h"
#include "isa/exec/texture.h"
#include "isa/exec/texture_inst.h"
#include "isa/exec/texture_query.h"
#include "ptx/texture.h"

/* The address of a module's variable stands for the handle that the variable holds. */
static uint64_t dereference(const IsaContext *context, uint64_t handle) {
    uint64_t held = 0;
    if (handle < MEM_GLOBAL_BASE) return handle;
    if (!mem_is_valid(context->memory, handle, sizeof held)) return 0;
    memcpy(&held, mem_host(context->memory, handle), sizeof held);
    return held;
}

const MemTexture *ISA_TEXTURE(lane_object)(IsaContext *context, const IsaWarp *warp,
                                           IsaOperand handles, int lane, bool is_surface) {
    const char *what = is_surface ? "surface" : "texture";
    const uint64_t handle = isa_row64(warp, handles)[lane];
    const uint64_t held = dereference(context, handle);
    const MemTexture *texture = mem_texture(context->memory, held);
    if (texture && texture->is_surface == is_surface) return texture;
    if (texture)
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS, "object 0x%" PRIx64 " is no %s, but a %s",
                  held, what, is_surface ? "texture" : "surface");
    else if (handle >= MEM_GLOBAL_BASE && held == 0)
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS, "the %s reference is bound to nothing",
                  what);
    else
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS, "there is no %s object 0x%" PRIx64, what,
                  held);
    return NULL;
}

/* Whether the texel exists. If not, reports the access; returns true if the lane continues with
 * zeros. */
static bool has_texel(IsaContext *context, const IsaWarp *warp, int lane, const Texel *texel) {
    if (!texel->is_missing) return true;
    Text where = {0};
    uint64_t address = context->did.address[lane];
    mem_describe(context->memory, address, &where);
    bool goes_on = isa_bad_access(context, warp, lane, ISA_FAULT_ADDRESS, address,
                                  "invalid texture read at global address 0x%" PRIx64 ": %s",
                                  address, text_string(&where));
    text_free(&where);
    return goes_on;
}

/* Layers and faces are part of a texture's type. An instruction for another type would read wrong
 * texels. */
static bool suits(IsaContext *context, const IsaWarp *warp, int lane, const MemTexture *texture,
                  const PtxGeometry *geometry) {
    static const char *const names[] = {"no layers", "layers", "the faces of a cube"};
    const MemGeometry asked = geometry->is_cube     ? MEM_CUBES
                              : geometry->has_layer ? MEM_LAYERS
                                                    : MEM_PLAIN;
    if (texture->geometry == asked) return true;
    isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
              "the texture has %s, and the instruction reads one with %s", names[texture->geometry],
              names[asked]);
    return false;
}

static uint32_t word_of(const IsaWarp *warp, IsaOperand operand, int lane) {
    return operand == ISA_SINK ? 0 : isa_row32(warp, operand)[lane];
}

static float float_of(const IsaWarp *warp, IsaOperand operand, int lane) {
    return f32_of_bits(word_of(warp, operand, lane));
}

/* The coordinates and the level of a lane's fetch. */
static Fetch fetch_of(const IsaWarp *warp, const IsaTexture *how, const IsaTextureRows *rows,
                      int lane) {
    Fetch fetch = {.has_texel = how->has_texel,
                   .layer = word_of(warp, rows->layer, lane),
                   .chooses = how->chooses == PTX_SUB_TEX_LEVEL  ? FETCH_LEVEL
                              : how->chooses == PTX_SUB_TEX_GRAD ? FETCH_GRADIENTS
                              : how->chooses == PTX_SUB_TEX_BASE ? FETCH_BASE
                                                                 : FETCH_IMPLICIT};
    const uint32_t level = word_of(warp, rows->level, lane);
    fetch.level = how->has_texel ? (float)(int32_t)level : f32_of_bits(level);
    for (int axis = 0; axis < 3; ++axis) {
        fetch.at[axis] = float_of(warp, rows->at[axis], lane);
        fetch.texel[axis] = (int32_t)word_of(warp, rows->at[axis], lane);
        fetch.gradient[0][axis] = float_of(warp, rows->gradient[0][axis], lane);
        fetch.gradient[1][axis] = float_of(warp, rows->gradient[1][axis], lane);
        fetch.offset[axis] = (int32_t)word_of(warp, rows->offset[axis], lane);
    }
    return fetch;
}

/* The instruction's sampler if it names one, otherwise the texture's own. */
static bool sampler_of(IsaContext *context, const IsaWarp *warp, const IsaTextureRows *rows,
                       int lane, const MemTexture *texture, MemSampler *sampler) {
    *sampler = texture->sampler;
    if (rows->sampler == ISA_SINK) return true;
    const uint64_t handle = isa_row64(warp, rows->sampler)[lane];
    const uint64_t packed = handle < MEM_GLOBAL_BASE ? 0 : dereference(context, handle);
    if (packed >> 63) {
        mem_sampler_apply(packed, sampler);
        return true;
    }
    isa_fault(context, warp, lane, ISA_FAULT_ADDRESS, "there is no sampler 0x%" PRIx64, handle);
    return false;
}

static uint32_t half_of(uint32_t bits) {
    return f16_of_f64((double)f32_of_bits(bits), ISA_ROUND_NEAREST);
}

static void write_texel(IsaWarp *warp, const IsaInst *inst, const IsaTexture *how, int lane,
                        const Texel *texel) {
    uint32_t words[4];
    for (int c = 0; c < 4; c++)
        words[c] = how->type == PTX_F16 || how->type == PTX_F16X2 ? half_of(texel->channel[c])
                                                                  : texel->channel[c];
    if (how->type == PTX_F16X2) {
        words[0] |= words[1] << 16;
        words[1] = words[2] | words[3] << 16;
    }
    for (int c = 0; c < 4; c++)
        if (inst->operand[c] != ISA_SINK) isa_row32(warp, inst->operand[c])[lane] = words[c];
}

static void fetch_lanes(IsaContext *context, IsaWarp *warp, const IsaInst *inst, uint32_t mask,
                        bool gathers) {
    const IsaTexture how = isa_texture_of(inst);
    const IsaTextureRows rows = isa_texture_rows(context, inst);
    const PtxGeometry *geometry = ptx_geometry((PtxSub)how.geometry);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        MemSampler sampler;
        const MemTexture *texture =
            ISA_TEXTURE(lane_object)(context, warp, inst->operand[4], lane, false);
        if (!texture || !suits(context, warp, lane, texture, geometry) ||
            !sampler_of(context, warp, &rows, lane, texture, &sampler))
            return;
        const Fetch fetch = fetch_of(warp, &how, &rows, lane);
        uint64_t *address = &context->did.address[lane];
        const uint32_t block = context->texel_block_bytes;
        const Texel texel =
            gathers ? texture_gather(context->memory, texture, &sampler, &fetch, how.component,
                                     block, address)
                    : texture_fetch(context->memory, texture, &sampler, &fetch, block, address);
        if (!has_texel(context, warp, lane, &texel)) return;
        write_texel(warp, inst, &how, lane, &texel);
    }
    /* All texels of an array exist: there are no sparse arrays. */
    if (inst->operand[5] != ISA_SINK) write_pred(warp, inst->operand[5], UINT32_MAX, mask);
}

EXEC(TEX) { fetch_lanes(context, warp, inst, mask, false); }

EXEC(TLD4) { fetch_lanes(context, warp, inst, mask, true); }

/* ---- Queries ---- */

static bool is_surface(const IsaContext *context, uint64_t handle) {
    const MemTexture *object = mem_texture(context->memory, dereference(context, handle));
    return object && object->is_surface;
}

EXEC(TXQ) {
    const PtxSub query = (PtxSub)isa_texture_of(inst).query;
    const IsaTextureRows rows = isa_texture_rows(context, inst);
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const bool asks_surface = inst->sub == ISA_QUERY_EITHER
                                      ? is_surface(context, isa_row64(warp, inst->operand[4])[lane])
                                      : inst->sub == ISA_QUERY_SURFACE;
        const MemTexture *texture =
            ISA_TEXTURE(lane_object)(context, warp, inst->operand[4], lane, asks_surface);
        if (!texture) return;
        isa_row32(warp, inst->operand[0])[lane] =
            texture_answer(texture, query, word_of(warp, rows.level, lane));
    }
}

/* operand[0] predicate, operand[1] handles. */
EXEC(ISTYPEP) {
    uint32_t result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = bits_lowest32(rest);
        const uint64_t held = dereference(context, isa_row64(warp, inst->operand[1])[lane]);
        const MemTexture *texture = mem_texture(context->memory, held);
        const bool is_sampler = held >> 63;
        const bool is_it =
            inst->sub == PTX_SUB_IS_SAMPLER
                ? is_sampler
                : texture && texture->is_surface == (inst->sub == PTX_SUB_IS_SURFACE);
        result |= (uint32_t)is_it << lane;
    }
    write_pred(warp, inst->operand[0], result, mask);
}
