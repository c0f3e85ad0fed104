/* A tensor map (CUtensorMap): 128 bytes that the host encodes. Kernels pass it to bulk copies of
 * tiles, or of the pixels that the filters of a convolution cover (im2col). Meaning of the fields:
 * CUDA driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. Their bit positions are not
 * published. Fields that tensormap.replace changes are at ptxas's positions, because machine code
 * writes them itself. The positions of the other fields are ours. */
#ifndef TYTO_ISA_TENSOR_MAP_H
#define TYTO_ISA_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TENSOR_MAP_BYTES = 128,
    TENSOR_MAP_ALIGNMENT = 64,
    TENSOR_MAX_RANK = 5,
    TENSOR_MAX_BOX = 256,
    TENSOR_MAX_STEP = 8,
    TENSOR_LEAST_PIXELS_RANK = 3, /* of an im2col map, and of an interleaved one: N, W, C */
    TENSOR_MAX_PIXELS = 1024,
    TENSOR_MAX_BYTES = 1 << 20, /* per tile: more than an SM's shared memory, and no overflow */
    TENSOR_ROW_ALIGNMENT = 16,  /* of the bytes of a tile's row */
    TENSOR_WIDE_ALIGNMENT = 32, /* of address and strides, for an interleave of 32 bytes */
    TENSOR_WIDE_SWIZZLE = 5     /* the only one for an interleave of 32 bytes */
};

/* Elements, numbered as CUtensorMapDataType. */
typedef enum TensorType {
    TENSOR_U8,
    TENSOR_U16,
    TENSOR_U32,
    TENSOR_S32,
    TENSOR_U64,
    TENSOR_S64,
    TENSOR_F16,
    TENSOR_F32,
    TENSOR_F64,
    TENSOR_BF16,
    TENSOR_F32_FTZ,
    TENSOR_TF32,
    TENSOR_TF32_FTZ,
    TENSOR_TYPES
} TensorType;

/* Bytes of an element. */
static inline uint32_t tensor_element_bytes(TensorType type) {
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return bytes[type];
}
static inline bool tensor_is_float(TensorType type) { return type >= TENSOR_F16; }

#define TENSOR_MAP_MARK UINT32_C(0x70616d74) /* distinguishes a map from other bytes */

typedef struct TensorMap {
    uint32_t mark;
    uint8_t type;       /* TensorType */
    uint8_t rank;       /* 1 to 5 */
    uint8_t swizzle;    /* log2 of the bytes in which 16-byte units are permuted, 5 to 7; 0: none */
    bool fills_nan;     /* elements outside are NaN, otherwise zero */
    uint8_t interleave; /* log2 of the bytes of a slice of channels, less 3 (1, 2); 0: no slices */
    uint64_t address;   /* of the first element, in global memory */
    uint64_t stride[TENSOR_MAX_RANK - 1]; /* bytes between elements of dimension 1, 2, ... */
    uint32_t last[TENSOR_MAX_RANK];       /* number of elements of each dimension, less one */
    uint16_t box[TENSOR_MAX_RANK];        /* elements per tile in each dimension */
    uint8_t step[TENSOR_MAX_RANK];        /* every step-th element is copied; the first is 1
                                           * without an interleave */
    bool is_im2col;                       /* box[0]: channels per pixel; the rest is unused */
    uint16_t pixels;                      /* im2col: per copy */
    int16_t lower[TENSOR_MAX_RANK - 2];   /* im2col: first position of a filter in W, H, D */
    int16_t upper[TENSOR_MAX_RANK - 2];   /* ... and the last, relative to the tensor's last */
} TensorMap;

/* Fields that tensormap.replace changes. */
typedef enum TensorField {
    TENSOR_FIELD_ADDRESS,
    TENSOR_FIELD_RANK, /* less one */
    TENSOR_FIELD_BOX,
    TENSOR_FIELD_DIMENSION,
    TENSOR_FIELD_STRIDE,
    TENSOR_FIELD_STEP,
    TENSOR_FIELD_TYPE, /* in the numbering of the PTX ISA */
    TENSOR_FIELD_INTERLEAVE,
    TENSOR_FIELD_SWIZZLE,
    TENSOR_FIELD_FILL,
    TENSOR_FIELDS
} TensorField;
enum {
    TENSOR_FIELD_BYTES = 64, /* size of the first part of a map, which contains these fields */
    TENSOR_ADDRESS_AT = 0    /* byte offset of the address */
};

/* Changes a field of the map in `bytes`, for dimension `ordinal` if each dimension has one. The
 * strides begin with that of dimension 1. */
void tensor_map_replace(uint8_t *bytes, TensorField field, uint32_t ordinal, uint64_t value);
/* Conversions between a map's bytes (TENSOR_MAP_BYTES) and its fields. Any bytes can be decoded. */
void tensor_map_put(uint8_t *bytes, const TensorMap *map);
TensorMap tensor_map_get(const uint8_t *bytes);

/* Number of elements of a tile that are copied in a dimension; for an im2col map only in the
 * innermost one. */
static inline uint32_t tensor_count(const TensorMap *map, int dimension) {
    return (map->box[dimension] + map->step[dimension] - 1u) / map->step[dimension];
}
/* Bytes of a slice of channels; 0: the map is not interleaved. */
static inline uint32_t tensor_slice_bytes(const TensorMap *map) {
    return map->interleave ? 8u << map->interleave : 0;
}
/* Bytes of a row of a tile, which are adjacent in shared memory: the channels of a pixel, or one
 * slice of them. */
static inline uint32_t tensor_row_bytes(const TensorMap *map) {
    if (map->interleave) return tensor_slice_bytes(map);
    return tensor_element_bytes((TensorType)map->type) * tensor_count(map, 0);
}
/* Rows per pixel: the slices of its channels; the last slice may be incomplete. */
static inline uint32_t tensor_pixel_rows(const TensorMap *map) {
    const uint32_t row = tensor_row_bytes(map);
    return (tensor_element_bytes((TensorType)map->type) * tensor_count(map, 0) + row - 1) / row;
}
/* Bytes of a tile in shared memory. */
static inline uint64_t tensor_tile_bytes(const TensorMap *map) {
    uint64_t bytes = (uint64_t)tensor_row_bytes(map) * tensor_pixel_rows(map);
    for (int i = 1; i < map->rank && !map->is_im2col; i++)
        bytes *= tensor_count(map, i); /* five counts up to 256: fits */
    return map->is_im2col ? bytes * map->pixels : bytes;
}
/* Bytes in global memory from one slice of channels to the next. The slices are outside of W, H and
 * D, and inside of N (NC/8DHWC8). The API gives no stride for them; this one is ours: the last of
 * W, H, D times its size. */
static inline uint64_t tensor_slice_stride(const TensorMap *map) {
    return map->stride[map->rank - 3] * (map->last[map->rank - 2] + UINT64_C(1));
}

/* The first rule of cuTensorMapEncode... that the fields break, as a text ("its ..."); NULL: none.
 * A program can pass any bytes as a map. */
const char *tensor_map_flaw(const TensorMap *map);

#endif
