/* Finished runs, kept in an SQLite database, so that an interrupted experiment resumes. The key of
 * a run is everything that decides its result, so runs of other builds of Tyto stay in the database
 * too. Results are the JSON of a run, read back through SQLite's own JSON functions. */
#ifndef TYTO_CLI_ENGINE_STORE_H
#define TYTO_CLI_ENGINE_STORE_H

#include <stdbool.h>

typedef struct Store Store;

/* What decides the result of a run: the columns by which it is found. */
typedef struct RunKey {
    char *program;       /* its words, size and seed aside */
    char *size;          /* test, small, paper or a number; "": none was chosen */
    char *seed;          /* likewise */
    char *machine;       /* its name */
    char *overrides;     /* "key=value key=value" of the machine */
    char *options;       /* other options of the simulator */
    char *scheduler;     /* with its parameters; "": the machine's own */
    char *cta_scheduler; /* likewise */
    char *version; /* of Tyto and of all that the run reads: number and hash of the contents */
} RunKey;
enum { STORE_KEYS = 9 };

/* The fields in order, and what their columns are called. */
void store_key_texts(const RunKey *key, const char *texts[STORE_KEYS]);
extern const char *const store_key_names[STORE_KEYS];

/* What the store has of a run. */
typedef enum RunState { RUN_MISSING, RUN_DONE, RUN_FAILED } RunState;

/* Opens the database, and makes it if it does not exist. NULL for `path`: a database in memory,
 * private to this process and gone at its end. NULL after a message. */
Store *store_open(const char *path);
/* The same for reading only: a missing file is not made, but reported. */
Store *store_poll(const char *path);
void store_close(Store *store); /* NULL is allowed */

/* Functions that return a bool return false after a message when the database fails. A run whose
 * row changed since it was stored is reported and counts as missing. */
bool store_find(Store *store, const RunKey *key, RunState *state);
/* What to exit with when runs cannot be planned: it was the database, or what the user asks for. */
int store_plan_status(const Store *store);
/* Whether `json`, as option --json writes it, contains a timed launch. */
bool store_is_timed(Store *store, const RunKey *key, const char *json, bool *is_timed);
/* Keeps a run: `json` as option --json writes it, and what record_read has read, if anything. What
 * was kept of its failing goes. */
bool store_add(Store *store, const RunKey *key, const char *json, const char *record);
/* Keeps that a run failed: why in one line, and what its program printed. */
bool store_add_failure(Store *store, const RunKey *key, const char *reason, const char *output);
/* Why a run failed, or what it came to as JSON (the record among it); "" when it is not there. The
 * caller frees it. */
bool store_failure(Store *store, const RunKey *key, char **reason);
bool store_result(Store *store, const RunKey *key, char **json);
/* The counters and ratios of a run in total, as texts in the order of tyto_counter, "" for what has
 * no value: tyto_counter_count() of them, which store_free_texts frees. False after a message; all
 * "" when the run is not there. */
bool store_totals(Store *store, const RunKey *key, char ***texts);
/* What a run says of its origin, likewise: `count` texts in the order of tyto_origin. */
bool store_origin(Store *store, const RunKey *key, int count, char ***texts);
void store_free_texts(char **texts, int count);
/* Seconds since the last run of any kind was kept; NAN when there is none. */
bool store_idle_seconds(Store *store, double *seconds);
/* A counter or ratio of a run, in total (kernel NULL) or summed over the launches of a kernel.
 * NAN when the run is not there, or has no value for it. False, too, when no counter is so named.
 */
bool store_value(Store *store, const RunKey *key, const char *kernel, const char *metric,
                 double *value);
/* A field of the item-th thing, from 1, of a list of the record: `name` is "list.field". With item
 * 0, a field of a thing of the record: "thing.field". NAN when the run is not there, or has
 * recorded none. */
bool store_recorded(Store *store, const RunKey *key, int item, const char *name, double *value);

#endif
