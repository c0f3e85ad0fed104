/* Positions of the fields in a tensor map (see the header). They were found from the code that
 * ptxas generates for tensormap.replace of sm_90a. */
#include "isa/tensor_map.h"

#include <string.h>

/* ---- Fields that tensormap.replace changes ---- */

typedef struct Bits {
    uint8_t word, first, count; /* in 32-bit words */
} Bits;

static uint32_t get_bits(const uint8_t *bytes, Bits at) {
    uint32_t word;
    memcpy(&word, bytes + sizeof word * at.word, sizeof word);
    return at.count == 32 ? word : word >> at.first & ((1u << at.count) - 1);
}

static void put_bits(uint8_t *bytes, Bits at, uint32_t value) {
    const uint32_t mask = at.count == 32 ? UINT32_MAX : ((1u << at.count) - 1) << at.first;
    uint32_t word;
    memcpy(&word, bytes + sizeof word * at.word, sizeof word);
    word = (word & ~mask) | (value << at.first & mask);
    memcpy(bytes + sizeof word * at.word, &word, sizeof word);
}

enum { STRIDE_SHIFT = 4 }; /* a map stores units of 16 bytes */

/* Box, dimension and step are stored less one. */
static Bits bits_of(TensorField field, uint32_t ordinal) {
    const uint8_t i = (uint8_t)ordinal;
    switch (field) {
    case TENSOR_FIELD_RANK: return (Bits){2, 4, 3};
    case TENSOR_FIELD_TYPE: return (Bits){2, 7, 4};
    case TENSOR_FIELD_INTERLEAVE: return (Bits){2, 11, 2};
    case TENSOR_FIELD_SWIZZLE: return (Bits){2, 13, 2};
    case TENSOR_FIELD_FILL: return (Bits){2, 15, 1};
    case TENSOR_FIELD_STRIDE: return (Bits){(uint8_t)(3 + i), 0, 32};
    case TENSOR_FIELD_DIMENSION: return (Bits){(uint8_t)(8 + i), 0, 32};
    case TENSOR_FIELD_STEP: return (Bits){13, (uint8_t)(3 * i), 3};
    case TENSOR_FIELD_BOX:
        return i == 0 ? (Bits){13, 24, 8} : (Bits){14, (uint8_t)(8 * (i - 1)), 8};
    default: return (Bits){0, 0, 32}; /* lower half of the address */
    }
}

static const Bits address_high = {1, 0, 32};
static const Bits is_tf32 = {2, 16, 1}; /* set in addition to the type of an f32 */

/* The upper bits of a stride. */
static Bits stride_high(uint32_t ordinal) { return (Bits){7, (uint8_t)(4 * ordinal), 4}; }

/* Types in the numbering of the PTX ISA. A tf32 has the bits of an f32 and one additional bit. */
enum { PTX_F32 = 7, PTX_TF32 = 11, PTX_TF32_FTZ = 12 };
static const uint8_t ptx_types[TENSOR_TYPES] = {[TENSOR_U8] = 0,
                                                [TENSOR_U16] = 1,
                                                [TENSOR_U32] = 2,
                                                [TENSOR_S32] = 3,
                                                [TENSOR_U64] = 4,
                                                [TENSOR_S64] = 5,
                                                [TENSOR_F16] = 6,
                                                [TENSOR_F32] = PTX_F32,
                                                [TENSOR_F32_FTZ] = 8,
                                                [TENSOR_F64] = 9,
                                                [TENSOR_BF16] = 10,
                                                [TENSOR_TF32] = PTX_TF32,
                                                [TENSOR_TF32_FTZ] = PTX_TF32_FTZ};

void tensor_map_replace(uint8_t *bytes, TensorField field, uint32_t ordinal, uint64_t value) {
    uint32_t low = (uint32_t)value;
    switch (field) {
    case TENSOR_FIELD_ADDRESS: put_bits(bytes, address_high, (uint32_t)(value >> 32)); break;
    case TENSOR_FIELD_BOX:
    case TENSOR_FIELD_DIMENSION:
    case TENSOR_FIELD_STEP: low--; break;
    case TENSOR_FIELD_STRIDE:
        low = (uint32_t)(value >> STRIDE_SHIFT);
        put_bits(bytes, stride_high(ordinal), (uint32_t)(value >> STRIDE_SHIFT >> 32));
        break;
    case TENSOR_FIELD_TYPE:
        put_bits(bytes, is_tf32, low == PTX_TF32 || low == PTX_TF32_FTZ);
        if (low >= PTX_TF32) low -= PTX_TF32 - PTX_F32;
        break;
    default: break;
    }
    put_bits(bytes, bits_of(field, ordinal), low);
}

/* ---- All fields ---- */

enum { OWN_AT = TENSOR_FIELD_BYTES };

/* Fields whose positions are ours, from byte OWN_AT on. */
typedef struct Own {
    uint32_t mark;
    bool is_im2col;
    uint16_t pixels;
    int16_t lower[TENSOR_MAX_RANK - 2], upper[TENSOR_MAX_RANK - 2];
} Own;
_Static_assert(OWN_AT + sizeof(Own) <= TENSOR_MAP_BYTES, "they are part of a map");

void tensor_map_put(uint8_t *bytes, const TensorMap *map) {
    Own own = {.mark = map->mark, .is_im2col = map->is_im2col, .pixels = map->pixels};
    memcpy(own.lower, map->lower, sizeof own.lower);
    memcpy(own.upper, map->upper, sizeof own.upper);
    memset(bytes, 0, TENSOR_MAP_BYTES);
    memcpy(bytes + OWN_AT, &own, sizeof own);
    tensor_map_replace(bytes, TENSOR_FIELD_ADDRESS, 0, map->address);
    tensor_map_replace(bytes, TENSOR_FIELD_RANK, 0, map->rank - 1u);
    tensor_map_replace(bytes, TENSOR_FIELD_TYPE, 0, ptx_types[map->type]);
    tensor_map_replace(bytes, TENSOR_FIELD_INTERLEAVE, 0, map->interleave);
    tensor_map_replace(bytes, TENSOR_FIELD_SWIZZLE, 0, map->swizzle ? map->swizzle - 4u : 0);
    tensor_map_replace(bytes, TENSOR_FIELD_FILL, 0, map->fills_nan);
    for (uint32_t i = 0; i < map->rank; i++) {
        if (i) tensor_map_replace(bytes, TENSOR_FIELD_STRIDE, i - 1, map->stride[i - 1]);
        tensor_map_replace(bytes, TENSOR_FIELD_DIMENSION, i, map->last[i] + UINT64_C(1));
        tensor_map_replace(bytes, TENSOR_FIELD_STEP, i, map->step[i]);
        tensor_map_replace(bytes, TENSOR_FIELD_BOX, i, map->box[i]);
    }
}

static uint8_t type_of(const uint8_t *bytes) {
    uint32_t type = get_bits(bytes, bits_of(TENSOR_FIELD_TYPE, 0));
    if (get_bits(bytes, is_tf32)) type += PTX_TF32 - PTX_F32;
    uint8_t i = 0;
    while (i < TENSOR_TYPES && ptx_types[i] != type)
        i++;
    return i;
}

TensorMap tensor_map_get(const uint8_t *bytes) {
    Own own;
    memcpy(&own, bytes + OWN_AT, sizeof own);
    const uint32_t swizzle = get_bits(bytes, bits_of(TENSOR_FIELD_SWIZZLE, 0));
    const uint64_t high = get_bits(bytes, address_high);
    TensorMap map = {.mark = own.mark,
                     .type = type_of(bytes),
                     .rank = (uint8_t)(get_bits(bytes, bits_of(TENSOR_FIELD_RANK, 0)) + 1),
                     .swizzle = (uint8_t)(swizzle ? swizzle + 4 : 0),
                     .fills_nan = get_bits(bytes, bits_of(TENSOR_FIELD_FILL, 0)),
                     .interleave = (uint8_t)get_bits(bytes, bits_of(TENSOR_FIELD_INTERLEAVE, 0)),
                     .address = high << 32 | get_bits(bytes, bits_of(TENSOR_FIELD_ADDRESS, 0)),
                     .is_im2col = own.is_im2col,
                     .pixels = own.pixels};
    memcpy(map.lower, own.lower, sizeof map.lower);
    memcpy(map.upper, own.upper, sizeof map.upper);
    for (uint32_t i = 0; i < TENSOR_MAX_RANK; i++) {
        map.last[i] = get_bits(bytes, bits_of(TENSOR_FIELD_DIMENSION, i));
        map.step[i] = (uint8_t)(get_bits(bytes, bits_of(TENSOR_FIELD_STEP, i)) + 1);
        map.box[i] = (uint16_t)(get_bits(bytes, bits_of(TENSOR_FIELD_BOX, i)) + 1);
    }
    for (uint32_t i = 0; i + 1 < TENSOR_MAX_RANK; i++) {
        const uint64_t top = get_bits(bytes, stride_high(i));
        map.stride[i] = (top << 32 | get_bits(bytes, bits_of(TENSOR_FIELD_STRIDE, i)))
                        << STRIDE_SHIFT;
    }
    if (!map.interleave) map.step[0] = 1; /* the step of the innermost dimension is ignored */
    return map;
}

/* ---- Validity ---- */

static const char *flaw_of_box(const TensorMap *map) {
    for (int i = 0; i < map->rank; i++)
        if (!map->box[i] || map->box[i] > TENSOR_MAX_BOX)
            return "its box is not 1 to 256 elements in each dimension";
    return NULL;
}

static const char *flaw_of_pixels(const TensorMap *map) {
    if (map->rank < TENSOR_LEAST_PIXELS_RANK) return "its rank is below 3, and it is of im2col";
    if (!map->box[0] || map->box[0] > TENSOR_MAX_BOX) return "its pixels are not 1 to 256 channels";
    if (!map->pixels || map->pixels > TENSOR_MAX_PIXELS)
        return "its columns are not 1 to 1,024 pixels";
    for (int i = 0; i < map->rank - 2; i++)
        if ((int64_t)map->last[i + 1] + map->upper[i] < map->lower[i])
            return "its corners leave no position for a filter";
    return NULL;
}

static const char *flaw_of_interleave(const TensorMap *map) {
    if (map->interleave > 2) return "its interleave is not 16 or 32 bytes";
    if (map->rank < TENSOR_LEAST_PIXELS_RANK) return "its rank is below 3, and it is interleaved";
    if (map->interleave == 1) return NULL;
    if (map->swizzle != TENSOR_WIDE_SWIZZLE)
        return "its interleave is 32 bytes, but its swizzle is not";
    uint64_t all = map->address;
    for (int i = 0; i < map->rank - 1; i++)
        all |= map->stride[i];
    if (all % TENSOR_WIDE_ALIGNMENT)
        return "its address or a stride is not a multiple of 32, its interleave";
    return NULL;
}

/* The rules for the channels of a map without slices. */
static const char *flaw_of_row(const TensorMap *map) {
    const uint32_t bytes = map->box[0] * tensor_element_bytes((TensorType)map->type);
    if (map->step[0] != 1) return "its innermost element stride is not 1";
    if (bytes % TENSOR_ROW_ALIGNMENT) return "its rows are not a multiple of 16 bytes";
    if (map->swizzle && bytes > 1u << map->swizzle) return "its rows are longer than its swizzle";
    return NULL;
}

const char *tensor_map_flaw(const TensorMap *map) {
    if (map->mark != TENSOR_MAP_MARK) return "its bytes are not those of a map";
    if (map->type >= TENSOR_TYPES) return "its element type does not exist";
    if (!map->rank || map->rank > TENSOR_MAX_RANK) return "its rank is not 1 to 5";
    if (map->swizzle && (map->swizzle < 5 || map->swizzle > 7))
        return "its swizzle is not 32, 64 or 128 bytes";
    for (int i = 0; i < map->rank; i++)
        if (!map->step[i] || map->step[i] > TENSOR_MAX_STEP)
            return "its element strides are not 1 to 8";
    const char *flaw = map->is_im2col ? flaw_of_pixels(map) : flaw_of_box(map);
    if (!flaw) flaw = map->interleave ? flaw_of_interleave(map) : flaw_of_row(map);
    if (!flaw && tensor_tile_bytes(map) > TENSOR_MAX_BYTES) flaw = "its tile exceeds 1 MiB";
    return flaw;
}
