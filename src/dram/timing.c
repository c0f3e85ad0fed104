/* The constraint rows of GDDR3 to GDDR6 and HBM2 (see the header). */
#include "dram/timing.h"

#include <string.h>

DramTiming dram_timing_of(const DramStatedTiming *stated, uint32_t khz) {
#define FIELD(kind, key, at, name, field, ...) FIELD_##kind(field)
#define FIELD_TIME(field)                      .field = parameter_time_cycles_up(stated->field, khz),
#define FIELD_BOOL(field)                      .field = stated->field,
    return (DramTiming){DRAM_TIMING_PARAMETERS(FIELD, , )};
}

void dram_timing_constraints(const DramTiming *timing, uint32_t burst_ticks,
                             DramConstraint rows[static DRAM_CONSTRAINTS]) {
    const DramTiming *t = timing;
    uint32_t rcd_write = t->rcd_write ? t->rcd_write : t->rcd > t->wl + 1 ? t->rcd - t->wl - 1 : 1;
    uint32_t ccd_long = t->ccd_long ? t->ccd_long : t->ccd;
    uint32_t rtp = t->rtp ? t->rtp : burst_ticks;
    /* The bus needs two idle ticks to turn around from read data to write data. */
    uint32_t read_to_write = t->cl + burst_ticks + 2 - t->wl;
    uint32_t write_end = t->wl + burst_ticks;
    uint32_t write_to_read = t->forgets_writes ? t->ccd : write_end + t->cdlr;
    uint32_t write_to_precharge = t->forgets_writes ? 0 : write_end + t->wr;
    const DramConstraint table[DRAM_CONSTRAINTS] = {
        {DRAM_ACTIVATE, DRAM_ACTIVATE, DRAM_CHANNEL, t->rrd},
        {DRAM_ACTIVATE, DRAM_ACTIVATE, DRAM_SAME_BANK, t->rc},
        {DRAM_ACTIVATE, DRAM_READ, DRAM_SAME_BANK, t->rcd},
        {DRAM_ACTIVATE, DRAM_WRITE, DRAM_SAME_BANK, rcd_write},
        {DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_SAME_BANK, t->ras},
        {DRAM_PRECHARGE, DRAM_ACTIVATE, DRAM_SAME_BANK, t->rp},
        {DRAM_READ, DRAM_READ, DRAM_CHANNEL, t->ccd},
        {DRAM_READ, DRAM_READ, DRAM_SAME_GROUP, ccd_long},
        {DRAM_READ, DRAM_WRITE, DRAM_CHANNEL, read_to_write},
        {DRAM_READ, DRAM_PRECHARGE, DRAM_SAME_BANK, rtp},
        {DRAM_READ, DRAM_PRECHARGE, DRAM_SAME_GROUP, t->rtp_long},
        {DRAM_WRITE, DRAM_WRITE, DRAM_CHANNEL, t->ccd},
        {DRAM_WRITE, DRAM_WRITE, DRAM_SAME_GROUP, ccd_long},
        {DRAM_WRITE, DRAM_READ, DRAM_CHANNEL, write_to_read},
        {DRAM_WRITE, DRAM_PRECHARGE, DRAM_SAME_BANK, write_to_precharge},
    };
    memcpy(rows, table, sizeof table);
}

bool dram_timing_check(const DramTiming *timing, uint32_t burst_ticks, Diag *diag) {
    const DramTiming *t = timing;
    enum { MOST = 1000 }; /* ticks; far above any real device, keeps sums of parameters small */
    const struct {
        const char *name;
        uint32_t ticks, least;
    } parameters[] = {
        {"tCL", t->cl, 1},           {"tWL", t->wl, 1},         {"tRCD", t->rcd, 1},
        {"tRP", t->rp, 1},           {"tRAS", t->ras, 1},       {"tRC", t->rc, 1},
        {"tRRD", t->rrd, 1},         {"tCCD", t->ccd, 1},       {"tCDLR", t->cdlr, 1},
        {"tWR", t->wr, 1},           {"tCCDL", t->ccd_long, 0}, {"tRTP", t->rtp, 0},
        {"tRCDWR", t->rcd_write, 0}, {"tRTPL", t->rtp_long, 0},
    };
    const struct {
        bool is_wrong;
        const char *what;
    } contradictions[] = {
        {t->ras < t->rcd, "tRAS is below tRCD: a row would close before it can be read"},
        {t->rc < t->ras, "tRC is below tRAS: a row cannot reopen before it may close"},
        {t->ccd < burst_ticks, "tCCD is below the ticks of a burst (dram.burst over "
                               "dram.data_rate): bursts would overlap "
                               "on the bus"},
        {t->ccd_long && t->ccd_long < t->ccd, "tCCDL is below tCCD"},
        {t->wl > t->cl, "tWL is above tCL: write data would follow later than read data"},
        {t->refi && t->refi < 2 * (t->rfc + t->rc),
         "tREFI is below 2 x (tRFC + tRC): there would be little time for requests"},
        {t->refi && !t->rfc, "tREFI without tRFC: a refresh takes time"},
    };
    int before = diag_error_count(diag);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
        if (parameters[i].ticks < parameters[i].least || parameters[i].ticks > MOST)
            diag_error(diag, NULL, 0, 0, "DRAM timing: dram.%s = %u ticks: must be %u to %d",
                       parameters[i].name, parameters[i].ticks, parameters[i].least, MOST);
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++)
        if (contradictions[i].is_wrong)
            diag_error(diag, NULL, 0, 0, "DRAM timing: dram.%s", contradictions[i].what);
    return diag_error_count(diag) == before;
}
