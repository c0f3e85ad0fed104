/* Dividing a unified store (see the header). */
#include "sm/carve_out.h"

#include "base/bits.h"

static uint64_t share_of_cta(const SmConfig *config, uint32_t cta_bytes) {
    return bits_align_up((uint64_t)cta_bytes + config->shared.reserved_bytes,
                         config->shared.granularity_bytes);
}

uint32_t carve_out_bytes(const SmConfig *config, uint32_t cta_bytes, uint32_t ctas, int percent) {
    const ParameterList *sizes = &config->l1d_own.carve_outs;
    uint64_t need = share_of_cta(config, cta_bytes);
    if (!config->l1d_own.unified_bytes) return config->shared.size_bytes;
    if (percent == CARVE_OUT_DEFAULT) {
        need *= ctas;
    } else {
        uint64_t wanted = (uint64_t)config->shared.size_bytes * (uint32_t)percent / 100;
        if (wanted > need) need = wanted;
    }
    uint32_t last = sizes->count - 1;
    for (uint32_t i = 0; i < last; i++)
        if ((uint64_t)sizes->items[i] * 1024 >= need) return sizes->items[i] * 1024;
    return sizes->items[last] * 1024;
}

uint32_t carve_out_ctas(const SmConfig *config, uint32_t cta_bytes, uint32_t ctas, int percent) {
    uint64_t share = share_of_cta(config, cta_bytes);
    if (!config->l1d_own.unified_bytes || percent == CARVE_OUT_DEFAULT || !share) return ctas;
    uint64_t fit = carve_out_bytes(config, cta_bytes, ctas, percent) / share;
    if (fit >= ctas) return ctas;
    return fit ? (uint32_t)fit : 1;
}
