/* Replays recorded L1D streams: the public functions that tyto cache uses. */
#include "tyto/tyto.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "base/hash.h"
#include "cache/replay.h"
#include "simulator/origin.h"
#include "stats/csv.h"
#include "stats/format.h"

struct TytoReplay {
    char *path;                   /* path of the trace */
    char hash[ORIGIN_HASH_BYTES]; /* hash of its bytes */
    L1dTraceHeader header;        /* its header, with its origin */
    L1dTraceTotals run;           /* counts of the run itself */
    ReplayConfig config;          /* the cache on which it was replayed */
    ReplayResult result;
    char *origin[RUN_ORIGINS]; /* origin of the run, as texts; owned; NULL: unknown */
};

/* ---- Replay ---- */

static bool read_policy(const char *name, ReplayPolicy *policy, Diag *diag) {
    *policy = REPLAY_LRU;
    for (int i = 0; name && i < REPLAY_POLICIES; i++) {
        if (strcmp(name, replay_policy_names[i])) continue;
        *policy = (ReplayPolicy)i;
        return true;
    }
    if (!name) return true;
    const char *nearest = diag_nearest(name, replay_policy_names, REPLAY_POLICIES);
    diag_error(diag, NULL, 0, 0, "there is no policy '%s'; %s%s%s", name,
               nearest ? "did you mean '" : "there are lru and belady", nearest ? nearest : "",
               nearest ? "'?" : "");
    return false;
}

static TytoStatus replay_on(TytoReplay *replay, L1dReader *reader, Diag *diag) {
    replay->header = *l1d_reader_header(reader);
    replay->run = *l1d_reader_totals(reader);
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++) {
        const char *text = l1d_reader_origin(reader, run_origin_names[i]);
        if (text) replay->origin[i] = strdup(text);
    }
    if (!replay_resolve(reader, &replay->config, diag)) return TYTO_BAD_OPTION;
    return replay_run(reader, &replay->config, &replay->result, diag) ? TYTO_OK : TYTO_BAD_FILE;
}

TytoStatus tyto_replay(const char *path, const TytoCache *cache, TytoReplay **replay, char *message,
                       size_t size_bytes) {
    Diag *diag = diag_new();
    TytoReplay *made = base_calloc(1, sizeof *made);
    TytoStatus status = TYTO_BAD_OPTION;
    made->path = strdup(path);
    made->config = (ReplayConfig){.size_bytes = cache->size_bytes,
                                  .ways = cache->ways,
                                  .line_bytes = cache->line_bytes,
                                  .is_unbounded = cache->is_unbounded};
    if (read_policy(cache->policy, &made->config.policy, diag)) {
        L1dReader *reader = l1d_reader_open(path, diag);
        status = reader ? replay_on(made, reader, diag) : TYTO_BAD_FILE;
        l1d_reader_free(reader);
    }
    /* By now it is known that the file is finite. */
    if (status == TYTO_OK) origin_format_hash(origin_add_file(HASH_START, path), made->hash);
    if (status != TYTO_OK) {
        if (size_bytes) snprintf(message, size_bytes, "%s", diag_text(diag));
        tyto_replay_free(made);
        made = NULL;
    }
    diag_free(diag);
    *replay = made;
    return status;
}

void tyto_replay_free(TytoReplay *replay) {
    if (!replay) return;
    free(replay->path);
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++)
        free(replay->origin[i]);
    free(replay);
}

/* ---- Reports ---- */

/* A number of the result: a count at `offset` of the replay, or the ratio of two counts. */
typedef struct Row {
    const char *name;
    const char *meaning; /* label in the table */
    size_t offset;
    size_t per;   /* offset of the divisor; 0: it is a count */
    double scale; /* factor of such a ratio; 1: it is a share */
} Row;

#define RESULT(field) offsetof(TytoReplay, result.field)
#define RUN(field)    offsetof(TytoReplay, run.field)

/* clang-format off */
static const Row rows[] = {
    {"kernels", "kernels recorded", RUN(kernels), 0, 0},
    {"thread_instructions", "thread instructions of the run", RUN(thread_instructions), 0, 0},
    {"accesses", "loads and stores", RESULT(accesses), 0, 0},
    {"misses", "line not there; stores that take no line among them", RESULT(misses), 0, 0},
    {"load_accesses", "loads", RESULT(load_accesses), 0, 0},
    {"load_misses", "loads whose line is not there", RESULT(load_misses), 0, 0},
    {"fills", "lines brought in", RESULT(fills), 0, 0},
    {"evictions", "lines replaced", RESULT(evictions), 0, 0},
    {"inter_warp_hits", "another warp had brought the line in", RESULT(inter_warp_hits), 0, 0},
    {"intra_warp_hits", "the same warp had", RESULT(intra_warp_hits), 0, 0},
    {"intra_thread_hits", "among these: the same threads had", RESULT(intra_thread_hits), 0, 0},
    {"miss_rate", "misses per access", RESULT(misses), RESULT(accesses), 1},
    {"load_miss_rate", "misses of loads per load", RESULT(load_misses), RESULT(load_accesses), 1},
    {"MPKI", "misses per thousand thread instructions", RESULT(misses), RUN(thread_instructions), 1000},
    {"run_accesses", "lookups in the run itself", RUN(accesses), 0, 0},
    {"run_misses", "its misses", RUN(misses), 0, 0},
    {"run_load_misses", "its misses of loads", RUN(load_misses), 0, 0},
    {"run_miss_rate", "its misses per access", RUN(misses), RUN(accesses), 1},
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const char *tyto_replay_number(int i) { return i >= 0 && i < ROW_COUNT ? rows[i].name : NULL; }

static uint64_t count_at(const TytoReplay *replay, size_t offset) {
    uint64_t value;
    memcpy(&value, (const char *)replay + offset, sizeof value);
    return value;
}

static double ratio(const TytoReplay *replay, const Row *row) {
    uint64_t of = count_at(replay, row->per);
    return of ? row->scale * (double)count_at(replay, row->offset) / (double)of : 0;
}

/* In the form of counters in the report of a run. */
static void write_row(const TytoReplay *replay, const Row *row, Text *out) {
    char field[FORMAT_BYTES];
    if (row->per) {
        bool is_share = row->scale == 1, is_known = count_at(replay, row->per) > 0;
        double value = is_known ? ratio(replay, row) : NAN;
        format_value(field, is_share ? 100 * value : value, is_share ? 1 : 2);
        if (is_share && is_known) strcat(field, "%");
    } else {
        format_count(field, count_at(replay, row->offset));
    }
    text_printf(out, "  %-20s%16s  %s\n", row->name, field, row->meaning);
}

static const char *policy_of(const TytoReplay *replay) {
    return replay->config.is_unbounded ? "unbounded" : replay_policy_names[replay->config.policy];
}

char *tyto_replay_text(const TytoReplay *replay) {
    Text out = {0};
    char bytes[FORMAT_BYTES];
    const ReplayConfig *config = &replay->config;
    text_printf(&out, "%s: %u L1Ds of machine %s, warps by %s\n", replay->path, replay->header.sms,
                replay->header.machine, replay->header.scheduler);
    if (replay->origin[RUN_ORIGIN_command])
        text_printf(&out, "recorded: %s\n", replay->origin[RUN_ORIGIN_command]);
    text_printf(&out, "replayed: %s, ", policy_of(replay));
    if (!config->is_unbounded) {
        format_count(bytes, config->size_bytes);
        text_printf(&out, "%s bytes, %u ways, ", bytes, config->ways);
    }
    text_printf(&out, "lines of %u bytes\n", config->line_bytes);
    for (int i = 0; i < ROW_COUNT; i++)
        write_row(replay, &rows[i], &out);
    return out.bytes;
}

/* The origin of the run, as an object. */
static void write_origin(const TytoReplay *replay, Json *json) {
    json_key(json, "run");
    json_object(json);
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++) {
        json_key(json, run_origin_names[i]);
        if (replay->origin[i]) json_string(json, replay->origin[i]);
        else json_null(json);
    }
    json_end_object(json);
}

char *tyto_replay_json(const TytoReplay *replay) {
    Text out = {0};
    Json json;
    const struct {
        const char *key, *value;
    } words[] = {{"tyto_version", TYTO_VERSION},
                 {"trace", replay->path},
                 {"trace_hash", replay->hash},
                 {"machine", replay->header.machine},
                 {"scheduler", replay->header.scheduler},
                 {"policy", policy_of(replay)}};
    json_begin(&json, &out);
    json_object(&json);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        json_key(&json, words[i].key);
        json_string(&json, words[i].value);
    }
    json_key(&json, "line_bytes");
    json_uint(&json, replay->config.line_bytes);
    if (!replay->config.is_unbounded) {
        json_key(&json, "size_bytes");
        json_uint(&json, replay->config.size_bytes);
        json_key(&json, "ways");
        json_uint(&json, replay->config.ways);
    }
    for (int i = 0; i < ROW_COUNT; i++) {
        json_key(&json, rows[i].name);
        if (rows[i].per) json_double(&json, ratio(replay, &rows[i]));
        else json_uint(&json, count_at(replay, rows[i].offset));
    }
    write_origin(replay, &json);
    json_end_object(&json);
    text_add(&out, "\n");
    return out.bytes;
}

char *tyto_replay_csv(const TytoReplay *replay) {
    Text out = {0};
    const ReplayConfig *config = &replay->config;
    const char *const words[] = {TYTO_VERSION,
                                 replay->path,
                                 replay->hash,
                                 replay->header.machine,
                                 replay->header.scheduler,
                                 policy_of(replay)};
    text_add(&out,
             "tyto_version,trace,trace_hash,machine,scheduler,policy,size_bytes,ways,line_bytes");
    for (int i = 0; i < ROW_COUNT; i++)
        text_printf(&out, ",%s", rows[i].name);
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++)
        text_printf(&out, ",run_%s", run_origin_names[i]);
    text_add(&out, "\n");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        csv_add_string(&out, words[i]);
        text_add(&out, ",");
    }
    if (config->is_unbounded) text_add(&out, ",");
    else text_printf(&out, "%" PRIu64 ",%u", config->size_bytes, config->ways);
    text_printf(&out, ",%u", config->line_bytes);
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].per) text_printf(&out, ",%.9g", ratio(replay, &rows[i]));
        else text_printf(&out, ",%" PRIu64, count_at(replay, rows[i].offset));
    }
    for (RunOrigin i = 0; i < RUN_ORIGINS; i++) {
        text_add(&out, ",");
        if (replay->origin[i]) csv_add_string(&out, replay->origin[i]);
    }
    text_add(&out, "\n");
    return out.bytes;
}
