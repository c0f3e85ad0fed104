/* Makes programs that contain CUDA's static runtime, nvcc's and CMake's default, use Tyto's
 * runtime.
 *
 * `tyto run` preloads this library into every process. In each loaded program or shared object it
 * looks for a static runtime in the symbol table of the file. It overwrites the runtime's functions
 * with jumps to the functions of the same names in Tyto's libcudart of the same CUDA release.
 * Functions that Tyto's libcudart lacks print a message and return cudaErrorNotSupported.
 *
 * This must happen before an object's constructors run, because they register its kernels. The
 * start-up code of every object (_init) calls __gmon_start__, if it exists, before the
 * constructors, so this library defines it. That also works for objects that are loaded later, by
 * dlopen or by Python.
 *
 * Not supported: objects without a symbol table or without that start-up code, and other namespaces
 * (dlmopen). */
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/export.h"
#include "cudart/redirect/jump.h"
#include "cudart/redirect/symbols.h"

enum {
    NOT_SUPPORTED = 801,     /* cudaErrorNotSupported */
    FUNCTION_ALIGNMENT = 16, /* alignment of the vendor's functions; padding fills the gaps */
};

/* Every static runtime has the first symbol; only Tyto's own has the second (runtime.h). */
#define VENDOR_FUNCTION "__cudaRegisterFatBinary"
#define OWN_FUNCTION    "runtime_missing"

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("tyto: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* ---- Loaded objects ---- */

/* A program or shared object in this process. */
typedef struct Object {
    uintptr_t base; /* offset from the addresses of its file */
    const ElfW(Phdr) * headers;
    size_t header_count;
    const char *path;
} Object;

/* Counts of the loader's objects. */
typedef struct Loaded {
    unsigned long long added, removed; /* objects added and removed so far */
    size_t count;                      /* number of objects present, in the order of loading */
} Loaded;

typedef struct Missing Missing;

static struct {
    atomic_bool is_busy; /* this library is loading an object itself, which has no static runtime */
    bool is_broken;      /* Tyto's runtime was not found, and this was reported */
    Loaded seen;
    Missing *missing; /* all records, kept reachable */
} state;

typedef struct Search {
    Loaded loaded;
    Object *objects; /* new objects */
    size_t count;
} Search;

static void note_object(Search *search, const struct dl_phdr_info *info) {
    Object *longer = realloc(search->objects, (search->count + 1) * sizeof *longer);
    if (!longer) return;
    search->objects = longer;
    search->objects[search->count++] = (Object){
        .base = info->dlpi_addr,
        .headers = info->dlpi_phdr,
        .header_count = info->dlpi_phnum,
        .path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe",
    };
}

/* Called for each loaded object in turn. After an object was unloaded, all count as new. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    Search *search = data;
    bool is_same = info->dlpi_subs == state.seen.removed;
    if (is_same && info->dlpi_adds == state.seen.added) return 1;
    if (!is_same || search->loaded.count >= state.seen.count) note_object(search, info);
    search->loaded.added = info->dlpi_adds;
    search->loaded.removed = info->dlpi_subs;
    search->loaded.count++;
    return 0;
}

/* ---- Targets ---- */

/* The releases, each identified by a function that the runtime of the next one lacks; the last
 * applies to all others. CUDA 12 dropped texture references. CUDA 13 renamed
 * cudaGetDeviceProperties_v2 to its plain name. */
static const struct {
    const char *function, *library;
} releases[] = {
    {"cudaBindTexture", "libcudart.so.11.0"},
    {"cudaGetDeviceProperties_v2", "libcudart.so.12"},
    {VENDOR_FUNCTION, "libcudart.so.13"},
};

/* Opens Tyto's runtime for a program of the release that the symbols belong to, from the folder of
 * this library. Returns NULL after a message. */
static void *open_runtime(const Symbols *symbols) {
    char path[PATH_MAX];
    Dl_info own;
    size_t release = 0;
    while (!symbols_has(symbols, releases[release].function))
        release++;
    const char *file = dladdr(&state, &own) && own.dli_fname ? own.dli_fname : "";
    const char *slash = strrchr(file, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file,
             releases[release].library);
    void *runtime = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!runtime) say("%s", dlerror());
    state.is_broken = !runtime;
    return runtime;
}

/* Replaces a function that Tyto's runtime lacks. */
struct Missing {
    Missing *next;
    bool is_told;
    char name[];
};

static int tell_missing(Missing *missing) {
    if (!missing->is_told)
        say("%s is not supported: Tyto has no such function (docs/runtime-api.md)", missing->name);
    missing->is_told = true;
    return NOT_SUPPORTED;
}

/* Whether a function's name is like those that programs call. */
static bool is_public_name(const char *name) {
    return strncmp(name, "cuda", 4) == 0 && isupper((unsigned char)name[4]);
}

/* The same, or like those that compilers generate calls of. */
static bool is_runtime_name(const char *name) {
    return is_public_name(strncmp(name, "__", 2) == 0 ? name + 2 : name);
}

/* ---- Functions ---- */

typedef struct Place {
    Function function;
    void *target; /* address of the replacement; NULL: the function is kept */
} Place;

typedef struct Places {
    Place *list; /* all functions, by address */
    size_t count;
    size_t first, end; /* the functions with replacements are in [first, end) */
} Places;

static int compare_places(const void *one, const void *other) {
    uint64_t a = ((const Place *)one)->function.address;
    uint64_t b = ((const Place *)other)->function.address;
    return (a > b) - (a < b);
}

/* Collects all functions with their replacements. Returns false if memory is exhausted. */
static bool list_places(const Symbols *symbols, void *runtime, Places *places) {
    places->list = calloc(symbols->count, sizeof *places->list);
    if (!places->list) return false;
    for (size_t i = 0; i < symbols->count; i++) {
        if (symbols_read(symbols, i, &places->list[places->count].function)) places->count++;
    }
    qsort(places->list, places->count, sizeof *places->list, compare_places);
    for (size_t i = 0; i < places->count; i++) {
        Place *place = &places->list[i];
        if (is_runtime_name(place->function.name))
            place->target = dlsym(runtime, place->function.name);
        if (!place->target) continue;
        if (!places->end) places->first = i;
        places->end = i + 1;
    }
    return true;
}

/* The bytes that may be overwritten from a function's start on: its own, and the padding up to the
 * next function. */
static size_t room_of(const Places *places, size_t index) {
    const Function *function = &places->list[index].function;
    uint64_t room = function->size_bytes, next = index + 1;
    if (function->address % FUNCTION_ALIGNMENT == 0)
        room = (room + FUNCTION_ALIGNMENT - 1) / FUNCTION_ALIGNMENT * FUNCTION_ALIGNMENT;
    while (next < places->count && places->list[next].function.address == function->address)
        next++;
    if (next == places->count) return room;
    uint64_t distance = places->list[next].function.address - function->address;
    return room < distance ? room : distance;
}

/* A static runtime is one contiguous piece of an object, so a function with such a name among its
 * functions belongs to it. The program's own functions may have such names too, elsewhere. (Names
 * with two underscores are left alone, because compilers give them to functions that they write
 * into programs.) */
static bool redirect_missing(void *start, size_t room, const char *name) {
    Missing *missing = calloc(1, sizeof *missing + strlen(name) + 1);
    if (!missing) return false;
    strcpy(missing->name, name);
    missing->next = state.missing;
    state.missing = missing;
    return jump_write_with(start, room, (const void *)(uintptr_t)tell_missing, missing);
}

/* A function may have several names. A name that Tyto's runtime knows has precedence, so it is
 * written last. */
static void redirect_place(const Object *object, const Places *places, size_t index,
                           bool has_target) {
    const Place *place = &places->list[index];
    void *start = (void *)(object->base + place->function.address);
    size_t room = room_of(places, index);
    if (has_target && place->target) jump_write(start, room, place->target);
    if (!has_target && !place->target && is_public_name(place->function.name))
        redirect_missing(start, room, place->function.name);
}

/* ---- Code of an object ---- */

static bool is_inside(const Function *function, const ElfW(Phdr) * segment) {
    uint64_t offset = function->address - segment->p_vaddr;
    return function->address >= segment->p_vaddr && offset < segment->p_filesz &&
           function->size_bytes <= segment->p_filesz - offset;
}

static bool protect(const Object *object, const ElfW(Phdr) * segment, int protection) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (object->base + segment->p_vaddr) & -page;
    uintptr_t end = (object->base + segment->p_vaddr + segment->p_memsz + page - 1) & -page;
    return mprotect((void *)start, end - start, protection) == 0;
}

/* The protection with which the loader has mapped a segment. */
static int protection_of(const ElfW(Phdr) * segment) {
    return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
           (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

/* No code of the segment runs meanwhile, because the object's constructors have not begun. */
static void redirect_segment(const Object *object, const ElfW(Phdr) * segment,
                             const Places *places) {
    if (!protect(object, segment, PROT_READ | PROT_WRITE)) {
        say("%s: its code cannot be changed, so its calls do not reach Tyto", object->path);
        return;
    }
    for (int has_target = 0; has_target < 2; has_target++) {
        for (size_t i = places->first; i < places->end; i++) {
            if (is_inside(&places->list[i].function, segment))
                redirect_place(object, places, i, has_target);
        }
    }
    protect(object, segment, protection_of(segment));
}

/* After an object was unloaded, objects that were already redirected are visited again. */
static bool is_done(const Object *object, const Places *places, const ElfW(Phdr) * segment) {
    for (size_t i = places->first; i < places->end; i++) {
        const Function *function = &places->list[i].function;
        if (strcmp(function->name, VENDOR_FUNCTION) == 0 && is_inside(function, segment))
            return jump_is_at((const void *)(object->base + function->address));
    }
    return false;
}

static void redirect_object(const Object *object, const Symbols *symbols) {
    Places places = {0};
    void *runtime = open_runtime(symbols);
    if (!runtime || !list_places(symbols, runtime, &places)) return;
    for (size_t i = 0; i < object->header_count; i++) {
        const ElfW(Phdr) *segment = &object->headers[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
            !is_done(object, &places, segment))
            redirect_segment(object, segment, &places);
    }
    free(places.list);
}

static void redirect_file(const Object *object, const void *bytes, size_t size) {
    Symbols symbols;
    if (symbols_match(bytes, size, object->headers, object->header_count) &&
        symbols_open(bytes, size, &symbols) && symbols_has(&symbols, VENDOR_FUNCTION) &&
        !symbols_has(&symbols, OWN_FUNCTION))
        redirect_object(object, &symbols);
}

static void look_at_object(const Object *object) {
    struct stat status;
    int file = open(object->path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return; /* the kernel's own object, for example */
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            redirect_file(object, bytes, size);
            munmap(bytes, size);
        }
    }
    close(file);
}

/* ---- Triggers ---- */

/* Redirects the objects loaded since the last call. */
static void redirect_new_objects(void) {
    Search search = {0};
    if (atomic_exchange(&state.is_busy, true)) return;
    dl_iterate_phdr(visit_object, &search);
    if (search.loaded.count) state.seen = search.loaded;
    for (size_t i = 0; i < search.count && !state.is_broken; i++)
        look_at_object(&search.objects[i]);
    free(search.objects);
    if (search.count) dlerror(); /* the program must not see this library's errors */
    atomic_store(&state.is_busy, false);
}

/* Called before the constructors of every object. */
void redirect_before_object(void) __asm__("__gmon_start__") EXPORT;
void redirect_before_object(void) { redirect_new_objects(); }

/* For a program without start-up code that calls the above, or with its own __gmon_start__, as a
 * program built for a profiler has. */
__attribute__((constructor)) static void redirect_at_start(void) { redirect_new_objects(); }
