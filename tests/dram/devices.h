/* DRAM channels of the machine models, for tests. */
#ifndef TYTO_TESTS_DRAM_DEVICES_H
#define TYTO_TESTS_DRAM_DEVICES_H

#include "dram/channel.h"

typedef struct Device {
    const char *name;
    uint32_t read_bytes; /* size of the machine's read requests */
    DramConfig config;
} Device;

/* The papers give no tWL and tCCD for the GDDR3 parts; 4 ticks and one burst are usual. */
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
    /* HBM2 and GDDR6 as in GPGPU-Sim 4.2's Volta and Ampere models, except the refresh: 3.9 us and
     * 350 ns */
    {"hbm2",
     32,
     {.timing = {.cl = 12,
                 .wl = 2,
                 .rcd = 12,
                 .rp = 12,
                 .ras = 28,
                 .rc = 40,
                 .rrd = 3,
                 .ccd = 1,
                 .ccd_long = 2,
                 .cdlr = 3,
                 .wr = 10,
                 .rtp_long = 3,
                 .refi = 3315,
                 .rfc = 298},
      .banks = 16,
      .bank_groups = 4,
      .bus_bytes = 16,
      .burst_length = 2,
      .data_rate = 2,
      .row_bytes = 2048,
      .queue_entries = 64,
      .reply_entries = 192,
      .has_dual_bus = true,
      .scheduler = DRAM_SCHEDULER_frfcfs}},
    {"gddr6",
     32,
     {.timing = {.cl = 24,
                 .wl = 8,
                 .rcd = 24,
                 .rp = 24,
                 .ras = 55,
                 .rc = 78,
                 .rrd = 12,
                 .ccd = 4,
                 .ccd_long = 6,
                 .cdlr = 10,
                 .wr = 24,
                 .rtp_long = 4},
      .banks = 16,
      .bank_groups = 4,
      .bus_bytes = 2,
      .burst_length = 16,
      .data_rate = 4,
      .row_bytes = 2048,
      .queue_entries = 64,
      .reply_entries = 192,
      .scheduler = DRAM_SCHEDULER_frfcfs}},
};
enum {
    DEVICES = sizeof devices / sizeof *devices,
    DEVICE_OWL = 0,
    DEVICE_GTX480 = 3,
    DEVICE_HBM2 = 4,
    DEVICE_GDDR6 = 5
};

/* The device under a request scheduler, with the scheduler's default parameters. */
static inline DramConfig device_under(const Device *device, DramSchedulerIndex scheduler) {
    DramConfig config = device->config;
    config.scheduler = scheduler;
    config.bliss_threshold = 4;
    config.bliss_interval = 10000;
    return config;
}

static inline uint32_t device_burst_bytes(const Device *device) {
    return device->config.bus_bytes * device->config.burst_length;
}

static inline uint32_t device_burst_ticks(const Device *device) {
    return device->config.burst_length / device->config.data_rate;
}

#endif
