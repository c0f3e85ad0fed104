/* cuGetExportTable: private tables of the vendor's driver. A simulated GPU has none. The vendor's
 * numerical libraries need them, so the message names the library that asks. */
#include "driver/driver.h"

#include <dlfcn.h>
#include <string.h>

/* Libraries that ask for a table, but work without it. */
static const char *const content[] = {"libnvrtc"};

CUresult CUDAAPI cuGetExportTable(const void **table, const CUuuid *id) {
    Dl_info caller;
    bool is_found = dladdr(__builtin_return_address(0), &caller) && caller.dli_fname;
    const char *path = is_found ? caller.dli_fname : "a library";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    for (size_t i = 0; i < sizeof content / sizeof content[0]; i++)
        if (strncmp(name, content[i], strlen(content[i])) == 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (driver_tells_first(name))
        driver_say(
            "error: %s needs private tables of the vendor's driver, which a simulated GPU does "
            "not have: its functions will fail (docs/libraries.md; for a program of your own, "
            "docs/cuda-programs.md)",
            name);
    return CUDA_ERROR_NOT_SUPPORTED;
}
