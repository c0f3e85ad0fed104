/* Opens a cubin: reads its parts in order, and the call graph. Queries about what was read. */
#include "sass/cubin.h"

#include "sass/cubin_internal.h"

/* ---- The call graph ---- */

enum { CALL_BYTES = 8 }; /* a row of .nv.callgraph: two symbols */

/* A row (0, -kind) gives the kind of the list that follows it. */
static bool read_calls(CubinReader *reader, const CubinSection *section) {
    Cubin *cubin = reader->cubin;
    uint64_t rows = section->size / CALL_BYTES;
    CubinCall *calls = ARENA_ARRAY(reader->arena, CubinCall, rows + 1);
    uint32_t count = 0;
    uint8_t kind = 0;
    for (uint64_t i = 0; i < rows; i++) {
        uint32_t caller = cubin_read32(section->bytes + i * CALL_BYTES);
        uint32_t callee = cubin_read32(section->bytes + i * CALL_BYTES + 4);
        if (caller == 0 && callee >= UINT32_MAX - 0x7f) {
            kind = (uint8_t)(0 - callee);
            continue;
        }
        if (kind == CUBIN_CALL_TARGET || kind == CUBIN_CALL_INDIRECT) callee = 0;
        if (caller >= cubin->symbol_count || callee >= cubin->symbol_count)
            return cubin_damaged(cubin, reader->diag, "a call of %s is of no symbol",
                                 section->name);
        calls[count++] = (CubinCall){caller, callee, kind};
    }
    cubin->calls = calls;
    cubin->call_count = count;
    return true;
}

static bool read_call_graph(CubinReader *reader) {
    uint16_t i = cubin_find_section(reader->cubin, ".nv.callgraph");
    return i == CUBIN_NONE || !reader->sections[i].bytes ||
           read_calls(reader, &reader->sections[i]);
}

/* ---- Opening ---- */

const Cubin *cubin_open(const void *bytes, size_t size, const char *name, Arena *arena,
                        Diag *diag) {
    Cubin *cubin = ARENA_NEW(arena, Cubin);
    cubin->name = name;
    CubinReader reader = {
        .bytes = bytes, .size = size, .cubin = cubin, .arena = arena, .diag = diag};
    bool is_right = cubin_read_elf(&reader) && cubin_read_functions(&reader) &&
                    cubin_read_info(&reader) && cubin_read_relocations(&reader) &&
                    read_call_graph(&reader);
    return is_right ? cubin : NULL;
}

/* ---- Queries ---- */

const CubinFunction *cubin_find(const Cubin *cubin, const char *name) {
    for (uint32_t i = 0; i < cubin->function_count; i++) {
        if (strcmp(cubin->functions[i].name, name) == 0) return &cubin->functions[i];
    }
    return NULL;
}

uint16_t cubin_find_section(const Cubin *cubin, const char *name) {
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        if (strcmp(cubin->sections[i].name, name) == 0) return (uint16_t)i;
    }
    return CUBIN_NONE;
}

uint32_t cubin_word(CubinWords words, uint32_t i) {
    return cubin_read32(words.bytes + (size_t)i * 4);
}
