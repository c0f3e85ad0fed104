/* Source lines: line programs of DWARF 2 to 4 in .debug_line, with two opcodes of NVIDIA's.
 *
 * These opcodes were found in the output of ptxas 13.0 with -lineinfo; elfutils reads the same
 * ones. Extended opcode 0x90 has two numbers: the row of the call, counted from 1 in the rows since
 * the last address was set, and the name of the function, as an offset in .debug_str. Row 0 ends
 * the inlining. Opcode 0x91 has only the name. The header has 4 bytes more than DWARF's: the offset
 * in .debug_str at which the names start. Addresses are relocated by the symbols of functions.
 *
 * Left out: columns, statement and block marks, versions after 4. */
#include "sass/cubin_internal.h"

#include <stdlib.h>

#include "base/text.h"

enum {
    OP_COPY = 1,
    OP_ADVANCE_PC = 2,
    OP_ADVANCE_LINE = 3,
    OP_SET_FILE = 4,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE_PC = 9,
    EXTENDED_END = 1,
    EXTENDED_SET_ADDRESS = 2,
    EXTENDED_CALL = 0x90,
    EXTENDED_FUNCTION = 0x91,
    OPCODES = 256
};

typedef struct FileName {
    const char *folder, *file;
} FileName;

/* One line program, and the reader's position in it. */
typedef struct Program {
    const Cubin *cubin;
    Arena *arena;
    const CubinSection *section;
    const unsigned char *at, *end; /* of the program */
    bool is_cut;                   /* a read went past the end */
    uint8_t step, range, first_special;
    int8_t base;
    uint8_t operands[OPCODES]; /* operand counts of unused standard opcodes */
    FileName *files;
    uint32_t file_count;
    const CubinSection *strings; /* .debug_str; or NULL */
    uint64_t string_base;        /* where names start in it */
    uint32_t relocation;         /* the first relocation that is not before `at` */

    /* the state machine */
    uint64_t address;
    uint64_t line, file;
    uint64_t caller;
    const char *function;
    uint16_t code; /* section; CUBIN_NONE: unknown */
    CubinLine *rows;
    uint32_t count, capacity;
} Program;

/* ---- Numbers ---- */

static bool has(Program *program, uint64_t bytes) {
    if (bytes <= (uint64_t)(program->end - program->at)) return true;
    program->is_cut = true;
    program->at = program->end;
    return false;
}

static uint8_t take8(Program *program) { return has(program, 1) ? *program->at++ : 0; }

static uint64_t take_fixed(Program *program, size_t bytes) {
    uint64_t value = 0;
    if (!has(program, bytes)) return 0;
    memcpy(&value, program->at, bytes);
    program->at += bytes;
    return value;
}

/* A LEB128 number; `is_signed`: signed LEB128, whose last bit is the sign. */
static uint64_t take_leb(Program *program, bool is_signed) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = take8(program);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (is_signed && byte & 0x40 && shift < 64) value |= UINT64_MAX << shift;
    return value;
}

static const char *take_text(Program *program) {
    const unsigned char *start = program->at;
    const unsigned char *end =
        start < program->end ? memchr(start, '\0', (size_t)(program->end - start)) : NULL;
    if (!end) {
        program->is_cut = true;
        program->at = program->end;
        return "";
    }
    program->at = end + 1;
    return (const char *)start;
}

/* ---- Rows ---- */

static void add_row(Program *program) {
    if (program->count == program->capacity) {
        program->capacity = program->capacity ? program->capacity * 2 : 64;
        program->rows = base_realloc(program->rows, program->capacity * sizeof *program->rows);
    }
    bool has_file = program->file && program->file <= program->file_count;
    FileName name = has_file ? program->files[program->file - 1] : (FileName){"", ""};
    /* (a call comes before what is inlined there, so chains of calls have no cycles) */
    bool is_inlined = program->caller && program->caller <= program->count;
    program->rows[program->count++] =
        (CubinLine){.offset = program->address,
                    .folder = name.folder,
                    .file = name.file,
                    .function = is_inlined ? program->function : NULL,
                    .line = program->line > UINT32_MAX ? 0 : (uint32_t)program->line,
                    .caller = is_inlined ? (uint32_t)program->caller : 0};
}

static bool is_rising(const CubinLine *rows, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        if (rows[i].offset < rows[i - 1].offset) return false;
    }
    return true;
}

static void start_piece(Program *program) {
    program->count = 0;
    program->address = program->caller = 0;
    program->line = program->file = 1;
    program->code = CUBIN_NONE;
}

/* Adds the rows since the last address was set as a piece of the table, unless their code is
 * unknown. */
static void end_piece(Program *program, CubinLines *pieces, uint32_t *piece_count) {
    if (program->count && program->code != CUBIN_NONE && is_rising(program->rows, program->count)) {
        CubinLine *rows = ARENA_ARRAY(program->arena, CubinLine, program->count);
        memcpy(rows, program->rows, program->count * sizeof *rows);
        pieces[(*piece_count)++] =
            (CubinLines){rows, program->count, program->code, program->address};
    }
    start_piece(program);
}

/* ---- Opcodes ---- */

/* Sets the address, and the code section of the symbol that relocates it. */
static void set_address(Program *program, uint64_t value) {
    uint64_t place = (uint64_t)(program->at - program->section->bytes) - 8;
    const CubinRelocation *relocations = program->section->relocations;
    while (program->relocation < program->section->relocation_count &&
           relocations[program->relocation].offset < place)
        program->relocation++;
    program->count = 0;
    program->address = value;
    program->code = CUBIN_NONE;
    if (program->relocation == program->section->relocation_count ||
        relocations[program->relocation].offset != place)
        return;
    const CubinRelocation *relocation = &relocations[program->relocation];
    const CubinSymbol *symbol = &program->cubin->symbols[relocation->symbol];
    program->address += symbol->offset + (uint64_t)relocation->addend;
    program->code = symbol->space == CUBIN_SPACE_CODE ? symbol->section : CUBIN_NONE;
}

static const char *function_name(const Program *program, uint64_t offset) {
    const CubinSection *strings = program->strings;
    if (!strings || offset >= strings->size || program->string_base >= strings->size - offset)
        return NULL;
    bool ends = !strings->bytes[strings->size - 1];
    return ends ? (const char *)strings->bytes + offset + program->string_base : NULL;
}

static void do_extended(Program *program, CubinLines *pieces, uint32_t *piece_count) {
    uint64_t size = take_leb(program, false);
    if (!size || !has(program, size)) return;
    const unsigned char *next = program->at + size;
    switch (take8(program)) {
    case EXTENDED_END: end_piece(program, pieces, piece_count); break;
    case EXTENDED_SET_ADDRESS:
        if (size == 9) set_address(program, take_fixed(program, 8));
        break;
    case EXTENDED_CALL:
        program->caller = take_leb(program, false);
        program->function = function_name(program, take_leb(program, false));
        break;
    case EXTENDED_FUNCTION: program->function = function_name(program, take_leb(program, false));
    }
    program->at = next;
}

static void do_standard(Program *program, uint8_t opcode) {
    switch (opcode) {
    case OP_COPY: add_row(program); break;
    case OP_ADVANCE_PC: program->address += take_leb(program, false) * program->step; break;
    case OP_ADVANCE_LINE: program->line += take_leb(program, true); break;
    case OP_SET_FILE: program->file = take_leb(program, false); break;
    case OP_CONST_ADD_PC:
        program->address +=
            (uint64_t)((255 - program->first_special) / program->range) * program->step;
        break;
    case OP_FIXED_ADVANCE_PC: program->address += take_fixed(program, 2); break;
    default:
        for (int i = 0; i < program->operands[opcode]; i++)
            take_leb(program, false);
    }
}

static void do_special(Program *program, uint8_t opcode) {
    unsigned step = opcode - (unsigned)program->first_special;
    program->address += (uint64_t)(step / program->range) * program->step;
    program->line += (uint64_t)(int64_t)(program->base + (int)(step % program->range));
    add_row(program);
}

static void run(Program *program, CubinLines *pieces, uint32_t *piece_count) {
    while (program->at < program->end) {
        uint8_t opcode = take8(program);
        if (opcode >= program->first_special) do_special(program, opcode);
        else if (opcode) do_standard(program, opcode);
        else do_extended(program, pieces, piece_count);
    }
}

/* ---- Headers ---- */

/* A name as shown in listings, messages and reports. */
static const char *take_name(Program *program) {
    char *name = arena_strdup(program->arena, take_text(program));
    text_show_controls(name);
    return name;
}

/* Folders and files; each list ends with an empty name. */
static void read_files(Program *program) {
    Arena *arena = program->arena;
    const unsigned char *start = program->at;
    uint32_t folders = 0, files = 0;
    while (*take_text(program)) /* count the files */
        folders++;
    const char **names = ARENA_ARRAY(arena, const char *, folders + 1);
    program->at = start;
    for (uint32_t i = 0; i < folders; i++)
        names[i] = take_name(program);
    take_text(program);
    for (start = program->at; *take_text(program); files++) {
        for (int i = 0; i < 3; i++) /* folder, time, size */
            take_leb(program, false);
    }
    program->files = ARENA_ARRAY(arena, FileName, files + 1);
    program->file_count = files;
    program->at = start;
    for (uint32_t i = 0; i < files; i++) {
        const char *file = take_name(program);
        uint64_t folder = take_leb(program, false);
        program->files[i] = (FileName){folder && folder <= folders ? names[folder - 1] : "", file};
        take_leb(program, false);
        take_leb(program, false);
    }
    take_text(program);
}

/* Reads the header; returns false for another version. */
static bool read_head(Program *program) {
    unsigned version = (unsigned)take_fixed(program, 2);
    uint64_t size = take_fixed(program, 4);
    if (version < 2 || version > 4 || !has(program, size)) return false;
    const unsigned char *start = program->at + size, *end = program->end;
    program->end = start;
    program->step = take8(program);
    if (version == 4) take8(program); /* operations per instruction: 1 */
    take8(program);
    program->base = (int8_t)take8(program);
    program->range = take8(program);
    program->first_special = take8(program);
    for (int i = 1; i < program->first_special; i++)
        program->operands[i] = take8(program);
    read_files(program);
    program->string_base = program->end - program->at >= 4 ? take_fixed(program, 4) : 0;
    bool is_right = !program->is_cut && program->range && program->first_special;
    program->at = start;
    program->end = end;
    return is_right;
}

/* ---- The table ---- */

static int compare_pieces(const void *a, const void *b) {
    const CubinLines *x = a, *y = b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    if (x->rows->offset != y->rows->offset) return x->rows->offset < y->rows->offset ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static bool read_programs(Program *program, CubinLines *pieces, uint32_t *count, Diag *diag) {
    const CubinSection *section = program->section;
    const unsigned char *at = section->bytes, *end = at + section->size;
    while (end - at >= 4) {
        uint64_t size = cubin_read32(at);
        if (size > (uint64_t)(end - at) - 4)
            return cubin_damaged(program->cubin, diag, "%s ends within a program", section->name);
        program->at = at + 4;
        program->end = at += 4 + size;
        start_piece(program);
        if (read_head(program)) run(program, pieces, count);
        if (program->is_cut)
            return cubin_damaged(program->cubin, diag, "a program of %s is cut off", section->name);
    }
    return true;
}

bool cubin_read_lines(const Cubin *cubin, bool of_ptx, Arena *arena, CubinLineTable *table,
                      Diag *diag) {
    uint16_t i = cubin_find_section(cubin, of_ptx ? ".nv_debug_line_sass" : ".debug_line");
    uint16_t text = cubin_find_section(cubin, ".debug_str");
    *table = (CubinLineTable){NULL, 0};
    if (i == CUBIN_NONE || !cubin->sections[i].bytes) return true;
    bool has_strings =
        text != CUBIN_NONE && cubin->sections[text].bytes && cubin->sections[text].size;
    Program program = {.cubin = cubin,
                       .arena = arena,
                       .section = &cubin->sections[i],
                       .strings = has_strings ? &cubin->sections[text] : NULL};
    /* (each piece belongs to a function, whose address is relocated) */
    CubinLines *pieces = ARENA_ARRAY(arena, CubinLines, program.section->relocation_count + 1);
    uint32_t count = 0;
    bool is_right = read_programs(&program, pieces, &count, diag);
    free(program.rows);
    if (!is_right) return false;
    qsort(pieces, count, sizeof *pieces, compare_pieces);
    *table = (CubinLineTable){pieces, count};
    return true;
}

/* The section of the PTX text; relocatable cubins append a number to its name. */
static const CubinSection *find_ptx(const Cubin *cubin) {
    for (uint32_t i = 1; i < cubin->section_count; i++) {
        const CubinSection *section = &cubin->sections[i];
        bool is_text = cubin_has_prefix(section->name, ".nv_debug_ptx_txt") && section->bytes;
        if (is_text && section->size && section->size < UINT32_MAX) return section;
    }
    return NULL;
}

/* Each line ends with a NUL. */
const char *const *cubin_read_ptx(const Cubin *cubin, Arena *arena, uint32_t *count) {
    const CubinSection *section = find_ptx(cubin);
    *count = 0;
    if (!section) return NULL;
    const char *at = (const char *)section->bytes, *end = at + section->size;
    for (const char *byte = at; byte < end; byte++)
        *count += !*byte;
    const char **lines = ARENA_ARRAY(arena, const char *, *count + 1);
    for (uint32_t i = 0; i < *count; i++, at += strlen(at) + 1)
        lines[i] = at;
    return lines;
}

/* The last piece that begins at or before an offset; or NULL. */
static const CubinLines *find_piece(const CubinLineTable *table, uint16_t section,
                                    uint64_t offset) {
    uint32_t low = 0, high = table->count; /* the first piece after the offset is in [low, high] */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const CubinLines *at = &table->pieces[middle];
        bool is_before =
            at->section < section || (at->section == section && at->rows->offset <= offset);
        if (is_before) low = middle + 1;
        else high = middle;
    }
    return low && table->pieces[low - 1].section == section ? &table->pieces[low - 1] : NULL;
}

const CubinLine *cubin_find_line(const CubinLineTable *table, uint16_t section, uint64_t offset,
                                 const CubinLines **piece) {
    *piece = find_piece(table, section, offset);
    if (!*piece || offset >= (*piece)->end) return NULL;
    uint32_t low = 0, high = (*piece)->count; /* the first row after it is in [low, high] */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((*piece)->rows[middle].offset <= offset) low = middle + 1;
        else high = middle;
    }
    return &(*piece)->rows[low - 1];
}
