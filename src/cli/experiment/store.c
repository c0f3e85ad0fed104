/* Runs in SQLite: one table, one row a run. */
#include "cli/experiment/store.h"

#include <assert.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

enum {
    LAYOUT = 1,             /* of the table below; kept as the database's user_version */
    PATIENCE_MS = 60 * 1000 /* for another process that writes to the same database */
};

static const char layout[] =
    "CREATE TABLE IF NOT EXISTS runs ("
    "  program TEXT NOT NULL, size TEXT NOT NULL, machine TEXT NOT NULL, overrides TEXT NOT NULL,"
    "  scheduler TEXT NOT NULL, cta_scheduler TEXT NOT NULL, version TEXT NOT NULL,"
    "  finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, result TEXT NOT NULL CHECK "
    "(json_valid(result)),"
    "  PRIMARY KEY (program, size, machine, overrides, scheduler, cta_scheduler, version));"
    "PRAGMA user_version = 1";
static_assert(LAYOUT == 1, "the number in the text above");

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

static bool say_failure(const Store *store) {
    int code = sqlite3_errcode(store->database);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        say_error(
            "%s is damaged, or no database of runs (%s): move it away, or name another file with "
            "--database",
            store->path, sqlite3_errmsg(store->database));
    else say_error("%s: %s", store->path, sqlite3_errmsg(store->database));
    return false;
}

/* The number of the layout that the database has; 0 for an empty one; -1 after a message. */
static int read_layout(const Store *store) {
    sqlite3_stmt *statement;
    int number = -1;
    if (sqlite3_prepare_v2(store->database, "PRAGMA user_version", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int(statement, 0);
    else say_failure(store);
    sqlite3_finalize(statement);
    return number;
}

/* Makes the table, and the statements on it. */
static bool prepare(Store *store) {
    sqlite3_busy_timeout(store->database, PATIENCE_MS);
    int number = read_layout(store);
    if (number < 0) return false;
    if (number > LAYOUT) {
        say_error("%s was written by a newer version of Tyto; name another file with --database",
                  store->path);
        return false;
    }
    if (number == 0 && sqlite3_exec(store->database, layout, NULL, NULL, NULL) != SQLITE_OK)
        return say_failure(store);
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        if (sqlite3_prepare_v2(store->database, statements[i], -1, &store->statements[i], NULL) !=
            SQLITE_OK)
            return say_failure(store);
    }
    return true;
}

Store *store_open(const char *path) {
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
