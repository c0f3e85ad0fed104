/* tex, tld4 and txq by texture object: lane after lane. */
#include "isa/exec.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/check.h"
#include "isa/launch.h"
#include "isa/texture.h"

/* The texture a lane names; NULL after a fault. */
static const MemTexture *lane_texture(IsaContext *context, const IsaWarp *warp, IsaOperand handles,
                                      int lane) {
    uint64_t handle = isa_row64(warp, handles)[lane];
    const MemTexture *texture = mem_texture(context->memory, handle);
    if (!texture)
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS, "there is no texture object 0x%" PRIx64,
                  handle);
    return texture;
}

/* Whether there is a texel, or the lane goes on with zeros. */
static bool has_texel(IsaContext *context, const IsaWarp *warp, int lane, const Texel *texel) {
    if (!texel->is_missing) return true;
    Text where = {0};
    uint64_t address = context->address[lane];
    mem_describe(context->memory, address, &where);
    bool goes_on = isa_bad_access(context, warp, lane, ISA_FAULT_ADDRESS, address,
                                  "invalid texture read at global address 0x%" PRIx64 ": %s",
                                  address, text_string(&where));
    text_free(&where);
    return goes_on;
}

static void write_texel(IsaWarp *warp, const IsaInst *inst, int lane, const Texel *texel) {
    for (int c = 0; c < 4; c++)
        if (inst->operand[c] != ISA_SINK)
            isa_row32(warp, inst->operand[c])[lane] = texel->channel[c];
}

EXEC(TEX) {
    bool is_2d = inst->sub == PTX_SUB_TEX_2D;
    for (; mask; mask &= mask - 1) {
        int lane = bits_lowest32(mask);
        const MemTexture *texture = lane_texture(context, warp, inst->operand[4], lane);
        if (!texture) return;
        uint32_t x = isa_row32(warp, inst->operand[5])[lane];
        uint32_t y = is_2d ? isa_row32(warp, inst->operand[6])[lane] : 0;
        Texel texel = inst->flags & ISA_SIGNED
                          ? texture_fetch(context->memory, texture, (int32_t)x, (int32_t)y,
                                          &context->address[lane])
                          : texture_sample(context->memory, texture, f32_of_bits(x), f32_of_bits(y),
                                           &context->address[lane]);
        if (!has_texel(context, warp, lane, &texel)) return;
        write_texel(warp, inst, lane, &texel);
    }
}

EXEC(TLD4) {
    for (; mask; mask &= mask - 1) {
        int lane = bits_lowest32(mask);
        const MemTexture *texture = lane_texture(context, warp, inst->operand[4], lane);
        if (!texture) return;
        float x = f32_of_bits(isa_row32(warp, inst->operand[5])[lane]);
        float y = f32_of_bits(isa_row32(warp, inst->operand[6])[lane]);
        Texel texel = texture_gather(context->memory, texture, x, y, inst->sub - PTX_SUB_TLD4_R,
                                     &context->address[lane]);
        if (!has_texel(context, warp, lane, &texel)) return;
        write_texel(warp, inst, lane, &texel);
    }
}

/* operand[0] destination, operand[1] handle. */
EXEC(TXQ) {
    for (; mask; mask &= mask - 1) {
        int lane = bits_lowest32(mask);
        const MemTexture *texture = lane_texture(context, warp, inst->operand[1], lane);
        if (!texture) return;
        uint64_t size = inst->sub == PTX_SUB_TXQ_WIDTH ? texture->width : texture->height;
        isa_row32(warp, inst->operand[0])[lane] = (uint32_t)size;
    }
}
