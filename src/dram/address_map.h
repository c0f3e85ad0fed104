/* Address map: which channel, L2 slice, bank, row and column a byte address belongs to.
 *
 * A map is a bit string, one letter per address bit, highest bit first ('.', '_' and blanks are
 * only for readability):
 *     R row   B bank   C column (byte within the row)   P channel (partition)
 *     S slice of the channel   b a bank bit that also picks the slice   - a bit that picks nothing
 * A machine whose channel count is no power of two takes its channel by division instead:
 *     channel = (address / block_bytes) mod channels
 *     rest    = address / block_bytes / channels * block_bytes + address mod block_bytes
 * and the string (without P) then describes the bits of `rest`. Bits above the string pick nothing.
 *
 * Slices and banks may be hashed, by functions of the address's bits (base/bit_hash.h). A slice
 * hash makes the number of the slice (channel x slices + own slice); in the division form it makes
 * the low bits of the block's number, which is divided then. A bank hash makes the bank. Where a
 * channel has one slice and the bits name it, the slice hash may be a sum: its P bits and a
 * multiple of others (base/bit_sum.h).
 *
 * Source: explicit maps as in OWL section 4.3 and MD table 8; the division form follows the GTX 480
 * model of GPGPU-Sim 4.2 as observed, the slice hash of the bit form its model of Volta, the sum
 * the simulator that CCWS's authors released. */
#ifndef TYTO_DRAM_ADDRESS_MAP_H
#define TYTO_DRAM_ADDRESS_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bit_hash.h"
#include "base/bit_sum.h"
#include "base/diag.h"
#include "base/gather.h"

enum { ADDRESS_MAP_MAX_CHANNELS = 255 };

typedef struct AddressMapConfig {
    const char *bits;     /* the bit string, borrowed until address_map_init returns */
    uint32_t channels;    /* channels of the division form, 1..255; 0: use the string's P bits */
    uint32_t block_bytes; /* consecutive bytes in one channel, a power of two; division form only */
    const char *hash;     /* slice hash, also borrowed; NULL or empty: none */
    const char *bank_hash; /* bank hash, likewise */
} AddressMapConfig;

typedef struct AddressMap {
    uint32_t channels;                           /* memory channels */
    uint32_t slices_per_channel;                 /* L2 slices of each channel */
    uint32_t banks;                              /* banks of each channel */
    uint32_t row_bytes;                          /* bytes of one row of one bank */
    bool is_division;                            /* the channel is computed by a division */
    uint8_t block_shift;                         /* log2 of block_bytes, division form only */
    uint64_t reciprocal;                         /* ceil(2^64 / channels), division form only */
    uint64_t column_mask;                        /* bits of `rest` that form the column */
    BitGather channel, slice, bank, row, column; /* extracted from `rest` */
    BitGather local;                             /* address within its channel, from `rest` */
    bool is_hashed, is_bank_hashed;              /* there is a slice hash, a bank hash */
    bool is_summed;                              /* the slice hash is a sum */
    uint8_t lowest_hashed; /* lowest address bit used in either hash; 64: none */
    uint8_t slice_bits;    /* bits of the slice's number within its channel */
    uint64_t block_mask;   /* division form: bits of the block's number that the hash replaces */
    BitHash hash;          /* slice hash, applied to the address */
    BitSum sum;            /* the slice hash if it is a sum */
    BitHash bank_hash;     /* bank hash, applied to `rest` */
} AddressMap;

/* A location in DRAM. */
typedef struct DramPlace {
    uint32_t channel; /* memory channel */
    uint32_t slice;   /* L2 slice of the machine: channel x slices_per_channel + own slice */
    uint32_t bank;    /* bank of the channel */
    uint32_t row;     /* row of the bank */
    uint32_t column;  /* byte within the row */
} DramPlace;

/* Builds the map. Returns false and reports every mistake to `diag` if `config` is invalid. */
bool address_map_init(AddressMap *map, const AddressMapConfig *config, Diag *diag);

/* The location of a byte address. */
DramPlace address_map_place(const AddressMap *map, uint64_t address);

/* The address that lies in `channel` at local address `local`: the inverse of address_map_channel
 * and address_map_local. */
uint64_t address_map_address(const AddressMap *map, uint32_t channel, uint64_t local);

/* The address in the same channel, bank and row as `address`, but at byte `column` of the row. */
uint64_t address_map_sibling(const AddressMap *map, uint64_t address, uint32_t column);

/* Division form: the block's number divided by the number of channels, computed by multiplying with
 * the reciprocal. Exact while blocks x channels < 2^64, which holds for every address because
 * blocks have at least 256 bytes. */
static inline uint64_t address_map_quotient(const AddressMap *map, uint64_t block) {
    return (uint64_t)((unsigned __int128)block * map->reciprocal >> 64);
}

/* The address bits that the string describes. *channel is set in the division form only. */
static inline uint64_t address_map_rest(const AddressMap *map, uint64_t address,
                                        uint32_t *channel) {
    if (!map->is_division) return address;
    uint64_t block = address >> map->block_shift;
    if (map->is_hashed) block = (block & ~map->block_mask) | bit_hash(&map->hash, address);
    uint64_t quotient = address_map_quotient(map, block);
    *channel = (uint32_t)(block - quotient * map->channels);
    return quotient << map->block_shift | (address & ((UINT64_C(1) << map->block_shift) - 1));
}

/* Parts of `rest` within its channel: the local address (see address_map_local), the bank, the
 * row. */
static inline uint64_t address_map_local_of(const AddressMap *map, uint64_t rest) {
    return gather_bits(&map->local, rest);
}
static inline uint32_t address_map_bank_of(const AddressMap *map, uint64_t rest) {
    if (map->is_bank_hashed) return bit_hash(&map->bank_hash, rest);
    return (uint32_t)gather_bits(&map->bank, rest);
}
static inline uint32_t address_map_row_of(const AddressMap *map, uint64_t rest) {
    return (uint32_t)gather_bits(&map->row, rest);
}

/* L2 slice, numbered across the whole machine, that a byte address belongs to (used for routing by
 * the interconnect). Divided by slices_per_channel it gives the channel. */
static inline uint32_t address_map_slice(const AddressMap *map, uint64_t address) {
    uint32_t channel = 0;
    if (map->is_hashed && !map->is_division)
        return map->is_summed ? bit_sum(&map->sum, address) : bit_hash(&map->hash, address);
    uint64_t rest = address_map_rest(map, address, &channel);
    if (!map->is_division) channel = (uint32_t)gather_bits(&map->channel, rest);
    return channel * map->slices_per_channel + (uint32_t)gather_bits(&map->slice, rest);
}

/* The address without the part that determines the channel; an L2 slice derives its set from it.
 * Slice bits are kept. Together with the channel it is unique. */
static inline uint64_t address_map_local(const AddressMap *map, uint64_t address) {
    uint32_t channel = 0;
    return address_map_local_of(map, address_map_rest(map, address, &channel));
}

#endif
