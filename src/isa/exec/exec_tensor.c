/* Bulk copies by a tensor map, of tiles or im2col: cp.async.bulk.tensor and related instructions.
 * Semantics: PTX ISA 9.0, sections 5.5 (tensors) and 9.7.9.27. As for other bulk copies, the bytes
 * move when the copy issues (exec_bulk.c). */
#include "isa/exec/exec_access.h"

#include <inttypes.h>

#include "base/bits.h"
#include "isa/async.h"
#include "isa/bulk.h"
#include "isa/cluster.h"
#include "isa/launch.h"
#include "isa/tensor_map.h"

enum { ROW_BYTES = TENSOR_MAX_BOX * 8, TILE_ALIGNMENT = 128 };

/* A lane's copy. */
typedef struct Tile {
    IsaContext *context;
    IsaWarp *warp;
    const IsaInst *inst;
    int lane;
    IsaBulkKind kind;
    TensorMap map;
    int32_t at[TENSOR_MAX_RANK]; /* coordinates of the first element; im2col: of the filter */
    uint32_t offset[TENSOR_MAX_RANK - 2]; /* im2col: offset in the filter, in W, H, D */
    uint64_t shared;
    PtxSpace space; /* of `shared` */
    uint32_t element_bytes;
    uint32_t row_elements; /* of a row in shared memory; an incomplete slice has fewer in its box */
    uint64_t slice_stride; /* bytes between slices of channels, if there are any */
} Tile;

/* ---- The map ---- */

static bool read_map(Tile *tile, uint64_t address) {
    IsaContext *context = tile->context;
    const uint64_t offset = address - MEM_PARAM_WINDOW;
    uint8_t *host[ISA_LANES];
    if (offset < context->launch->parameter_bytes &&
        TENSOR_MAP_BYTES <= context->launch->parameter_bytes - offset) {
        tile->map = tensor_map_get(context->launch->parameters + offset);
    } else {
        context->did.address[tile->lane] = address;
        if (!ISA_ACCESS(open_lanes)(context, tile->warp, PTX_SPACE_GLOBAL, TENSOR_MAP_ALIGNMENT,
                                    lane_bit[tile->lane], false, host))
            return false;
        tile->map = tensor_map_get(host[tile->lane]);
    }
    const char *flaw = tensor_map_flaw(&tile->map);
    const bool wants_im2col = tile->inst->flags & ISA_BULK_IM2COL;
    if (!flaw && tile->map.rank == tile->inst->vector && tile->map.is_im2col == wants_im2col)
        return true;
    if (!flaw && tile->map.is_im2col != wants_im2col)
        isa_fault(context, tile->warp, tile->lane, ISA_FAULT_ADDRESS,
                  wants_im2col ? "a copy of im2col by a tensor map of tiles"
                               : "a copy of a tile by a tensor map of im2col");
    else if (!flaw)
        isa_fault(context, tile->warp, tile->lane, ISA_FAULT_ADDRESS,
                  "a copy by %d coordinates of a tensor that has %d dimensions", tile->inst->vector,
                  tile->map.rank);
    else if (tile->map.mark != TENSOR_MAP_MARK)
        isa_fault(context, tile->warp, tile->lane, ISA_FAULT_ADDRESS,
                  "there is no tensor map at 0x%" PRIx64, address);
    else
        isa_fault(context, tile->warp, tile->lane, ISA_FAULT_ADDRESS,
                  "the tensor map at 0x%" PRIx64 " is not valid: %s", address, flaw);
    return false;
}

/* ---- Shared memory ---- */

/* Shared address of byte `offset` of the tile: the swizzle permutes 16-byte units within 8 rows. */
static uint64_t shared_place(const Tile *tile, uint32_t offset) {
    const uint64_t address = tile->shared + offset;
    const uint64_t mask = tile->map.swizzle ? (UINT64_C(1) << (tile->map.swizzle - 4)) - 1 : 0;
    return address ^ (address >> 7 & mask) << 4;
}

static uint8_t *open_unit(const Tile *tile, PtxSpace space, uint64_t address, uint32_t bytes,
                          bool is_write) {
    uint8_t *host[ISA_LANES];
    tile->context->did.address[tile->lane] = address;
    return ISA_ACCESS(open_lanes)(tile->context, tile->warp, space, bytes, lane_bit[tile->lane],
                                  is_write, host)
               ? host[tile->lane]
               : NULL;
}

/* Copies a row of the tile between shared memory and `row`. `offset`: bytes from the start of the
 * tile. */
static bool move_shared(const Tile *tile, uint32_t offset, uint8_t *row, uint32_t bytes,
                        bool is_write) {
    for (uint32_t at = 0; at < bytes; at += ISA_BULK_UNIT) {
        uint8_t *unit =
            open_unit(tile, tile->space, shared_place(tile, offset + at), ISA_BULK_UNIT, is_write);
        if (!unit) return false;
        if (is_write) memcpy(unit, row + at, ISA_BULK_UNIT);
        else memcpy(row + at, unit, ISA_BULK_UNIT);
    }
    return true;
}

/* ---- Global memory ---- */

/* Host pointer to the bytes if they are contiguous; NULL: each element must be looked up. */
static uint8_t *open_row(const Tile *tile, uint64_t address, uint32_t bytes, bool is_write) {
    if (tile->context->launch->check) return NULL;
    const MemBlock *block = mem_find(tile->context->memory, address);
    if (!block || block->kind == MEM_KIND_HEAP || bytes > block->end - address) return NULL;
    return open_unit(tile, PTX_SPACE_GLOBAL, address, tile->element_bytes, is_write);
}

static void put_element(const Tile *tile, uint8_t *to, const uint8_t *from) {
    if (tile->kind != ISA_BULK_REDUCE) {
        memcpy(to, from, tile->element_bytes);
        return;
    }
    static const uint8_t flags[] = {
        0,          0,         0,         ISA_SIGNED, 0,
        ISA_SIGNED, ISA_FLOAT, ISA_FLOAT, ISA_FLOAT,  ISA_FLOAT | ISA_BFLOAT,
        ISA_FLOAT,  ISA_FLOAT, ISA_FLOAT};
    const IsaInst kind = {.size = (uint8_t)tile->element_bytes, .flags = flags[tile->map.type]};
    uint64_t old = 0, b = 0;
    memcpy(&old, to, kind.size);
    memcpy(&b, from, kind.size);
    const uint64_t result = ISA_ACCESS(combine)(&kind, (PtxSub)tile->inst->size, old, b);
    memcpy(to, &result, kind.size);
}

/* Copies elements between global memory and `row`. */
static bool move_global(const Tile *tile, uint64_t address, uint8_t *row, uint32_t bytes,
                        bool is_write) {
    uint8_t *first = open_row(tile, address, bytes, is_write);
    if (first && !is_write) {
        memcpy(row, first, bytes);
        return true;
    }
    for (uint32_t at = 0; at < bytes; at += tile->element_bytes) {
        uint8_t *element =
            first ? first + at
                  : open_unit(tile, PTX_SPACE_GLOBAL, address + at, tile->element_bytes, is_write);
        if (!element) return false;
        if (is_write) put_element(tile, element, row + at);
        else memcpy(row + at, element, tile->element_bytes);
    }
    return true;
}

/* ---- Rows ---- */

/* Fills `row` with the value of elements outside of the tensor. */
static void fill(const Tile *tile, uint8_t *row, uint32_t bytes) {
    static const uint64_t nan = UINT64_C(0x7fff7fff7fff7fff), nan_32 = UINT64_C(0x7fffffff7fffffff);
    static const uint64_t nan_64 = UINT64_C(0x7fffffffffffffff);
    memset(row, 0, bytes);
    if (!tile->map.fills_nan) return;
    const uint64_t *value = tile->element_bytes == 2   ? &nan
                            : tile->element_bytes == 4 ? &nan_32
                                                       : &nan_64;
    for (uint32_t at = 0; at + 8 <= bytes; at += 8)
        memcpy(row + at, value, 8);
}

/* The first index in that dimension of the tile that is inside the tensor, and the index after the
 * last one. */
static void range_within(const Tile *tile, int dimension, uint32_t *first, uint32_t *end) {
    const int64_t step = tile->map.step[dimension], at = tile->at[dimension];
    const int64_t last = tile->map.last[dimension], count = tensor_count(&tile->map, dimension);
    int64_t low = at < 0 ? (-at + step - 1) / step : 0;
    int64_t high = last < at ? 0 : (last - at) / step + 1;
    if (high > count) high = count;
    if (low > high) low = high;
    *first = (uint32_t)low;
    *end = (uint32_t)high;
}

/* Bytes from the first channel of a pixel to another one. */
static uint64_t channel_offset(const Tile *tile, int64_t channel) {
    const uint64_t number = (uint64_t)channel;
    if (!tile->map.interleave) return number * tile->element_bytes;
    return number / tile->row_elements * tile->slice_stride +
           number % tile->row_elements * tile->element_bytes;
}

/* Moves elements of a row in the innermost dimension of the box, which are inside the tensor, to or
 * from `row`. Each piece is contiguous in global memory. `pixel`: address of its first channel. */
static bool move_pieces(const Tile *tile, uint64_t pixel, uint8_t *row, uint32_t first,
                        uint32_t end, bool is_write) {
    const int64_t step = tile->map.step[0];
    while (first < end) {
        const int64_t channel = tile->at[0] + first * step;
        uint32_t count = end - first;
        if (tile->map.interleave) {
            const uint32_t left = tile->row_elements - (uint32_t)channel % tile->row_elements;
            if (step > 1) count = 1;
            else if (count > left) count = left;
        }
        if (!move_global(tile, pixel + channel_offset(tile, channel), row,
                         count * tile->element_bytes, is_write))
            return false;
        row += count * tile->element_bytes;
        first += count;
    }
    return true;
}

/* Moves row number `slice` of a pixel whose elements from `first` to `end` of the box are inside
 * the tensor. `pixel`: address of its first channel. `offset`: bytes from the start of the tile in
 * shared memory. */
static bool move_row(const Tile *tile, uint64_t pixel, uint32_t offset, uint32_t slice,
                     uint32_t first, uint32_t end) {
    uint8_t row[ROW_BYTES];
    const uint32_t from = slice * tile->row_elements, bytes = tensor_row_bytes(&tile->map);
    if (first < from) first = from;
    if (end > from + tile->row_elements) end = from + tile->row_elements;
    uint8_t *inside = row + (first < end ? first - from : 0) * tile->element_bytes;
    if (tile->kind != ISA_BULK_LOAD)
        return first >= end || (move_shared(tile, offset, row, bytes, false) &&
                                move_pieces(tile, pixel, inside, first, end, true));
    if (first >= end || end - first < tile->row_elements) fill(tile, row, bytes);
    return move_pieces(tile, pixel, inside, first, end, false) &&
           move_shared(tile, offset, row, bytes, true);
}

/* The part of the innermost dimension that a copy moves, for the timing model. With slices, these
 * are all slices that contain an element. */
typedef struct Channels {
    uint64_t offset; /* bytes from the pixel's first channel to the first one that moves */
    uint32_t row_bytes, rows;
} Channels;

static Channels channels_of(const Tile *tile, uint32_t first, uint32_t end) {
    const int64_t step = tile->map.step[0], low = tile->at[0] + first * step;
    if (!tile->map.interleave || first >= end)
        return (Channels){channel_offset(tile, low), (end - first) * tile->element_bytes, 1};
    const int64_t slice = low / tile->row_elements;
    const int64_t last = (tile->at[0] + (end - 1) * step) / tile->row_elements;
    return (Channels){(uint64_t)slice * tile->slice_stride, tensor_slice_bytes(&tile->map),
                      (uint32_t)(last - slice + 1)};
}

/* ---- Tiles ---- */

/* The dimensions of a tile's rows in their order: W, H, D, slices of channels, N. A map without
 * slices has one per pixel. */
typedef struct Rows {
    uint32_t first[ISA_BULK_DIMENSIONS], end[ISA_BULK_DIMENSIONS]; /* inside the tensor */
    uint32_t count[ISA_BULK_DIMENSIONS];
    int dimension[ISA_BULK_DIMENSIONS]; /* of the map; 0: slices */
    int used;
} Rows;

static void add_dimension(const Tile *tile, Rows *rows, int dimension) {
    const int at = rows->used++;
    const TensorMap *map = &tile->map;
    rows->dimension[at] = dimension;
    rows->count[at] = dimension ? tensor_count(map, dimension) : tensor_pixel_rows(map);
    rows->end[at] = rows->count[at];
    if (dimension) range_within(tile, dimension, &rows->first[at], &rows->end[at]);
}

static Rows rows_of(const Tile *tile) {
    Rows rows = {0};
    const int outermost = tile->map.rank - 1;
    for (int i = 1; i < outermost; i++)
        add_dimension(tile, &rows, i);
    add_dimension(tile, &rows, 0);
    if (outermost) add_dimension(tile, &rows, outermost);
    return rows;
}

/* Bytes from the start of the tensor to that index of the tile in a dimension other than the
 * innermost one. */
static uint64_t offset_of(const Tile *tile, int dimension, uint32_t index) {
    const int64_t place = tile->at[dimension] + (int64_t)index * tile->map.step[dimension];
    return (uint64_t)place * tile->map.stride[dimension - 1];
}

/* Joins rows that are adjacent in global memory, as slices of neighbours in W are. */
static void join_rows(IsaBulk *bulk) {
    for (int i = 0; i < ISA_BULK_DIMENSIONS; i++) {
        if (bulk->rows[i] == 1) continue;
        if (bulk->stride[i] != bulk->row_bytes) return;
        bulk->row_bytes *= bulk->rows[i];
        bulk->rows[i] = 1;
    }
}

/* *bulk receives the part of the tile that is inside the tensor, for the timing model. */
static void describe_tile(const Tile *tile, const Rows *rows, Channels channels, IsaBulk *bulk) {
    bulk->row_bytes = channels.row_bytes;
    bulk->global = tile->map.address + channels.offset;
    for (int i = 0; i < ISA_BULK_DIMENSIONS; i++) {
        const int dimension = i < rows->used ? rows->dimension[i] : 0;
        bulk->rows[i] = i < rows->used ? rows->end[i] - rows->first[i] : 1;
        if (dimension) {
            bulk->global += offset_of(tile, dimension, rows->first[i]);
            bulk->stride[i] = tile->map.stride[dimension - 1] * tile->map.step[dimension];
        } else if (i < rows->used) {
            bulk->rows[i] = channels.rows;
            bulk->stride[i] = tile->slice_stride;
        }
    }
    if (tile->map.interleave) join_rows(bulk);
}

static bool move_tile(const Tile *tile, IsaBulk *bulk) {
    const Rows rows = rows_of(tile);
    const uint32_t bytes = tensor_row_bytes(&tile->map);
    uint32_t first, end, total = 1;
    range_within(tile, 0, &first, &end);
    describe_tile(tile, &rows, channels_of(tile, first, end), bulk);
    for (int i = 0; i < rows.used; i++)
        total *= rows.count[i];
    for (uint32_t r = 0; r < total && tile->kind != ISA_BULK_PREFETCH; r++) {
        bool is_inside = true;
        uint32_t rest = r, slice = 0;
        uint64_t pixel = tile->map.address;
        for (int i = 0; i < rows.used; i++) {
            const uint32_t index = rest % rows.count[i];
            rest /= rows.count[i];
            is_inside &= index >= rows.first[i] && index < rows.end[i];
            if (rows.dimension[i]) pixel += offset_of(tile, rows.dimension[i], index);
            else slice = index;
        }
        if (!move_row(tile, pixel, r * bytes, slice, is_inside ? first : 0, is_inside ? end : 0))
            return false;
    }
    return true;
}

/* ---- im2col ---- */

static IsaPixels first_pixel(const Tile *tile) {
    const TensorMap *map = &tile->map;
    IsaPixels pixels = {.dimensions = (uint8_t)(map->rank - 1)};
    for (int i = 0; i < pixels.dimensions; i++) {
        const int64_t offset = i < map->rank - 2 ? tile->offset[i] : 0;
        pixels.stride[i] = map->stride[i];
        pixels.last[i] = map->last[i + 1];
        pixels.step[i] = map->step[i + 1];
        pixels.at[i] = tile->at[i + 1] + offset;
        if (i == map->rank - 2) break;
        pixels.low[i] = (int32_t)(map->lower[i] + offset);
        pixels.high[i] = (int64_t)map->last[i + 1] + map->upper[i] + offset;
    }
    return pixels;
}

/* Moves all pixels: one after the other, and with slices, the first slice of each, then the next.
 * *bulk receives the pixels that are inside the tensor. */
static bool move_pixels(const Tile *tile, IsaBulk *bulk) {
    const TensorMap *map = &tile->map;
    const uint32_t bytes = tensor_row_bytes(map), slices = tensor_pixel_rows(map);
    uint32_t first, end;
    range_within(tile, 0, &first, &end);
    const Channels channels = channels_of(tile, first, end);
    bulk->global = map->address + channels.offset;
    bulk->row_bytes = channels.row_bytes;
    for (int i = 0; i < ISA_BULK_DIMENSIONS; i++)
        bulk->rows[i] = i ? 1 : 0;
    bulk->rows[1] = channels.rows;
    bulk->stride[1] = tile->slice_stride;
    IsaPixels pixels = first_pixel(tile);
    for (uint32_t i = 0; i < map->pixels; i++, isa_pixels_advance(&pixels)) {
        const bool is_inside = isa_pixels_are_inside(&pixels);
        const uint64_t pixel = map->address + isa_pixels_offset(&pixels);
        if (is_inside && !bulk->rows[0]++) bulk->pixels = pixels;
        for (uint32_t slice = 0; slice < slices && tile->kind != ISA_BULK_PREFETCH; slice++)
            if (!move_row(tile, pixel, (slice * map->pixels + i) * bytes, slice,
                          is_inside ? first : 0, is_inside ? end : 0))
                return false;
    }
    return true;
}

/* ---- The instruction ---- */

/* The lane's base + offset. */
static uint64_t base_of(Tile *tile, IsaOperand base, int64_t offset, bool is_32) {
    const IsaInst access = {.imm = offset, .flags = is_32 ? ISA_BASE_IS_32 : 0};
    ISA_ACCESS(lane_addresses)(tile->context, tile->warp, &access, base);
    return tile->context->did.address[tile->lane];
}

/* The same for a shared address: without a base register, the address is in the CTA's own shared
 * memory. */
static uint64_t shared_base_of(Tile *tile, IsaOperand base, int64_t offset, bool is_32) {
    const int64_t tag = base == ISA_SINK ? (int64_t)tile->warp->cta->tag : 0;
    return base_of(tile, base, offset + tag, is_32);
}

/* An additional row, which did not fit into the operands. */
static uint32_t more(const Tile *tile, int number) {
    const uint32_t first = (uint32_t)(tile->inst->imm >> 32);
    const IsaOperand row = tile->context->program->wide[first + (uint32_t)number];
    return isa_row32(tile->warp, row)[tile->lane];
}

/* The more offsets im2col has, the fewer bits each one has. */
static void read_offsets(Tile *tile) {
    static const uint32_t most[] = {UINT16_MAX, UINT8_MAX, (1 << 5) - 1};
    const int count = tile->map.rank - 2, before = tile->inst->flags & ISA_BULK_MULTICAST ? 1 : 0;
    for (int i = 0; i < count; i++)
        tile->offset[i] = more(tile, before + i) & most[count - 1];
}

/* Reads the operands. Returns false after a fault. */
static bool read_tile(Tile *tile, IsaBulk *bulk) {
    const IsaInst *inst = tile->inst;
    const bool loads = tile->kind == ISA_BULK_LOAD;
    if (!read_map(tile, base_of(tile, inst->operand[1], (int32_t)inst->imm, false))) return false;
    tile->element_bytes = tensor_element_bytes((TensorType)tile->map.type);
    tile->row_elements = tensor_row_bytes(&tile->map) / tile->element_bytes;
    tile->slice_stride = tile->map.interleave ? tensor_slice_stride(&tile->map) : 0;
    tile->shared = shared_base_of(tile, inst->operand[0], (int32_t)inst->target,
                                  inst->sub & ISA_BULK_SHARED_IS_32);
    for (int i = 0; i < tile->map.rank; i++)
        tile->at[i] = (int32_t)isa_row32(tile->warp, inst->operand[2 + i])[tile->lane];
    if (tile->map.is_im2col && (loads || tile->kind == ISA_BULK_PREFETCH)) read_offsets(tile);
    *bulk = (IsaBulk){.shared = (uint32_t)tile->shared,
                      .bytes = (uint32_t)tensor_tile_bytes(&tile->map),
                      .kind = (uint8_t)tile->kind,
                      .lane = (uint8_t)tile->lane};
    if (tile->kind != ISA_BULK_PREFETCH && tile->shared % TILE_ALIGNMENT) {
        isa_fault(tile->context, tile->warp, tile->lane, ISA_FAULT_MISALIGNED,
                  "misaligned tile at shared address 0x%" PRIx64 ": it must be a multiple of %d",
                  tile->shared, TILE_ALIGNMENT);
        return false;
    }
    const uint64_t barrier = shared_base_of(tile, inst->operand[7], (int32_t)inst->reconverge,
                                            inst->sub & ISA_BULK_BARRIER_IS_32);
    bulk->barrier = (uint32_t)barrier & ISA_RANK_OFFSETS;
    return !loads || isa_bulk_barrier_is_good(tile->context, tile->warp, tile->lane, barrier);
}

/* Moves the tile, for a load into the shared memory of each destination CTA. Returns false after a
 * fault. */
static bool move_to_all(Tile *tile, IsaBulk *bulk) {
    const bool chooses = tile->inst->flags & ISA_BULK_MULTICAST;
    const uint32_t chosen = chooses ? more(tile, 0) & UINT16_MAX : 0;
    bool (*const move)(const Tile *, IsaBulk *) = tile->map.is_im2col ? move_pixels : move_tile;
    if (tile->kind == ISA_BULK_LOAD)
        bulk->ranks = (uint16_t)isa_bulk_ranks(tile->context, tile->shared, chosen);
    tile->space = PTX_SPACE_SHARED;
    tile->shared = isa_cluster_own(tile->warp->cta, tile->shared);
    if (!bulk->ranks) return move(tile, bulk);
    const uint64_t offset = tile->shared & ISA_RANK_OFFSETS;
    for (uint32_t rest = bulk->ranks; rest; rest &= rest - 1) {
        const uint64_t rank = (uint64_t)bits_lowest32(rest);
        const bool is_own = rank == tile->warp->cta->rank;
        tile->space = is_own ? PTX_SPACE_SHARED : PTX_SPACE_CLUSTER;
        tile->shared = is_own ? offset : offset | rank << ISA_RANK_SHIFT;
        if (!move(tile, bulk)) return false;
    }
    return true;
}

EXEC(TENSOR) {
    context->bulk_count = 0;
    for (uint32_t rest = inst->sub & ISA_BULK_ONCE ? mask & -mask : mask; rest; rest &= rest - 1) {
        IsaBulk bulk;
        Tile tile = {.context = context,
                     .warp = warp,
                     .inst = inst,
                     .lane = bits_lowest32(rest),
                     .kind = (IsaBulkKind)(inst->sub & ISA_BULK_KIND)};
        if (!read_tile(&tile, &bulk) || !move_to_all(&tile, &bulk)) return;
        isa_bulk_begun(context, warp, &bulk);
    }
}
