/* Finds machine code in files. Left out: ELF files of 32 bits or of big-endian hosts, and names of
 * an archive's members. */
#include "sass/code_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "sass/cubin.h"

/* A file, or a part of one, and where to add what is found. */
typedef struct Source {
    const unsigned char *bytes;
    size_t size;
    const char *name;
    Arena *arena;
    CodeFile *file;
    Diag *diag;
} Source;

static bool damaged(const Source *source, const char *what) {
    diag_error(source->diag, source->name, 0, 0, "the %s is damaged", what);
    return false;
}

static void add_image(const Source *source, CodeImage image) {
    CodeFile *file = source->file;
    if (file->count == file->capacity) {
        file->capacity = file->capacity ? file->capacity * 2 : 16;
        CodeImage *grown = ARENA_ARRAY(source->arena, CodeImage, file->capacity);
        if (file->count) memcpy(grown, file->images, file->count * sizeof *grown);
        file->images = grown;
    }
    file->images[file->count++] = image;
}

static bool begins_with(const Source *source, const void *start, size_t size) {
    return source->size >= size && memcmp(source->bytes, start, size) == 0;
}

/* ---- Cubins ---- */

static bool is_cubin(const Source *source) { return cubin_is(source->bytes, source->size); }

static bool read_cubin(const Source *source) {
    unsigned architecture = cubin_architecture(source->bytes);
    add_image(source, (CodeImage){.is_cubin = true,
                                  .architecture = architecture,
                                  .bytes = source->bytes,
                                  .size = source->size});
    return true;
}

/* ---- Fat binaries ---- */

static bool is_fatbin(const Source *source) {
    static const uint32_t magic = FATBIN_MAGIC;
    return begins_with(source, &magic, sizeof magic);
}

/* One fat binary, or several with zeros between them, as linkers lay them out. */
static bool read_fatbins(const Source *source) {
    const unsigned char *at = source->bytes, *end = at + source->size;
    for (;;) {
        FatbinReader reader;
        FatbinItem item;
        FatbinNext next;
        uint64_t total;
        while (at < end && !*at)
            at++;
        if (at == end) return true;
        if (!fatbin_begin(at, (uint64_t)(end - at), &reader, &total))
            return damaged(source, "fat binary");
        while ((next = fatbin_next(&reader, &item)) == FATBIN_ITEM)
            add_image(source, (CodeImage){.is_cubin = item.entry.kind == FATBIN_KIND_CUBIN,
                                          .architecture = item.entry.architecture,
                                          .item = item});
        if (next == FATBIN_DAMAGED) return damaged(source, "fat binary");
        at += total;
    }
}

/* ---- Files of the host ---- */

static bool is_elf(const Source *source) {
    return begins_with(source, ELFMAG, SELFMAG) && source->size >= sizeof(Elf64_Ehdr) &&
           source->bytes[EI_CLASS] == ELFCLASS64 && source->bytes[EI_DATA] == ELFDATA2LSB;
}

static bool is_inside(const Source *source, uint64_t offset, uint64_t size) {
    return offset <= source->size && size <= source->size - offset;
}

static Elf64_Shdr section_at(const Source *source, const Elf64_Ehdr *header, uint32_t i) {
    Elf64_Shdr section;
    memcpy(&section, source->bytes + header->e_shoff + i * sizeof section, sizeof section);
    return section;
}

/* Whether a section holds fat binaries, of programs or of objects that are still to be linked. */
static bool holds_fatbins(const Source *source, const Elf64_Shdr *names,
                          const Elf64_Shdr *section) {
    static const char *const sections[] = {".nv_fatbin", "__nv_relfatbin"};
    for (int i = 0; i < 2; i++) {
        size_t size = strlen(sections[i]) + 1;
        if (section->sh_name > names->sh_size || size > names->sh_size - section->sh_name) continue;
        const unsigned char *name = source->bytes + names->sh_offset + section->sh_name;
        if (memcmp(name, sections[i], size) == 0) return true;
    }
    return false;
}

static bool read_elf(const Source *source) {
    Elf64_Ehdr header;
    memcpy(&header, source->bytes, sizeof header);
    if (!header.e_shnum) return true; /* stripped of its section headers */
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum ||
        !is_inside(source, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)))
        return damaged(source, "ELF file");
    Elf64_Shdr names = section_at(source, &header, header.e_shstrndx);
    if (!is_inside(source, names.sh_offset, names.sh_size)) return damaged(source, "ELF file");
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section = section_at(source, &header, i);
        if (!holds_fatbins(source, &names, &section) || section.sh_type == SHT_NOBITS) continue;
        if (!is_inside(source, section.sh_offset, section.sh_size))
            return damaged(source, "ELF file");
        Source part = *source;
        part.bytes += section.sh_offset;
        part.size = section.sh_size;
        if (!read_fatbins(&part)) return false;
    }
    return true;
}

/* ---- Archives ---- */

enum { ARCHIVE_HEADER = 8, MEMBER_HEADER = 60, MEMBER_SIZE = 48, MEMBER_SIZE_DIGITS = 10 };

static bool is_archive(const Source *source) {
    return begins_with(source, "!<arch>\n", ARCHIVE_HEADER);
}

static uint64_t member_size(const unsigned char *header) {
    char digits[MEMBER_SIZE_DIGITS + 1] = "";
    memcpy(digits, header + MEMBER_SIZE, MEMBER_SIZE_DIGITS);
    return strtoull(digits, NULL, 10);
}

static bool read_archive(const Source *source) {
    const unsigned char *at = source->bytes + ARCHIVE_HEADER, *end = source->bytes + source->size;
    while (end - at >= MEMBER_HEADER) {
        Source member = *source;
        member.size = member_size(at);
        member.bytes = at += MEMBER_HEADER;
        if (member.size > (uint64_t)(end - at)) return damaged(source, "archive");
        if (is_cubin(&member)) read_cubin(&member);
        else if (is_elf(&member) && !read_elf(&member)) return false;
        uint64_t step = member.size + (member.size & 1);
        if (step > (uint64_t)(end - at)) break;
        at += step;
    }
    return true;
}

/* ---- Any file ---- */

static const struct {
    bool (*is)(const Source *source);
    bool (*read)(const Source *source);
} kinds[] = {
    {is_cubin, read_cubin},
    {is_fatbin, read_fatbins},
    {is_elf, read_elf},
    {is_archive, read_archive},
};

bool code_file_read(const void *bytes, size_t size, const char *name, Arena *arena, CodeFile *file,
                    Diag *diag) {
    const Source source = {bytes, size, name, arena, file, diag};
    *file = (CodeFile){0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].is(&source)) return kinds[i].read(&source);
    }
    diag_error(diag, name, 0, 0,
               "this is no cubin, fat binary, executable, shared object, object file or archive");
    return false;
}

const void *code_image_open(const CodeImage *image, Arena *arena, size_t *size) {
    *size = image->size;
    return image->bytes ? image->bytes : fatbin_unpack(&image->item, arena, size);
}
