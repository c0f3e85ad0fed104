/* Relocations: a table of kinds. Each kind writes a number to certain bits of a place.
 *
 * The names say most: R_CUDA_ABS32_HI_32 is the upper 32 bits of an address, at bit 32. The
 * contents of the fields were observed where nvlink 13.0 applies them (constants, shared memory,
 * textures) and in branches, whose offsets are in units of 4 bytes. Kinds for architectures before
 * sm_70 are left out. */
#include "sass/cubin_internal.h"

#include <elf.h>
#include <stdlib.h>

/* ---- The kinds ---- */

typedef struct Field {
    uint8_t bit, width; /* of the place; width 0: no field */
} Field;

typedef struct Kind {
    uint8_t number;
    const char *name;
    CubinReference refers;
    uint8_t shift;     /* low bits of the value that are dropped */
    Field low, high;   /* bits that do not fit into `low` go to `high` */
    uint8_t bank_bits; /* of CUBIN_REFER_CONSTANT: number of offset bits below the bank number */
    bool is_part;      /* the fields hold only part of the value; otherwise all of it */
} Kind;

#define BYTES_OF(first, name, refers)                                                              \
    {first, name "_0", refers, 0, {0, 8}, {0, 0}, 0, true},                                        \
        {first + 1, name "_8", refers, 8, {0, 8}, {0, 0}, 0, true},                                \
        {first + 2, name "_16", refers, 16, {0, 8}, {0, 0}, 0, true},                              \
        {first + 3, name "_24", refers, 24, {0, 8}, {0, 0}, 0, true},                              \
        {first + 4, name "_32", refers, 32, {0, 8}, {0, 0}, 0, true},                              \
        {first + 5, name "_40", refers, 40, {0, 8}, {0, 0}, 0, true},                              \
        {first + 6, name "_48", refers, 48, {0, 8}, {0, 0}, 0, true}, {                            \
        first + 7, name "_56", refers, 56, {0, 8}, {0, 0}, 0, true                                 \
    }

static const Kind kinds[] = {
    {0, "R_CUDA_NONE", CUBIN_REFER_NOTHING, 0, {0, 0}, {0, 0}, 0, false},
    {1, "R_CUDA_32", CUBIN_REFER_ADDRESS, 0, {0, 32}, {0, 0}, 0, false},
    {2, "R_CUDA_64", CUBIN_REFER_ADDRESS, 0, {0, 64}, {0, 0}, 0, false},
    {3, "R_CUDA_G32", CUBIN_REFER_GENERIC, 0, {0, 32}, {0, 0}, 0, false},
    {4, "R_CUDA_G64", CUBIN_REFER_GENERIC, 0, {0, 64}, {0, 0}, 0, false},
    {6, "R_CUDA_TEX_HEADER_INDEX", CUBIN_REFER_TEXTURE, 0, {0, 32}, {0, 0}, 0, false},
    {7, "R_CUDA_SAMP_HEADER_INDEX", CUBIN_REFER_SAMPLER, 0, {0, 32}, {0, 0}, 0, false},
    {34, "R_CUDA_FUNC_DESC_32", CUBIN_REFER_DESCRIPTOR, 0, {0, 32}, {0, 0}, 0, false},
    {35, "R_CUDA_FUNC_DESC_64", CUBIN_REFER_DESCRIPTOR, 0, {0, 64}, {0, 0}, 0, false},
    {52, "R_CUDA_SURF_HEADER_INDEX", CUBIN_REFER_SURFACE, 0, {0, 32}, {0, 0}, 0, false},
    {55, "R_CUDA_ABS32_32", CUBIN_REFER_ADDRESS, 0, {32, 32}, {0, 0}, 0, false},
    {56, "R_CUDA_ABS32_LO_32", CUBIN_REFER_ADDRESS, 0, {32, 32}, {0, 0}, 0, true},
    {57, "R_CUDA_ABS32_HI_32", CUBIN_REFER_ADDRESS, 32, {32, 32}, {0, 0}, 0, true},
    {58, "R_CUDA_ABS47_34", CUBIN_REFER_ADDRESS, 2, {34, 47}, {0, 0}, 0, false},
    {59, "R_CUDA_ABS16_32", CUBIN_REFER_ADDRESS, 0, {32, 16}, {0, 0}, 0, false},
    {60, "R_CUDA_ABS24_32", CUBIN_REFER_ADDRESS, 0, {32, 24}, {0, 0}, 0, false},
    {61, "R_CUDA_FUNC_DESC32_32", CUBIN_REFER_DESCRIPTOR, 0, {32, 32}, {0, 0}, 0, false},
    {62, "R_CUDA_FUNC_DESC32_LO_32", CUBIN_REFER_DESCRIPTOR, 0, {32, 32}, {0, 0}, 0, true},
    {63, "R_CUDA_FUNC_DESC32_HI_32", CUBIN_REFER_DESCRIPTOR, 32, {32, 32}, {0, 0}, 0, true},
    {64, "R_CUDA_CONST_FIELD19_40", CUBIN_REFER_CONSTANT, 2, {40, 19}, {0, 0}, 14, false},
    {65, "R_CUDA_BINDLESSOFF14_40", CUBIN_REFER_BINDLESS, 2, {40, 14}, {0, 0}, 0, false},
    {66, "R_CUDA_CONST_FIELD21_38", CUBIN_REFER_CONSTANT, 0, {38, 21}, {0, 0}, 16, false},
    /* markers for linkers on YIELD and on functions that nothing calls; nvlink ignores them too */
    {68, "R_CUDA_YIELD_OPCODE9_0", CUBIN_REFER_NOTHING, 0, {0, 0}, {0, 0}, 0, false},
    {69, "R_CUDA_YIELD_CLEAR_PRED4_87", CUBIN_REFER_NOTHING, 0, {0, 0}, {0, 0}, 0, false},
    {70, "R_CUDA_32_LO", CUBIN_REFER_ADDRESS, 0, {0, 32}, {0, 0}, 0, true},
    {71, "R_CUDA_32_HI", CUBIN_REFER_ADDRESS, 32, {0, 32}, {0, 0}, 0, true},
    {72, "R_CUDA_UNUSED_CLEAR32", CUBIN_REFER_NOTHING, 0, {0, 0}, {0, 0}, 0, false},
    {73, "R_CUDA_UNUSED_CLEAR64", CUBIN_REFER_NOTHING, 0, {0, 0}, {0, 0}, 0, false},
    {74, "R_CUDA_ABS24_40", CUBIN_REFER_ADDRESS, 0, {40, 24}, {0, 0}, 0, false},
    {75, "R_CUDA_ABS55_16_34", CUBIN_REFER_ADDRESS, 2, {16, 8}, {34, 47}, 0, false},
    BYTES_OF(76, "R_CUDA_8", CUBIN_REFER_ADDRESS),
    BYTES_OF(84, "R_CUDA_G8", CUBIN_REFER_GENERIC),
    BYTES_OF(92, "R_CUDA_FUNC_DESC_8", CUBIN_REFER_DESCRIPTOR),
    {100, "R_CUDA_ABS20_44", CUBIN_REFER_ADDRESS, 0, {44, 20}, {0, 0}, 0, false},
    {101, "R_CUDA_SAMP_HEADER_INDEX_0", CUBIN_REFER_SAMPLER, 0, {0, 32}, {0, 0}, 0, false},
    {102, "R_CUDA_UNIFIED", CUBIN_REFER_UNIFIED, 0, {0, 64}, {0, 0}, 0, false},
    {103, "R_CUDA_UNIFIED_32", CUBIN_REFER_UNIFIED, 0, {0, 32}, {0, 0}, 0, false},
    BYTES_OF(104, "R_CUDA_UNIFIED_8", CUBIN_REFER_UNIFIED),
    {112, "R_CUDA_UNIFIED32_LO_32", CUBIN_REFER_UNIFIED, 0, {32, 32}, {0, 0}, 0, true},
    {113, "R_CUDA_UNIFIED32_HI_32", CUBIN_REFER_UNIFIED, 32, {32, 32}, {0, 0}, 0, true},
    {114, "R_CUDA_ABS56_16_34", CUBIN_REFER_ADDRESS, 2, {16, 8}, {34, 48}, 0, false},
    {115, "R_CUDA_CONST_FIELD22_37", CUBIN_REFER_CONSTANT, 0, {37, 22}, {0, 0}, 17, false},
};

static const Kind *find_kind(uint32_t number) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].number == number) return &kinds[i];
    }
    return NULL;
}

const char *cubin_relocation_name(uint32_t kind) {
    const Kind *found = find_kind(kind);
    return found ? found->name : NULL;
}

CubinReference cubin_relocation_reference(uint32_t kind) {
    const Kind *found = find_kind(kind);
    return found ? found->refers : CUBIN_REFER_NOTHING;
}

/* ---- Reading ---- */

static int compare_places(const void *a, const void *b) {
    const CubinRelocation *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static size_t entry_bytes(const CubinSection *table) {
    return table->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
}

static bool is_table(const CubinReader *reader, const CubinSection *table) {
    return (table->type == SHT_REL || table->type == SHT_RELA) && table->bytes &&
           table->info < reader->cubin->section_count;
}

/* Adds the entries of a table to those of its section, which has enough room. */
static bool add_entries(CubinReader *reader, const CubinSection *table,
                        CubinRelocation *relocations) {
    CubinSection *section = &reader->sections[table->info];
    size_t bytes = entry_bytes(table);
    for (uint64_t i = 0; i < table->size / bytes; i++) {
        Elf64_Rela entry = {0};
        memcpy(&entry, table->bytes + i * bytes, bytes);
        uint32_t symbol = (uint32_t)ELF64_R_SYM(entry.r_info);
        if (symbol >= reader->cubin->symbol_count || entry.r_offset >= section->size)
            return cubin_damaged(reader->cubin, reader->diag,
                                 "relocation %llu of %s has no symbol or no place",
                                 (unsigned long long)i, table->name);
        relocations[section->relocation_count++] = (CubinRelocation){
            entry.r_offset, (uint32_t)ELF64_R_TYPE(entry.r_info), symbol, entry.r_addend};
    }
    return true;
}

/* Reads the entries of all tables into their sections. */
static bool count_entries(CubinReader *reader, uint64_t *counts) {
    for (uint32_t i = 1; i < reader->cubin->section_count; i++) {
        const CubinSection *table = &reader->sections[i];
        if (!is_table(reader, table)) continue;
        counts[table->info] += table->size / entry_bytes(table);
        if (counts[table->info] > UINT32_MAX)
            return cubin_damaged(reader->cubin, reader->diag, "%s is too long", table->name);
    }
    return true;
}

bool cubin_read_relocations(CubinReader *reader) {
    uint32_t sections = reader->cubin->section_count;
    uint64_t *counts = ARENA_ARRAY(reader->arena, uint64_t, sections);
    CubinRelocation **lists = ARENA_ARRAY(reader->arena, CubinRelocation *, sections);
    if (!count_entries(reader, counts)) return false;
    for (uint32_t i = 1; i < sections; i++) {
        if (counts[i]) lists[i] = ARENA_ARRAY(reader->arena, CubinRelocation, counts[i]);
        reader->sections[i].relocations = lists[i];
    }
    for (uint32_t i = 1; i < sections; i++) {
        const CubinSection *table = &reader->sections[i];
        if (is_table(reader, table) && lists[table->info] &&
            !add_entries(reader, table, lists[table->info]))
            return false;
    }
    for (uint32_t i = 1; i < sections; i++) {
        if (lists[i])
            qsort(lists[i], reader->sections[i].relocation_count, sizeof **lists, compare_places);
    }
    return true;
}

/* ---- Applying ---- */

/* Sets bits of a place; bits of the value that do not fit are dropped. */
static void write_field(unsigned char *place, Field field, uint64_t value) {
    for (unsigned i = 0; i < field.width; i++) {
        unsigned bit = field.bit + i;
        unsigned char mask = (unsigned char)(1u << bit % 8);
        if (value >> i & 1) place[bit / 8] |= mask;
        else place[bit / 8] &= (unsigned char)~mask;
    }
}

/* Number of bytes from the start of a place to the last byte that the kind writes. */
static uint64_t bytes_of(const Kind *kind) {
    unsigned low = kind->low.width ? kind->low.bit + kind->low.width : 0;
    unsigned high = kind->high.width ? kind->high.bit + kind->high.width : 0;
    return ((low > high ? low : high) + 7) / 8;
}

static bool is_image(const CubinSymbol *symbol) {
    return symbol->kind == CUBIN_SYMBOL_TEXTURE || symbol->kind == CUBIN_SYMBOL_SAMPLER ||
           symbol->kind == CUBIN_SYMBOL_SURFACE;
}

/* The number that goes into the fields. An offset in a bank may be negative, because a register is
 * added to it. */
static uint64_t field_value(const Cubin *cubin, const Kind *kind, const CubinSymbol *symbol,
                            uint64_t value) {
    value >>= kind->shift;
    if (!kind->bank_bits) return value;
    int bank = symbol->section == CUBIN_NONE ? 0 : cubin->sections[symbol->section].bank;
    value &= (UINT64_C(1) << kind->bank_bits) - 1;
    return value | (uint64_t)(bank < 0 ? 0 : bank) << kind->bank_bits;
}

/* Whether the fields can hold the whole number, unless they hold only part of it. */
static bool fits(const Kind *kind, uint64_t value) {
    unsigned width = kind->low.width + (unsigned)kind->high.width;
    return kind->is_part || width >= 64 || value >> width == 0;
}

static bool apply(const Cubin *cubin, const CubinRelocation *relocation, unsigned char *bytes,
                  uint64_t size, CubinResolve resolve, void *context, Diag *diag) {
    const Kind *kind = find_kind(relocation->kind);
    const CubinSymbol *symbol = &cubin->symbols[relocation->symbol];
    uint64_t value = 0;
    if (!kind) {
        diag_error(diag, cubin->name, 0, 0, "relocations of kind %u are not supported",
                   relocation->kind);
        return false;
    }
    if (kind->refers == CUBIN_REFER_NOTHING) return true;
    if (relocation->offset > size || bytes_of(kind) > size - relocation->offset)
        return cubin_damaged(cubin, diag, "a relocation is of no place in its section");
    bool is_handle = kind->refers == CUBIN_REFER_CONSTANT && is_image(symbol);
    CubinReference refers = is_handle ? CUBIN_REFER_BINDLESS : kind->refers;
    if (!resolve(context, symbol, refers, &value)) {
        diag_error(diag, cubin->name, 0, 0, "the symbol %s is not defined", symbol->name);
        return false;
    }
    value = field_value(cubin, kind, symbol, value + (uint64_t)relocation->addend);
    if (!fits(kind, value)) {
        diag_error(diag, cubin->name, 0, 0, "%s lies too far away for a relocation of kind %s",
                   symbol->name, kind->name);
        return false;
    }
    write_field(bytes + relocation->offset, kind->low, value);
    write_field(bytes + relocation->offset, kind->high, value >> kind->low.width % 64);
    return true;
}

bool cubin_relocate(const Cubin *cubin, uint16_t section, unsigned char *bytes,
                    CubinResolve resolve, void *context, Diag *diag) {
    const CubinSection *of = &cubin->sections[section];
    for (uint32_t i = 0; i < of->relocation_count; i++) {
        if (!apply(cubin, &of->relocations[i], bytes, of->size, resolve, context, diag))
            return false;
    }
    return true;
}
