/* Finished runs, kept in an SQLite database, so that an interrupted experiment resumes. The key of
 * a run is everything that decides its result, so runs of other builds of Tyto stay in the database
 * too. Results are the JSON of a run, read back through SQLite's own JSON functions. */
#ifndef TYTO_CLI_ENGINE_STORE_H
#define TYTO_CLI_ENGINE_STORE_H

#include <stdbool.h>

typedef struct Store Store;

/* What decides the result of a run: the columns by which it is found. */
typedef struct RunKey {
    char *program;       /* its words, without size and seed */
    char *size;          /* test, small, paper or a number; "": none was chosen */
    char *seed;          /* likewise */
    char *machine;       /* its name */
    char *overrides;     /* "key=value key=value" of the machine */
    char *options;       /* other options of the simulator */
    char *scheduler;     /* with its parameters; "": the machine's own */
    char *cta_scheduler; /* likewise */
    char *version;       /* of Tyto and of all files that the run reads: number, and hash of their
                            contents */
} RunKey;
enum { STORE_KEYS = 9 };

/* The fields in order, and the names of their columns. */
void store_key_texts(const RunKey *key, const char *texts[STORE_KEYS]);
extern const char *const store_key_names[STORE_KEYS];

/* The state of a run in the store. */
typedef enum RunState { RUN_MISSING, RUN_DONE, RUN_FAILED } RunState;

/* Opens the database, and makes it if it does not exist. NULL for `path`: a database in memory,
 * private to this process and gone at its end. NULL after a message. */
Store *store_open(const char *path);
/* Opens the database for reading only: reports a missing file instead of making it. */
Store *store_poll(const char *path);
void store_close(Store *store); /* NULL is allowed */

/* Functions that return a bool return false after a message when the database fails. A run whose
 * row changed since it was stored is reported and counts as missing. */
bool store_find(Store *store, const RunKey *key, RunState *state);
/* The exit status if runs cannot be planned: it depends on whether the database or the user's
 * request is the cause. */
int store_plan_status(const Store *store);
/* Whether `json`, as option --json writes it, contains a timed launch. */
bool store_is_timed(Store *store, const RunKey *key, const char *json, bool *is_timed);
/* Stores a run: `json` as option --json writes it, and the record that record_read has read, if
 * any. Removes an earlier failure of the run. */
bool store_add(Store *store, const RunKey *key, const char *json, const char *record);
/* Stores the failure of a run: the reason in one line, and its program's output. */
bool store_add_failure(Store *store, const RunKey *key, const char *reason, const char *output);
/* Why a run failed, or its result as JSON (with the record); "" if the store does not have it. The
 * caller frees it. */
bool store_failure(Store *store, const RunKey *key, char **reason);
bool store_result(Store *store, const RunKey *key, char **json);
/* The total counters and ratios of a run, as tyto_counter_count() texts in the order of
 * tyto_counter, "" for those without a value. store_free_texts frees them. All are "" if the store
 * does not have the run. False after a message. */
bool store_totals(Store *store, const RunKey *key, char ***texts);
/* The origin that a run reports, likewise: `count` texts in the order of tyto_origin. */
bool store_origin(Store *store, const RunKey *key, int count, char ***texts);
void store_free_texts(char **texts, int count);
/* Processor seconds that the run took on its host; NAN if the store does not have the run. */
bool store_host_seconds(Store *store, const RunKey *key, double *seconds);
/* Seconds since the last finished or failed run was stored; NAN if there is none. */
bool store_idle_seconds(Store *store, double *seconds);
/* A counter or ratio of a run, in total (kernel NULL) or summed over the launches of a kernel. NAN
 * if the store does not have the run, or the run has no value for it. False also if no counter has
 * this name. */
bool store_value(Store *store, const RunKey *key, const char *kernel, const char *metric,
                 double *value);
/* A field of an item of a list in the record: `name` is "list.field", items count from 1. Item 0
 * means a field of a single thing in the record: "thing.field". NAN if the store does not have the
 * run, or the run has no such record. */
bool store_recorded(Store *store, const RunKey *key, int item, const char *name, double *value);

#endif
