/* Shared by the files of textures and surfaces. Like them, compiled once per variant. */
#ifndef TYTO_ISA_EXEC_EXEC_TEXTURE_H
#define TYTO_ISA_EXEC_EXEC_TEXTURE_H

#include "isa/exec/exec.h"
#include "memory/texture.h"

#define ISA_TEXTURE(name) ISA_PASTE(isa_texture, name, ISA_VARIANT)

/* The texture or surface that a lane's handle names; NULL after a fault. */
const MemTexture *ISA_TEXTURE(lane_object)(IsaContext *context, const IsaWarp *warp,
                                           IsaOperand handles, int lane, bool is_surface);

#endif
