/* The recorded stream of L1D lookups of a run: the records and their file format
 * (docs/l1d-trace.md). Written by cache/l1d_writer.h, read by cache/l1d_reader.h.
 *
 * Source of the idea: the CCWS paper, section 4, whose stand-alone cache simulator uses the access
 * traces of a timed run. */
#ifndef TYTO_CACHE_L1D_TRACE_H
#define TYTO_CACHE_L1D_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache_config.h"

enum {
    L1D_TRACE_VERSION = 2,    /* version 1 had no origin */
    L1D_TRACE_MAX_SMS = 1024, /* most SMs of a machine */
    L1D_TRACE_HEADER_BYTES = 256,
    L1D_TRACE_BLOCK_RECORDS = 65536, /* most records per block */
    L1D_TRACE_BLOCK_HEADER_BYTES = 8,
    L1D_TRACE_RECORD_BYTES = 27,  /* per record, before compression */
    L1D_TRACE_MACHINE_BYTES = 88, /* names in the header, with the NUL */
    L1D_TRACE_SCHEDULER_BYTES = 124
};

/* The kind of event. There is a kind for each effect that a store can have on its line, so a reader
 * need not know the machine's write policies. */
typedef enum L1dKind {
    L1D_LOAD,           /* allocates its line if it is not present */
    L1D_STORE_ALLOCATE, /* allocates its line if it is not present; otherwise counts as a use */
    L1D_STORE_USE,      /* counts as a use of its line if it is present */
    L1D_STORE_PASS,     /* changes nothing, whether its line is present or not */
    L1D_STORE_EVICT,    /* drops its line if it is present */
    L1D_FILL,           /* the line of `address`, which a lookup had requested, has arrived */
    L1D_FLUSH,          /* the SM's L1D drops all lines */
    L1D_KERNEL_START,   /* a kernel begins; `address`: its number, from 0 */
    L1D_KERNEL_END,     /* a kernel has ended; `address`: the number of its thread instructions */
    L1D_KINDS
} L1dKind;

static inline bool l1d_kind_is_lookup(L1dKind kind) { return kind < L1D_FILL; }
/* Whether the lookup allocates its line if it is not present. */
static inline bool l1d_kind_takes_line(L1dKind kind) { return kind <= L1D_STORE_ALLOCATE; }

typedef struct L1dRecord {
    uint64_t cycle;   /* in cycles of the SM clock, over all kernels; never decreases */
    uint64_t address; /* lookups and fills: first byte of the line (or sector) */
    uint32_t warp;    /* lookups: number of the warp among those its SM has launched, from 0 */
    uint32_t lanes;   /* lookups: threads of the warp that touch the line, one bit each; never 0 */
    uint16_t sm;
    uint8_t kind;    /* L1dKind */
    bool is_request; /* lookups: the run's L1D requested the line, whose arrival is an L1D_FILL */
} L1dRecord;

/* The origin of a trace: the first bytes of the file. */
typedef struct L1dTraceHeader {
    uint32_t sms;        /* number of SMs of the machine */
    uint32_t unit_bytes; /* alignment of addresses: bytes of a line, or of a sector if the L1D has
                            sectors */
    uint32_t size_bytes; /* size of the machine's L1D */
    uint32_t line_bytes; /* of that L1D */
    uint32_t ways;       /* of that L1D */
    CacheIndex index;    /* of that L1D: address to set */
    uint32_t version;    /* version of the format; L1D_TRACE_VERSION in new files */
    char machine[L1D_TRACE_MACHINE_BYTES];     /* name */
    char scheduler[L1D_TRACE_SCHEDULER_BYTES]; /* warp scheduler with its parameters, truncated to
                                                  fit */
} L1dTraceHeader;

/* What the run itself counted: one 64-bit number each, after the blocks. */
typedef struct L1dTraceTotals {
    uint64_t kernels;             /* recorded kernels */
    uint64_t thread_instructions; /* of all kernels */
    uint64_t accesses;            /* lookups that were not refused */
    uint64_t misses;              /* line neither present nor pending */
    uint64_t load_accesses;       /* loads among the accesses */
    uint64_t load_misses;         /* loads among the misses */
} L1dTraceTotals;

enum {
    L1D_TRACE_TOTALS = sizeof(L1dTraceTotals) / sizeof(uint64_t),
    L1D_TRACE_END_BYTES = sizeof(L1dTraceTotals) + 4, /* the totals and their checksum */
    L1D_TRACE_MAX_ORIGIN = 1 << 25                    /* in bytes: twice the limit of a command
                                                         line */
};

void l1d_header_pack(const L1dTraceHeader *header, uint8_t out[static L1D_TRACE_HEADER_BYTES]);
/* Returns NULL, or the error in the bytes. */
const char *l1d_header_unpack(const uint8_t in[static L1D_TRACE_HEADER_BYTES],
                              L1dTraceHeader *header);

void l1d_totals_pack(const L1dTraceTotals *totals, uint8_t out[static L1D_TRACE_END_BYTES]);
/* Returns NULL, or the error in the bytes. */
const char *l1d_totals_unpack(const uint8_t in[static L1D_TRACE_END_BYTES], L1dTraceTotals *totals);

/* The origin: everything that determined the run, after the totals. It consists of the number of
 * bytes, names and texts alternating (each with its NUL), and their checksum. One name belongs to
 * the trace itself: the set function of an L1D whose sets do not follow a CacheIndex. */
#define L1D_TRACE_SET_HASH "l1d.set_hash"
uint32_t l1d_origin_checksum(const uint8_t *bytes, size_t count);
/* Whether the bytes are complete pairs of names and texts. */
bool l1d_origin_is_whole(const uint8_t *bytes, size_t count);

/* Convert `count` records to and from count x L1D_TRACE_RECORD_BYTES bytes. Unpacking returns NULL,
 * or the error; `sms`: number of SMs. */
void l1d_records_pack(const L1dRecord *records, uint32_t count, uint8_t *out);
const char *l1d_records_unpack(const uint8_t *in, uint32_t count, uint32_t sms, L1dRecord *records);

/* A 32-bit little-endian number. */
static inline void l1d_put32(uint8_t *out, uint32_t value) {
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}
static inline uint32_t l1d_get32(const uint8_t *in) {
    return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

#endif
