/* Compares texture and surface operations of machine code with PTX: `test_sass_texture SM LEVEL`.
 * Each kind of texture is read by handle and by the module's reference. */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tyto/cuda.h"

enum { SIDE = 16, DEPTH = 4, FACES = 6 };

static void check(CUresult result, const char *what) {
    if (result == CUDA_SUCCESS) return;
    fprintf(stderr, "%s: %d\n", what, (int)result);
    exit(1);
}

/* ---- Rows ---- */

/* With the handle %h, and with the reference `tref`. */
#define BOTH(before, behind) {75, before "[%h" behind, 0}, {75, before "[tref" behind, 0}

static const TrialRow flat[] = {
    BOTH("tex.2d.v4.f32.f32 >f4, ", ", <f2]"),
    BOTH("tex.2d.v4.f32.s32 >f4, ", ", {<s1, <s1}]"),
    BOTH("tex.level.2d.v4.f32.f32 >f4, ", ", <f2], <f1"),
    BOTH("tex.level.2d.v4.f32.s32 >f4, ", ", {<s1, <s1}], 0"),
    BOTH("tex.grad.2d.v4.f32.f32 >f4, ", ", <f2], <f2, <f2"),
    BOTH("tex.2d.v4.f32.f32 >f4, ", ", <f2], {<s1, <s1}"),
    BOTH("tex.2d.v4.f32.f32 >f4, ", ", <f2], {-3, 7}"),
    BOTH("tex.level.2d.v4.f32.f32 >f4, ", ", <f2], <f1, {2, -8}"),
    BOTH("tld4.r.2d.v4.f32.f32 >f4, ", ", <f2]"),
    BOTH("tld4.a.2d.v4.f32.f32 >f4, ", ", <f2]"),
    BOTH("tld4.g.2d.v4.f32.f32 >f4, ", ", <f2], {<s1, <s1}"),
    BOTH("txq.width.b32 >r1, ", "]"),
    BOTH("txq.height.b32 >r1, ", "]"),
    BOTH("txq.level.width.b32 >r1, ", "], 0"),
    BOTH("tex.2d.v4.f32.f32 >f4|>p1, ", ", <f2]"),
    BOTH("tex.2d.v2.f16x2.f32 >r2, ", ", <f2]"),
    {75, "tex.2d.v4.f32.f32 {_, >f1, _, >f1}, [%h, <f2]", 0},
    {75, "tex.2d.v4.f32.f32 {_, _, >f1, _}, [%h, <f2]", 0},
};
static const TrialRow line[] = {
    BOTH("tex.1d.v4.f32.f32 >f4, ", ", {<f1}]"),
    BOTH("tex.1d.v4.f32.s32 >f4, ", ", {<s1}]"),
    BOTH("tex.level.1d.v4.f32.f32 >f4, ", ", {<f1}], <f1"),
    BOTH("tex.grad.1d.v4.f32.f32 >f4, ", ", {<f1}], {<f1}, {<f1}"),
};
static const TrialRow solid[] = {
    BOTH("tex.3d.v4.f32.f32 >f4, ", ", {<f1, <f1, <f1, <f1}]"),
    BOTH("tex.3d.v4.f32.s32 >f4, ", ", {<s1, <s1, <s1, <s1}]"),
    BOTH("tex.level.3d.v4.f32.f32 >f4, ", ", {<f1, <f1, <f1, <f1}], <f1"),
    BOTH("tex.3d.v4.f32.f32 >f4, ", ", {<f1, <f1, <f1, <f1}], {1, -2, 3, 0}"),
    BOTH("txq.depth.b32 >r1, ", "]"),
};
static const TrialRow layers[] = {
    BOTH("tex.a2d.v4.f32.f32 >f4, ", ", {<s1, <f1, <f1, <f1}]"),
    BOTH("tex.a2d.v4.f32.s32 >f4, ", ", {<s1, <s1, <s1, <s1}]"),
    BOTH("tex.level.a2d.v4.f32.f32 >f4, ", ", {<s1, <f1, <f1, <f1}], <f1"),
    BOTH("tex.grad.a2d.v4.f32.f32 >f4, ", ", {<s1, <f1, <f1, <f1}], <f2, <f2"),
    BOTH("tex.a2d.v4.f32.f32 >f4, ", ", {<s1, <f1, <f1, <f1}], {<s1, <s1}"),
    BOTH("tld4.b.a2d.v4.f32.f32 >f4, ", ", {<s1, <f1, <f1, <f1}]"),
};
static const TrialRow line_layers[] = {
    BOTH("tex.a1d.v4.f32.f32 >f4, ", ", {<s1, <f1}]"),
    BOTH("tex.a1d.v4.f32.s32 >f4, ", ", {<s1, <s1}]"),
    BOTH("tex.level.a1d.v4.f32.f32 >f4, ", ", {<s1, <f1}], <f1"),
    BOTH("tex.grad.a1d.v4.f32.f32 >f4, ", ", {<s1, <f1}], {<f1}, {<f1}"),
};
/* The direction is divided by its largest component first; nearest texels do not depend on that. */
static const TrialRow cube[] = {
    BOTH("tex.cube.v4.f32.f32 >f4, ", ", {<f1, <f1, <f1, <f1}]"),
    BOTH("tex.level.cube.v4.f32.f32 >f4, ", ", {<f1, <f1, <f1, <f1}], <f1"),
    BOTH("tld4.b.cube.v4.f32.f32 >f4, ", ", {<f1, <f1, <f1, <f1}]"),
};
/* x is in bytes and a multiple of the access size: 16 times a small number. */
#define SURFACE(before, behind) {75, before "[%h" behind, 0}, {75, before "[sref" behind, 0}
static const TrialRow surface[] = {
    SURFACE("suld.b.2d.v4.b32.trap >r4, ", ", {<x1, <y1}]"),
    SURFACE("suld.b.2d.b32.clamp >r1, ", ", {<x1, <s1}]"),
    SURFACE("suld.b.2d.v2.b32.zero >r2, ", ", {<x1, <s1}]"),
    SURFACE("suld.b.2d.b8.zero >h1, ", ", {<x1, <s1}]"),
    SURFACE("suld.b.2d.b16.zero >h1, ", ", {<x1, <s1}]"),
    SURFACE("suld.b.2d.b64.zero >l1, ", ", {<x1, <s1}]"),
    SURFACE("sust.b.2d.v4.b32.trap ", ", {<x1, <y1}], <r4"),
    SURFACE("sust.b.2d.b32.clamp ", ", {<x1, <s1}], <r1"),
    SURFACE("sust.b.2d.b8.zero ", ", {<x1, <s1}], <h1"),
    SURFACE("sust.p.2d.v4.b32.trap ", ", {<y1, <y1}], <r4"),
    SURFACE("sured.b.add.2d.u32.trap ", ", {<x1, <y1}], <r1"),
    SURFACE("sured.b.min.2d.s32.clamp ", ", {<x1, <s1}], <r1"),
    SURFACE("sured.b.max.2d.u32.zero ", ", {<x1, <s1}], <r1"),
    SURFACE("sured.b.and.2d.b32.trap ", ", {<x1, <y1}], <r1"),
    SURFACE("suq.width.b32 >r1, ", "]"),
};

/* ---- Objects ---- */

typedef struct Kind {
    const char *name;
    const TrialRow *rows;
    size_t count;
    size_t width, height, depth;
    unsigned flags; /* of the array */
    bool is_filtered;
} Kind;
#define ROWS(rows) rows, sizeof rows / sizeof rows[0]
static const Kind kinds[] = {
    {"2D", ROWS(flat), SIDE, SIDE, 0, 0, true},
    {"1D", ROWS(line), SIDE, 0, 0, 0, true},
    {"3D", ROWS(solid), SIDE, SIDE, DEPTH, 0, true},
    {"layers of 2D", ROWS(layers), SIDE, SIDE, DEPTH, CUDA_ARRAY3D_LAYERED, true},
    {"layers of 1D", ROWS(line_layers), SIDE, 0, DEPTH, CUDA_ARRAY3D_LAYERED, true},
    {"cube", ROWS(cube), SIDE, SIDE, FACES, CUDA_ARRAY3D_CUBEMAP, false},
    {"surface", ROWS(surface), SIDE, SIDE, 0, CUDA_ARRAY3D_SURFACE_LDST, false},
};

static CUarray array_of(const Kind *kind) {
    CUarray array;
    const CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = kind->width,
                                           .Height = kind->height,
                                           .Depth = kind->depth,
                                           .Flags = kind->flags,
                                           .NumChannels = 4,
                                           .Format = kind->flags & CUDA_ARRAY3D_SURFACE_LDST
                                                         ? CU_AD_FORMAT_UNSIGNED_INT32
                                                         : CU_AD_FORMAT_FLOAT};
    check(cuArray3DCreate(&array, &shape), "cuArray3DCreate");
    return array;
}

static void fill(const Kind *kind, CUarray array) {
    static float texels[SIDE * SIDE * FACES * 4];
    const size_t height = kind->height ? kind->height : 1, depth = kind->depth ? kind->depth : 1;
    for (size_t i = 0; i < sizeof texels / sizeof texels[0]; i++)
        texels[i] = (float)(i * 37 % 1021) * 0.125f - 13.0f;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = texels,
                                .srcPitch = kind->width * 16,
                                .srcHeight = height,
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = array,
                                .WidthInBytes = kind->width * 16,
                                .Height = height,
                                .Depth = depth};
    check(cuMemcpy3D(&copy), "cuMemcpy3D");
}

static uint64_t handle_of(const Kind *kind, CUarray array) {
    const CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                         .res.array.hArray = array};
    const CUDA_TEXTURE_DESC texture = {
        .addressMode = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_WRAP},
        .filterMode = kind->is_filtered ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT,
        .flags = CU_TRSF_NORMALIZED_COORDINATES};
    unsigned long long handle;
    if (kind->flags & CUDA_ARRAY3D_SURFACE_LDST)
        check(cuSurfObjectCreate(&handle, &resource), "cuSurfObjectCreate");
    else check(cuTexObjectCreate(&handle, &resource, &texture, NULL), "cuTexObjectCreate");
    return handle;
}

/* Binds the references of both modules to the array. */
static void bind(const Kind *kind, Trial *trial, CUarray array) {
    for (int which = 0; which < 2; which++) {
        CUtexref texture;
        CUsurfref referred;
        CUmodule module = trial_module(trial, which);
        if (kind->flags & CUDA_ARRAY3D_SURFACE_LDST) {
            check(cuModuleGetSurfRef(&referred, module, "sref"), "cuModuleGetSurfRef");
            check(cuSurfRefSetArray(referred, array, 0), "cuSurfRefSetArray");
            continue;
        }
        check(cuModuleGetTexRef(&texture, module, "tref"), "cuModuleGetTexRef");
        check(cuTexRefSetArray(texture, array, CU_TRSA_OVERRIDE_FORMAT), "cuTexRefSetArray");
        check(cuTexRefSetFilterMode(texture, kind->is_filtered ? CU_TR_FILTER_MODE_LINEAR
                                                               : CU_TR_FILTER_MODE_POINT),
              "cuTexRefSetFilterMode");
        check(cuTexRefSetFlags(texture, CU_TRSF_NORMALIZED_COORDINATES), "cuTexRefSetFlags");
    }
}

/* ---- Results of stores ---- */

static Trial *trial;
static CUarray stored_to;

/* Copies the texels of a surface after a run, for the comparison, and restores the surface. */
static void read_surface(void *texels, size_t size) {
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = stored_to,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = texels,
                                .dstPitch = SIDE * 16,
                                .WidthInBytes = SIDE * 16,
                                .Height = SIDE};
    if (size != SIDE * SIDE * 16) abort();
    check(cuMemcpy2D(&copy), "cuMemcpy2D");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].flags & CUDA_ARRAY3D_SURFACE_LDST) fill(&kinds[i], stored_to);
}

int main(int argc, char **argv) {
    const int sm = argc > 1 ? atoi(argv[1]) : 80, level = argc > 2 ? atoi(argv[2]) : 3;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const Kind *kind = &kinds[i];
        const bool is_surface = kind->flags & CUDA_ARRAY3D_SURFACE_LDST;
        trial = trial_new(sm, level, ".global .texref tref;\n.global .surfref sref;\n", kind->rows,
                          kind->count);
        CUarray array = array_of(kind);
        fill(kind, array);
        bind(kind, trial, array);
        stored_to = array;
        printf("%s: ", kind->name);
        if (is_surface) trial_compare_more(trial, read_surface, SIDE * SIDE * 16);
        wrong += trial_run(trial, handle_of(kind, array), true);
        trial_free(trial);
    }
    return wrong != 0;
}
