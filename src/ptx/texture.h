/* The geometries of texture and surface instructions. */
#ifndef TYTO_PTX_TEXTURE_H
#define TYTO_PTX_TEXTURE_H

#include "ptx/ptx.h"

typedef struct PtxGeometry {
    PtxSub sub;          /* as PtxInst.sub2 has it */
    uint8_t coordinates; /* elements of their vector; the last ones may have no meaning */
    uint8_t axes;        /* that have meaning, behind the layer */
    bool has_layer;      /* which is the first element then */
    bool is_cube;        /* the axes are a direction's */
} PtxGeometry;

const PtxGeometry *ptx_geometry(PtxSub sub);

#endif
