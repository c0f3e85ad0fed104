/* Redirects a plug-in's calls of _exit (see the header). The plug-in's relocations name the words
 * that hold the addresses of the functions it calls.
 *
 * Left out: direct system calls, and calls by libraries that the plug-in loads. */
#include "sched/plugin_exit.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The parts of an object's dynamic section that describe its relocations. */
typedef struct Relocations {
    const struct link_map *object;
    const char *strings;
    const ElfW(Sym) * symbols;
} Relocations;

/* The value of an entry; 0: none. On most systems the loader has relocated addresses. */
static uintptr_t entry_of(const struct link_map *object, ElfW(Sxword) tag, bool is_address) {
    const ElfW(Dyn) *entry = object->l_ld;
    while (entry->d_tag != DT_NULL && entry->d_tag != tag)
        entry++;
    if (entry->d_tag == DT_NULL) return 0;
    const uintptr_t value = entry->d_un.d_ptr;
    return is_address && value < object->l_addr ? value + object->l_addr : value;
}

static bool ends_the_process(const char *name) {
    return strcmp(name, "_exit") == 0 || strcmp(name, "_Exit") == 0 ||
           strcmp(name, "quick_exit") == 0;
}

/* Writes the address of exit to a page that the loader may have made read-only. */
static void write_exit(void *place) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t start = (uintptr_t)place & ~(page - 1);
    void (*const function)(int) = exit;
    if (mprotect((void *)start, page, PROT_READ | PROT_WRITE) == 0)
        memcpy(place, &function, sizeof function);
}

static void redirect(const Relocations *of, uintptr_t table, size_t bytes) {
    const ElfW(Rela) *rows = (const void *)table;
    for (size_t i = 0; table && i < bytes / sizeof *rows; i++) {
        const ElfW(Sym) *symbol = &of->symbols[ELF64_R_SYM(rows[i].r_info)];
        if (ends_the_process(of->strings + symbol->st_name))
            write_exit((void *)(of->object->l_addr + rows[i].r_offset));
    }
}

void plugin_exit_redirect(void *library) {
    struct link_map *object;
    if (dlinfo(library, RTLD_DI_LINKMAP, &object) != 0) return;
    const Relocations of = {.object = object,
                            .strings = (const char *)entry_of(object, DT_STRTAB, true),
                            .symbols = (const void *)entry_of(object, DT_SYMTAB, true)};
    if (!of.strings || !of.symbols) return;
    redirect(&of, entry_of(object, DT_JMPREL, true), entry_of(object, DT_PLTRELSZ, false));
    redirect(&of, entry_of(object, DT_RELA, true), entry_of(object, DT_RELASZ, false));
}
