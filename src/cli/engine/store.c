/* Stores runs in SQLite: a table of finished runs and a table of failed runs, with one row for each
 * run. */
#include "cli/engine/store.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/engine/words.h"

enum {
    LAYOUT = 3, /* of the tables below; kept as the database's user_version */
    APPLICATION =
        0x5479746f,      /* "Tyto": the database's application_id, which identifies its owner */
    PATIENCE = 600,      /* tries to access a database that another process has locked ... */
    TRY_US = 100 * 1000, /* ... with this interval between two tries */
    TOLD_TRIES = 10,     /* tries before the user gets a message */
    MESSAGE_BYTES = 512
};

#define CHECKSUM "tyto_checksum" /* a function of texts in SQL */
#define KEYS     "program, size, seed, machine, overrides, options, scheduler, cta_scheduler, version"

#define COLUMNS                                                                                    \
    "  program TEXT NOT NULL, size TEXT NOT NULL, seed TEXT NOT NULL, machine TEXT NOT NULL,"      \
    "  overrides TEXT NOT NULL, options TEXT NOT NULL, scheduler TEXT NOT NULL,"                   \
    "  cta_scheduler TEXT NOT NULL, version TEXT NOT NULL,"                                        \
    "  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP"

/* `canonical` is the part of the results that does not depend on how the runs were made; `checksum`
 * covers the key and the result. */
static const char layout[] =
    "CREATE TABLE runs (" COLUMNS ", result TEXT NOT NULL CHECK (json_valid(result)),"
    "  checksum TEXT NOT NULL, PRIMARY KEY (" KEYS "));"
    "CREATE TABLE failures (" COLUMNS ", reason TEXT NOT NULL, output TEXT NOT NULL,"
    "  PRIMARY KEY (" KEYS "));"
    "CREATE TRIGGER done AFTER INSERT ON runs BEGIN DELETE FROM failures WHERE (" KEYS ") ="
    "  (new.program, new.size, new.seed, new.machine, new.overrides, new.options, new.scheduler,"
    "   new.cta_scheduler, new.version); END;"
    "CREATE VIEW canonical AS SELECT " KEYS ", json_remove(result, '$.host') AS result FROM runs"
    "  ORDER BY " KEYS ";"
    "PRAGMA user_version = 3;"
    "PRAGMA application_id = 1417245807;";
static_assert(LAYOUT == 3 && APPLICATION == 1417245807, "the numbers in the text above");

/* Layout 1 had no seeds, no options and no failures. */
static const char from_layout_1[] = "ALTER TABLE runs RENAME TO runs_1";
static const char take_layout_1[] =
    "INSERT INTO runs SELECT program, size, '', machine, overrides, '', scheduler, cta_scheduler,"
    "  version, finished, result, " CHECKSUM
    "(program, size, '', machine, overrides, '', scheduler,"
    "  cta_scheduler, version, result) FROM runs_1;"
    "DROP TABLE runs_1";

/* Layout 2 had no checksums. */
static const char from_layout_2[] = "ALTER TABLE runs ADD COLUMN checksum TEXT NOT NULL DEFAULT '';"
                                    "UPDATE runs SET checksum = " CHECKSUM "(" KEYS ", result);"
                                    "PRAGMA user_version = 3";

/* The statements that convert each earlier layout to this one; index 0: an empty file. */
static const char *const upgrades[LAYOUT][3] = {
    {layout}, {from_layout_1, layout, take_layout_1}, {from_layout_2}};

#define THIS_RUN                                                                                   \
    " program = ?1 AND size = ?2 AND seed = ?3 AND machine = ?4 AND overrides = ?5"                \
    " AND options = ?6 AND scheduler = ?7 AND cta_scheduler = ?8 AND version = ?9"
#define THIS_KEY "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"

const char *const store_key_names[STORE_KEYS] = {"program",   "size",          "seed",
                                                 "machine",   "overrides",     "options",
                                                 "scheduler", "cta_scheduler", "version"};

void store_key_texts(const RunKey *key, const char *texts[STORE_KEYS]) {
    const char *const all[STORE_KEYS] = {key->program,   key->size,          key->seed,
                                         key->machine,   key->overrides,     key->options,
                                         key->scheduler, key->cta_scheduler, key->version};
    memcpy(texts, all, sizeof all);
}

/* Each statement is prepared once. */
typedef enum Statement {
    ASK_RUN,
    ADD_RUN,
    ADD_FAILURE,
    ASK_FAILURE,
    ASK_RESULT,
    ASK_TOTAL,
    ASK_KERNEL,
    ASK_RECORD,
    ASK_HOST,
    ASK_TIMED,
    ASK_TOTALS,
    ASK_ORIGIN,
    STATEMENT_COUNT
} Statement;

static const char *const statements[STATEMENT_COUNT] = {
    [ASK_RUN] = "SELECT (SELECT checksum = " CHECKSUM "(" KEYS ", result) FROM runs WHERE" THIS_RUN
                "), EXISTS (SELECT 1 FROM failures WHERE" THIS_RUN ")",
    [ADD_RUN] = "INSERT OR REPLACE INTO runs (" KEYS ", result, checksum)"
                " SELECT " THIS_KEY ", result, " CHECKSUM "(" THIS_KEY ", result) FROM (SELECT"
                " CASE WHEN ?11 IS NULL THEN ?10 ELSE json_set(?10, '$.record', json(?11)) END"
                " AS result)",
    [ADD_FAILURE] = "INSERT OR REPLACE INTO failures (" KEYS ", reason, output) VALUES (" THIS_KEY
                    ", ?10, ?11)",
    [ASK_FAILURE] = "SELECT reason FROM failures WHERE" THIS_RUN,
    [ASK_RESULT] = "SELECT result FROM runs WHERE" THIS_RUN,
    [ASK_TOTAL] =
        "SELECT json_extract(result, '$.total.' || ?10), json_type(result, '$.total.' || ?10)"
        " FROM runs WHERE" THIS_RUN,
    [ASK_KERNEL] = "SELECT sum(json_extract(kernel.value, '$.' || ?10)),"
                   " max(json_type(kernel.value, '$.' || ?10)) FROM runs, json_each(runs.result, "
                   "'$.kernels') AS kernel"
                   " WHERE json_extract(kernel.value, '$.kernel') = ?11 AND" THIS_RUN,
    [ASK_TOTALS] =
        "SELECT total.key, total.value FROM runs, json_each(runs.result, '$.total') AS total"
        " WHERE total.atom IS NOT NULL AND" THIS_RUN,
    [ASK_ORIGIN] = "SELECT part.key, part.value FROM runs, json_each(runs.result) AS part"
                   " WHERE part.type = 'text' AND" THIS_RUN,
    [ASK_TIMED] = "SELECT json_extract(?10, '$.total.kernels') > 0",
    [ASK_RECORD] = "SELECT json_extract(result, '$.record.' || ?10) FROM runs WHERE" THIS_RUN,
    [ASK_HOST] = "SELECT json_extract(result, '$.host.cpu_seconds') FROM runs WHERE" THIS_RUN,
};

struct Store {
    sqlite3 *database;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    char *path;   /* in messages */
    bool is_lost; /* looking up a run has failed */
};

/* SQLite's message, reduced to ASCII letters: it may quote a damaged or foreign file with bytes
 * that control a terminal. */
static void read_message(const Store *store, char *text, size_t size) {
    snprintf(text, size, "%s", sqlite3_errmsg(store->database));
    for (; *text; text++)
        if (*text < ' ' || *text > '~') *text = '?';
}

static bool say_failure(const Store *store) {
    int code = sqlite3_errcode(store->database);
    char message[MESSAGE_BYTES];
    read_message(store, message, sizeof message);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        say_error("%s is damaged, or not a database of runs (%s): move it away, or name another "
                  "file with "
                  "--database",
                  store->path, message);
    else if (code == SQLITE_BUSY)
        say_error(
            "%s has been locked by another process for %d seconds; run this again when it is done",
            store->path, PATIENCE * (TRY_US / 1000) / 1000);
    else say_error("%s: %s", store->path, message);
    return false;
}

/* SQLite calls this when another process has locked the database; returns whether to try again. */
static int be_patient(void *context, int tries) {
    const Store *store = context;
    if (tries == TOLD_TRIES)
        fprintf(stderr, "tyto: waiting for %s, which another process has locked\n", store->path);
    usleep(TRY_US);
    return tries < PATIENCE;
}

static bool execute(const Store *store, const char *words) {
    return sqlite3_exec(store->database, words, NULL, NULL, NULL) == SQLITE_OK;
}

/* Reads a number from the database; false after a message. */
static bool ask_number(const Store *store, const char *question, int *number) {
    sqlite3_stmt *statement;
    bool is_answered =
        sqlite3_prepare_v2(store->database, question, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW;
    if (is_answered) *number = sqlite3_column_int(statement, 0);
    else say_failure(store);
    sqlite3_finalize(statement);
    return is_answered;
}

/* Checks the owner of the database before anything is written. True if it is ours or empty; false
 * after a message. */
static bool check_owner(const Store *store, bool *is_current) {
    int version, owner, objects, runs;
    bool is_read = execute(store, "BEGIN") || say_failure(store);
    is_read = is_read && ask_number(store, "SELECT count(*) FROM sqlite_master", &objects) &&
              ask_number(store, "SELECT count(*) FROM sqlite_master WHERE name = 'runs'", &runs) &&
              ask_number(store, "PRAGMA user_version", &version) &&
              ask_number(store, "PRAGMA application_id", &owner);
    execute(store,
            "COMMIT"); /* nothing was written; the transaction only makes the reads consistent */
    if (!is_read) return false;
    bool is_empty = objects == 0 && version == 0 && owner == 0;
    *is_current = version == LAYOUT;
    bool is_ours =
        owner == APPLICATION || (owner == 0 && runs); /* the first version set no owner */
    if (is_empty || (is_ours && version > 0 && version <= LAYOUT)) return true;
    if (is_ours && version > LAYOUT)
        say_error("%s was written by a newer version of Tyto; name another file with --database",
                  store->path);
    else say_error("%s belongs to another program; name another file with --database", store->path);
    return false;
}

/* Makes the tables, or converts those of an older layout, unless another process has done so
 * meanwhile. Does all or nothing. */
static bool make_layout(const Store *store) {
    int version;
    bool is_made = execute(store, "BEGIN IMMEDIATE") || say_failure(store);
    if (!is_made) return false;
    is_made = ask_number(store, "PRAGMA user_version", &version);
    for (int i = 0; i < 3 && is_made && version < LAYOUT && upgrades[version][i]; i++)
        is_made = execute(store, upgrades[version][i]) || say_failure(store);
    is_made = is_made && (execute(store, "COMMIT") || say_failure(store));
    if (!is_made) execute(store, "ROLLBACK");
    return is_made;
}

/* The function CHECKSUM: a hash of texts, each with its NUL. */
static void compute_checksum(sqlite3_context *context, int count, sqlite3_value **texts) {
    uint64_t hash = 0;
    char digits[17];
    for (int i = 0; i < count; i++) {
        const unsigned char *text = sqlite3_value_text(texts[i]);
        hash = tyto_hash(hash, text ? (const char *)text : "",
                         (size_t)sqlite3_value_bytes(texts[i]) + 1);
    }
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
    sqlite3_result_text(context, digits, -1, SQLITE_TRANSIENT);
}

/* Makes the tables and prepares the statements. */
static bool prepare(Store *store) {
    bool is_current;
    sqlite3_busy_handler(store->database, be_patient, store);
    sqlite3_create_function(store->database, CHECKSUM, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                            compute_checksum, NULL, NULL);
    if (!check_owner(store, &is_current) || (!is_current && !make_layout(store))) return false;
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        if (sqlite3_prepare_v2(store->database, statements[i], -1, &store->statements[i], NULL) !=
            SQLITE_OK)
            return say_failure(store);
    }
    return true;
}

Store *store_open(const char *path) {
    if (path && (!*path || *path == ':' || strncmp(path, "file:", 5) == 0)) {
        say_error("--database '%s': must be a file that stores runs", path);
        return NULL;
    }
    Store *store = allocate(1, sizeof *store);
    store->path = sqlite3_mprintf("%s", path ? path : "memory");
    bool is_open = sqlite3_open(path ? path : ":memory:", &store->database) == SQLITE_OK;
    if (is_open && prepare(store)) return store;
    if (!is_open) say_failure(store);
    store_close(store);
    return NULL;
}

Store *store_poll(const char *path) {
    if (!*path || access(path, F_OK) == 0 || errno != ENOENT) return store_open(path);
    fprintf(stderr, "tyto: note: there is no database %s\n", path);
    return store_open(NULL);
}

void store_close(Store *store) {
    if (!store) return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->database);
    sqlite3_free(store->path);
    free(store);
}

/* A statement with the key and up to two more texts bound to it. */
static sqlite3_stmt *bind(Store *store, Statement which, const RunKey *key, const char *first,
                          const char *second) {
    sqlite3_stmt *statement = store->statements[which];
    const char *texts[STORE_KEYS + 2];
    store_key_texts(key, texts);
    texts[STORE_KEYS] = first;
    texts[STORE_KEYS + 1] = second;
    sqlite3_reset(statement);
    for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++)
        sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
    return statement;
}

bool store_find(Store *store, const RunKey *key, RunState *state) {
    sqlite3_stmt *statement = bind(store, ASK_RUN, key, NULL, NULL);
    bool is_read = sqlite3_step(statement) == SQLITE_ROW || say_failure(store);
    store->is_lost |= !is_read;
    *state = RUN_MISSING;
    if (is_read && sqlite3_column_int(statement, 0)) *state = RUN_DONE;
    else if (is_read && sqlite3_column_int(statement, 1)) *state = RUN_FAILED;
    if (is_read && *state != RUN_DONE && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        fprintf(stderr,
                "tyto: warning: %s: the stored run of %s on %s was changed or is damaged, and "
                "counts as "
                "missing\n"
                "",
                store->path, key->program, key->machine);
    sqlite3_reset(statement);
    return is_read;
}

int store_plan_status(const Store *store) { return store->is_lost ? EXIT_FAILED : EXIT_USAGE; }

/* Executes a statement. */
static bool change(Store *store, Statement which, const RunKey *key, const char *first,
                   const char *second) {
    sqlite3_stmt *statement = bind(store, which, key, first, second);
    bool is_done = sqlite3_step(statement) == SQLITE_DONE || say_failure(store);
    sqlite3_reset(statement);
    return is_done;
}

bool store_is_timed(Store *store, const RunKey *key, const char *json, bool *is_timed) {
    sqlite3_stmt *statement = bind(store, ASK_TIMED, key, json, NULL);
    bool is_read = sqlite3_step(statement) == SQLITE_ROW || say_failure(store);
    *is_timed = is_read && sqlite3_column_int(statement, 0);
    sqlite3_reset(statement);
    return is_read;
}

bool store_add(Store *store, const RunKey *key, const char *json, const char *record) {
    return change(store, ADD_RUN, key, json, record);
}

bool store_add_failure(Store *store, const RunKey *key, const char *reason, const char *output) {
    return change(store, ADD_FAILURE, key, reason, output);
}

/* The text that a statement returns, "" if it returns none. */
static bool ask_text(Store *store, Statement which, const RunKey *key, char **text) {
    sqlite3_stmt *statement = bind(store, which, key, NULL, NULL);
    int status = sqlite3_step(statement);
    const char *found =
        status == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    *text = words_copy_text(found ? found : "");
    sqlite3_reset(statement);
    return status == SQLITE_ROW || status == SQLITE_DONE || say_failure(store);
}

bool store_failure(Store *store, const RunKey *key, char **reason) {
    return ask_text(store, ASK_FAILURE, key, reason);
}

bool store_result(Store *store, const RunKey *key, char **json) {
    return ask_text(store, ASK_RESULT, key, json);
}

typedef const char *NameOf(int i);

static const char *counter_name(int i) { return tyto_counter(i)->name; }

/* The values that a statement returns with their names, as `count` texts in the order of the names.
 */
static bool ask_texts(Store *store, Statement which, const RunKey *key, NameOf *name_of, int count,
                      char ***texts) {
    sqlite3_stmt *statement = bind(store, which, key, NULL, NULL);
    int status, at = 0;
    *texts = allocate((size_t)count, sizeof **texts);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        for (int i = 0; i < count; i++, at++) { /* usually the next name */
            if (strcmp(name_of(at % count), name) != 0) continue;
            free((*texts)[at % count]);
            (*texts)[at++ % count] =
                words_copy_text((const char *)sqlite3_column_text(statement, 1));
            break;
        }
    }
    for (int i = 0; i < count; i++) {
        if (!(*texts)[i]) (*texts)[i] = words_copy_text("");
    }
    sqlite3_reset(statement);
    return status == SQLITE_DONE || say_failure(store);
}

bool store_totals(Store *store, const RunKey *key, char ***texts) {
    return ask_texts(store, ASK_TOTALS, key, counter_name, tyto_counter_count(), texts);
}

bool store_origin(Store *store, const RunKey *key, int count, char ***texts) {
    return ask_texts(store, ASK_ORIGIN, key, tyto_origin, count, texts);
}

void store_free_texts(char **texts, int count) {
    for (int i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

bool store_idle_seconds(Store *store, double *seconds) {
    static const char question[] = "SELECT (julianday('now') - julianday(max(finished))) * 86400 "
                                   "FROM (SELECT finished FROM runs UNION ALL SELECT finished FROM "
                                   "failures)";
    sqlite3_stmt *statement = NULL;
    bool is_read =
        sqlite3_prepare_v2(store->database, question, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW;
    *seconds = NAN;
    if (is_read && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *seconds = sqlite3_column_double(statement, 0);
    else if (!is_read) say_failure(store);
    sqlite3_finalize(statement);
    return is_read;
}

bool store_value(Store *store, const RunKey *key, const char *kernel, const char *metric,
                 double *value) {
    RunState state;
    *value = NAN;
    if (!store_find(store, key, &state)) return false;
    if (state != RUN_DONE) return true;
    const int counter = tyto_find_counter(metric);
    if (counter >= 0) metric = tyto_counter(counter)->name; /* resolves a former name */
    sqlite3_stmt *statement = bind(store, kernel ? ASK_KERNEL : ASK_TOTAL, key, metric, kernel);
    bool is_right = sqlite3_step(statement) == SQLITE_ROW || say_failure(store);
    if (is_right && sqlite3_column_type(statement, 1) == SQLITE_NULL) {
        say_error("%s has no counter '%s'%s%s", key->program, metric, kernel ? " of a kernel " : "",
                  kernel ? kernel : "");
        is_right = false;
    } else if (is_right && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
        *value = sqlite3_column_double(statement, 0);
    }
    sqlite3_reset(statement);
    return is_right;
}

/* The number that a statement gives for a run; NAN if it gives none. */
static bool ask_run_number(Store *store, Statement ask, const RunKey *key, const char *path,
                           double *value) {
    sqlite3_stmt *statement = bind(store, ask, key, path, NULL);
    const int status = sqlite3_step(statement);
    *value = NAN;
    if (status == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *value = sqlite3_column_double(statement, 0);
    sqlite3_reset(statement);
    return status == SQLITE_ROW || status == SQLITE_DONE || say_failure(store);
}

bool store_recorded(Store *store, const RunKey *key, int item, const char *name, double *value) {
    char path[128];
    const char *point = strchr(name, '.');
    if (item)
        snprintf(path, sizeof path, "%.*s[%d].%.60s", point ? (int)(point - name) : 0, name,
                 item - 1, point ? point + 1 : name);
    else snprintf(path, sizeof path, "%.120s", name);
    return ask_run_number(store, ASK_RECORD, key, path, value);
}

bool store_host_seconds(Store *store, const RunKey *key, double *seconds) {
    return ask_run_number(store, ASK_HOST, key, NULL, seconds);
}
