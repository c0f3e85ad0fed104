/* Reads declarations in YAML by tables. A table has one row for each field of a record, and the
 * same functions read every record. */
#ifndef TYTO_CLI_ENGINE_FIELDS_H
#define TYTO_CLI_ENGINE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/engine/words.h"

typedef enum FieldKind {
    FIELD_TEXT,     /* const char * */
    FIELD_POLICY,   /* the same, the name of a scheduler */
    FIELD_MACHINE,  /* the same, the name or file of a machine */
    FIELD_WORDS,    /* Words: a list of scalars, or just one */
    FIELD_POLICIES, /* the same, names of schedulers */
    FIELD_MACHINES, /* the same, names or files of machines */
    FIELD_SETS,     /* the same, key=value of the machine */
    FIELD_NUMBER,   /* double */
    FIELD_ORDINAL,  /* int: which of several, from 1; 0: the field is not given */
    FIELD_CHOICE,   /* enum: index of one of `choices` */
    FIELD_VALUES,   /* Values: a mapping of rows to numbers */
    FIELD_LISTS,    /* NamedLists: a mapping of names to lists of words, or to just one */
    FIELD_RECORDS,  /* a list of records of type `record` */
} FieldKind;

/* A named number, of a published table: shown as the table shows it, so 62% is 62. */
typedef struct Value {
    const char *row; /* its name */
    double number;
} Value;

typedef struct Values {
    Value *list;
    int count;
} Values;

typedef struct NamedList {
    const char *name;
    Words words;
} NamedList;

typedef struct NamedLists {
    NamedList *list;
    int count;
} NamedLists;

typedef struct Record Record;

typedef struct Field {
    const char *name;
    FieldKind kind;
    size_t offset;              /* bytes, in its struct */
    bool is_needed;             /* must be given; a list needs at least one item */
    const char *const *choices; /* ends with NULL */
    const Record *record;
} Field;

struct Record {
    const char *name; /* in messages */
    size_t size;      /* bytes of its struct */
    const Field *fields;
    int count;
};

#define FIELDS_RECORD(name, Type, fields)                                                          \
    static const Record name##_record = {#name, sizeof(Type), fields,                              \
                                         sizeof fields / sizeof fields[0]}

/* A file that was read; it owns all texts and lists. */
typedef struct FieldFile FieldFile;

/* `path` is for messages. A file may name shared objects as schedulers only if `allows_plugins`;
 * they become paths relative to the current folder. */
FieldFile *fields_new(const char *path, bool allows_plugins);
void fields_free(FieldFile *file); /* NULL is allowed */
/* Reads a file's bytes as one record, into a new block that the file owns. NULL after messages. A
 * wrong field is only reported and counted, and the rest is read. */
void *fields_read(FieldFile *file, const Record *record, const char *text, size_t length);
/* Zeroed memory that lives as long as the file. */
void *fields_allocate(FieldFile *file, int count, size_t size);
const char *fields_path(const FieldFile *file);
/* The number of mistakes reported so far. */
int fields_mistakes(const FieldFile *file);
/* Reports a mistake at the place of `word`, a text that was read from the file. */
void fields_say(FieldFile *file, const char *word, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that `word` is not one of `names`, and which name was probably meant. */
void fields_say_unknown(FieldFile *file, const char *what, const char *word,
                        const char *const *names, int count);

#endif
