/* Single accesses outside the instruction handlers: the reads and writes of builtins. */
#include "isa/launch.h"

#include <inttypes.h>
#include <string.h>

bool isa_generic_read(IsaContext *context, const IsaWarp *warp, int lane, uint64_t address,
                      void *bytes, uint32_t size) {
    const IsaLaunch *launch = context->launch;
    uint64_t shared = address - MEM_SHARED_WINDOW, local = address - MEM_LOCAL_WINDOW;
    uint64_t param = address - MEM_PARAM_WINDOW;
    uint64_t local_end = warp->frames[warp->frame].local_end;
    if (mem_read(context->memory, address, bytes, size)) return true;
    if (shared < launch->shared_extent && size <= launch->shared_extent - shared) {
        memcpy(bytes, warp->cta->shared + shared, size);
    } else if (local < local_end && size <= local_end - local) {
        isa_local_read(warp, lane, (uint32_t)local, bytes, size);
    } else if (param < launch->parameter_bytes && size <= launch->parameter_bytes - param) {
        memcpy(bytes, launch->parameters + param, size);
    } else {
        Text where = {0};
        mem_describe(context->memory, address, &where);
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
                  "invalid read of %u byte%s at generic address 0x%" PRIx64 ": %s", size,
                  text_plural(size), address, text_string(&where));
        text_free(&where);
        return false;
    }
    return true;
}

bool isa_generic_write(IsaContext *context, IsaWarp *warp, int lane, uint64_t address,
                       const void *bytes, uint32_t size) {
    const IsaLaunch *launch = context->launch;
    uint64_t shared = address - MEM_SHARED_WINDOW, local = address - MEM_LOCAL_WINDOW;
    uint64_t local_end = warp->frames[warp->frame].local_end;
    if (mem_write(context->memory, address, bytes, size)) return true;
    if (shared < launch->shared_extent && size <= launch->shared_extent - shared) {
        memcpy(warp->cta->shared + shared, bytes, size);
    } else if (local < local_end && size <= local_end - local) {
        isa_local_write(warp, lane, (uint32_t)local, bytes, size);
    } else {
        Text where = {0};
        mem_describe(context->memory, address, &where);
        isa_fault(context, warp, lane, ISA_FAULT_ADDRESS,
                  "invalid write of %u byte%s at generic address 0x%" PRIx64 ": %s", size,
                  text_plural(size), address, text_string(&where));
        text_free(&where);
        return false;
    }
    return true;
}
