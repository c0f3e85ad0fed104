/* Finished runs, kept in an SQLite database: what makes an experiment resume where it was
 * interrupted. A run is found by everything that decides its result; runs of other builds of Tyto
 * stay beside it. Results are the JSON of a run, read back through SQLite's own JSON functions. */
#ifndef TYTO_CLI_EXPERIMENT_STORE_H
#define TYTO_CLI_EXPERIMENT_STORE_H

#include <stdbool.h>

typedef struct Store Store;

/* What decides the result of a run. */
typedef struct RunKey {
    char *program;       /* its words, the size aside */
    char *size;          /* test, small or paper */
    char *machine;       /* its name */
    char *overrides;     /* "key=value key=value" */
    char *scheduler;     /* with its parameters */
    char *cta_scheduler; /* "": the machine's own */
    char *version; /* of Tyto, the workload and the machine: number and hash of the contents */
} RunKey;

/* Opens the database, and makes it if it is not there. NULL after a message. */
Store *store_open(const char *path);
void store_close(Store *store); /* NULL is allowed */

/* All of these: false after a message when the database fails. */
bool store_has(Store *store, const RunKey *key, bool *is_there);
/* Keeps a run: `json` as option --json writes it, and what record_read has read, if anything. */
bool store_add(Store *store, const RunKey *key, const char *json, const char *record);
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
