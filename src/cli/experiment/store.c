/* Runs in SQLite: one table, one row a run. */
#include "cli/experiment/store.h"

#include <assert.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

enum {
    LAYOUT = 1,               /* of the table below; kept as the database's user_version */
    APPLICATION = 0x5479746f, /* "Tyto": the database's application_id, which tells its owner */
    PATIENCE = 600,           /* tries to get at a database that another process has locked ... */
    TRY_US = 100 * 1000,      /* ... this long after each other */
    TOLD_TRIES = 10,          /* after so many the user is told */
    MESSAGE_BYTES = 512
};

static const char layout[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS runs ("
    "  program TEXT NOT NULL, size TEXT NOT NULL, machine TEXT NOT NULL, overrides TEXT NOT NULL,"
    "  scheduler TEXT NOT NULL, cta_scheduler TEXT NOT NULL, version TEXT NOT NULL,"
    "  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, result TEXT NOT NULL CHECK "
    "(json_valid(result)),"
    "  PRIMARY KEY (program, size, machine, overrides, scheduler, cta_scheduler, version));"
    "PRAGMA user_version = 1;"
    "PRAGMA application_id = 1417245807;"
    "COMMIT";
static_assert(LAYOUT == 1 && APPLICATION == 1417245807, "the numbers in the text above");

#define THIS_RUN                                                                                   \
    " program = ?1 AND size = ?2 AND machine = ?3 AND overrides = ?4 AND scheduler = ?5"           \
    " AND cta_scheduler = ?6 AND version = ?7"

/* Prepared once each. */
typedef enum Statement {
    ASK_RUN,
    ADD_RUN,
    ASK_TOTAL,
    ASK_KERNEL,
    ASK_RECORD,
    STATEMENT_COUNT
} Statement;

static const char *const statements[STATEMENT_COUNT] = {
    [ASK_RUN] = "SELECT 1 FROM runs WHERE" THIS_RUN,
    [ADD_RUN] = "INSERT OR REPLACE INTO runs (program, size, machine, overrides, scheduler,"
                " cta_scheduler, version, result) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
                " CASE WHEN ?9 IS NULL THEN ?8 ELSE json_set(?8, '$.record', json(?9)) END)",
    [ASK_TOTAL] =
        "SELECT json_extract(result, '$.total.' || ?8), json_type(result, '$.total.' || ?8)"
        " FROM runs WHERE" THIS_RUN,
    [ASK_KERNEL] = "SELECT sum(json_extract(kernel.value, '$.' || ?8)),"
                   " max(json_type(kernel.value, '$.' || ?8)) FROM runs, json_each(runs.result, "
                   "'$.kernels') AS kernel"
                   " WHERE json_extract(kernel.value, '$.kernel') = ?9 AND" THIS_RUN,
    [ASK_RECORD] = "SELECT json_extract(result, '$.record.' || ?8) FROM runs WHERE" THIS_RUN,
};

struct Store {
    sqlite3 *database;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    char *path; /* in messages */
};

/* SQLite's message, of which only letters of ASCII: it may quote what a damaged file holds, or a
 * foreign one that means harm to a terminal. */
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
        say_error(
            "%s is damaged, or no database of runs (%s): move it away, or name another file with "
            "--database",
            store->path, message);
    else if (code == SQLITE_BUSY)
        say_error(
            "%s has been locked by another process for %d seconds; run this again when it is done",
            store->path, PATIENCE * (TRY_US / 1000) / 1000);
    else say_error("%s: %s", store->path, message);
    return false;
}

/* What SQLite asks when another process has the database: whether to try again. */
static int be_patient(void *context, int tries) {
    const Store *store = context;
    if (tries == TOLD_TRIES)
        fprintf(stderr, "tyto: waiting for %s, which another process has locked\n", store->path);
    usleep(TRY_US);
    return tries < PATIENCE;
}

/* A number that the database answers; false after a message. */
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

/* Whose database it is, looked at before anything is written: ours, an empty one, or false after a
 * message. */
static bool check_owner(const Store *store, bool *is_empty) {
    int version, owner, objects, runs;
    bool is_read =
        sqlite3_exec(store->database, "BEGIN", NULL, NULL, NULL) == SQLITE_OK || say_failure(store);
    is_read = is_read && ask_number(store, "SELECT count(*) FROM sqlite_master", &objects) &&
              ask_number(store, "SELECT count(*) FROM sqlite_master WHERE name = 'runs'", &runs) &&
              ask_number(store, "PRAGMA user_version", &version) &&
              ask_number(store, "PRAGMA application_id", &owner);
    sqlite3_exec(store->database, "COMMIT", NULL, NULL,
                 NULL); /* nothing was written: all seen at one moment */
    if (!is_read) return false;
    *is_empty = objects == 0 && version == 0 && owner == 0;
    bool is_ours =
        owner == APPLICATION || (owner == 0 && runs); /* the first version named no owner */
    if (*is_empty || (is_ours && version > 0 && version <= LAYOUT)) return true;
    if (is_ours && version > LAYOUT)
        say_error("%s was written by a newer version of Tyto; name another file with --database",
                  store->path);
    else say_error("%s belongs to another program; name another file with --database", store->path);
    return false;
}

/* Makes the table, and the statements on it. */
static bool prepare(Store *store) {
    bool is_empty;
    sqlite3_busy_handler(store->database, be_patient, store);
    if (!check_owner(store, &is_empty)) return false;
    if (is_empty && sqlite3_exec(store->database, layout, NULL, NULL, NULL) != SQLITE_OK)
        return say_failure(store);
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        if (sqlite3_prepare_v2(store->database, statements[i], -1, &store->statements[i], NULL) !=
            SQLITE_OK)
            return say_failure(store);
    }
    return true;
}

Store *store_open(const char *path) {
    if (!*path || *path == ':' || strncmp(path, "file:", 5) == 0) {
        say_error("--database '%s': must be a file, in which runs are kept", path);
        return NULL;
    }
    Store *store = allocate(1, sizeof *store);
    store->path = sqlite3_mprintf("%s", path);
    bool is_open = sqlite3_open(path, &store->database) == SQLITE_OK;
    if (is_open && prepare(store)) return store;
    if (!is_open) say_failure(store);
    store_close(store);
    return NULL;
}

void store_close(Store *store) {
    if (!store) return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->database);
    sqlite3_free(store->path);
    free(store);
}

/* A statement with the key bound to it, and up to two more texts. */
static sqlite3_stmt *bind(Store *store, Statement which, const RunKey *key, const char *first,
                          const char *second) {
    sqlite3_stmt *statement = store->statements[which];
    const char *texts[] = {key->program,   key->size,      key->machine,
                           key->overrides, key->scheduler, key->cta_scheduler,
                           key->version,   first,          second};
    sqlite3_reset(statement);
    for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++)
        sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_STATIC);
    return statement;
}

bool store_has(Store *store, const RunKey *key, bool *is_there) {
    int status = sqlite3_step(bind(store, ASK_RUN, key, NULL, NULL));
    *is_there = status == SQLITE_ROW;
    sqlite3_reset(store->statements[ASK_RUN]);
    return status == SQLITE_ROW || status == SQLITE_DONE || say_failure(store);
}

bool store_add(Store *store, const RunKey *key, const char *json, const char *record) {
    int status = sqlite3_step(bind(store, ADD_RUN, key, json, record));
    bool is_kept = status == SQLITE_DONE || say_failure(store);
    sqlite3_reset(store->statements[ADD_RUN]);
    return is_kept;
}

bool store_value(Store *store, const RunKey *key, const char *kernel, const char *metric,
                 double *value) {
    bool is_there;
    *value = NAN;
    if (!store_has(store, key, &is_there)) return false;
    if (!is_there) return true;
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

bool store_recorded(Store *store, const RunKey *key, int item, const char *name, double *value) {
    char path[128];
    const char *point = strchr(name, '.');
    if (item)
        snprintf(path, sizeof path, "%.*s[%d].%.60s", point ? (int)(point - name) : 0, name,
                 item - 1, point ? point + 1 : name);
    else snprintf(path, sizeof path, "%.120s", name);
    sqlite3_stmt *statement = bind(store, ASK_RECORD, key, path, NULL);
    int status = sqlite3_step(statement);
    *value = NAN;
    if (status == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *value = sqlite3_column_double(statement, 0);
    sqlite3_reset(statement);
    return status == SQLITE_ROW || status == SQLITE_DONE || say_failure(store);
}
