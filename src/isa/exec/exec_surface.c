/* suld, sust and sured, executed lane after lane. They ignore the texture's filters and modes. The
 * first coordinate is in bytes in the .b forms and in texels in the .p forms. Source: PTX ISA,
 * surface instructions. */
#include "isa/exec/exec.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/check/check.h"
#include "isa/exec/exec_texture.h"
#include "isa/launch.h"
#include "isa/exec/texture.h"
#include "isa/exec/texture_inst.h"
#include "ptx/texture.h"

/* State of an instruction while it is executed lane after lane. */
typedef struct Surface {
    IsaContext *context;
    IsaWarp *warp;
    const IsaInst *inst;
    IsaTexture how;
    IsaTextureRows rows;
    const PtxGeometry *geometry;
    IsaAccess access;
} Surface;

static Surface surface_of(IsaContext *context, IsaWarp *warp, const IsaInst *inst,
                          IsaAccess access) {
    const IsaTexture how = isa_texture_of(inst);
    return (Surface){context,
                     warp,
                     inst,
                     how,
                     isa_texture_rows(context, inst),
                     ptx_geometry((PtxSub)how.geometry),
                     access};
}

static int64_t nearest(int64_t i, int64_t size) { return i < 0 ? 0 : i >= size ? size - 1 : i; }

/* Reports wrong coordinates of a lane. Returns true if the lane continues without its access. */
static bool bad_place(const Surface *s, int lane, const MemTexture *surface, const int64_t *at,
                      uint32_t bytes, const char *why) {
    static const char *const verbs[] = {"read", "write", "reduction"};
    const MemLevel *level = &surface->level[0];
    return isa_bad_access(
        s->context, s->warp, lane, ISA_FAULT_ADDRESS, s->context->did.address[lane],
        "%s surface %s of %u byte%s at (%" PRId64 ", %" PRId64 ", %" PRId64
        "), x in %s: it has %" PRIu64 " x %" PRIu64 " x %" PRIu64 " texels of %u byte%s",
        why, verbs[s->access], bytes, text_plural(bytes), at[0], at[1], at[2],
        s->how.is_formatted ? "texels" : "bytes", level->width, level->height, level->depth,
        mem_texel_bytes(surface), text_plural(mem_texel_bytes(surface)));
}

/* Stores the device address that a lane accesses in context->did.address. Returns false if the lane
 * accesses nothing. */
static bool locate(const Surface *s, int lane, const MemTexture *surface, uint32_t bytes) {
    const MemLevel *level = &surface->level[0];
    const uint32_t unit = s->how.is_formatted ? mem_texel_bytes(surface) : 1;
    const int64_t row_bytes = (int64_t)(level->width * mem_texel_bytes(surface));
    const int64_t size[3] = {row_bytes, (int64_t)level->height, (int64_t)level->depth};
    int64_t at[3] = {0}, place[3];
    for (int axis = 0; axis < s->geometry->axes; ++axis)
        at[axis] = (int32_t)isa_row32(s->warp, s->rows.at[axis])[lane];
    if (s->geometry->has_layer) at[2] = isa_row32(s->warp, s->rows.layer)[lane];
    memcpy(place, at, sizeof place);
    place[0] *= unit;
    const int64_t last = row_bytes - bytes;
    const int64_t x = place[0] < 0 || last < 0 ? 0
                      : place[0] > last        ? last - last % bytes
                                               : place[0];
    const bool is_inside = x == place[0] && last >= 0 && place[1] == nearest(place[1], size[1]) &&
                           place[2] == nearest(place[2], size[2]);
    s->context->did.address[lane] = level->address + (uint64_t)x +
                                    (uint64_t)nearest(place[1], size[1]) * level->pitch_bytes +
                                    (uint64_t)nearest(place[2], size[2]) * level->slice_bytes;
    if (is_inside && x % bytes) {
        bad_place(s, lane, surface, at, bytes, "misaligned");
        return false;
    }
    if (!is_inside && s->how.boundary == PTX_BOUNDARY_TRAP)
        bad_place(s, lane, surface, at, bytes, "out of bounds:");
    if (!is_inside && s->how.boundary == PTX_BOUNDARY_CLAMP && last >= 0) return true;
    return is_inside;
}

/* Whether the instruction can use the lane's surface. */
static bool is_usable(const Surface *s, int lane, const MemTexture *surface, uint32_t bytes) {
    if (s->geometry->has_layer == (surface->geometry == MEM_PLAIN)) {
        isa_fault(s->context, s->warp, lane, ISA_FAULT_ADDRESS,
                  "the surface has %s layers, and the instruction is for one with%s",
                  s->geometry->has_layer ? "no" : "", s->geometry->has_layer ? "" : "out");
        return false;
    }
    if (!s->how.is_formatted || s->access != ISA_ACCESS_ATOMIC || mem_texel_bytes(surface) == bytes)
        return true;
    isa_fault(s->context, s->warp, lane, ISA_FAULT_ADDRESS,
              "a reduction of %u bytes on a surface whose texels have %u", bytes,
              mem_texel_bytes(surface));
    return false;
}

/* Number of bytes that a lane accesses. */
static uint32_t bytes_of(const Surface *s, const MemTexture *surface) {
    const uint32_t whole = (uint32_t)s->inst->size * s->inst->vector;
    return s->how.is_formatted && s->access == ISA_ACCESS_WRITE ? mem_texel_bytes(surface) : whole;
}

/* Host pointer to the lane's bytes; NULL if it accesses nothing. *surface stays NULL after a
 * fault. */
static uint8_t *open_lane(const Surface *s, int lane, const MemTexture **surface) {
    IsaContext *context = s->context;
    const MemTexture *object =
        ISA_TEXTURE(lane_object)(context, s->warp, s->inst->operand[4], lane, true);
    *surface = NULL;
    if (!object) return NULL;
    const uint32_t bytes = bytes_of(s, object);
    if (!is_usable(s, lane, object, bytes)) return NULL;
    const bool is_there = locate(s, lane, object, bytes);
    if (context->fault.is_set) return NULL;
    *surface = object;
    if (!is_there) return NULL;
    const uint64_t address = context->did.address[lane];
    if (!mem_is_valid(context->memory, address, bytes)) {
        Text where = {0};
        mem_describe(context->memory, address, &where);
        isa_bad_access(context, s->warp, lane, ISA_FAULT_ADDRESS, address,
                       "invalid surface access at global address 0x%" PRIx64 ": %s", address,
                       text_string(&where));
        text_free(&where);
        if (context->fault.is_set) *surface = NULL;
        return NULL;
    }
    if (context->launch->check)
        isa_check_access(context, s->warp, NULL, PTX_SPACE_GLOBAL, bytes, 1u << lane, s->access);
    return mem_host(context->memory, address);
}

static void set_element(const Surface *s, int element, int lane, uint64_t value) {
    const IsaOperand row = s->inst->operand[element];
    if (row == ISA_SINK) return;
    if (s->inst->flags & ISA_DST_IS_64) isa_row64(s->warp, row)[lane] = value;
    else isa_row32(s->warp, row)[lane] = (uint32_t)value;
}

static uint64_t element_of(const Surface *s, int element, int lane) {
    const IsaOperand row = s->inst->operand[element];
    if (row == ISA_SINK) return 0;
    return s->inst->flags & ISA_DST_IS_64 ? isa_row64(s->warp, row)[lane]
                                          : isa_row32(s->warp, row)[lane];
}

EXEC(SULD) {
    const Surface s = surface_of(context, warp, inst, ISA_ACCESS_READ);
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const MemTexture *surface;
        const uint8_t *bytes = open_lane(&s, lane, &surface);
        if (!surface) return;
        for (int e = 0; e < inst->vector; ++e) {
            uint64_t value = 0;
            if (bytes) memcpy(&value, bytes + e * inst->size, inst->size);
            set_element(&s, e, lane, value);
        }
    }
}

EXEC(SUST) {
    const Surface s = surface_of(context, warp, inst, ISA_ACCESS_WRITE);
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const MemTexture *surface;
        uint8_t *bytes = open_lane(&s, lane, &surface);
        uint32_t words[4] = {0};
        if (!surface) return;
        if (!bytes) continue;
        for (int e = 0; e < inst->vector; ++e) {
            const uint64_t value = element_of(&s, e, lane);
            words[e] = (uint32_t)value;
            if (!s.how.is_formatted) memcpy(bytes + e * inst->size, &value, inst->size);
        }
        if (s.how.is_formatted) texture_encode(surface, words, bytes);
    }
}

static uint64_t reduce(PtxSub operation, uint64_t old, uint64_t b, uint32_t size, bool is_signed) {
    const int unused = 64 - 8 * (int)size;
    const bool is_less =
        is_signed ? (int64_t)(old << unused) < (int64_t)(b << unused) : old << unused < b << unused;
    switch (operation) {
    case PTX_SUB_ADD: return old + b;
    case PTX_SUB_MIN: return is_less ? old : b;
    case PTX_SUB_MAX: return is_less ? b : old;
    case PTX_SUB_AND: return old & b;
    default: return old | b;
    }
}

EXEC(SURED) {
    const Surface s = surface_of(context, warp, inst, ISA_ACCESS_ATOMIC);
    for (; mask; mask &= mask - 1) {
        const int lane = bits_lowest32(mask);
        const MemTexture *surface;
        uint8_t *bytes = open_lane(&s, lane, &surface);
        if (!surface) return;
        if (!bytes) continue;
        const bool is_signed = s.how.is_formatted ? surface->type == MEM_TEXEL_SIGNED
                                                  : ptx_type_is_signed((PtxType)s.how.type);
        uint64_t old = 0;
        memcpy(&old, bytes, inst->size);
        const uint64_t value =
            reduce((PtxSub)s.how.query, old, element_of(&s, 0, lane), inst->size, is_signed);
        memcpy(bytes, &value, inst->size);
    }
}
