/* PTX types and state spaces: one row each. */
#include "ptx/ptx.h"

typedef enum TypeClass { CLASS_BITS, CLASS_UNSIGNED, CLASS_SIGNED, CLASS_FLOAT } TypeClass;

static const struct {
    const char *name;
    uint8_t bits;
    uint8_t class; /* TypeClass */
} types[PTX_TYPE_COUNT] = {
    [PTX_TYPE_NONE] = {"", 0, CLASS_BITS},       [PTX_U8] = {".u8", 8, CLASS_UNSIGNED},
    [PTX_U16] = {".u16", 16, CLASS_UNSIGNED},    [PTX_U32] = {".u32", 32, CLASS_UNSIGNED},
    [PTX_U64] = {".u64", 64, CLASS_UNSIGNED},    [PTX_S8] = {".s8", 8, CLASS_SIGNED},
    [PTX_S16] = {".s16", 16, CLASS_SIGNED},      [PTX_S32] = {".s32", 32, CLASS_SIGNED},
    [PTX_S64] = {".s64", 64, CLASS_SIGNED},      [PTX_B8] = {".b8", 8, CLASS_BITS},
    [PTX_B16] = {".b16", 16, CLASS_BITS},        [PTX_B32] = {".b32", 32, CLASS_BITS},
    [PTX_B64] = {".b64", 64, CLASS_BITS},        [PTX_B128] = {".b128", 128, CLASS_BITS},
    [PTX_F16] = {".f16", 16, CLASS_FLOAT},       [PTX_BF16] = {".bf16", 16, CLASS_FLOAT},
    [PTX_F32] = {".f32", 32, CLASS_FLOAT},       [PTX_F64] = {".f64", 64, CLASS_FLOAT},
    [PTX_TF32] = {".tf32", 32, CLASS_FLOAT},     [PTX_F16X2] = {".f16x2", 32, CLASS_FLOAT},
    [PTX_BF16X2] = {".bf16x2", 32, CLASS_FLOAT}, [PTX_U16X2] = {".u16x2", 32, CLASS_UNSIGNED},
    [PTX_S16X2] = {".s16x2", 32, CLASS_SIGNED},  [PTX_F32X2] = {".f32x2", 64, CLASS_FLOAT},
    [PTX_E4M3X2] = {".e4m3x2", 16, CLASS_BITS},  [PTX_E5M2X2] = {".e5m2x2", 16, CLASS_BITS},
    [PTX_E4M3] = {".e4m3", 8, CLASS_FLOAT},      [PTX_E5M2] = {".e5m2", 8, CLASS_FLOAT},
    [PTX_U4] = {".u4", 4, CLASS_UNSIGNED},       [PTX_S4] = {".s4", 4, CLASS_SIGNED},
    [PTX_B1] = {".b1", 1, CLASS_BITS},           [PTX_PRED] = {".pred", 1, CLASS_BITS},
};

int ptx_type_bits(PtxType type) { return types[type].bits; }
const char *ptx_type_name(PtxType type) { return types[type].name; }
bool ptx_type_is_float(PtxType type) { return types[type].class == CLASS_FLOAT; }
bool ptx_type_is_signed(PtxType type) { return types[type].class == CLASS_SIGNED; }
bool ptx_type_is_bits(PtxType type) { return type >= PTX_B8 && type <= PTX_B128; }

const char *ptx_space_name(PtxSpace space) {
    static const char *const names[] = {
        [PTX_SPACE_NONE] = "",          [PTX_SPACE_CONST] = ".const",
        [PTX_SPACE_GLOBAL] = ".global", [PTX_SPACE_LOCAL] = ".local",
        [PTX_SPACE_PARAM] = ".param",   [PTX_SPACE_SHARED] = ".shared",
        [PTX_SPACE_TEX] = ".tex",       [PTX_SPACE_CLUSTER] = ".shared::cluster",
    };
    return names[space];
}
