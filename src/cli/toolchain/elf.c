/* Finds three things in a 64-bit ELF file: sections by name, such as those with fat binaries; the
 * names of the shared libraries that the program needs; and the names of CUDA's runtime in its
 * symbol table. Checks every offset, because the file may have any contents. */
#include "cli/toolchain/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in memory. */
typedef struct File {
    const char *bytes;
    size_t size;
} File;

/* `count` items of `size` bytes at `offset`; NULL unless all of them are inside the file. */
static const void *part(const File *file, uint64_t offset, uint64_t count, size_t size) {
    if (offset > file->size || count > (file->size - offset) / size) return NULL;
    return file->bytes + offset;
}

/* The sections, with their number in *count. */
static const Elf64_Shdr *sections_of(const File *file, const Elf64_Ehdr *header, size_t *count) {
    *count = header->e_shnum;
    if (header->e_shoff % _Alignof(Elf64_Shdr) || header->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    return part(file, header->e_shoff, *count, sizeof(Elf64_Shdr));
}

/* The string at `offset` of a section of strings; "" if there is none. */
static const char *string_at(const File *file, const Elf64_Shdr *strings, uint64_t offset) {
    const char *start = part(file, strings->sh_offset, strings->sh_size, 1);
    if (!start || offset >= strings->sh_size) return "";
    return memchr(start + offset, '\0', strings->sh_size - offset) ? start + offset : "";
}

static bool has_prefix(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* NVIDIA's libraries that do not run on a simulated GPU and that Tyto does not have. */
/* clang-format off */
const ElfLibrary elf_absent_libraries[] = {
    {"libcufftw.so", "cuFFTW"}, /* the vendor's on top of cuFFT */
    {"libcusolver.so", "cuSOLVER"},
    {"libcusolverMg.so", "cuSOLVER"},
    {"libcudnn.so", "cuDNN"},
    {"libnccl.so", "NCCL"},
    {"libnvjpeg.so", "nvJPEG"},
    {"libcutensor.so", "cuTENSOR"},
    {"libcusparseLt.so", "cuSPARSELt"},
    {"libnppc.so", "NPP"},
    {"libnvblas.so", "NVBLAS"},
    {NULL, NULL},
};
/* clang-format on */

static void note_library(const char *name, ElfFacts *facts) {
    facts->asks_for_runtime |= has_prefix(name, "libcudart.so") || has_prefix(name, "libtyto.so");
    for (int i = 0; elf_absent_libraries[i].file; i++) {
        if (has_prefix(name, elf_absent_libraries[i].file)) facts->absent |= UINT32_C(1) << i;
    }
}

/* The libraries that the program needs. */
static void note_libraries(const File *file, const Elf64_Shdr *dynamic, const Elf64_Shdr *strings,
                           ElfFacts *facts) {
    size_t count = dynamic->sh_size / sizeof(Elf64_Dyn);
    const char *items = part(file, dynamic->sh_offset, count, sizeof(Elf64_Dyn));
    for (size_t i = 0; items && i < count; i++) {
        Elf64_Dyn item;
        memcpy(&item, items + i * sizeof item, sizeof item);
        if (item.d_tag == DT_NEEDED) note_library(string_at(file, strings, item.d_un.d_val), facts);
    }
}

/* Whether a section of strings has this string, perhaps as the end of a longer one. */
static bool has_string(const File *file, const Elf64_Shdr *strings, const char *text) {
    const char *start = part(file, strings->sh_offset, strings->sh_size, 1);
    return start && memmem(start, strings->sh_size, text, strlen(text) + 1);
}

/* The sections of a file and the section of their names; NULL: not such a file. */
static const Elf64_Shdr *open_sections(const File *file, size_t *count, const Elf64_Shdr **names) {
    const Elf64_Ehdr *header = part(file, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return NULL;
    const Elf64_Shdr *sections = sections_of(file, header, count);
    if (!sections || header->e_shstrndx >= *count) return NULL;
    *names = &sections[header->e_shstrndx];
    return sections;
}

const char *elf_find_section(const void *bytes, size_t size, const char *name,
                             size_t *section_size) {
    const File file = {bytes, size};
    size_t count = 0;
    const Elf64_Shdr *names = NULL, *sections = open_sections(&file, &count, &names);
    for (size_t i = 0; sections && i < count; i++) {
        if (strcmp(string_at(&file, names, sections[i].sh_name), name) != 0) continue;
        *section_size = sections[i].sh_size;
        return part(&file, sections[i].sh_offset, sections[i].sh_size, 1);
    }
    return NULL;
}

ElfFacts elf_look_at_bytes(const void *bytes, size_t size) {
    const File file = {bytes, size};
    ElfFacts facts = {0};
    size_t count = 0;
    const Elf64_Shdr *names = NULL, *sections = open_sections(&file, &count, &names);
    for (size_t i = 0; sections && i < count; i++) {
        const char *name = string_at(&file, names, sections[i].sh_name);
        const Elf64_Shdr *linked =
            sections[i].sh_link < count ? &sections[sections[i].sh_link] : NULL;
        facts.has_kernels |= strcmp(name, ".nvFatBinSegment") == 0;
        facts.has_loader |= strcmp(name, ".interp") == 0;
        if (sections[i].sh_type == SHT_DYNAMIC && linked)
            note_libraries(&file, &sections[i], linked, &facts);
        if (sections[i].sh_type == SHT_SYMTAB && linked)
            facts.names_runtime |= has_string(&file, linked, "__cudaRegisterFatBinary");
    }
    return facts;
}

/* Maps a file into memory; no bytes if that is not possible. */
static File map_file(const char *path) {
    struct stat status;
    File file = {0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return file;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (bytes != MAP_FAILED) file = (File){bytes, size};
    }
    close(descriptor);
    return file;
}

static void unmap_file(const File *file) {
    if (file->bytes) munmap((void *)(uintptr_t)file->bytes, file->size);
}

ElfFacts elf_look(const char *path) {
    const File file = map_file(path);
    ElfFacts facts = elf_look_at_bytes(file.bytes, file.size);
    unmap_file(&file);
    return facts;
}

bool elf_find_loader(const char *path, char *loader, size_t size_bytes) {
    const File file = map_file(path);
    size_t length;
    const char *found = elf_find_section(file.bytes, file.size, ".interp", &length);
    bool is_found = found && length && length <= size_bytes && !found[length - 1];
    if (is_found) memcpy(loader, found, length);
    unmap_file(&file);
    return is_found;
}
