/* The geometries of texture and surface instructions. */
#ifndef TYTO_PTX_TEXTURE_H
#define TYTO_PTX_TEXTURE_H

#include "ptx/ptx.h"

typedef struct PtxGeometry {
    PtxSub sub;          /* value of PtxInst.sub2 */
    uint8_t coordinates; /* elements of the coordinate vector; the last ones may be unused */
    uint8_t axes;        /* used elements after the layer */
    bool has_layer;      /* the first element is the layer */
    bool is_cube;        /* the axes are a direction */
} PtxGeometry;

const PtxGeometry *ptx_geometry(PtxSub sub);

#endif
