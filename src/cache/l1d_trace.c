/* The byte format of L1D traces (see the header). All numbers are little-endian. */
#include "cache/l1d_trace.h"

#include <string.h>

#include "base/bits.h"

static const char magic[8] = {'t', 'y', 't', 'o', '-', 'l', '1', 'd'};

enum { AT_VERSION = 8, AT_NUMBERS = 12, AT_MACHINE = 40, AT_SCHEDULER = 128, AT_CHECKSUM = 252 };
enum { MAX_LINE = 4096, MIN_LINE = 16 };
enum { REQUEST_BIT = 0x80 /* of the kind's byte: is_request */ };
_Static_assert(AT_MACHINE + L1D_TRACE_MACHINE_BYTES == AT_SCHEDULER, "the names fill their places");
_Static_assert(AT_SCHEDULER + L1D_TRACE_SCHEDULER_BYTES == AT_CHECKSUM,
               "the names fill their places");

static void put64(uint8_t *out, uint64_t value) {
    l1d_put32(out, (uint32_t)value);
    l1d_put32(out + 4, (uint32_t)(value >> 32));
}

static uint64_t get64(const uint8_t *in) {
    return l1d_get32(in) | (uint64_t)l1d_get32(in + 4) << 32;
}

/* FNV-1a; detects flipped bits in the few bytes that are not compressed. */
static uint32_t checksum(const uint8_t *bytes, size_t count) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

/* ---- Header ---- */

void l1d_header_pack(const L1dTraceHeader *header, uint8_t out[static L1D_TRACE_HEADER_BYTES]) {
    const uint32_t numbers[] = {header->sms,        header->unit_bytes, header->size_bytes,
                                header->line_bytes, header->ways,       header->index};
    memset(out, 0, L1D_TRACE_HEADER_BYTES);
    memcpy(out, magic, sizeof magic);
    l1d_put32(out + AT_VERSION, L1D_TRACE_VERSION);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        l1d_put32(out + AT_NUMBERS + 4 * i, numbers[i]);
    memcpy(out + AT_MACHINE, header->machine, L1D_TRACE_MACHINE_BYTES);
    memcpy(out + AT_SCHEDULER, header->scheduler, L1D_TRACE_SCHEDULER_BYTES);
    l1d_put32(out + AT_CHECKSUM, checksum(out, AT_CHECKSUM));
}

static bool is_line_size(uint32_t bytes) {
    return bits_is_power_of_two(bytes) && bytes >= MIN_LINE && bytes <= MAX_LINE;
}

const char *l1d_header_unpack(const uint8_t in[static L1D_TRACE_HEADER_BYTES],
                              L1dTraceHeader *header) {
    if (memcmp(in, magic, sizeof magic)) return "not an L1D trace (--record-l1d writes one)";
    uint32_t version = l1d_get32(in + AT_VERSION);
    if (version < 1 || version > L1D_TRACE_VERSION)
        return "an L1D trace of another version; record it again";
    if (l1d_get32(in + AT_CHECKSUM) != checksum(in, AT_CHECKSUM)) return "its header is damaged";
    const uint8_t *numbers = in + AT_NUMBERS;
    *header = (L1dTraceHeader){.sms = l1d_get32(numbers),
                               .unit_bytes = l1d_get32(numbers + 4),
                               .size_bytes = l1d_get32(numbers + 8),
                               .line_bytes = l1d_get32(numbers + 12),
                               .ways = l1d_get32(numbers + 16),
                               .index = (CacheIndex)l1d_get32(numbers + 20),
                               .version = version};
    memcpy(header->machine, in + AT_MACHINE, L1D_TRACE_MACHINE_BYTES - 1);
    memcpy(header->scheduler, in + AT_SCHEDULER, L1D_TRACE_SCHEDULER_BYTES - 1);
    bool is_good = header->sms >= 1 && header->sms <= L1D_TRACE_MAX_SMS && header->ways >= 1 &&
                   is_line_size(header->unit_bytes) && is_line_size(header->line_bytes) &&
                   header->unit_bytes <= header->line_bytes && header->index < CACHE_INDEXES;
    return is_good ? NULL : "its header is damaged";
}

/* ---- Totals ---- */

void l1d_totals_pack(const L1dTraceTotals *totals, uint8_t out[static L1D_TRACE_END_BYTES]) {
    uint64_t numbers[L1D_TRACE_TOTALS];
    memcpy(numbers, totals, sizeof numbers);
    for (int i = 0; i < L1D_TRACE_TOTALS; i++)
        put64(out + 8 * i, numbers[i]);
    l1d_put32(out + 8 * L1D_TRACE_TOTALS, checksum(out, 8 * L1D_TRACE_TOTALS));
}

const char *l1d_totals_unpack(const uint8_t in[static L1D_TRACE_END_BYTES],
                              L1dTraceTotals *totals) {
    uint64_t numbers[L1D_TRACE_TOTALS];
    if (l1d_get32(in + 8 * L1D_TRACE_TOTALS) != checksum(in, 8 * L1D_TRACE_TOTALS))
        return "its end is damaged";
    for (int i = 0; i < L1D_TRACE_TOTALS; i++)
        numbers[i] = get64(in + 8 * i);
    memcpy(totals, numbers, sizeof numbers);
    return NULL;
}

/* ---- Origin ---- */

uint32_t l1d_origin_checksum(const uint8_t *bytes, size_t count) { return checksum(bytes, count); }

bool l1d_origin_is_whole(const uint8_t *bytes, size_t count) {
    uint32_t texts = 0;
    for (size_t i = 0; i < count; i++)
        texts += !bytes[i];
    return texts % 2 == 0 && (!count || !bytes[count - 1]);
}

/* ---- Records: column by column, which compresses better than row by row ---- */

void l1d_records_pack(const L1dRecord *records, uint32_t count, uint8_t *out) {
    uint8_t *cycle = out, *address = cycle + 8 * count, *warp = address + 8 * count;
    uint8_t *lanes = warp + 4 * count, *sm = lanes + 4 * count, *kind = sm + 2 * count;
    uint64_t before = 0;
    for (uint32_t i = 0; i < count; i++) {
        const L1dRecord *record = &records[i];
        put64(cycle + 8 * i, record->cycle - before);
        put64(address + 8 * i, record->address);
        l1d_put32(warp + 4 * i, record->warp);
        l1d_put32(lanes + 4 * i, record->lanes);
        sm[2 * i] = (uint8_t)record->sm;
        sm[2 * i + 1] = (uint8_t)(record->sm >> 8);
        kind[i] = (uint8_t)(record->kind | (record->is_request ? REQUEST_BIT : 0));
        before = record->cycle;
    }
}

const char *l1d_records_unpack(const uint8_t *in, uint32_t count, uint32_t sms,
                               L1dRecord *records) {
    const uint8_t *cycle = in, *address = cycle + 8 * count, *warp = address + 8 * count;
    const uint8_t *lanes = warp + 4 * count, *sm = lanes + 4 * count, *kind = sm + 2 * count;
    uint64_t now = 0;
    for (uint32_t i = 0; i < count; i++) {
        now += get64(cycle + 8 * i);
        records[i] = (L1dRecord){.cycle = now,
                                 .address = get64(address + 8 * i),
                                 .warp = l1d_get32(warp + 4 * i),
                                 .lanes = l1d_get32(lanes + 4 * i),
                                 .sm = (uint16_t)(sm[2 * i] | sm[2 * i + 1] << 8),
                                 .kind = kind[i] & (REQUEST_BIT - 1),
                                 .is_request = kind[i] & REQUEST_BIT};
        L1dKind what = (L1dKind)records[i].kind;
        if (what >= L1D_KINDS) return "a record is of a kind that does not exist";
        if (records[i].sm >= sms) return "a record names an SM that the machine does not have";
        if (l1d_kind_is_lookup(what) && !records[i].lanes) return "a lookup has no thread";
    }
    return NULL;
}
