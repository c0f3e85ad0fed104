/* Memory and events of other processes on this host.
 *
 * A process that exports a handle of its memory turns all of that memory into a file in memory
 * (memfd). The importing process opens this file through the exporter's folder in /proc. The host's
 * rules for /proc apply, by which users can access their own processes. A random key in the file's
 * name distinguishes the process from a later one with the same number. Imported memory has
 * addresses like those of virtual memory management; both processes read and write the same bytes.
 * Otherwise each process has its own device with its own caches and time. Memory exists as long as
 * a process has it open.
 *
 * Everything before an event is done when the call that records it returns. So an event of another
 * process is always complete, and only its existence is shared. */
#include "driver/driver.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bits.h"
#include "memory/mapping.h"

#define FILE_NAME "tyto device memory"
enum {
    MEMORY_MAGIC = 0x6d6f7974,
    EVENT_MAGIC = 0x65767974,
    POOL_MAGIC = 0x70767974,
    PATH_BYTES = 128
};

/* The contents of a handle. */
typedef struct Token {
    uint32_t magic;
    uint32_t process;
    uint64_t key; /* key of the process */
    int32_t file; /* its file descriptor in that process */
    uint32_t flags;
    uint64_t offset, size; /* offset and size of the allocation in the file */
    uint64_t pool;         /* pool that it came from; 0: none */
} Token;
static_assert(sizeof(Token) <= CU_IPC_HANDLE_SIZE, "it travels in a handle");

/* Memory of another process that is open here. */
typedef struct Import {
    Token token;
    Context *context;
    uint64_t reserved, mapped_bytes; /* its addresses, and the part with the file */
    uint64_t address;                /* address of the allocation */
    unsigned opens;                  /* number of opens without a close */
    bool is_of_pool;                 /* it is closed by cuMemFree */
    struct Import *next;
} Import;

static bool is_own(const Driver *driver, const Token *token) {
    return token->process == (uint32_t)getpid() && token->key == driver->ipc_key;
}

/* ---- Memory ---- */

static void name_file(uint64_t key, char *name) {
    snprintf(name, PATH_BYTES, FILE_NAME " %016" PRIx64, key);
}

int ipc_share(Call *call) {
    char name[PATH_BYTES];
    while (!call->driver->ipc_key) {
        if (getrandom(&call->driver->ipc_key, sizeof call->driver->ipc_key, 0) < 0) return -1;
    }
    name_file(call->driver->ipc_key, name);
    return mem_share(call->memory, name);
}

CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Region *region = ranges_find(call.driver->allocations, address);
    const MemBlock *block = mem_find(call.memory, address);
    if (!handle || !region || region->pool || region->graph_memory || !block ||
        block->kind != MEM_KIND_BUFFER)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    int file = ipc_share(&call);
    if (file < 0) return call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
    const Token token = {.magic = MEMORY_MAGIC,
                         .process = (uint32_t)getpid(),
                         .key = call.driver->ipc_key,
                         .file = file,
                         .offset = region->range.start - MEM_GLOBAL_BASE,
                         .size = region->range.end - region->range.start};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &token, sizeof token);
    return call_end(&call, CUDA_SUCCESS);
}

/* Opens the other process's file; -1: the process is gone, or the host forbids it. */
static int open_file(const Token *token) {
    char path[PATH_BYTES], target[2 * PATH_BYTES] = "", name[PATH_BYTES], wanted[2 * PATH_BYTES];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRId32, token->process, token->file);
    name_file(token->key, name);
    snprintf(wanted, sizeof wanted, "/memfd:%s", name);
    if (readlink(path, target, sizeof target - 1) < 0 ||
        strncmp(target, wanted, strlen(wanted)) != 0)
        return -1;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return -1;
    uint64_t end;
    bool is_whole = fstat(file, &found) == 0 && token->size &&
                    !__builtin_add_overflow(token->offset, token->size, &end) &&
                    end <= (uint64_t)found.st_size;
    if (is_whole) return file;
    close(file);
    return -1;
}

/* The import of a token that is open in the call's context, or NULL. */
static Import *find_import(const Call *call, const Token *token, bool is_of_pool) {
    Import *import = call->driver->imports;
    while (import && (memcmp(&import->token, token, sizeof *token) != 0 ||
                      import->context != call->context || import->is_of_pool != is_of_pool))
        import = import->next;
    return import;
}

/* Maps the part of a file that a token names, once more. */
static CUresult map_file(Call *call, const Token *token, int file, bool is_of_pool,
                         CUdeviceptr *address) {
    Import *import = find_import(call, token, is_of_pool);
    if (import) {
        import->opens++;
        *address = import->address;
        return CUDA_SUCCESS;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), inset = token->offset % page;
    uint64_t bytes = bits_align_up(inset + token->size, page);
    uint64_t reserved = virtual_reserve(call, bits_align_up(bytes, MEM_MAPPING_GRAIN));
    if (!reserved) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!mem_map(call->memory, reserved, bytes, file, token->offset - inset)) {
        virtual_release(call->driver, reserved);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    import = base_calloc(1, sizeof *import);
    *import = (Import){.token = *token,
                       .context = call->context,
                       .reserved = reserved,
                       .mapped_bytes = bytes,
                       .address = reserved + inset,
                       .opens = 1,
                       .is_of_pool = is_of_pool,
                       .next = call->driver->imports};
    call->driver->imports = import;
    mem_expose(call->memory, import->address, token->size, false);
    *address = import->address;
    return CUDA_SUCCESS;
}

static CUresult open_memory(Call *call, const Token *token, CUdeviceptr *address) {
    int file = open_file(token);
    if (file < 0) return CUDA_ERROR_MAP_FAILED;
    CUresult status = map_file(call, token, file, false, address);
    close(file);
    return status;
}

CUresult CUDAAPI cuIpcOpenMemHandle(CUdeviceptr *address, CUipcMemHandle handle,
                                    unsigned int flags) {
    Call call;
    Token token;
    CUresult status = call_begin(&call);
    if (status) return status;
    memcpy(&token, &handle, sizeof token);
    if (!address || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (token.magic != MEMORY_MAGIC) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (is_own(call.driver, &token)) return call_end(&call, CUDA_ERROR_INVALID_CONTEXT);
    return call_end(&call, open_memory(&call, &token, address));
}

/* Unmaps and removes the import at *link. */
static void end(Driver *driver, Import **link) {
    DeviceMemory *memory = simulator_memory(driver->simulator);
    Import *import = *link;
    *link = import->next;
    mem_hide(memory, import->address);
    mem_unmap(memory, import->reserved, import->mapped_bytes);
    virtual_release(driver, import->reserved);
    free(import);
}

/* Closes once what was opened at an address; returns false if nothing was. */
static bool close_import(Call *call, uint64_t address, bool is_of_pool) {
    Import **link = &call->driver->imports;
    while (*link && ((*link)->address != address || (*link)->is_of_pool != is_of_pool))
        link = &(*link)->next;
    if (!*link) return false;
    if (!--(*link)->opens) end(call->driver, link);
    return true;
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr address) {
    Call call;
    CUresult status = call_begin_idle(&call);
    if (status) return status;
    bool is_right = close_import(&call, address, false);
    return call_end(&call, is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

void imports_clear(Driver *driver, const Context *context) {
    for (Import **link = &driver->imports; *link;) {
        if ((*link)->context == context) end(driver, link);
        else link = &(*link)->next;
    }
}

/* ---- Pools ---- */

/* The memory of all of a process's pools is in one file. The read position of a pool's descriptor
 * identifies the pool: a process that receives a descriptor receives its position too. */
int ipc_export_pool(Call *call, uint64_t pool) {
    char path[PATH_BYTES];
    int file = ipc_share(call);
    if (file < 0) return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file >= 0 && lseek(file, (off_t)pool, SEEK_SET) < 0) {
        close(file);
        return -1;
    }
    return file;
}

int ipc_import_pool(int given, PoolKey *key) {
    char path[PATH_BYTES], target[2 * PATH_BYTES] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", given);
    if (given < 0 || readlink(path, target, sizeof target - 1) < 0 ||
        sscanf(target, "/memfd:" FILE_NAME " %16" SCNx64, &key->process) != 1)
        return -1;
    const off_t at = lseek(given, 0, SEEK_CUR);
    if (at <= 0) return -1;
    key->pool = (uint64_t)at;
    return fcntl(given, F_DUPFD_CLOEXEC, 0);
}

CUresult ipc_export_pointer(Call *call, uint64_t pool, Range range, CUmemPoolPtrExportData *data) {
    if (ipc_share(call) < 0) return CUDA_ERROR_OUT_OF_MEMORY;
    const Token token = {.magic = POOL_MAGIC,
                         .key = call->driver->ipc_key,
                         .pool = pool,
                         .offset = range.start - MEM_GLOBAL_BASE,
                         .size = range.end - range.start};
    memset(data, 0, sizeof *data);
    memcpy(data, &token, sizeof token);
    return CUDA_SUCCESS;
}

CUresult ipc_import_pointer(Call *call, int file, const PoolKey *key,
                            const CUmemPoolPtrExportData *data, CUdeviceptr *address) {
    Token token;
    struct stat found;
    memcpy(&token, data, sizeof token);
    if (token.magic != POOL_MAGIC || token.key != key->process || token.pool != key->pool ||
        fstat(file, &found) || !token.size || token.offset > (uint64_t)found.st_size ||
        token.size > (uint64_t)found.st_size - token.offset)
        return CUDA_ERROR_INVALID_VALUE;
    return map_file(call, &token, file, true, address);
}

bool ipc_free_pointer(Call *call, uint64_t address) { return close_import(call, address, true); }

/* ---- Events ---- */

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event) {
    Call call;
    CUresult status = call_begin(&call);
    if (status) return status;
    const Event *known = CALL_GET(&call, HANDLE_EVENT, event);
    if (!handle) return call_end(&call, CUDA_ERROR_INVALID_VALUE);
    if (!known || !(known->flags & CU_EVENT_INTERPROCESS))
        return call_end(&call, CUDA_ERROR_INVALID_HANDLE);
    const Token token = {
        .magic = EVENT_MAGIC, .process = (uint32_t)getpid(), .flags = known->flags};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &token, sizeof token);
    return call_end(&call, CUDA_SUCCESS);
}

CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle) {
    Token token;
    memcpy(&token, &handle, sizeof token);
    if (!event) return CUDA_ERROR_INVALID_VALUE;
    bool is_event = token.magic == EVENT_MAGIC && token.process && token.process <= INT32_MAX &&
                    token.flags & CU_EVENT_INTERPROCESS;
    if (!is_event) return CUDA_ERROR_INVALID_HANDLE;
    if (token.process == (uint32_t)getpid()) return CUDA_ERROR_INVALID_CONTEXT;
    if (kill((pid_t)token.process, 0) != 0 && errno == ESRCH) return CUDA_ERROR_INVALID_HANDLE;
    return cuEventCreate(event, token.flags);
}
