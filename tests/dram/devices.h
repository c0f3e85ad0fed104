/* The DRAM channels of the machine models, as the tests use them. */
#ifndef TYTO_TESTS_DRAM_DEVICES_H
#define TYTO_TESTS_DRAM_DEVICES_H

#include "dram/channel.h"

typedef struct Device {
    const char *name;
    uint32_t read_bytes; /* size of the machine's read requests */
    DramConfig config;
} Device;

/* tWL and tCCD of the GDDR3 parts are not in their papers; 4 ticks and one burst are usual. */
static const Device devices[] = {
    {"owl",
     64,
     {.timing = {.cl = 10,
                 .wl = 4,
                 .rcd = 12,
                 .rp = 10,
                 .ras = 25,
                 .rc = 35,
                 .rrd = 8,
                 .ccd = 2,
                 .cdlr = 6,
                 .wr = 11},
      .banks = 4,
      .bank_groups = 1,
      .bus_bytes = 4,
      .burst_length = 4,
      .data_rate = 2,
      .row_bytes = 2048,
      .queue_entries = 128,
      .reply_entries = 64,
      .scheduler = DRAM_SCHEDULER_frfcfs}},
    {"ccws",
     128,
     {.timing = {.cl = 10,
                 .wl = 4,
                 .rcd = 12,
                 .rp = 10,
                 .ras = 25,
                 .rc = 35,
                 .rrd = 8,
                 .ccd = 2,
                 .cdlr = 6,
                 .wr = 11},
      .banks = 8,
      .bank_groups = 1,
      .bus_bytes = 4,
      .burst_length = 4,
      .data_rate = 2,
      .row_bytes = 2048,
      .queue_entries = 32,
      .reply_entries = 64,
      .scheduler = DRAM_SCHEDULER_frfcfs}},
    {"md",
     128,
     {.timing = {.cl = 12,
                 .wl = 4,
                 .rcd = 12,
                 .rp = 12,
                 .ras = 28,
                 .rc = 40,
                 .rrd = 6,
                 .ccd = 2,
                 .cdlr = 5,
                 .wr = 12},
      .banks = 16,
      .bank_groups = 1,
      .bus_bytes = 4,
      .burst_length = 8,
      .data_rate = 4,
      .row_bytes = 4096,
      .queue_entries = 132,
      .reply_entries = 64,
      .scheduler = DRAM_SCHEDULER_frfcfs}},
    {"gtx480",
     32,
     {.timing = {.cl = 12,
                 .wl = 4,
                 .rcd = 12,
                 .rp = 12,
                 .ras = 28,
                 .rc = 40,
                 .rrd = 6,
                 .ccd = 2,
                 .ccd_long = 3,
                 .cdlr = 5,
                 .wr = 12,
                 .rtp = 2},
      .banks = 16,
      .bank_groups = 4,
      .bus_bytes = 8,
      .burst_length = 8,
      .data_rate = 4,
      .row_bytes = 4096,
      .queue_entries = 64,
      .reply_entries = 116,
      .scheduler = DRAM_SCHEDULER_frfcfs}},
};
enum { DEVICES = sizeof devices / sizeof *devices, DEVICE_OWL = 0, DEVICE_GTX480 = 3 };

static inline uint32_t device_burst_bytes(const Device *device) {
    return device->config.bus_bytes * device->config.burst_length;
}

static inline uint32_t device_burst_ticks(const Device *device) {
    return device->config.burst_length / device->config.data_rate;
}

#endif
